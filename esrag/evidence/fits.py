"""Score statements by their fit to the question.

The fit is a weighted sum of features of the statement and its passage; benchmarks/choice.py fits
the weights. A reader then reads the best ones together with the question, and then what stands
around the best of the best passages.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from esrag.evidence import Statement
from esrag.evidence.features import NAMES, Scores, measure
from esrag.evidence.sides import find_begun, find_common, turn
from esrag.evidence.weights import OFFSET, WEIGHTS
from esrag.records import Chunk, Evidence
from esrag.text.questions import find_core, read_sides

# How many statements the reader gets: the best by their features, and by words near the question's.
# Of 155 questions about documents with which nothing was trained, the best of all statements was
# right for 115 with 6, 7, or all of them, and for 110 of 7 without the near words.
READ, READ_DEFINING = 6, 2
READ_BY_WORDS = 0.5
# The weights of features, reader and place: for the same questions, 0.8 and 1.5 times this share
# for the reader make no difference. The offset moves the best fit near 0.55.
FIT_OFFSET, FIT_BY_FEATURES, FIT_BY_READING, FIT_BY_PLACE = 0.3, 0.5, 0.014, 0.028
LOCATED, WINDOW = 2, 450  # passages that are read in one piece, and characters of each
FIT_ALONE = 0.8  # without a reader, so that the best of all stay below 1, where they would be equal
MAX_HEADING = 80  # characters

_DEFINING = [NAMES.index(name) for name in ("definition", "defines", "heads")]


class Read(Protocol):
    """The reader, as `esrag.embedding.reader` has it."""

    def __call__(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how well each statement answers the question."""

    def compare(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how near each statement's words come to the question's, 0..1."""

    def locate(
        self, question: str, passages: Sequence[tuple[str, Sequence[str]]]
    ) -> Sequence[Scores]:
        """Return for each passage how surely each of its sentences answers the question."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A question, the evidence for it, and all that this states."""

    question: str
    evidence: Sequence[Evidence]
    statements: Sequence[Statement]


def score(stated: Stated, read: Read | None = None) -> tuple[Statement, ...]:
    """Return the statements with fits, 0..1, readings, and whether they define what is asked for.

    `read` is given the best statements with their headings, then those around the best ones.
    """
    features = measure(stated.question, stated.evidence, stated.statements)
    defines = np.any(features[:, _DEFINING] > 0, axis=1)
    fits: Scores = features @ WEIGHTS + OFFSET
    readings = located = np.full(len(features), np.nan)
    if read is None:
        fits *= FIT_ALONE
    else:
        readings = _read_best(stated, fits, read, defines)
        fits = FIT_OFFSET + FIT_BY_FEATURES * fits + FIT_BY_READING * _fill(readings)
        located = _locate(stated, fits, read)
        fits += FIT_BY_PLACE * _fill(located)

    return tuple(
        replace(
            statement,
            fit=float(fit),
            defines=bool(defined),
            reading=_optional(reading),
            located=_optional(place),
        )
        for statement, fit, defined, reading, place in zip(
            stated.statements, fits.clip(0, 1).round(6), defines, readings, located, strict=True
        )
    )


def _fill(scores: Scores) -> Scores:
    """Return scores in which what was not read is as bad as the worst that was."""
    known = scores[~np.isnan(scores)]
    return np.nan_to_num(scores, nan=known.min() if len(known) else 0.0)


def _optional(score: float) -> float | None:
    return None if np.isnan(score) else float(score)


def _read_best(stated: Stated, fits: Scores, read: Read, defines: npt.NDArray[np.bool_]) -> Scores:
    """Return the reader's scores of the best statements, and NaN for the others.

    It also gets the best definitions, and the best about each side of a comparison. It reads them
    for the core of the question, too: "In curling, what is a crampit?" is nothing like the short
    questions that it was trained with.
    """
    chunks = {item.key: item.chunk for item in stated.evidence}
    near = read.compare(stated.question, [one.text for one in stated.statements])
    ranked = np.argsort(-(fits + READ_BY_WORDS * near).round(6), kind="stable")
    compared = _find_sides(stated, ranked)
    best = [*dict.fromkeys([*ranked[:READ], *ranked[defines[ranked]][:READ_DEFINING], *compared])]
    found = [stated.statements[n] for n in best]

    texts = [with_headings(one, chunks[one.key]) for one in found]
    readings = np.full(len(fits), np.nan)
    readings[best] = read(stated.question, texts)
    if (core := find_core(stated.question)) != stated.question:
        readings[best] = np.maximum(readings[best], read(core, texts))
    return readings.round(4)


def _locate(stated: Stated, fits: Scores, read: Read) -> Scores:
    """Return how surely statements answer where they stand, and NaN for those that are not read.

    The best passages are read, each around the statement that fits best. Their rows and lists are
    taken to be as sure as the best sentence of the same passage: the reader was taught with
    sentences, and makes less of others than they are worth.
    """
    chunks = {item.key: item.chunk for item in stated.evidence}
    passages = rank_passages(stated.statements, fits)[:LOCATED]
    windows = [_find_window(stated.statements, places, fits) for places in passages]
    texts = [
        (
            put_headings("", chunks[stated.statements[window[0]].key]),
            [stated.statements[place].text for place in window],
        )
        for window in windows
    ]
    located = np.full(len(fits), np.nan)
    found = read.locate(stated.question, texts)
    for places, window, scores in zip(passages, windows, found, strict=True):
        located[window] = scores
        wide = [place for place in places if _is_wide(stated.statements[place])]
        located[wide] = max(scores[~np.isnan(scores)], default=np.nan)
    return located.round(4)


def _is_wide(statement: Statement) -> bool:
    """Return whether a statement is a list or a row."""
    return statement.items > 0 or len(statement.cells) > 1


def rank_passages(statements: Sequence[Statement], fits: Scores) -> list[list[int]]:
    """Return the places of each passage's statements, that with the best statement first."""
    passages: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        passages.setdefault(statement.key, []).append(place)
    return sorted(passages.values(), key=lambda places: -fits[places].max())


def _find_window(
    statements: Sequence[Statement], places: Sequence[int], fits: Scores
) -> Sequence[int]:
    """Return the places around the best statement of a passage."""
    sizes = [len(statements[place].text) for place in places]
    start, end = find_around(sizes, int(fits[places].argmax()))
    return places[start:end]


def find_around(sizes: Sequence[int], best: int, room: int = WINDOW) -> tuple[int, int]:
    """Return where a run of sizes around one starts and ends that is at most `room` in all.

    >>> find_around([400, 90, 80, 100, 500], 2)
    (1, 4)
    """
    start, end, grew = best, best + 1, True
    while grew:
        left = room - sum(sizes[start:end])
        before = start > 0 and sizes[start - 1] <= left
        left -= sizes[start - 1] if before else 0
        after = end < len(sizes) and sizes[end] <= left
        start, end, grew = start - before, end + after, before or after
    return start, end


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
    return put_headings(statement.text, chunk, statement.under)


def put_headings(text: str, chunk: Chunk, under: str = "") -> str:
    """Return a text of a chunk after the title, the chunk's heading, and one `under` that."""
    headings = (chunk.title, chunk.section.split(" > ")[-1], under)
    named = (heading[:MAX_HEADING] for heading in headings if heading)
    return ": ".join(dict.fromkeys([*named, text]))
