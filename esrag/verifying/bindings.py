"""Find what a sentence says of one thing and the passages of another."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from esrag.evidence.statements import Line
from esrag.text.figures import numbers
from esrag.text.terms import compounds, terms
from esrag.verifying.clauses import clauses

SAME = 0.8  # share of a sentence's words that makes a statement its source
MIN_WORDS = 4  # of a sentence, without what it is about
MIN_MORE = 2  # words that a statement shares more than those about the right thing

_STANDS_FOR = re.compile(r"\W*(?:it|its|they|their|this|that|these|those|he|she)\b", re.IGNORECASE)
# Options, addresses and what stands in backquotes, beside technical words.
_CODE = re.compile(
    r"(?<![\w-])--?[a-z][\w-]{1,40}|(?<![\w.-])[a-z][\w-]{0,40}(?:\.[a-z][\w-]{0,40}){1,6}"
    r"|`[^`]{1,60}`"
)
_TERM = re.compile(r"([^\n:.]{2,40}): (?=\S)")


def find_other_binding(sentence: str, lines: Sequence[Line]) -> str:
    """Return what a sentence gives to something else than the statements do, or ""."""
    said = [line.text for line in lines if line.row is None]
    return (
        _find_crossed(sentence, said)
        or _find_other_owner(sentence, said)
        or _find_other_term(sentence, said)
    )


def _find_crossed(sentence: str, said: Sequence[str]) -> str:
    """Return two numbers or technical words that have each other's clause in a statement.

    >>> text = "The default is 3551, but older versions of it used 7000."
    >>> _find_crossed("It uses 7000 by default, but older versions used 3551.", [text])
    '7000 and 3551 are exchanged'
    """
    mine = dict(_iter_bound(sentence))
    for text in said if len(mine) > 1 else ():
        held = dict(_iter_bound(text))
        for one, other in combinations(sorted(mine.keys() & held.keys(), key=[*mine].index), 2):
            straight = len(mine[one] & held[one]) + len(mine[other] & held[other])
            crossed = len(mine[one] & held[other]) + len(mine[other] & held[one])
            are_apart = mine[one] != mine[other] and held[one] != held[other]
            if are_apart and crossed >= straight + MIN_MORE:
                return f"{one} and {other} are exchanged"
    return ""


def _iter_bound(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each number and technical word with the other words of its clause."""
    for clause in clauses(text):
        words = set(terms(clause))
        for each in (*numbers(clause), *_find_named(clause)):
            yield each, frozenset(words - set(terms(each)))


def _find_named(text: str) -> set[str]:
    """Return the technical words, options and addresses of a text.

    >>> sorted(_find_named("Set `x` or --no-lamp for example.org, not ML-KEM."))
    ['--no-lamp', 'example.org', 'ml-kem', 'x']
    """
    return compounds(text) | {found.strip("`") for found in _CODE.findall(text)}


def _find_other_owner(sentence: str, said: Sequence[str]) -> str:
    """Return a technical word of which another statement says the rest of the sentence, or "".

    That statement names another one, and is not about what was named before it.
    """
    named = _find_named(sentence)
    for name in sorted(named):
        words = set(terms(sentence)) - set(terms(name))
        shared = [(len(words & set(terms(text))), text) for text in said]
        known = max((count for count, text in shared if name in _find_named(text)), default=0)
        most = max(SAME * len(words), known + MIN_MORE)
        if len(words) >= MIN_WORDS and any(
            count >= most and _find_named(text) - named and not _STANDS_FOR.match(text)
            for count, text in shared
        ):
            return name
    return ""


def _find_other_term(sentence: str, said: Sequence[str]) -> str:
    """Return a term that a sentence explains with the entry of another term, or ""."""
    found = (_TERM.match(text) for text in said)
    entries = [(each[1], each.string[each.end() :]) for each in found if each]
    words = set(terms(sentence))
    own = [term for term, _ in entries if words.issuperset(terms(term)) and terms(term)]
    for term, text in entries:
        meant = set(terms(text))
        is_said = len(meant) >= MIN_WORDS and len(meant & words) >= SAME * len(meant)
        if is_said and own and words.isdisjoint(terms(term)):
            return own[0]
    return ""
