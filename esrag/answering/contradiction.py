"""Contradiction: two documents that say the same of something, with other figures."""

import re
from collections.abc import Sequence
from itertools import combinations

from esrag.answering import NEAR, Statement
from esrag.records import Chunk, Evidence
from esrag.terms import terms

_FIGURE = re.compile(r"\d[\d.,]*")


def contradiction(
    question: str, found: Sequence[Statement], evidence: Sequence[Evidence]
) -> tuple[Statement, Statement] | None:
    """The first two of the statements that fit best which differ in their figures alone, from two documents.

    Not so where the question names, by a word of a title or a section, which of the two is meant.
    """
    chunks = {item.key: item.chunk for item in evidence}
    best = max((statement.fit for statement in found), default=0.0)
    near = [statement for statement in found if statement.fit >= NEAR * best]
    asked = set(terms(question))
    pairs = ((a, b) for a, b in combinations(near, 2) if _of_one_thing(chunks[a.key], chunks[b.key], asked))
    return next(((a, b) for a, b in pairs if _disagree(a.text, b.text)), None)


def _of_one_thing(left: Chunk, right: Chunk, asked: set[str]) -> bool:
    """Whether two passages are of two documents, and of what the question does not tell apart."""
    named, other = (asked & set(terms(f"{chunk.title} {chunk.section}")) for chunk in (left, right))
    return left.doc_id != right.doc_id and named == other


def _disagree(left: str, right: str) -> bool:
    (words, figures), (other_words, other_figures) = _parts(left), _parts(right)
    return words == other_words and not (figures <= other_figures or other_figures <= figures)


def _parts(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a statement and its figures; 768 in ML-KEM-768 is a word's."""
    found = frozenset(terms(text))
    figures = frozenset(term for term in found if _FIGURE.fullmatch(term))
    return found - figures, figures
