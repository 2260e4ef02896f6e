"""Split a sentence into clauses, the parts that state something by themselves."""

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from esrag.text.terms import terms

MIN_WORDS = 2  # without stop words; a shorter clause is joined to its neighbour

MIN_UNKNOWN = 2  # words of a clause that passages lack
MOST = 0.5  # share of the words of a reason
BEGINNING = 5  # letters that words of one beginning share

_JOINS = r"(?:and|but|while|whereas|because|although|though|which|who|since|so that)\b"
_BOUNDARY = re.compile(rf"([,;:](?!\d)(?:\s+{_JOINS})?|\s[–—]\s|\b{_JOINS})", re.IGNORECASE)

# Words that join clauses and have no content of their own.
_JOINTS = re.compile(
    r"\b(?:before|after|until|once|while|during|when(?:ever)?|where|since|because|so|thus"
    r"|therefore|hence|then|also|both"
    r"|however|as well|in addition|for example|such as|due to|according to|based on"
    r"|per|via|within|upon"
    r"|against|among|between|without|about|through|across|along|towards?)\b",
    re.IGNORECASE,
)
_END = re.compile(
    r"[,;](?!\d)|\s(?:and|but|while|whereas|because|although|though|which|who|since|so|thus"
    r"|therefore|until|unless|if|when|after|before)\b",
    re.IGNORECASE,
)
_SO = "that|the|an?|it|they|he|she|we|you|this|these|its|no|all"
_AIMS = (
    "allow|avoid|enable|ensure|guard|help|improve|keep|limit|maintain|make|preserve|prevent|protect"
    "|reduce|save|simplify"
)
_CAUSES = "allow(?:s|ed)|cause[sd]?|ensures?|leads?|led|made|makes?|means?|meant"
# What introduces a reason or a purpose, unlike "since version 2" and "so far".
_REASON = re.compile(
    rf"\b(?:because|due to|in order to|since (?![A-Z\d]|version|then)|so (?=(?:{_SO})\b)|thereby"
    rf"|therefore|thus|to (?=(?:{_AIMS})\b)|which (?=(?:{_CAUSES})\b))\b",
    re.IGNORECASE,
)


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


def find_unknown_end(sentence: str, held: AbstractSet[str]) -> str:
    """Return a clause after the first one if none of its words are among these, else "".

    Of a reason or a purpose, more than half of the words have to be. Words that begin alike are the
    same here: "recovered" and "recovery".

    >>> find_unknown_end("It rings at noon, so that sailors wake up.", {"ring", "noon"})
    'that sailors wake up.'
    """
    known = {term[:BEGINNING] for term in held}
    ends = ((part, 1.0) for part in _END.split(sentence)[1:])
    reasons = ((part, MOST) for part in _REASON.split(sentence)[1:])
    for part, least in (*ends, *reasons):
        words = {term[:BEGINNING] for term in terms(drop_joints(part))}
        if len(words - known) >= max(MIN_UNKNOWN, least * len(words)):
            return part.strip()
    return ""


def drop_joints(text: str) -> str:
    """Return a text without words that join clauses and have no content of their own."""
    return _JOINTS.sub(" ", text)
