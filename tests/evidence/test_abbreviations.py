"""A question's words and the abbreviation that the evidence introduces for them are one."""

import pytest

from esrag.evidence.abbreviations import add_abbreviations
from esrag.evidence.statements import statements
from esrag.gathering import select
from esrag.retrieval import retrieve


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("The False Match Rate (FMR) is low.", "What is the false match rate (FMR) of a gate?"),
        ("Gates have a False Match Rate (fmr).", ""),
        ("A False Match Rate (ISO) is low.", ""),
        (
            "The Match Rate (MR) of a False (F) gate.",
            "What is the false match rate (MR) of a gate?",
        ),
        ("A rate of false matches (FMR) is low.", ""),
        ("(FMR)", ""),
    ],
)
def test_an_abbreviation_is_added_after_what_it_stands_for(text, added):
    """Its letters are the initials of the words before it."""
    question = "What is the false match rate of a gate?"
    assert add_abbreviations(question, [text]) == (added or question)


def test_it_is_added_once():
    """Not if the question has it, and not for each passage that introduces it."""
    texts = ["The False Match Rate (FMR) is low."] * 2
    asked = "Which false match rate (FMR) may it have?"
    assert add_abbreviations(asked, texts) == asked
    assert add_abbreviations("Which false match rate may it have?", texts) == asked


def test_what_is_said_of_the_abbreviation_fits_better(open_pages):
    """A passage introduces it, and another has the answer."""
    pages = {
        "smith.md": "The smith knows the False Match Rate (FMR).",
        "gate.md": "A gate shall have an FMR of 3 in 1000.",
    }
    question = "What false match rate shall a gate have?"
    context = open_pages(pages, {"embedding.model": "none"})._context
    found = select(question, question, retrieve(question, context), context)
    plain = statements(question, found.evidence)

    fits = [{each.text: each.fit for each in said} for said in (found.statements, plain)]
    assert fits[0][pages["gate.md"]] > fits[1][pages["gate.md"]]
