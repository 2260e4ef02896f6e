"""Glyphs of a PDF for which its font gives no character: pdfium leaves them out of its text.

So −0.9 would be 0.9, and the indices of all characters after it would be others.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from esrag.loading.placed import FIRST_SHOWN, measure_character

UNKNOWN = "\ufffd"
_UTF16 = f"utf-16-{sys.byteorder[0]}e"
_MINUS = "−"
# Of a minus sign: its width in its heights, and its middle in heights of what stands behind it.
_WIDE, _LOW, _HIGH = 4.0, 0.2, 0.8


def read_text(page: Any) -> str:
    """Return the text of one of pdfium's text pages, with a minus or a � for what it left out."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    text: str = page.get_text_range()
    units = array("H", text.encode(_UTF16, "surrogatepass"))
    count = page.count_chars()
    if len(units) == count:
        return text

    codes = (pdfium.FPDFText_GetUnicode(page, index) for index in range(count))
    whole = array("H", _insert(page, codes, units))
    is_aligned = len(whole) == count
    return whole.tobytes().decode(_UTF16, "replace") if is_aligned else text


def _insert(page: Any, codes: Iterable[int], units: Sequence[int]) -> Iterator[int]:
    """Yield the units of a text with one for each code that it lacks, as far as they agree."""
    place = 0
    for index, code in enumerate(codes):
        if place < len(units) and units[place] == code:
            yield code
            place += 1
        elif code < FIRST_SHOWN:
            yield ord(_MINUS if _is_minus(page, index) else UNKNOWN)
        else:
            return


def _is_minus(page: Any, index: int) -> bool:
    """Return whether a glyph is a stroke that is halfway up the one behind it."""
    left, right, bottom, top = measure_character(page, index)
    _, _, low, high = measure_character(page, index + 1)
    is_stroke = 0 < _WIDE * (top - bottom) < right - left
    middle = (bottom + top) / 2
    return is_stroke and _LOW < (middle - low) / ((high - low) or 1) < _HIGH
