"""Quality: small bonuses for where a hit comes from and for what it holds; each is a setting, and shown beside the hit.

The score is brought to 0..1 over the hits first, for such bonuses mean nothing beside the 0.03 of an RRF score.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar
from urllib.parse import urlsplit

from esrag.errors import SettingsError
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions

_DIGIT = "digit"
_ADDRESSES = ("url", "source_url")  # of a hit's metadata
_BONUS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,6})?")
_LENGTH = re.compile(r"[0-9]{1,9}")
_ADDRESS = re.compile(r"https?://[^\s\\@]+", re.IGNORECASE)  # no user, and nothing that programs read in several ways


class Quality:
    """Prefers official sources, passages that are not cut short, and such as state something."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        self._authority = {name.lower(): bonus for name, bonus in _bonuses("authority", options.authority).items()}
        lengths = _bonuses("completeness", options.completeness)
        if wrong := [length for length in lengths if not _LENGTH.fullmatch(length)]:
            raise _no_bonus("completeness", wrong[0])
        self._completeness = {int(length): bonus for length, bonus in lengths.items()}
        self._indicators = _bonuses("indicators", options.indicators)

    def added(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """The bonuses by name, and what brings the score to 0..1 under `scale`."""
        scores = [hit.score for hit in hits]
        low, width = min(scores), (max(scores) - min(scores)) or 1.0
        return [{"scale": (hit.score - low) / width - hit.score, **self._bonuses_of(hit)} for hit in hits]

    def _bonuses_of(self, hit: Hit) -> Added:
        text = hit.chunk.text
        return {
            "authority": _of_host(_host(hit), self._authority),
            "completeness": max((bonus for n, bonus in self._completeness.items() if len(text) > n), default=0.0),
            "indicators": sum(bonus for words, bonus in self._indicators.items() if _holds(text, words)),
        }


def _bonuses(name: str, written: str) -> dict[str, float]:
    """NAME=NUMBER, … as a mapping. Raises: SettingsError."""
    found: dict[str, float] = {}
    for part in filter(None, map(str.strip, written.split(","))):
        named, _, bonus = map(str.strip, part.rpartition("="))
        if not (named and _BONUS.fullmatch(bonus)):
            raise _no_bonus(name, part)
        found[named] = float(bonus)
    return found


def _no_bonus(name: str, part: str) -> SettingsError:
    return SettingsError(
        f"rerank.{name}: {part[:40]!r} is no bonus", hint="write NAME=NUMBER, …, as 600=0.10, 400=0.05"
    )


def _host(hit: Hit) -> str:
    """The host of the first address that the hit's metadata hold, or "" where there is none."""
    addresses = (str(hit.chunk.metadata.get(name, "")) for name in _ADDRESSES)
    address = next(filter(None, addresses), "")
    try:
        return (urlsplit(address).hostname or "").rstrip(".") if _ADDRESS.fullmatch(address) else ""
    except ValueError:
        return ""


def _of_host(host: str, authority: Mapping[str, float]) -> float:
    """The bonus of the longest domain that a host is or belongs to: never of a name elsewhere in its address.

    >>> _of_host("www.uscis.gov", {"gov": 0.05, "uscis.gov": 0.15}), _of_host("uscis.gov.example", {"gov": 0.05})
    (0.15, 0.0)
    """
    fitting = [domain for domain in authority if host == domain or host.endswith(f".{domain}")]
    return authority[max(fitting, key=len)] if fitting else 0.0


def _holds(text: str, words: str) -> bool:
    """Whether one of the words, written a|b, is in the text as a word; `digit` stands for any.

    >>> _holds("The island", "is|are"), _holds("It is", "is|are"), _holds("85,000", "digit")
    (False, True, True)
    """
    if words == _DIGIT:
        return any(character.isdigit() for character in text)

    found = set(re.findall(r"\w+", text.lower()))
    return any(word in found for word in words.lower().split("|"))
