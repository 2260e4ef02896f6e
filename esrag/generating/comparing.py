"""Choose the statements that compare two things, or that tell of each of them."""

import re
from collections.abc import Sequence

from esrag.evidence import Statement
from esrag.evidence.sides import find_begun, find_entries, is_about, is_about_all, turn
from esrag.text.questions import read_sides
from esrag.text.terms import terms

MAX_WORDS = 90  # of a passage that goes on comparing
MIN_SHARED = 2  # words of a statement and the one before, if it names neither side
LOOKED_AT = 5  # statements after one that compares
NEAR_SIDE = 0.7  # share of the best fit that a statement about one side has at least
NEAR_BOTH = 0.9  # the same of one that says how it differs, if the best is about both sides
NEAR_BEGUN = 0.6  # of one that begins with a side, unless the best tells of both
FAR = 4.0  # less of the reader's score than the best has, if that tells of both
MIN_BOTH = 12  # words of one that tells of both: "Pots and kettles cost the same." tells of neither

_ASKS_HOW = re.compile(
    r"\b(?:differ\w*|distinguish\w*|compared?|vs|versus|sets? .{1,60} apart)\b", re.IGNORECASE
)
_DIFFERS = re.compile(
    r"\b(?:differ(?:s|ed|ing|ences?)?|whereas|unlike|contrast|compared|rather than|instead of"
    r"|distinguish\w*|distinction)\b",
    re.IGNORECASE,
)
_SAYS_HOW = re.compile(
    rf"{_DIFFERS.pattern}|\b(?:different(?:ly)?|except|identical|while|than)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"(?:(?:In|By) contrast|Conversely|On the other hand)\b")
_GOES_ON = re.compile(
    r"(?:It|They|This|These|That|Those|Such|Both|Neither|Conversely|However|Instead|You|Thus|So"
    r"|(?:In|By|On|Among|Of|For) (?:contrast|short|the other|these|those|them|this))\b"
)
_CONTRASTS = re.compile(
    r"\b(?:unlike|whereas|(?:in|by) contrast|rather than|\w+er than|except)\b", re.IGNORECASE
)


def compare(question: str, ranked: Sequence[Statement]) -> list[Statement]:
    """Return what a comparison asks for, best first; nothing for another question.

    `ranked` are the statements from the best fit on. The answer is a sentence that says how the two
    sides differ, with those after it that go on about them; or what begins with each side; or what
    has both; or what has each. What tells of each side under its own name goes before all that.
    """
    sides = read_sides(question)
    if not (sides and ranked):
        return []

    entries = find_entries(question, ranked, sides) if _ASKS_HOW.search(question) else []
    return entries or _compare_nearest(sides, ranked)


def _compare_nearest(
    sides: Sequence[Sequence[str]], ranked: Sequence[Statement]
) -> list[Statement]:
    """Return what says how two sides differ, or what tells of each of them."""
    near = [each for each in ranked if each.fit >= NEAR_SIDE * ranked[0].fit]
    is_best = is_about_all(sides, ranked[0])
    least = NEAR_BOTH * ranked[0].fit if is_best else 0
    telling = [
        each for each in near if each.fit >= least and each.items <= 1 and _tells_apart(sides, each)
    ]
    apart = next((each for each in telling if _sets_apart(sides, each)), None)
    if apart:
        return [apart]

    is_told = is_best and count_words(ranked[:1]) >= MIN_BOTH
    share = NEAR_SIDE if is_told else NEAR_BEGUN
    nearly = [each for each in ranked if each.fit >= share * ranked[0].fit]
    if is_told:
        nearly = [each for each in nearly if not _reads_worse(each, ranked[0])]
    begun = [each for side, other in turn(sides) if (each := find_begun(nearly, side, other))]
    has_each = len(begun) == len(sides)
    if telling and not (has_each and min(each.fit for each in begun) > telling[0].fit):
        return _take_while_compared(sides, telling[0], ranked)
    if has_each:
        return list(dict.fromkeys(begun))

    both = [each for each in near if is_about_all(sides, each)]
    if both and not (both[0].items > 1 and _reads_worse(both[0], ranked[0])):  # a list of names
        return _take_while_compared(sides, both[0], ranked)
    single = [next((each for each in near if is_about(side, each)), None) for side in sides]
    return [] if None in single else list(dict.fromkeys(each for each in single if each))


def _reads_worse(statement: Statement, best: Statement) -> bool:
    """Return whether the reader takes a statement for a far worse answer than the best one."""
    if best.reading is None:  # there is no reader
        return False
    return statement.reading is None or statement.reading < best.reading - FAR


def _tells_apart(sides: Sequence[Sequence[str]], statement: Statement) -> bool:
    """Return whether a statement about one of the sides says that it differs from another.

    One about both may say so in more ways.
    """
    if is_about_all(sides, statement):
        return bool(_SAYS_HOW.search(statement.text))
    is_of_one = any(is_about(side, statement) for side in sides)
    return is_of_one and bool(_DIFFERS.search(statement.text))


def _sets_apart(sides: Sequence[Sequence[str]], statement: Statement) -> bool:
    """Return whether a statement about both sides says "unlike" or the like.

    "Different" may be said of anything else.
    """
    return is_about_all(sides, statement) and bool(_CONTRASTS.search(statement.text))


def _take_while_compared(
    sides: Sequence[Sequence[str]], first: Statement, ranked: Sequence[Statement]
) -> list[Statement]:
    """Return a statement with those after it in its passage, up to a number of words.

    If the next ones tell of each side, what stands between them is left out.
    """
    chosen = [first]
    if first.items > 1:
        return chosen

    places = {each.order: each for each in ranked if each.key == first.key}
    after = [places.get(first.order + n) for n in range(1, LOOKED_AT + 1)]
    following = [each for each in after[: [*after, None].index(None)] if each]
    each_side = [find_begun(following, side, other) for side, other in turn(sides)]
    told = {each for each in each_side if each}
    if len(told) == len(sides):
        following = [each for each in following if each in told]
    for statement in following:
        if not _goes_on(statement, sides, first) or count_words([*chosen, statement]) > MAX_WORDS:
            break
        chosen.append(statement)
    return [*chosen, *_find_contrast(sides, chosen, ranked)]


def _goes_on(statement: Statement, sides: Sequence[Sequence[str]], first: Statement) -> bool:
    """Return whether a statement after the first one is still about its subject."""
    if _GOES_ON.match(statement.text) or any(is_about(side, statement) for side in sides):
        return True
    return len({*terms(statement.text)} & {*terms(first.text)}) >= MIN_SHARED


def _find_contrast(
    sides: Sequence[Sequence[str]], chosen: Sequence[Statement], ranked: Sequence[Statement]
) -> list[Statement]:
    """Return what goes on in contrast to the last statement, which the next passage may begin with.

    It begins with such words, and is about the side that the last statement is not about.
    """
    left = [side for side in sides if not is_about(side, chosen[-1])]
    if len(left) != 1:
        return []
    for statement in ranked:
        is_turn = _TURNS.match(statement.text) and statement not in chosen
        if is_turn and is_about(left[0], statement):
            return [statement] if count_words([*chosen, statement]) <= MAX_WORDS else []
    return []


def count_words(statements: Sequence[Statement]) -> int:
    """Return how many words the statements have together."""
    return sum(len(each.text.split()) for each in statements)
