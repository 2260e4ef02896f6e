"""Clauses: the parts of a sentence that say something by themselves."""

import re
from functools import lru_cache

from esrag.terms import terms

MIN_WORDS = 2  # without stop words; less is a part of what stands beside it

_JOINS = r"(?:and|but|while|whereas|because|although|though|which|who|since|so that)\b"
_BOUNDARY = re.compile(rf"([,;:](?!\d)(?:\s+{_JOINS})?|\s[–—]\s|\b{_JOINS})", re.IGNORECASE)


@lru_cache(maxsize=4096)
def clauses(sentence: str) -> tuple[str, ...]:
    """Return the clauses of a sentence; of a simple one the sentence itself.

    >>> clauses("Old and new members may vote; guests may not vote, and they pay a fee.")
    ('Old and new members may vote', 'guests may not vote', 'they pay a fee.')
    """
    first, *rest = _BOUNDARY.split(sentence)
    found = [first]
    for boundary, part in zip(rest[::2], rest[1::2], strict=True):
        if _says_something(found[-1]) and _says_something(part):
            found.append(part)
        else:
            found[-1] += boundary + part
    return tuple(clause.strip() for clause in found)


def with_clauses(sentence: str) -> tuple[str, ...]:
    """Return the sentence and, if there are several, its clauses."""
    parts = clauses(sentence)
    return (sentence, *parts) if len(parts) > 1 else parts


def _says_something(part: str) -> bool:
    return len(terms(part)) >= MIN_WORDS
