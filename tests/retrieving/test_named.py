"""A question that names a document also finds the passages of it that do not say its name."""

import pytest
from bounded import limited

from esrag.text.mentions import find_numbers

SETTINGS = {
    "embedding.model": "none",
    "chunking": {"size": 40, "overlap": 0},
    "retrieval": {"k": 5},
    "answer": {"refusal": 0, "neighbours": 0},
}
COVER = "\n\n".join(
    f"## Part {n}\n\nGuide SP 80-7 says what lamps need, part {n}." for n in range(9)
)
FACT = "\n\n## Wicks\n\nThree attempts may be made." + " Oil burns, and so do wicks." * 5
OTHER = "\n\n".join(
    f"## Boat {n}\n\nAn applicant has nine attempts to trim sail {n}." for n in range(9)
)
QUESTION = "How many attempts does an applicant have to trim it under SP 80-7?"


@pytest.fixture
def search(open_pages):
    """A function that searches two documents, of which one goes on about its own name."""
    index = open_pages({"sp80-7.md": f"# Lamps\n\n{COVER}{FACT}", "boats.md": OTHER}, SETTINGS)
    return lambda question: [hit.chunk.text for hit in index.search(question)]


def test_the_passage_is_found_by_the_rest_of_the_question(search):
    """Behind the best hits, and before those of other documents."""
    found = search(QUESTION)
    assert any("Three attempts" in text for text in found)


def test_a_question_with_little_else_stays(search):
    """Its hits are those of the whole question."""
    assert all("SP 80-7" in text for text in search("Is SP 80-7 long?"))


def test_only_capitals_with_a_number_are_the_number_of_a_document():
    """Words such as "lamp 7" name what is asked about."""
    questions = "Does lamp 7 burn?", "Does SP 80-7 burn?", "Is 7 A enough?"
    assert [*map(find_numbers, questions)] == [(), ("sp 80-7",), ()]


OPTIONS = "\n\n".join(
    f"## Sail {n}\n\nWhat does a lamp do when sail {n} moves? The lamp does what it should do."
    for n in range(12)
)
ENTRY = "\n\n## Others\n\n`--gc`: Collects garbage of wicks on 2024/03/04." + " It is cold." * 9


@pytest.mark.parametrize(
    ("question", "is_found"),
    [
        ("What does lamp --gc do when the sail moves?", True),
        ("What does a lamp do when sails move on 4 March 2024?", True),
        ("What does a lamp do when sails move?", False),
    ],
)
def test_an_option_and_a_date_find_their_passage(open_pages, question, is_found):
    """It shares few other words with the question, and others share many."""
    index = open_pages({"lamps.md": f"# Lamps\n\n{OPTIONS}{ENTRY}"}, SETTINGS)
    found = [hit.chunk.text for hit in index.search(question)]
    assert len(found) == 5
    assert any("garbage" in text for text in found) is is_found


def test_a_question_of_many_dates_takes_no_long_time(open_pages):
    """Each has forms of its own, all of which are looked for in each hit."""
    lamps = "\n\n".join(f"## Lamp {n}\n\nThe lamp {n} was lit in May." for n in range(60))
    index = open_pages({"lamps.md": lamps}, SETTINGS)
    dates = " and ".join(f"{1 + n % 28} May {1900 + n % 129}" for n in range(600))
    with limited(4):
        assert len(index.search(f"Which lamp was lit on {dates}?")) == 5
