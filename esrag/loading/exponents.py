"""Exponents of a PDF: pdfium reads 2⁸ as 28, which is another number; here it is 2^8."""

import re
from typing import Any

from esrag.loading.placed import count_wide, measure_character

_SECOND_DIGIT = re.compile(r"(?<=\d)[-−]?(?=\d)")  # behind a digit; a sign may come first
# Of the first digit's height: an exponent starts and ends above it, and is smaller. In old faces
# digits stand at several heights too, but none that is shorter than the one before it ends above
# that.
_RAISED, _ABOVE, _SMALLER = 0.25, 0.02, 0.9
_UPRIGHT = 0.01  # radians


def with_exponents(page: Any, text: str) -> str:
    """Return the text of one of pdfium's text pages, with ^ before digits raised behind a digit."""
    marked, done, wide = "", 0, 0
    for second in _SECOND_DIGIT.finditer(text):
        wide += count_wide(text[done : second.start()])
        marked += text[done : second.start()]
        done = second.start()
        if _is_raised(page, done - 1 + wide, second.end() + wide, text[done - 1]):
            marked += "^"
    return marked + text[done:]


def _is_raised(page: Any, first: int, second: int, digit: str) -> bool:
    """Return whether the digit at one index is an exponent of the digit at another.

    The digit must be the one that is passed.
    """
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    if pdfium.FPDFText_GetUnicode(page, first) != ord(digit):
        return False  # pdfium left something out of its text, and the indices are others
    if abs(pdfium.FPDFText_GetCharAngle(page, first)) > _UPRIGHT:
        return False  # of turned text each digit stands above the one before it
    _, _, bottom, top = measure_character(page, first)
    _, _, low, high = measure_character(page, second)
    height = top - bottom
    return (
        low > bottom + _RAISED * height
        and high > top + _ABOVE * height
        and high - low < _SMALLER * height
    )
