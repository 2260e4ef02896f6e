"""Find numbers that say the same as another one: rounded, or in another unit of time."""

import re
from collections.abc import Iterator, Sequence

from esrag.text.figures import Use, uses

MAX_ROUNDED = 0.05  # share of a number that rounding may change
MIN_DIGITS = 2  # of a rounded number with no word such as "about" before it

_SCALES = {"": 1, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
# Each with its length, in seconds and in months.
_SECONDS = {
    "millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800,
}  # fmt: skip
_MONTHS = {"month": 1, "year": 12, "decade": 120}

_ABOUT = r"(?:about|around|approximately|roughly|some|circa|nearly|almost|close to)"
_ROUNDED = re.compile(rf"\b{_ABOUT}(?: \w+)? \Z", re.IGNORECASE)
_VALUE = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")  # and not a version such as 2.6.18
_NEAR_CHARACTERS = 30  # how far before a number to look for such a word


def has_equal(number: str, sentence: str, texts: Sequence[str]) -> bool:
    """Return whether the texts have a number that the sentence rounds or states in another unit.

    >>> has_equal("5", "It takes 5 minutes.", ["at most 300 seconds"])
    True
    >>> [has_equal("0.3", f"It takes {said} s.", ["0.298625 s"]) for said in ("0.3", "about 0.3")]
    [False, True]
    >>> [has_equal(said, f"It has {said} million.", ["1984000"]) for said in ("1.98", "1.99")]
    [True, False]
    """
    if not _VALUE.fullmatch(number):
        return False
    given = [(use, before) for use, before in _placed(sentence) if use.number == number]
    held = [use for text in texts for use in uses(text) if _VALUE.fullmatch(use.number)]
    return any(
        _is_same_time(use, other) or _is_rounded(use, before, other)
        for use, before in given
        for other in held
    )


def _placed(sentence: str) -> Iterator[tuple[Use, str]]:
    """Yield each use of a number with what stands before it."""
    start = 0
    for use in uses(sentence):
        start = sentence.index(use.number, start)
        yield use, sentence[max(0, start - _NEAR_CHARACTERS) : start]
        start += len(use.number)


def _is_same_time(use: Use, other: Use) -> bool:
    """Return whether two uses are the same time in different units."""
    if use.unit == other.unit:
        return False
    return any(
        use.unit in lengths
        and other.unit in lengths
        and abs(_value(use) * lengths[use.unit] - _value(other) * lengths[other.unit]) < 1e-9  # noqa: PLR2004 -- equal
        for lengths in (_SECONDS, _MONTHS)
    )


def _is_rounded(use: Use, before: str, other: Use) -> bool:
    """Return whether a use rounds another number, and says so or keeps enough digits."""
    if use.unit and other.unit and use.unit != other.unit:
        return False
    decimals = len(use.number.partition(".")[2])
    digits = len(use.number.replace(".", "").lstrip("-0"))
    if not _ROUNDED.search(before) and (not decimals or digits < MIN_DIGITS):
        return False

    own, exact = _value(use), _value(other)
    step: float = _SCALES[use.scale] / 10**decimals
    if not decimals and not use.scale:  # "about 400" is rounded to hundreds
        step = float("1" + use.number[len(use.number.rstrip("0")) :])
    return abs(own - exact) <= min(step / 2, MAX_ROUNDED * abs(exact))


def _value(use: Use) -> float:
    return float(use.number) * _SCALES[use.scale]
