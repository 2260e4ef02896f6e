"""Score statements by their fit to the question.

The fit is a weighted sum of features of the statement and its passage; benchmarks/choice.py fits
the weights. A reader then reads the best ones together with the question.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

import numpy as np
import numpy.typing as npt

from esrag.evidence import Statement
from esrag.evidence.counts import lacks_asked_number
from esrag.evidence.features import NAMES, Scores, measure
from esrag.evidence.sides import find_begun, find_common, turn
from esrag.evidence.weights import OFFSET, WEIGHTS
from esrag.records import Chunk, Evidence
from esrag.text import get_heading
from esrag.text.questions import ask_meaning, find_core, read_question, read_sides, split_sides
from esrag.text.terms import terms

# How many statements the reader gets: the best by their features, and by words near the question's,
# a few at a time until one is surely an answer. Of 507 answerable questions about documents with
# which nothing was trained, 338 got a good answer with 6 for all, and 359 so. All in place of 20
# are no better.
READ_AT_MOST, READ_AT_ONCE, READ_DEFINING, READ_NAMED, READ_COMPARING = 20, 2, 2, 4, 6
READ_UNTIL = 3.0  # the reader's score of a statement, from which it reads no others
# So many in a row that surely answer nothing end the reading, too: over five sets of questions it
# then reads 12 statements instead of 16, and of 344 verdicts two change, one from good to refused.
READ_IN_VAIN, NO_ANSWER = 6, -6.0
READ_BY_WORDS = 0.5
# The weights of features and reader. The offset moves the best fit near 0.55.
FIT_OFFSET, FIT_BY_FEATURES, FIT_BY_READING = 0.3, 0.5, 0.014
FIT_ALONE = 0.8  # without a reader, so that the best of all stay below 1, where they would be equal
MAX_HEADING = 80  # characters

_DEFINING = [NAMES.index(name) for name in ("definition", "defines", "heads")]


class Read(Protocol):
    """The reader, as `esrag.embedding.reader` has it."""

    def __call__(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how well each statement answers the question."""

    def compare(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how near each statement's words come to the question's, 0..1."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A question, the evidence for it, and all that this states."""

    question: str
    evidence: Sequence[Evidence]
    statements: Sequence[Statement]


def score(stated: Stated, read: Read | None = None) -> tuple[Statement, ...]:
    """Return the statements with fits, 0..1, readings, and whether they define what is asked for.

    `read` is given the best statements with their headings.
    """
    features = measure(stated.question, stated.evidence, stated.statements)
    defines = np.any(features[:, _DEFINING] > 0, axis=1)
    fits: Scores = np.vecdot(features, WEIGHTS) + OFFSET  # not @: see measure_products
    readings = np.full(len(features), np.nan)
    if read is None:
        fits *= FIT_ALONE
    else:
        readings = _read_best(stated, fits, read, defines)
        fits = FIT_OFFSET + FIT_BY_FEATURES * fits + FIT_BY_READING * _fill(readings)

    return tuple(
        replace(
            statement,
            fit=float(fit),
            defines=bool(defined),
            reading=_optional(reading),
        )
        for statement, fit, defined, reading in zip(
            stated.statements, fits.clip(0, 1).round(6), defines, readings, strict=True
        )
    )


def _fill(scores: Scores) -> Scores:
    """Return scores in which what was not read is as bad as the worst that was."""
    known = scores[~np.isnan(scores)]
    return np.nan_to_num(scores, nan=known.min() if len(known) else 0.0)


def _optional(score: float) -> float | None:
    return None if np.isnan(score) else float(score)


def _read_best(stated: Stated, fits: Scores, read: Read, defines: npt.NDArray[np.bool_]) -> Scores:
    """Return the reader's scores of the best statements, and NaN for those that it did not get.

    It starts with the best definitions, and the best about each side of a comparison, too. It reads
    for the core of the question as well: "In curling, what is a crampit?" is nothing like the short
    questions that it was trained with.
    """
    near = read.compare(stated.question, [one.text for one in stated.statements])
    ranked = np.argsort(-(fits + READ_BY_WORDS * near).round(6), kind="stable")
    compared = _find_sides(stated, ranked)
    best = ranked[: READ_COMPARING if compared else READ_AT_ONCE]
    named = _find_named(stated, ranked)
    first = [*dict.fromkeys([*best, *ranked[defines[ranked]][:READ_DEFINING], *compared, *named])]
    others = [n for n in ranked[:READ_AT_MOST] if n not in first]

    chunks = {item.key: item.chunk for item in stated.evidence}
    asked, meaning = stated.question, ask_meaning(stated.question)
    sides = split_sides(asked)
    wordings = [*dict.fromkeys((asked, find_core(asked))), *sides]
    readings, read_so_far = np.full(len(fits), np.nan), list[Scores]()
    has_asked = list[bool]()  # the number that a question asks for, if it asks for one
    for numbers in (first, *_cut(others, READ_AT_ONCE)):
        found = [stated.statements[n] for n in numbers]
        texts = [with_headings(one, chunks[one.key]) for one in found]
        scores = np.array([read(wording, texts) for wording in wordings])
        if meaning and (told := np.flatnonzero(defines[numbers])).size:
            plainly = read(meaning, [texts[n] for n in told])
            scores[0, told] = np.maximum(scores[0, told], plainly)
        read_so_far.append(scores)
        readings[numbers] = scores.max(axis=0)
        has_asked += [not lacks_asked_number(asked, one) for one in found]
        if _is_settled(np.hstack(read_so_far), has_asked, len(sides)):
            break
    return readings.round(4)


def _is_settled(scores: Scores, has_asked: Sequence[bool], sides: int) -> bool:
    """Return whether a statement is surely an answer, or the last ones read are not.

    `scores` has a row for each wording, the last ones for the sides of a comparison: each of these
    needs an answer. What lacks the number that is asked for is none.
    """
    last = scores[:, -READ_IN_VAIN:]
    in_vain = last.shape[1] >= READ_IN_VAIN and last.max() < NO_ANSWER
    sure = np.where(has_asked, scores, -np.inf)
    best = sure[-sides:].max(axis=1) if sides else sure.max(keepdims=True)
    return bool(in_vain or best.min() >= READ_UNTIL)


def _cut(numbers: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (numbers[start : start + size] for start in range(0, len(numbers), size))


def _find_named(stated: Stated, ranked: npt.NDArray[np.int64]) -> list[int]:
    """Return the places of the best statements that name what a definition is asked of."""
    subject = set(terms(read_question(stated.question).subject))
    if not subject:
        return []
    named = (int(n) for n in ranked if subject <= set(terms(stated.statements[n].text)))
    return [*islice(named, READ_NAMED)]


def _find_sides(stated: Stated, ranked: npt.NDArray[np.int64]) -> list[int]:
    """Return the places of the best statements about the sides of a comparison, if it is one.

    These are what begins with each side, and what begins with one and is about both.
    """
    sides = read_sides(stated.question)
    if not sides:
        return []
    best = [stated.statements[n] for n in ranked]
    found = [find_begun(best, side, other) for side, other in turn(sides)]
    found.append(find_common(best, sides))
    return [int(ranked[best.index(each)]) for each in found if each]


def with_headings(statement: Statement, chunk: Chunk) -> str:
    """Return a statement after its document's title and the headings above it."""
    return put_headings(statement.text, chunk.title, statement.section, statement.under)


def put_headings(text: str, title: str, section: str, under: str = "") -> str:
    """Return a text after the title, the last heading of its section, and one `under` that."""
    headings = (title, get_heading(section), under)
    named = (heading[:MAX_HEADING] for heading in headings if heading)
    return ": ".join(dict.fromkeys([*named, text]))
