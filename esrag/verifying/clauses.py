"""Split a sentence into clauses, the parts that state something by themselves."""

import re
from functools import lru_cache

from esrag.text.terms import terms

MIN_WORDS = 2  # without stop words; a shorter clause is joined to its neighbour

_JOINS = r"(?:and|but|while|whereas|because|although|though|which|who|since|so that)\b"
_BOUNDARY = re.compile(rf"([,;:](?!\d)(?:\s+{_JOINS})?|\s[–—]\s|\b{_JOINS})", re.IGNORECASE)


@lru_cache(maxsize=4096)
def clauses(sentence: str) -> tuple[str, ...]:
    """Return the clauses of a sentence, or the sentence itself if it is simple.

    >>> clauses("Old and new members may vote; guests may not vote, and they pay a fee.")
    ('Old and new members may vote', 'guests may not vote', 'they pay a fee.')
    """
    first, *rest = _BOUNDARY.split(sentence)
    found, words = [[first]], len(terms(first))

    for boundary, part in zip(rest[::2], rest[1::2], strict=True):
        more = len(terms(part))
        if words >= MIN_WORDS and more >= MIN_WORDS:
            found.append([part])
            words = more
        else:
            found[-1] += [boundary, part]
            words += len(terms(boundary)) + more

    return tuple("".join(pieces).strip() for pieces in found)


def with_clauses(sentence: str) -> tuple[str, ...]:
    """Return the sentence and, if there are several, its clauses."""
    parts = clauses(sentence)
    return (sentence, *parts) if len(parts) > 1 else parts
