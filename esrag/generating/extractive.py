"""The extractive generator: it answers with the documents' own sentences, and invents nothing.

The statement that fits the question best is taken, then others that come near it, and all are put
in reading order.
"""

import re
from collections.abc import Sequence

from esrag.citations import REFUSAL
from esrag.evidence import NEAR, Statement
from esrag.evidence.algorithms import sentences
from esrag.evidence.cells import answer_cells
from esrag.evidence.questions import read_question, read_sides
from esrag.generating import Draft, GenerationTask, GeneratorOptions
from esrag.text.terms import compounds, terms
from esrag.verifying.support import Unsupported, support

MAX_WORDS = 60  # of an answer, from which no sentence is added to the best one
MAX_COMPARED = 80  # words of a passage that goes on comparing
FRONT = 4  # terms at the start of a statement that say what it is about
SIDE = 0.7  # share of the best fit that a statement about one side of a comparison has at least
ALIKE = 0.8  # sentences that share more of their words than this say the same

_STEPS = re.compile(r"\bsteps\b", re.IGNORECASE)
_REFERS_BACK = re.compile(r"(?:It|They|This|These|Such|He|She)\s")


class ExtractiveGenerator:
    """Quotes the sentences that fit the question best; needs no model."""

    model = "extractive"
    prompted = takes_documents = False

    def __init__(self, _: GeneratorOptions) -> None:
        """Accept the options; none is used."""

    def generate(self, task: GenerationTask) -> Draft:
        """Return up to `max_sentences` sentences, each with its marker."""
        text = _steps(task) or _cells(task) or _sentences(task) or REFUSAL
        task.on_piece(text)
        return Draft(text)


def _steps(task: GenerationTask) -> str:
    """Return the steps of the algorithm in question; "" for any other question."""
    return task.algorithm if _STEPS.search(task.question) else ""


def _cells(task: GenerationTask) -> str:
    """Return the labelled cells of tables that the question asks for; "" without any.

    Cells that their passage would not support, such as one that repeats a number, are left to the
    whole row.
    """
    found = answer_cells(task.question, task.evidence, task.statements)
    chunks = {item.key: item.chunk for item in task.evidence}
    try:
        for key, text in found:
            support(text, [chunks[key]])
    except Unsupported:
        return ""
    return " ".join(f"{text} [{key}]" for key, text in found)


def _sentences(task: GenerationTask) -> str:
    return " ".join(
        _cite(statement)
        for statement in _choose(task.question, task.statements, task.max_sentences)
    )


def _choose(question: str, found: Sequence[Statement], max_sentences: int) -> list[Statement]:
    """Return the best statement and others near it, in reading order; ties go to the earlier one.

    A comparison has the best statement for each of its sides. The others add something, and are
    about the same as the best one: if that names ML-KEM-768 as the question does, the row of
    ML-KEM-512 is left out.
    """
    if not found:
        return []
    ranked = sorted(found, key=lambda statement: (-statement.fit, statement.order))
    chosen = _choose_sides(question, ranked, found) or _choose_near(question, ranked, found)
    return sorted(chosen[:max_sentences], key=lambda statement: statement.order)


def _choose_near(
    question: str, ranked: Sequence[Statement], found: Sequence[Statement]
) -> list[Statement]:
    """Return the best statement, and others that come near it and add something, if all are short.

    A definition is followed by the sentence after it that goes on about the same: "A KEM has three
    algorithms. These …".
    """
    best, *others = ranked
    chosen = [best]
    near = [each for each in others if each.fit >= NEAR * best.fit]
    named = compounds(question) & set(terms(best.text))

    for statement in [*_find_explanation(question, best, found), *near]:
        if (
            sum(map(_count_words, [*chosen, statement])) <= MAX_WORDS
            and named.issubset(terms(statement.text))
            and all(_overlap(statement, other) < ALIKE for other in chosen)
        ):
            chosen.append(statement)

    return chosen


def _count_words(statement: Statement) -> int:
    return len(statement.text.split())


def _find_explanation(
    question: str, best: Statement, found: Sequence[Statement]
) -> list[Statement]:
    """Return the statement that goes on where a definition ends, if there is one."""
    if read_question(question).kind != "definition":
        return []
    after = [each for each in found if (each.key, each.order) == (best.key, best.order + 1)]
    return [each for each in after if _REFERS_BACK.match(each.text)]


def _choose_sides(
    question: str, ranked: Sequence[Statement], found: Sequence[Statement]
) -> list[Statement]:
    """Return what a comparison asks for; nothing for another question.

    That is one statement for both sides with those after it that go on about them, or the best for
    each side.
    """
    sides = read_sides(question)
    if not sides:
        return []

    told = [(statement, set(terms(statement.text))) for statement in ranked]
    of_all = [each for each, words in told if all(side <= words for side in sides)]
    best = [_best_about(side, [each for each, words in told if side <= words]) for side in sides]
    if None in best:
        return []
    least = min(each.fit for each in best if each)
    if least < SIDE * ranked[0].fit:
        return []
    if of_all and of_all[0].fit >= least:
        return _take_while_compared(of_all[0], sides, found)
    return list(dict.fromkeys(each for each in best if each))


def _best_about(side: set[str], ranked: Sequence[Statement]) -> Statement | None:
    """Return the best statement that begins with a side of a comparison, else the best one."""
    about = (each for each in ranked if not side.isdisjoint(_begin(each)))
    return next(about, next(iter(ranked), None))


def _begin(statement: Statement) -> list[str]:
    """Return the first terms of a statement; of a row, those of its first cell."""
    first, is_row, _ = statement.source.strip("| ").partition("|")
    return terms(first) if is_row else terms(statement.text)[:FRONT]


def _take_while_compared(
    first: Statement, sides: Sequence[set[str]], found: Sequence[Statement]
) -> list[Statement]:
    """Return a statement with those after it in its passage that go on about one of the sides."""
    chosen = [first]
    for statement in (each for each in found if each.order > first.order):
        words = set(terms(statement.text))
        if (
            (statement.key, statement.order) != (first.key, chosen[-1].order + 1)
            or not any(side <= words for side in sides)
            or sum(map(_count_words, [*chosen, statement])) > MAX_COMPARED
        ):
            break
        chosen.append(statement)
    return chosen


def _overlap(left: Statement, right: Statement) -> float:
    """Return the share of the shorter statement's words that the other one has too."""
    a, b = set(terms(left.text)), set(terms(right.text))
    return len(a & b) / max(min(len(a), len(b)), 1)


def _cite(statement: Statement) -> str:
    """Return the text with its marker after each sentence that a reader would see in it."""
    return " ".join(f"{sentence} [{statement.key}]" for sentence in sentences(statement.text))
