"""Read the attributes of elements, which may hold anything."""

import re

_MAX_DIGITS = 9  # 32 bits


def read_number(text: str | None, otherwise: int, digits: int = _MAX_DIGITS) -> int:
    """Return a whole number of so many digits, or the other one for anything else.

    >>> [read_number(text, 1) for text in ("12", "-2", None, "9" * 5_000)]
    [12, 1, 1, 1]
    """
    return int(text) if text and re.fullmatch(f"[0-9]{{1,{digits}}}", text) else otherwise
