"""Score the sentences and table rows of the evidence by their fit to the question.

The fit is the sum of the parts that are weighted below. The weights were chosen by hand near the
best of a grid over one half of 565 questions of QED, CLAPNQ and SQuAD 2.0 (how often the best
sentence is the gold one). benchmarks/answers.py measures them on the other half and does not fit
them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from esrag.citations import MARKERS
from esrag.embedding import Vectors
from esrag.evidence import NEAR, Statement
from esrag.evidence.labels import of_the_same
from esrag.evidence.quantities import of_the_same_quantity
from esrag.evidence.tables import CAPTION, Row, TableReader, iter_captioned_rows, parse_named_row
from esrag.records import Evidence
from esrag.text import ITEM, sentence_spans
from esrag.text.terms import compounds, rarities, shares, terms

MEANING = 0.55  # cosine with the question
WORDS = 0.20  # share of the question's words in the sentence, with rare words weighted more
PASSAGE = 0.15  # the same share in the passage around it
PLACE = 0.05  # 1 / rank of the passage
LENGTH = 0.05  # a sentence of a dozen words states more than a fragment

FULL_LENGTH_WORDS = 12

# Encoding takes most of an answer's time, so meanings are first estimated from the passage's cosine
# with the question and the share of the question's words in the statement. The most promising
# statements are encoded first, then those that would come near the best if they were DOUBT nearer
# in meaning than estimated. Fitted by least squares on the 1,689 questions of QED, CLAPNQ and SQuAD
# 2.0 that are not reported on: 38 % of the tokens were encoded, always with the best statement, and
# with those near it except for seven questions.
CONSTANT, BY_CLOSENESS, BY_WORDS, BY_PASSAGE = 0.03, 0.65, 0.45, -0.15
FIRST, DOUBT = 6, 0.3

TECHNICAL = (
    3.0  # a compound such as ML-KEM-768 names the subject; its neighbour in a table would be wrong
)

# Fewer words are a heading or a page number; more characters do not read as one sentence.
MIN_QUOTE_WORDS, MAX_CHARACTERS = 3, 700

_HEADING = re.compile(  # ATX, an underlined line, or an algorithm's
    r"#{1,6}\s|[^\n]*\n([-=~^\"'`#*+.:_])\1{2,}\s*\Z|Algorithm\s+\d{1,3}[.:]?\s+\S+\s*\Z"
)
# Dots that lead to a page, in a table of contents.
_LEADERS = re.compile(r"(?:(?:\s\.){4}|\.{5})[ .]{0,200}[\divxlc]{1,6}\s*(?:$|[A-Z])", re.MULTILINE)
_BULLET = re.compile(r"\A(?:[-*•–]|\d{1,2}[.)])\s+")
_NUMBERED = re.compile(r"\A(\d{1,2})\.\s")


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a passage, its original span on one line, and its row if it is one."""

    text: str
    source: str
    row: Row | None = None


Encode = Callable[[Sequence[str]], Vectors]
Scores = npt.NDArray[np.float64]


def statements(
    question: str, evidence: Sequence[Evidence], encode: Encode | None, *, whole: bool = False
) -> tuple[Statement, ...]:
    """Return every distinct sentence and table row of the evidence in order, with its fit.

    `encode` gives the meanings. A statement that cannot come near the best is not encoded, and its
    fit lacks its meaning, unless the fits are to be `whole`. Statements about another member of a
    series than the question names (lamp 8 instead of lamp 7) are left out, and so are those that
    give another quantity ("which lamp burns 80 litres?").
    """
    found = of_the_same(question, _found(evidence), evidence)
    found = of_the_same_quantity(question, found)
    fits = _fits(question, evidence, found, encode, whole=whole) if found else ()
    return tuple(
        replace(statement, fit=float(fit)) for statement, fit in zip(found, fits, strict=True)
    )


def _found(evidence: Sequence[Evidence]) -> list[Statement]:
    seen: set[str] = set()
    found: list[Statement] = []

    for item in evidence:
        for text, source in iter_statements(item.chunk.text):
            line = to_line(text)
            if (
                len(line.split()) >= MIN_QUOTE_WORDS
                and len(line) <= MAX_CHARACTERS
                and line not in seen
            ):
                seen.add(line)
                found.append(Statement(item.key, len(found), line, source))

    return found


def _fits(
    question: str,
    evidence: Sequence[Evidence],
    found: Sequence[Statement],
    encode: Encode | None,
    *,
    whole: bool,
) -> Scores:
    """Return the fits, 0..1, shape (len(found),); the parts are scaled up without an encoder."""
    rank = {item.key: n for n, item in enumerate(evidence)}
    place = [rank[statement.key] for statement in found]
    texts = [statement.text for statement in found]
    held = [set(terms(text)) for text in texts]
    passages = [set(terms(f"{e.chunk.title}\n{e.chunk.section}\n{e.chunk.text}")) for e in evidence]
    asked = _weights(question, held)
    lengths = np.minimum([len(words) for words in held], FULL_LENGTH_WORDS) / FULL_LENGTH_WORDS
    words, around = _coverage(asked, held), _coverage(asked, passages)[place]
    fits: Scores = (
        WORDS * words + PASSAGE * around + PLACE / (1 + np.array(place)) + LENGTH * lengths
    )

    if encode is None:
        fits /= 1 - MEANING
    else:
        guesses = (
            CONSTANT
            + BY_CLOSENESS * _closeness(evidence)[place]
            + BY_WORDS * words
            + BY_PASSAGE * around
        )
        likely = (
            np.full(len(found), np.inf)
            if whole
            else fits + MEANING * np.minimum(1, guesses + DOUBT)
        )
        fits += MEANING * _meanings(question, texts, fits, likely, encode)

    return fits.round(6)


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


def _weights(question: str, held: Sequence[set[str]]) -> dict[str, float]:
    """Return the weight of each word of the question.

    It is log(1 + n / (1 + sentences with the word)), and more for compounds.
    """
    named = compounds(question)
    weights = rarities(dict.fromkeys(terms(question)), held)
    return {term: weight * (TECHNICAL if term in named else 1) for term, weight in weights.items()}


def _coverage(asked: dict[str, float], held: Sequence[set[str]]) -> Scores:
    """Return the share of the question's weight in each set of words, shape (len(held),)."""
    return np.array(shares(asked, held))


def strip_markers(text: str) -> str:
    """Return the text with anything that looks like our markers in round brackets.

    >>> strip_markers("See [c4] and [C1, c2].")
    'See (c4) and (C1, c2).'
    """
    return MARKERS.sub(lambda marker: f"({marker[0][1:-1]})", text)


def to_line(text: str) -> str:
    r"""Return a statement on one line, without its bullet and the markers of the document itself.

    >>> to_line("- It boils\nin three minutes [c4].")
    'It boils in three minutes (c4).'
    """
    return strip_markers(" ".join(_BULLET.sub("", text).split()))


def iter_statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield the text and the source of `lines`, without the rows."""
    return ((line.text, line.source) for line in lines(text))


def lines(text: str) -> Iterator[Line]:
    """Yield sentences as they are, and table rows with caption and header.

    Headings and tables of contents are left out.

    A sentence that introduces a list has the list appended if it is short. Its items are also
    statements of their own.
    """
    reader = TableReader(text)
    spans = sentence_spans(text)

    for number, (start, end) in enumerate(spans):
        span = text[start:end]
        source = " ".join(span.split())
        if "|" in span:
            yield from (Line(said, source, row) for said, row in reader.read(start, end))
        elif CAPTION.match(span):
            caption, *rest = span.split("\n")
            reader.pass_caption(caption, end)
            yield from (
                Line(said, source, row) for said, row in iter_captioned_rows([caption, *rest])
            )
        else:
            reader.pass_by(start, end)
            if not (_HEADING.match(span) or _LEADERS.search(span)):
                said = _with_list(text, spans, number) if span.endswith(":") else span
                yield Line(said, source, parse_named_row(span))


def _with_list(text: str, spans: Sequence[tuple[int, int]], number: int) -> str:
    r"""Return a sentence with the list that follows it, if that is short.

    "1." becomes "1)", because it would look like the end of a sentence.

    >>> text = "Do this:\n1. Press. Wait.\n2. Let go.\nThen leave."
    >>> _with_list(text, sentence_spans(text), 0)
    'Do this: 1) Press. Wait. 2) Let go.'
    """
    start, end = spans[number]
    parts = [text[start:end]]

    for begins, ends in islice(spans, number + 1, None):
        item = text[begins:ends]
        if not (
            ITEM.match(item)
            or _NUMBERED.match(item)
            or (len(parts) > 1 and "\n" not in text[end:begins])
        ):
            break
        if ends - start > MAX_CHARACTERS:
            return parts[0]
        parts.append(_NUMBERED.sub(r"\1) ", item))
        end = ends

    return " ".join(parts)
