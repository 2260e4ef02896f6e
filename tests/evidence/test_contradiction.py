"""Contradiction: what two documents say of the same thing with other figures is not answered with
either.
"""

from dataclasses import replace

import pytest

from esrag.evidence import Statement
from esrag.evidence.contradiction import contradiction
from esrag.records import Chunk, Evidence

QUESTION = "How much does the kettle hold?"


def evidence(*doc_ids):
    """A passage of each document, c1…"""
    return [
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=d, doc_id=d, ordinal=0, start=0, end=1, start_page=1, end_page=1, text="x"
            ),
            1.0,
        )
        for n, d in enumerate(doc_ids, 1)
    ]


def stated(*texts, fits=(0.9, 0.89)):
    """A statement of each passage."""
    return [
        Statement(f"c{n}", n, text, fit=fit)
        for n, (text, fit) in enumerate(zip(texts, fits, strict=True), 1)
    ]


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
        ("The kettle holds 1.7 litres.", "The kettle holds 1.70 litres."),
        ("The kettle holds two litres.", "The kettle holds 2 litres."),
        ("The kettle costs $5.", "The kettle costs €6."),
        ("It grew by 5 %.", "It grew by 6 kg."),
        ("In 2022 the kettle cost 30 euros.", "In 2023 the kettle cost 35 euros."),
        ("In 2022 the kettle cost 30 euros.", "In 2023 the kettle cost 30 euros."),
        ("In 2022, the kettle cost 30 euros.", "In 2023, the kettle cost 35 euros."),
        ("Lamp 7 burns 3 litres.", "Lamp 8 burns 4 litres."),
        ("The lamp 7 burns three litres.", "The lamp 8 burns four litres."),
        ("Table 3. Sizes: key text: A 1184 1088", "Table 5. Sizes: key text: A 1184 1088"),
        ("Table 3. Sizes: key text: A 1184 1088", "Table 3. Times: key text: A 1185 1089"),
        ("City: Kiel, 2023 Revenue: 57", "City: Kiel, 2022 Revenue: 44"),
    ],
)
def test_what_is_said_of_something_else_does_not(left, right):
    """Nor what agrees, or has no figure to differ in."""
    assert contradiction(QUESTION, stated(left, right), evidence("new", "old")) is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("In 2022 the kettle cost 30 euros.", "In 2022 the kettle cost 35 euros."),
        ("The firm was founded in 1990.", "The firm was founded in 1991."),
        ("Lamp 7 burns 3 litres.", "Lamp 7 burns 4 litres."),
        ("Table 3. Sizes: key text: A 1184 1088", "Table 5. Sizes: key text: A 1185 1088"),
        ("City: Kiel, 2023 Revenue: 57", "City: Kiel, 2023 Revenue: 44"),
        ("The kettle holds 1.5 litres.", "The kettle holds two litres."),
    ],
)
def test_of_the_same_year_table_and_thing_it_does(left, right):
    """Also where a table has another number, or a year is the figure."""
    found = stated(left, right)
    assert contradiction(QUESTION, found, evidence("new", "old")) == tuple(found)


def test_rows_of_tables_with_other_titles_do_not():
    """The titles of passages and documents; a year among them counts for sentences too."""
    rows = [
        replace(each, source="Kiel | 5")
        for each in stated("City: Kiel, Sold: 5", "City: Kiel, Sold: 6")
    ]
    prose = stated("The shop sold 5 kettles.", "The shop sold 6 kettles.")

    assert contradiction(QUESTION, rows, titled("Shops in the north", "Shops in the south")) is None
    assert contradiction(QUESTION, rows, titled("Shops", "Shops")) == tuple(rows)
    assert contradiction(QUESTION, prose, titled("Shops", "Other shops")) == tuple(prose)
    assert contradiction(QUESTION, prose, titled("Report of 2022", "Report of 2023")) is None
    assert (
        contradiction(
            QUESTION, stated("It sold 5 kettles.", "It sold 6 kettles."), titled("Old shop", "Shop")
        )
        is None
    )


def titled(*titles):
    """A passage of each document, under these titles."""
    both = zip(evidence("a", "b"), titles, strict=True)
    return [Evidence(item.key, replace(item.chunk, section=title), 1.0) for item, title in both]


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
