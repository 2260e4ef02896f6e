"""Questions and answers of a document: what stands below the question is its answer."""

from dataclasses import replace

import pytest

from esrag.evidence import Statement, find_best
from esrag.evidence.asked import find_below
from esrag.evidence.statements import BELOW, statements
from esrag.verifying.drafts import to_evidence

PAGE = (
    "Do you give courses?\n\nThere are courses on Saturdays. They cost 180 euros.\n\n"
    "How long does an order take?\n\nSix weeks, because each piece is fired twice. "
    "A deposit is due.\n\n"
    "## Can I return a mug?\n\nSend it back in its box.\n\n"
    "Is a mug safe?  Why?\n\n    Yes, since 2019.\n"
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
        ("Is a mug safe?", "Yes, since 2019."),
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


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Harbour pool FAQ", "May I swim in the harbour pool?"),
        ("PEP 372: Ordered dictionaries", "May I swim under PEP 372?"),
    ],
)
def test_the_question_may_name_the_document(title, question):
    """By words of its title, or by its number. In another document it asks for more."""
    (item,) = to_evidence(["May I swim?\n\nOnly in July.\n"])
    told = Statement("c1", 0, "Only in July.", under="May I swim?")
    named, other = (
        replace(item, chunk=replace(item.chunk, title=name)) for name in (title, "Oil and lamps")
    )
    assert find_below(question, [told], [named]) == {0}
    assert not find_below(question, [told], [other])


def test_the_title_of_a_row_may_be_the_question():
    """As in a table of questions and answers; a title counts for the beginning of its document."""
    (item,) = to_evidence(["Only in July or August."])
    row = replace(item, chunk=replace(item.chunk, title="May I swim?", ordinal=0))
    assert find_best(statements("May I swim?", (row,))).fit >= BELOW

    later = replace(item, chunk=replace(row.chunk, ordinal=1))
    assert find_best(statements("May I swim?", (later,))).fit < BELOW


def test_a_row_may_be_a_question_and_its_answer():
    """Only the answer is told. One of a word or two is told with the question."""
    page = (
        "| Question | Answer |\n| --- | --- |\n| May I swim? | Only in July or August. |\n"
        "| May I fish? | Never. |\n"
    )
    assert best("May I swim?", page)[0] == "Only in July or August."
    assert best("May I fish?", page)[0] == "Question: May I fish?, Answer: Never."


def test_a_line_below_a_question_is_no_heading():
    """As reStructuredText underlines one."""
    page = "Is the pool open?\n~~~~~~~~~~~~~~~~~\n\nFrom nine to five.\n"
    assert best("Is the pool open?", page)[1] >= BELOW


def test_a_remark_in_brackets_is_no_answer():
    page = "[last revised in May 2000]\n\n16-Oct-2000: 2.0 final"
    assert best("When was 2.0 revised and final?", page)[0] == "16-Oct-2000: 2.0 final"
