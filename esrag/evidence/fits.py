"""Score statements by their fit to the question.

The fit is a weighted sum of features of the statement and its passage, and of its nearness in
meaning to the question. benchmarks/choice.py fits the weights. A reader then reads the best ones
together with the question.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from esrag.embedding import Vectors
from esrag.evidence import NEAR, Statement
from esrag.evidence.features import NAMES, Scores, measure
from esrag.evidence.sides import find_begun, turn
from esrag.evidence.weights import MEANING, OFFSET, WEIGHTS, WORDS_ALONE, WORDS_ALONE_OFFSET
from esrag.records import Chunk, Evidence
from esrag.text.questions import read_sides

# Encoding takes most of an answer's time, so meanings are first estimated from the passage's cosine
# with the question and the share of the question's words in the statement. The most promising
# statements are encoded first, then those that would come near the best if they were DOUBT nearer
# in meaning than estimated. Fitted by least squares on the 1,689 questions of QED, CLAPNQ and SQuAD
# 2.0 that are not reported on. With the weights of that time, 38 % of the tokens were encoded,
# always with the best statement, and with those near it except for seven questions.
GUESS, GUESS_BY_CLOSENESS, GUESS_BY_WORDS, GUESS_BY_PASSAGE = 0.03, 0.65, 0.45, -0.15
FIRST, DOUBT = 6, 0.3

# How many statements the reader gets, and the weights of its score: chosen on 1,922 questions over
# documents that it was not trained with, with a reader from a training like that of the one that
# ships. The best statement was right for 49 % with 6 statements, for 51 % with 8 or 10, and for
# 52 % with 12. The fits are scaled and moved so that the best is near 0.6, and about two are near
# it.
READ, READ_DEFINING = 10, 3
FIT_OFFSET, FIT_BY_FEATURES, FIT_BY_READING = 0.527, 0.3, 0.03
MAX_HEADING = 80  # characters

_DEFINING = [NAMES.index(name) for name in ("definition", "heads")]

Encode = Callable[[Sequence[str]], Vectors]
Read = Callable[[str, Sequence[str]], Scores]


@dataclass(frozen=True, slots=True)
class Stated:
    """A question, the evidence for it, and all that this states."""

    question: str
    evidence: Sequence[Evidence]
    statements: Sequence[Statement]


def score(
    stated: Stated, encode: Encode | None, read: Read | None = None, *, whole: bool = False
) -> tuple[Statement, ...]:
    """Return the statements with fits, 0..1, readings, and whether they define what is asked for.

    A statement that cannot come near the best is not encoded, and its fit lacks its meaning, unless
    the fits are to be `whole`. `read` is given the best statements with their headings.
    """
    features = measure(stated.question, stated.evidence, stated.statements)
    defines = np.any(features[:, _DEFINING] > 0, axis=1)
    readings = np.full(len(features), np.nan)
    if encode is None:
        fits: Scores = features @ WORDS_ALONE + WORDS_ALONE_OFFSET
    else:
        fits = _add_meanings(stated, features, encode, whole=whole)
        if read is not None:
            readings = _read_best(stated, fits, read, defines)
            # What is not read is taken to answer as badly as the worst that is.
            known = np.nan_to_num(readings, nan=np.nanmin(readings))
            fits = FIT_OFFSET + FIT_BY_FEATURES * fits + FIT_BY_READING * known

    return tuple(
        replace(
            statement,
            fit=float(fit),
            defines=bool(defined),
            reading=None if np.isnan(reading) else float(reading),
        )
        for statement, fit, defined, reading in zip(
            stated.statements, fits.clip(0, 1).round(6), defines, readings, strict=True
        )
    )


def _add_meanings(stated: Stated, features: Scores, encode: Encode, *, whole: bool) -> Scores:
    """Return the fits by features and by nearness in meaning."""
    fits: Scores = features @ WEIGHTS + OFFSET
    rank = {item.key: n for n, item in enumerate(stated.evidence)}
    place = [rank[statement.key] for statement in stated.statements]
    guesses = (
        GUESS
        + GUESS_BY_CLOSENESS * _closeness(stated.evidence)[place]
        + GUESS_BY_WORDS * features[:, NAMES.index("words")]
        + GUESS_BY_PASSAGE * features[:, NAMES.index("around")]
    )
    likely = fits + (np.inf if whole else MEANING * np.minimum(1, guesses + DOUBT))

    texts = [statement.text for statement in stated.statements]
    return fits + MEANING * _meanings(stated.question, texts, fits, likely, encode)


def _read_best(stated: Stated, fits: Scores, read: Read, defines: npt.NDArray[np.bool_]) -> Scores:
    """Return the reader's scores of the best statements, and NaN for the others.

    It also gets the best definitions, and the best about each side of a comparison.
    """
    chunks = {item.key: item.chunk for item in stated.evidence}
    ranked = np.argsort(-fits, kind="stable")
    compared = _find_sides(stated, ranked)
    best = [*dict.fromkeys([*ranked[:READ], *ranked[defines[ranked]][:READ_DEFINING], *compared])]
    found = [stated.statements[n] for n in best]

    readings = np.full(len(fits), np.nan)
    readings[best] = read(stated.question, [with_headings(one, chunks[one.key]) for one in found])
    return readings.round(4)


def _find_sides(stated: Stated, ranked: npt.NDArray[np.int64]) -> list[int]:
    """Return the places of the best statements that begin with a side of the comparison, if any."""
    sides = read_sides(stated.question)
    if not sides:
        return []
    best = [stated.statements[n] for n in ranked]
    begun = [find_begun(best, side, other) for side, other in turn(sides)]
    return [int(ranked[best.index(each)]) for each in begun if each]


def with_headings(statement: Statement, chunk: Chunk) -> str:
    """Return a statement after its document's title and the headings above it."""
    return put_headings(statement.text, chunk, statement.under)


def put_headings(text: str, chunk: Chunk, under: str = "") -> str:
    """Return a text of a chunk after the title, the chunk's heading, and one `under` that."""
    headings = (chunk.title, chunk.section.split(" > ")[-1], under)
    named = (heading[:MAX_HEADING] for heading in headings if heading)
    return ": ".join(dict.fromkeys([*named, text]))


def _closeness(evidence: Sequence[Evidence]) -> Scores:
    """Return each passage's cosine with the question, shape (len(evidence),).

    A passage that the vector leg missed counts as near as the farthest one that it found. If it
    found none, every passage may be near.
    """
    known = [item.closeness for item in evidence if item.closeness is not None]
    least = min(known, default=1.0)
    return np.array([least if item.closeness is None else item.closeness for item in evidence])


def _meanings(
    question: str, texts: Sequence[str], parts: Scores, likely: Scores, encode: Encode
) -> Vectors:
    """Return each text's cosine with the question, 0..1, shape (len(texts),).

    It is 0 for a text that is not `likely` near the best. `parts` are the fits without meaning, and
    `likely` are upper bounds of the fits if the estimates are good.
    """
    meanings = np.zeros(len(texts), dtype=np.float32)
    ranked = np.argsort(-likely, kind="stable")
    read, left = ranked[:FIRST], ranked[FIRST:]
    asked, *rows = encode([question, *(texts[n] for n in read)])
    meanings[read] = np.clip(np.array(rows) @ asked, 0, 1)
    best = (parts + MEANING * meanings)[read].max()
    if len(left := left[likely[left] >= NEAR * best]):
        meanings[left] = np.clip(encode([texts[n] for n in left]) @ asked, 0, 1)
    return meanings
