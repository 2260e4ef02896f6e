"""Quality: small bonuses for a hit's origin and content, each set by a setting and shown.

They suit scores of 0 to 1, and would swamp an RRF score of 0.03: so `scale` goes before them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar
from urllib.parse import urlsplit

from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, in_place

_DIGIT = "digit"
_ADDRESSES = ("url", "source_url")  # of a hit's metadata
# No user, and nothing that programs read in several ways.
_ADDRESS = re.compile(r"https?://[^\s\\@]+", re.IGNORECASE)


class Scale:
    """Scales the scores to 0..1 over the hits: the best has 1, the last 0."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Accept the options; none is used."""

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return the changes; of equal scores each becomes 1."""
        scores = [hit.score for hit in hits]
        low, width = min(scores), max(scores) - min(scores)
        return in_place("scale", hits, [(s - low) / width if width else 1.0 for s in scores])


class Quality:
    """Prefers official sources, passages that are not cut short, and such as state something."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        self._authority = {domain.lower(): bonus for domain, bonus in options.authority.items()}
        self._completeness = options.completeness
        self._indicators = options.indicators

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return the bonuses of each hit by name."""
        return [self._score(hit) for hit in hits]

    def _score(self, hit: Hit) -> Added:
        text = hit.chunk.text
        return {
            "authority": _of_host(_host(hit), self._authority),
            "completeness": max(
                (bonus for n, bonus in self._completeness.items() if len(text) > n), default=0.0
            ),
            "indicators": sum(each.bonus for each in self._indicators if _holds(text, each.words)),
        }


def _host(hit: Hit) -> str:
    """Return the host of the first address in the hit's metadata, or ""."""
    addresses = (str(hit.chunk.metadata.get(name, "")) for name in _ADDRESSES)
    address = next(filter(None, addresses), "")
    try:
        return (urlsplit(address).hostname or "").rstrip(".") if _ADDRESS.fullmatch(address) else ""
    except ValueError:
        return ""


def _of_host(host: str, authority: Mapping[str, float]) -> float:
    """Return the bonus of the longest domain that a host is or belongs to.

    A name elsewhere in the address does not count.

    >>> authority = {"gov": 0.05, "uscis.gov": 0.15}
    >>> _of_host("www.uscis.gov", authority), _of_host("uscis.gov.example", authority)
    (0.15, 0.0)
    """
    fitting = [domain for domain in authority if host == domain or host.endswith(f".{domain}")]
    return authority[max(fitting, key=len)] if fitting else 0.0


def _holds(text: str, words: Sequence[str]) -> bool:
    """Return whether the text has one of the words as a word; `digit` stands for any digit.

    >>> _holds("The island", ["is", "are"]), _holds("It is", ["is", "are"])
    (False, True)
    >>> _holds("85,000", ["digit"])
    True
    """
    if _DIGIT in words and any(character.isdigit() for character in text):
        return True

    found = set(re.findall(r"\w+", text.lower()))
    return any(word.lower() in found for word in words if word != _DIGIT)
