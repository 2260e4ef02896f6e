"""Contradiction: two documents that say the same of something, with other figures."""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from esrag.answering import Statement
from esrag.records import Evidence
from esrag.terms import terms

NEAR = 0.9  # only what fits nearly as well as the best counts: the rest would not be answered with

_FIGURE = re.compile(r"\d[\d.,]*")


def contradiction(found: Sequence[Statement], evidence: Sequence[Evidence]) -> tuple[Statement, Statement] | None:
    """The first two of the statements that fit best which differ in their figures alone, from two documents."""
    documents = {item.key: item.chunk.doc_id for item in evidence}
    best = max((statement.fit for statement in found), default=0.0)
    near = [statement for statement in found if statement.fit >= NEAR * best]
    return next((pair for pair in combinations(near, 2) if _disagree(*pair, documents)), None)


def _disagree(left: Statement, right: Statement, documents: Mapping[str, str]) -> bool:
    if documents[left.key] == documents[right.key]:
        return False
    (words, figures), (other_words, other_figures) = _parts(left.text), _parts(right.text)
    return words == other_words and bool(figures and other_figures) and figures != other_figures


def _parts(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a statement and its figures; 768 in ML-KEM-768 is a word's."""
    found = frozenset(terms(text))
    figures = frozenset(term for term in found if _FIGURE.fullmatch(term))
    return found - figures, figures
