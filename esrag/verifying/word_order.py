"""Find words of a sentence that change places in a statement with like words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from esrag.text.terms import STOP_WORDS, terms

MIN_ORDERED = 0.5  # share of a sentence's words whose order is compared with a statement's
MIN_COMPARED = 5  # words
MAX_GROUP = 3  # words that change places with others

COMPOUND = re.compile(r"\w(?:[\w.'’&+#/-]*\w)?")
# What is true of two in either order.
MUTUAL = (
    r"\b(?:with|between|vs|versus|plus|times|equals?|differs?|same|alike|similar|equivalent"
    r"|identical|meets?|borders?|marri\w+)\b"
)
JOINED = r"(?:[,;=/+×]|\b(?:and|or|nor)\b)"
_ARTICLES = frozenset(("a", "an", "the"))
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|gets?|got)(?: \w+){0,2}? \w+(?:ed|en|wn|[^aeiou]t)\b",
    re.IGNORECASE,
)
_MAY_TURN = re.compile(
    rf"\A\W*{JOINED}.*{JOINED}\W*(?:an?|the)?\W*\Z|{MUTUAL}|\b(?:but|instead|rather)\b",
    re.IGNORECASE | re.DOTALL,
)


def find_exchange(unit: str, parts: Iterable[str]) -> str:
    """Return two words of a unit that change places in the part that shares most words, or "".

    They may be the first and the last of some words, such as a name. Only words that occur once are
    compared, and only if others stand between those that change places.
    """
    found, most = "", 0
    for part in parts:
        mine, held = _shared_order(unit, part)
        if len(mine) < max(most, MIN_ORDERED * len(set(_content(unit))), MIN_COMPARED):
            continue
        if len(mine) > most or mine == held:
            found, most = "", len(mine)
        if mine == held:
            most += 1  # an equal order counts for more than another one
        elif (ends := _find_exchanged(mine, held)) and not _is_turned(unit, part, *ends):
            found = f"{' and '.join(_find(unit, end)[0] for end in ends)} are exchanged"
    return found


def _find_exchanged(mine: Sequence[str], held: Sequence[str]) -> tuple[str, str] | None:
    """Return the first and the last word that changed if two groups of words have changed places.

    Others stand between the groups. Two single words may do so while others between them do.

    >>> _find_exchanged("a dog bit my old cat".split(), "a my old cat bit dog".split())
    ('dog', 'cat')
    """
    changed = [n for n, (one, other) in enumerate(zip(mine, held, strict=True)) if one != other]
    first, last = changed[0], changed[-1]
    one, other = [*mine[first : last + 1]], [*held[first : last + 1]]
    if any(map(str.isdigit, (one[0], one[-1]))):
        return None  # numbers are checked elsewhere
    for left in range(1, MAX_GROUP + 1):
        for right in range(1, MAX_GROUP + 1):
            between = one[left:-right]
            if between and other == [*one[-right:], *between, *one[:left]]:
                return one[0], one[-1]
    is_mixed = one[0] == other[-1] and one[-1] == other[0] and len(one) > 2  # noqa: PLR2004
    return (one[0], one[-1]) if is_mixed and sorted(one) == sorted(other) else None


def _is_turned(unit: str, part: str, first: str, last: str) -> bool:
    """Return whether both orders may say the same: in the passive voice, or "A, B and C"."""
    spans = [(text, *_find_span(text, first, last)) for text in (unit, part)]
    between = [text[left.end() : right.start()] for text, left, right in spans]
    voices = {
        bool(_PASSIVE.search(text[left.start() : right.end()])) for text, left, right in spans
    }
    agents = {_is_agent(text, first) - _is_agent(text, last) for text in (unit, part)}
    return any(map(_MAY_TURN.search, between)) or len(agents) > 1 or len(voices) > 1


def _find_span(text: str, one: str, other: str) -> tuple[re.Match[str], re.Match[str]]:
    """Return the first words of a text with these stems, in order."""
    first, last = sorted((_find(text, stem) for stem in (one, other)), key=re.Match.start)
    return first, last


def _find(text: str, stem: str) -> re.Match[str]:
    """Return the first word of a text with a stem that it has."""
    return next(word for word in COMPOUND.finditer(text) if in_order(word[0]) == [stem])


def _is_agent(text: str, stem: str) -> bool:
    """Return whether a word follows "by"."""
    order = in_order(text)
    place = order.index(stem)
    return "by" in order[max(0, place - 2) : place]


def _shared_order(unit: str, part: str) -> tuple[list[str], list[str]]:
    """Return the words that both have once, in the order of each."""
    mine, held = _content(unit), _content(part)
    counts, others = Counter(mine), Counter(held)
    shared = {word for word in counts if counts[word] == 1 == others[word]}
    return [word for word in mine if word in shared], [word for word in held if word in shared]


@lru_cache(maxsize=4096)
def _content(text: str) -> list[str]:
    """Return the words of a text in order, without stop words."""
    return [word for word in in_order(text) if word not in STOP_WORDS]


@lru_cache(maxsize=4096)
def in_order(text: str) -> list[str]:
    """Return the words of a text in order, stemmed unless they are stop words, without articles.

    >>> in_order("The lamp is lit by Davy.")
    ['lamp', 'is', 'lit', 'by', 'davi']
    """
    words = (word[0].lower() for word in COMPOUND.finditer(text))
    return [term for word in words if word not in _ARTICLES for term in terms(word)[:1] or [word]]
