"""Contradiction: what two documents say of the same thing with other figures is not answered with either."""

from dataclasses import replace

import pytest

from esrag.answering import Statement
from esrag.answering.contradiction import contradiction
from esrag.records import Chunk, Evidence

QUESTION = "How much does the kettle hold?"


def evidence(*doc_ids):
    """A passage of each document, c1…"""
    return [Evidence(f"c{n}", Chunk(d, d, 0, 0, 1, 1, 1, "x"), 1.0) for n, d in enumerate(doc_ids, 1)]


def stated(*texts, fits=(0.9, 0.89)):
    """A statement of each passage."""
    return [Statement(f"c{n}", n, text, fit=fit) for n, (text, fit) in enumerate(zip(texts, fits, strict=True), 1)]


def test_other_figures_in_the_same_words_contradict():
    """The two are named."""
    found = stated("The kettle holds 1.7 litres.", "The kettle holds 1.5 litres.")

    assert contradiction(QUESTION, found, evidence("new", "old")) == tuple(found)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The kettle holds 1.7 litres.", "The kettle holds 1.7 litres!"),
        ("The kettle holds 1.7 litres.", "The toaster holds 2 slices."),
        ("ML-KEM-512 is in category 1.", "ML-KEM-768 is in category 3."),
        ("The kettle holds 1.7 litres.", "The kettle holds litres."),
        ("The kettle is red.", "The kettle is blue."),
        ("The kettle holds 1184 grams.", "The kettle holds 1,184 grams."),
    ],
)
def test_what_is_said_of_something_else_does_not(left, right):
    """Nor what agrees, or has no figure to differ in."""
    assert contradiction(QUESTION, stated(left, right), evidence("new", "old")) is None


def test_one_document_does_not_contradict_itself():
    """Its tables say the same of many things."""
    found = stated("The kettle holds 1.7 litres.", "The kettle holds 1.5 litres.")

    assert contradiction(QUESTION, found, evidence("manual", "manual")) is None


def test_what_fits_worse_is_not_looked_at():
    """It would not be answered with."""
    found = stated("The kettle holds 1.7 litres.", "The kettle holds 1.5 litres.", fits=(0.9, 0.5))

    assert contradiction(QUESTION, found, evidence("new", "old")) is None
    assert contradiction(QUESTION, [], []) is None


def test_a_question_that_says_which_is_meant_is_answered():
    """By a word of a document's title or section."""
    found = stated("The kettle holds 1.7 litres.", "The kettle holds 1.5 litres.")
    titled = [
        Evidence(item.key, replace(item.chunk, title=f"Manual of the {colour} kettle"), 1.0)
        for item, colour in zip(evidence("a", "b"), ("red", "blue"), strict=True)
    ]

    assert contradiction("How much does the blue kettle hold?", found, titled) is None
    assert contradiction("How much does the kettle hold?", found, titled) == tuple(found)
