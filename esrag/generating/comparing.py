"""Choose the statements that compare two things, or that tell of each of them."""

import re
from collections.abc import Sequence

from esrag.evidence import Statement
from esrag.text.questions import read_sides
from esrag.text.terms import terms

MAX_WORDS = 80  # of a passage that goes on comparing
FRONT = 3  # terms at the start of a statement that say what it is about
NEAR = 0.7  # share of the best fit that a statement about one side has at least
SHARE = 0.5  # of the words of a side that a statement about it has at least

_DIFFERS = re.compile(
    r"\b(?:differ\w*|whereas|unlike|contrast|compared|rather than|instead of|distinguish\w*)\b",
    re.IGNORECASE,
)


def compare(question: str, ranked: Sequence[Statement]) -> list[Statement]:
    """Return what a comparison asks for, best first; nothing for another question.

    `ranked` are the statements from the best fit on. The answer is a sentence that says how the two
    sides differ, with those after it that go on about them; or what begins with each side; or what
    has both; or what has each.
    """
    sides = read_sides(question)
    if not (sides and ranked):
        return []

    near = [each for each in ranked if each.fit >= NEAR * ranked[0].fit]
    told = next((each for each in near if _tells_apart(sides, each)), None)
    if told:
        return _take_while_compared(told, ranked)

    begun = [_find_begun(near, side, other) for side, other in zip(sides, sides[::-1], strict=True)]
    if None not in begun:
        return list(dict.fromkeys(each for each in begun if each))

    both = [each for each in near if all(_is_about(side, each) for side in sides)]
    if both:
        return _take_while_compared(both[0], ranked)
    single = [next((each for each in near if _is_about(side, each)), None) for side in sides]
    return [] if None in single else list(dict.fromkeys(each for each in single if each))


def _tells_apart(sides: Sequence[Sequence[str]], statement: Statement) -> bool:
    """Return whether a statement about one of the sides says that it differs from another."""
    is_about = any(_is_about(side, statement) for side in sides)
    return is_about and bool(_DIFFERS.search(statement.text))


def _find_begun(
    ranked: Sequence[Statement], side: Sequence[str], other: Sequence[str]
) -> Statement | None:
    """Return the best statement that begins with one side, and not with the other one too."""
    for statement in ranked:
        begin = _begin(statement)
        is_begun = not set(side).isdisjoint(begin) and set(other).isdisjoint(begin)
        if is_begun and _is_about(side, statement):
            return statement
    return None


def _is_about(side: Sequence[str], statement: Statement) -> bool:
    """Return whether a statement has the first word of a side, and half of its words."""
    words = set(terms(statement.text))
    return side[0] in words and len(words.intersection(side)) >= SHARE * len(side)


def _begin(statement: Statement) -> list[str]:
    """Return the first terms of a statement; of a row, those of its first cell."""
    first, is_row, _ = statement.source.strip("| ").partition("|")
    return terms(first) if is_row else terms(statement.text)[:FRONT]


def _take_while_compared(first: Statement, ranked: Sequence[Statement]) -> list[Statement]:
    """Return a statement with those after it in its passage, up to a number of words."""
    chosen = [first]
    if first.items > 1:
        return chosen
    after = sorted((each for each in ranked if each.order > first.order), key=lambda one: one.order)
    for statement in after:
        is_next = (statement.key, statement.order) == (first.key, chosen[-1].order + 1)
        if not is_next or count_words([*chosen, statement]) > MAX_WORDS:
            break
        chosen.append(statement)
    return chosen


def count_words(statements: Sequence[Statement]) -> int:
    """Return how many words the statements have together."""
    return sum(len(each.text.split()) for each in statements)
