"""Find two documents that state the same thing with different figures."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from esrag.evidence import NEAR, Statement
from esrag.evidence.tables import parse_named_row
from esrag.records import Chunk, Evidence
from esrag.text.captions import CAPTION
from esrag.text.figures import to_figures, uses
from esrag.text.terms import terms

_FIGURE = re.compile(r"\d[\d.,]*")
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?!\w|[.,]\d)")
# "Lamp 7 burns".
_LABEL = re.compile(r"\A(?:the |an? )?[^\W\d_]+ (?:no\. ?|number )?(\d+)(?= [a-z])", re.IGNORECASE)
_STANDS_FOR = re.compile(r"(?:it|its|they|their|this|these|he|she|his|her)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Said:
    """The content of a statement: its words, its figures, and their units."""

    words: frozenset[str]
    figures: frozenset[str]
    units: frozenset[str]
    years: frozenset[str]
    label: str


def contradiction(
    question: str, found: Sequence[Statement], evidence: Sequence[Evidence]
) -> tuple[Statement, Statement] | None:
    """Return the first two near-best statements of two documents that differ only in figures.

    They do not contradict if the question names one of them by a word of a title or section, if
    they are rows of tables with different titles, or if they speak of different years or numbers of
    a series.
    """
    chunks = {item.key: item.chunk for item in evidence}
    best = max((statement.fit for statement in found), default=0.0)
    near = [statement for statement in found if statement.fit >= NEAR * best]
    asked = set(terms(question))
    pairs = (
        (a, b)
        for a, b in combinations(near, 2)
        if _of_one_thing(chunks[a.key], chunks[b.key], asked)
    )
    return next(((a, b) for a, b in pairs if _disagree(a, b, chunks[a.key], chunks[b.key])), None)


def _of_one_thing(left: Chunk, right: Chunk, asked: set[str]) -> bool:
    """Return whether two passages are of different documents that the question treats alike."""
    named, other = (asked & set(terms(chunk.headings)) for chunk in (left, right))
    return left.doc_id != right.doc_id and named == other


def _disagree(left: Statement, right: Statement, chunk: Chunk, other_chunk: Chunk) -> bool:
    said, other = _said(left.text), _said(right.text)
    if said.words != other.words or said.units != other.units or said.label != other.label:
        return False
    if (_is_row(left) or _STANDS_FOR.match(left.text)) and _subject(chunk) != _subject(other_chunk):
        return False
    # "founded in 1990" and "founded in 1991" differ only in their years.
    if said.years != other.years:
        return len(said.years) == len(other.years) and not (said.figures or other.figures)
    if not said.years and _differ(_years(chunk), _years(other_chunk)):
        return False
    return not (said.figures <= other.figures or other.figures <= said.figures)


def _said(text: str) -> _Said:
    """Return the content of a statement.

    The 768 in ML-KEM-768 is part of a word, 1.70 equals 1.7, and the 3 of "Table 3" is ignored.
    """
    text = to_figures(CAPTION.sub("", text, count=1) if CAPTION.match(text) else text)
    label = _label(text)
    found = frozenset(terms(text))
    figures = frozenset(term for term in found if _FIGURE.fullmatch(term))
    years = frozenset(_YEAR.findall(text))

    return _Said(
        words=found - figures,
        figures=frozenset(map(_plain, figures - years - {label})),
        units=frozenset(use.unit for use in uses(text)),
        years=years,
        label=label,
    )


def _label(text: str) -> str:
    """Return the 7 of "Lamp 7 burns 3 litres"; "" without a number after the first word.

    A measurement after the first word is not a label.
    """
    label = _LABEL.match(text)
    is_measured = label is not None and next(uses(text)).unit != ""
    return label[1] if label and not is_measured else ""


def _is_row(statement: Statement) -> bool:
    return statement.is_row or bool(
        CAPTION.match(statement.text) or parse_named_row(statement.text)
    )


def _subject(chunk: Chunk) -> frozenset[str]:
    """Return the words of a passage's titles, without chapter numbers."""
    return frozenset(term for term in terms(chunk.headings) if not _FIGURE.fullmatch(term))


def _years(chunk: Chunk) -> frozenset[str]:
    return frozenset(_YEAR.findall(chunk.headings.strip() or re.sub(r"\D+", " ", chunk.doc_id)))


def _differ(left: Iterable[str], right: Iterable[str]) -> bool:
    return bool(left) and bool(right) and left != right


def _plain(figure: str) -> str:
    return figure.rstrip("0").rstrip(".") if "." in figure else figure
