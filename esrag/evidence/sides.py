"""Statements about one of the two things that a question compares."""

import re
from collections.abc import Sequence
from itertools import product

from esrag.evidence import Statement
from esrag.text.terms import STOP_WORDS, terms

FRONT = 3  # terms at the start of a statement that say what it is about
MAX_NAME = 60  # characters of an entry
SHARE = 0.5  # of the words of a side that a statement about it has at least

# The arguments of a command, such as "[--index] [<name>]".
_ARGUMENT = re.compile(r"\[[^\[\]]{0,60}\]|<[^<>]{0,60}>|\([^()]{0,60}\)")

Side = Sequence[str]  # the terms of one thing


def turn(sides: Sequence[Side]) -> list[tuple[Side, Side]]:
    """Return each side with the other one."""
    return list(zip(sides, sides[::-1], strict=True))


def find_begun(ranked: Sequence[Statement], side: Side, other: Side) -> Statement | None:
    """Return the best statement that begins with one side, and not with the other one too.

    `ranked` are statements, best first.
    """
    for statement in ranked:
        begin = _begin(statement)
        is_begun = not set(side).isdisjoint(begin) and set(other).isdisjoint(begin)
        if is_begun and is_about(side, statement):
            return statement
    return None


def find_entries(
    question: str, stated: Sequence[Statement], sides: Sequence[Side]
) -> list[Statement]:
    """Return what tells of each side under its own name, in one passage; nothing without both.

    "Full backup: copies all." and what follows the heading "Full backup" are such entries. The name
    has no words but the side's and others of the question.

    >>> stated = [Statement("c1", 0, "Full copy: Some."), Statement("c1", 1, "Old copy: More.")]
    >>> found = [find_entries("Full or old copy?", stated, [["full"], [s]]) for s in ("new", "old")]
    >>> [len(each) for each in found]
    [0, 2]
    """
    asked = {*terms(question), *sides[0], *sides[1]}
    named = [(each, set(_name(each))) for each in stated]
    named = [(each, name) for each, name in named if name and name <= asked]

    of_sides = (
        [
            each
            for each, name in named
            if name.isdisjoint(other) and (name <= set(side) or name.issuperset(side))
        ]
        for side, other in turn(sides)
    )
    return next(([*pair] for pair in product(*of_sides) if pair[0].key == pair[1].key), [])


def _name(statement: Statement) -> list[str]:
    """Return the terms of the name of an entry, before a colon or above it, or in a first cell.

    These are without its arguments.
    """
    if statement.is_row:
        return _begin(statement)
    name, colon, _ = statement.text.partition(":")
    return terms(_ARGUMENT.sub("", name) if colon and len(name) <= MAX_NAME else statement.under)


def find_common(ranked: Sequence[Statement], sides: Sequence[Side]) -> Statement | None:
    """Return the best statement that begins with a side and is about both."""
    for statement in ranked:
        begin = _begin(statement)
        is_begun = any(not set(side).isdisjoint(begin) for side in sides)
        if is_begun and is_about_all(sides, statement):
            return statement
    return None


def is_about_all(sides: Sequence[Side], statement: Statement) -> bool:
    """Return whether a statement is about each side."""
    return all(is_about(side, statement) for side in sides)


def is_about(side: Side, statement: Statement) -> bool:
    """Return whether a statement has the first or last word of a side, and half of its words."""
    shared = set(terms(statement.text)).intersection(side)
    shared |= {word for word in side if word in STOP_WORDS and _names(statement, word)}
    return not shared.isdisjoint((side[0], side[-1])) and len(shared) >= SHARE * len(side)


def _names(statement: Statement, word: str) -> bool:
    """Return whether a word is a name: SHOULD, "should" or `should`, or a row's first cell."""
    marked = rf"\b{word.upper()}\b|[\"“'`]{word}[\"”'`]"
    return word in _begin(statement) or bool(re.search(marked, statement.text))


def _begin(statement: Statement) -> list[str]:
    """Return the first terms of a statement; of a row, those of its first cell, or its words."""
    first, *others = statement.cells
    return terms(first) or first.lower().split() if others else terms(statement.text)[:FRONT]
