"""Questions and answers of a document: what stands below the question is its answer."""

import pytest

from esrag.evidence import find_best
from esrag.evidence.statements import BELOW, statements
from esrag.verifying.drafts import to_evidence

PAGE = (
    "Do you give courses?\n\nThere are courses on Saturdays. They cost 180 euros.\n\n"
    "How long does an order take?\n\nSix weeks, because each piece is fired twice. "
    "A deposit is due.\n\n"
    "## Can I return a mug?\n\nSend it back in its box.\n"
)


def best(question, *texts):
    """The best statement, and how well it fits."""
    found = find_best(statements(question, tuple(to_evidence(texts or (PAGE,)))))
    return found.text, found.fit


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How long do orders take?", "Six weeks, because each piece is fired twice."),
        ("Can I return mugs?", "Send it back in its box."),
        ("can i return a MUG", "Send it back in its box."),
    ],
)
def test_what_stands_below_the_question_answers_it(question, answer):
    """Whether it is a line or a heading, and in other forms of its words."""
    said, fit = best(question)
    assert (said, fit >= BELOW) == (answer, True)


@pytest.mark.parametrize(
    "question",
    ["How much is an order?", "Who takes an order?", "Where do you give courses?", "Courses?"],
)
def test_another_question_is_none(question):
    """Of other words, or for another kind of answer."""
    assert best(question)[1] < BELOW


def test_the_best_of_what_stands_below_counts():
    page = "Is the gain revenue?\n\nHeld as follows. The gain from a sale is not revenue."
    assert best("Is the gain revenue?", page)[0] == "The gain from a sale is not revenue."


def test_an_answer_ends_with_its_passage_and_with_the_next_question():
    """Nothing of another passage stands below."""
    assert best("Is it open today?", "Is it open today?", "It rains today.")[1] < BELOW
    assert (
        best("Is it open today?", "Is it open today?\n\nIs it wet today?\n\nIt rains.")[1] < BELOW
    )
