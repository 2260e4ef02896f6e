"""Rows that a question names with a whole cell, among those of the same passage."""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

from esrag.evidence.tables import is_figure
from esrag.text.questions import read_sides
from esrag.text.terms import terms

MIN_NAME = 4  # characters
_WORD = re.compile(r"[^\W_]+(?:[-_.+/#]+[^\W_]+)*")
_SMALL = frozenset(("a", "an", "and", "of", "or", "the"))
_ASKED = re.compile(r"\b(?:what|which) ([\w-]{1,40}(?: [\w-]{1,40})?)", re.IGNORECASE)
_NAME = re.compile(r"[A-Z\d_]")  # in a word that is one, such as MongoDB

NamedRow = tuple[str, str, tuple[str, ...]]  # the key of its passage, its text, and its cells


def find_unnamed(question: str, rows: Sequence[NamedRow]) -> frozenset[NamedRow]:
    """Return the rows without a cell that the question has, where another of the passage has one.

    A name within a longer one, such as "Oblique" within "Reverse Oblique", is no name, nor is a
    single word in small letters, or what the caption of the row has.

    >>> rows = [("c1", "Text file", ("Text file", "a")), ("c1", "Mongodb", ("Mongodb", "b"))]
    >>> [text for _, text, _ in find_unnamed("Which file logs to MongoDB?", rows)]
    ['Text file']
    """
    if read_sides(question):
        return frozenset()  # a comparison is about several rows

    names = {row: _find_names(question, row) for row in rows}
    told = defaultdict[str, set[str]](set)
    for (key, *_), found in names.items():
        told[key] |= found
    whole = {
        key: {name for name in found if not _is_within(name, found)} for key, found in told.items()
    }
    return frozenset(
        row for row, found in names.items() if whole[row[0]] and found.isdisjoint(whole[row[0]])
    )


def is_asked_for(question: str, row: NamedRow, headers: Sequence[str]) -> bool:
    """Return whether a question asks for a column, and names the row with a cell of another.

    >>> row = ("c1", "y, Function: Gravity on / off", ("y", "Gravity on / off"))
    >>> is_asked_for("Which key turns gravity on or off?", row, ["Key", "Function"])
    True
    """
    nouns = _read_nouns(question)
    if not nouns:
        return False
    key, text, cells = row
    asked = [n for n, header in enumerate(headers) if set() < set(terms(header)) <= nouns]
    others = [cell for n, cell in enumerate(cells) if n not in asked]
    return bool(asked and others and _find_names(question, (key, text, tuple(others))))


def _find_names(question: str, row: NamedRow) -> set[str]:
    asked, single = _read(question)
    _, text, cells = row
    before, follows, _ = text.partition(f": {cells[0].strip()}")
    caption = _normalise(before if follows else "")
    names = {_normalise(cell) for cell in cells if not is_figure(cell)}
    return {
        name
        for name in names - single
        if len(name.strip()) >= MIN_NAME and name in asked and name not in caption
    }


@lru_cache(maxsize=8)  # a question is looked for in many rows
def _read(question: str) -> tuple[str, frozenset[str]]:
    """Return the words of a question, and those that name nothing alone."""
    words = _WORD.findall(question)
    return _normalise(question), frozenset(
        _normalise(word) for word in words if not _NAME.search(word)
    )


@lru_cache(maxsize=8)
def _read_nouns(question: str) -> frozenset[str]:
    """Return the terms of the words right after "what" or "which"."""
    found = _ASKED.search(question)
    return frozenset(terms(found[1]) if found else ())


def _is_within(name: str, others: set[str]) -> bool:
    return any(name in other and name != other for other in others)


def _normalise(text: str) -> str:
    """Return the words of a text in lower case without the smallest, a space on either side."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in _SMALL)
    return f" {' '.join(words)} "
