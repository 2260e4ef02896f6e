"""The extractive generator: it answers with the documents' own sentences, and invents nothing.

The statement that fits the question best is taken, then others that come near it, and all are put
in reading order.
"""

import re
from collections import Counter
from collections.abc import Sequence

from esrag.citations import REFUSAL
from esrag.evidence import NEAR, Statement
from esrag.evidence.algorithms import sentences
from esrag.evidence.cells import answer_cells
from esrag.evidence.questions import read_sides
from esrag.generating import Draft, GenerationTask, GeneratorOptions
from esrag.text.figures import to_figures
from esrag.text.terms import compounds, terms
from esrag.verifying.support import Unsupported, support

MAX_WORDS = 60  # of an answer, from which no sentence is added to the best one
SIDE = 0.7  # share of the best fit that a statement about one side of a comparison has at least
ALIKE = 0.8  # sentences that share more of their words than this say the same

# Questions that ask for more than yes or no.
_ASKS_MORE = re.compile(r"\s*(?:what|how|which|who|whom|whose|when|where|why)\b", re.IGNORECASE)
_STEPS = re.compile(r"\bsteps\b", re.IGNORECASE)


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
    ranked = sorted(
        _keep_telling(question, found) or found,
        key=lambda statement: (-statement.fit, statement.order),
    )
    chosen = _choose_sides(question, ranked)[:max_sentences] or _choose_near(
        question, ranked, max_sentences
    )
    return sorted(chosen, key=lambda statement: statement.order)


def _choose_near(question: str, ranked: Sequence[Statement], max_sentences: int) -> list[Statement]:
    """Return the first statement and others near it that add something, while they are short."""
    named = compounds(question) & set(terms(ranked[0].text)) if ranked else set()
    chosen: list[Statement] = []
    words = 0

    for statement in ranked:
        if len(chosen) == max_sentences or statement.fit < NEAR * ranked[0].fit:
            break
        length = len(statement.text.split())
        if chosen and words + length > MAX_WORDS:
            continue
        if named.issubset(terms(statement.text)) and all(
            _overlap(statement, other) < ALIKE for other in chosen
        ):
            chosen.append(statement)
            words += length

    return chosen


def _choose_sides(question: str, ranked: Sequence[Statement]) -> list[Statement]:
    """Return one statement for both sides of a comparison, or the best for each; none otherwise."""
    sides = read_sides(question)
    if not sides:
        return []

    told = [(statement, set(terms(statement.text))) for statement in ranked]
    of_all = [each for each, words in told if all(side <= words for side in sides)]
    best = [next((each for each, words in told if side <= words), None) for side in sides]
    if None in best:
        return []
    least = min(each.fit for each in best if each)
    if least < SIDE * ranked[0].fit:
        return []
    if of_all and of_all[0].fit >= least:
        return of_all[:1]
    return list(dict.fromkeys(each for each in best if each))


def _keep_telling(question: str, found: Sequence[Statement]) -> list[Statement]:
    """Return the statements, except those that only introduce a list or repeat the question."""
    # By count: "Lamp 7 burns 7 litres" says more than "How many litres does lamp 7 burn?"
    known = Counter(terms(to_figures(question))) if _ASKS_MORE.match(question) else Counter[str]()
    return [
        each
        for each in found
        if not (each.text.endswith(":") or Counter(terms(to_figures(each.text))) <= known)
    ]


def _overlap(left: Statement, right: Statement) -> float:
    """Return the share of the shorter statement's words that the other one has too."""
    a, b = set(terms(left.text)), set(terms(right.text))
    return len(a & b) / max(min(len(a), len(b)), 1)


def _cite(statement: Statement) -> str:
    """Return the text with its marker after each sentence that a reader would see in it."""
    return " ".join(f"{sentence} [{statement.key}]" for sentence in sentences(statement.text))
