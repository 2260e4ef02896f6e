"""Find where a sentence contradicts statements of a passage that use similar words.

The sentence may say the opposite, claim more, or be more certain.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter

from esrag.text.terms import terms
from esrag.verifying.clauses import clauses, with_clauses
from esrag.verifying.opposites import (
    ALL,
    COLOUR,
    COMPARISON,
    DUTY,
    EITHER_WAY,
    LEAVE,
    MAYBE,
    NEGATION,
    ONLY_MAYBE,
    PAIRS,
    PAIRS_WITH,
    PHRASES,
    PLAIN_NOT,
    SOME,
    SURE,
    SURER,
    UNSURE,
    Pair,
    stems,
)

MIN_PART_WORDS = 2  # of a sentence that may be a part of a longer one
MAX_NEGATED_WORDS = 2  # counted after the negation
MIN_NEARNESS_IN_NEGATION = 0.5  # if both negate the same words
MIN_CONTAINED = (
    0.9  # share of a sentence's words in a longer statement that make it a part of the statement
)
MIN_NEARNESS = (
    0.8  # share of common words that makes two sentences say the same, apart from a contrast
)
MIN_GUESSED = (
    0.5  # share of a guess's words in a sentence that makes the sentence more than a guess
)

# Who does something else: "if it is not there you can add it".
_SUBJECT = re.compile(r"(?<=\w{3}) (?:you|it|they|he|she|we) (?=\w)", re.IGNORECASE)
_STANDS_FOR = re.compile(r"\W*(?:it|they|these|this|he|she) (?!\w+ing\b)", re.IGNORECASE)
_HEADER = re.compile(r"(?<![^,;:.|])([^,;:.|]{1,60}): ?\Z")  # of the cell that follows

Negations = tuple[tuple[str, frozenset[str]], ...]  # each with the words that it negates


@dataclass(frozen=True, slots=True)
class Sense:
    """A sentence to compare: its plain text, its words without modifiers, its negations.

    `sides` has the pairs of opposites of which it has one side only, and says whether that is the
    second one.
    """

    text: str
    tokens: frozenset[str]
    words: frozenset[str]
    negations: Negations
    sides: Mapping[Pair, bool]


@lru_cache(maxsize=4096)
def sense_of(text: str) -> Sense:
    """Return a sentence, or a part of one, prepared for comparison."""
    for pattern, plain in PHRASES:
        text = pattern.sub(plain, text)

    negations = tuple(
        (found[0].lower(), _negated(text, found)) for found in NEGATION.finditer(text)
    )
    bare = COLOUR.sub(" ", NEGATION.sub(" ", text))
    tokens = frozenset(stems(text))
    return Sense(
        text=text,
        tokens=tokens,
        words=frozenset(terms(bare)),
        negations=negations,
        sides=_find_sides(tokens),
    )


def _find_sides(tokens: frozenset[str]) -> dict[Pair, bool]:
    pairs = (pair for token in tokens for pair in PAIRS_WITH.get(token, ()))
    return {
        (left, right): left.isdisjoint(tokens)
        for left, right in pairs
        if left.isdisjoint(tokens) != right.isdisjoint(tokens)
    }


def _negated(text: str, negation: re.Match[str]) -> frozenset[str]:
    """Return the words that follow a negation, or the word before one that ends its sentence.

    Of a cell, as in "Required: No", these are the words of its header.
    """
    if header := _HEADER.search(text, 0, negation.start()):
        return frozenset(stems(header[1]))
    clause = _SUBJECT.split(text[negation.end() :], maxsplit=1)[0]
    following = terms(COLOUR.sub(" ", clause))[:MAX_NEGATED_WORDS]
    return frozenset(following or terms(COLOUR.sub(" ", text[: negation.start()]))[-1:])


def find_contrast(sentence: str, statements: Sequence[str]) -> str:
    """Return how a sentence differs from the statements with similar words, or "" if it does not.

    Each clause is also compared by itself, and a statement also by the one of its clauses that says
    it all.
    """
    held = [_senses(statement) for statement in statements]
    differences = (_difference(sense_of(unit), held) for unit in with_clauses(sentence))
    return next(filter(None, differences), "")


def _difference(said: Sense, held: Sequence[Sequence[Sense]]) -> str:
    """Return how the nearest statements differ, unless an equally near one agrees."""
    differing, agreeing, difference = 0.0, 0.0, ""
    for whole, *parts in held:
        near = nearness(said, whole)
        within = max(
            ((nearness(said, part), part) for part in parts),
            key=itemgetter(0),
            default=(0.0, whole),
        )
        # A "not" in one clause does not apply to the next one.
        near, other = within if within[0] >= near else (near, whole)
        if near < MIN_NEARNESS_IN_NEGATION:
            continue
        found = contrast(said, other)
        if not found and _deny_the_same(said, other):
            return ""
        if near < MIN_NEARNESS:
            continue
        if not found:
            agreeing = max(agreeing, near)
        elif near > differing:
            differing, difference = near, found
    return difference if differing > agreeing else ""


@lru_cache(maxsize=1024)
def _senses(statement: str) -> tuple[Sense, ...]:
    return tuple(map(sense_of, with_clauses(statement)))


def contrast(said: Sense, held: Sense) -> str:
    """Return how a sentence differs from a statement with similar words, or "" if it does not."""
    return _turn(said, held) or _stretch(said, held)


def _turn(said: Sense, held: Sense) -> str:
    """Return what makes one sentence the opposite of the other, or "".

    Two negations cancel out: "not below 40" is "at least 40". If only one sentence is a comparison,
    nothing can be concluded: what "it" has fewer of may be what another "has more of than it".
    """
    if bool(COMPARISON.search(said.text)) != bool(COMPARISON.search(held.text)):
        return ""

    opposed = _find_opposed(said, held)
    turns = len(opposed)
    if not _are_alike(said.negations, held.negations):
        turns += _negations(said, held, opposed) - _negations(held, said, opposed)
    if turns % 2 == 0 or _may_be_either(said, held):
        return ""
    return "the opposite is" if opposed else 'except for a "not" it is'


def _may_be_either(said: Sense, held: Sense) -> bool:
    """Return whether words such as "only" may make up for what two sentences differ in.

    "Only after" is not "only before".
    """
    mine, other = (Counter(EITHER_WAY.findall(sense.text.lower())) for sense in (said, held))
    return bool(mine or other) and (mine != other or bool(said.negations or held.negations))


def _are_alike(one: Negations, other: Negations) -> bool:
    """Return whether both have a plain "not", or one in other words: "no way", "cannot"."""
    return bool(one) and _kinds(one) == _kinds(other)


def _kinds(negations: Negations) -> set[str]:
    return {"not" if PLAIN_NOT.fullmatch(word) else word for word, _ in negations}


def _stretch(said: Sense, held: Sense) -> str:
    """Return how the sentence claims more than the statement, or ""."""
    is_plain = not (said.negations or held.negations)
    stretches = (
        ("said of some it is", ALL.search(said.text) and _only(SOME, ALL, held.text)),
        (
            "as a possibility it is",
            is_plain and _only(DUTY, LEAVE, said.text) and _only(LEAVE, DUTY, held.text),
        ),
        (
            "as a duty it is",
            is_plain and _only(LEAVE, DUTY, said.text) and _only(DUTY, LEAVE, held.text),
        ),
        (
            "as a possibility it is",
            _only(SURE, UNSURE, said.text) and _only(UNSURE, SURE, held.text),
        ),
        ("as a guess it is", not MAYBE.search(said.text) and _is_guessed(said, held)),
        (
            "less surely it is",
            any(surer.search(said.text) and not given.search(held.text) for surer, given in SURER),
        ),
    )
    return next((difference for difference, is_so in stretches if is_so), "")


def _is_guessed(said: Sense, held: Sense) -> bool:
    """Return whether a statement guesses what the sentence says, and not only something else."""
    if not ONLY_MAYBE.search(held.text):
        return False
    guesses = (sense_of(part).words for part in clauses(held.text) if ONLY_MAYBE.search(part))
    return any(len(words & said.words) >= MIN_GUESSED * len(words) for words in guesses)


def nearness(said: Sense, held: Sense) -> float:
    """Return the share of the shorter sentence in the other one, apart from the contrast, 0..1.

    What "it" is, the statement may have said before.
    """
    opposed = {stem for pair in _find_opposed(said, held) for side in pair for stem in side}
    left, right = said.words - opposed, held.words - opposed
    if not left or not right:
        return 0.0
    shared = len(left & right)
    near = 2 * shared / (len(left) + len(right))
    if len(left) >= MIN_PART_WORDS and shared >= MIN_CONTAINED * len(left):
        near = max(near, shared / len(left))
    if opposed and _STANDS_FOR.match(held.text) and len(right) >= MIN_PART_WORDS:
        return max(near, shared / len(right))
    return near


def _find_opposed(said: Sense, held: Sense) -> list[Pair]:
    """Return the pairs of opposites of which each has one side, and not the same."""
    return [
        pair
        for pair, is_second in said.sides.items()
        if held.sides.get(pair, is_second) != is_second
    ]


def _negations(sense: Sense, other: Sense, opposed: Sequence[Pair]) -> int:
    """Count the negations of words that are also in the other sentence.

    Sides of an opposed pair do not count.
    """
    twofold = {
        stem
        for left, right in PAIRS
        if other.tokens & left and other.tokens & right
        for stem in left | right
    }
    sides = {stem for pair in opposed for side in pair for stem in side}
    known = other.tokens | sides
    return sum(
        not sides.intersection(stems(negation))
        and not known.isdisjoint(negated)
        and twofold.isdisjoint(negated)
        for negation, negated in sense.negations
    )


def _deny_the_same(said: Sense, held: Sense) -> bool:
    mine = {word for _, negated in said.negations for word in negated}
    return any(not mine.isdisjoint(negated) for _, negated in held.negations)


def _only(one: re.Pattern[str], other: re.Pattern[str], text: str) -> bool:
    return bool(one.search(text)) and not other.search(text)
