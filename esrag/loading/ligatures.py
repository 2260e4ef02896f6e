"""Ligatures of a PDF whose font calls them "f": pdfium reads "five" as "fve".

Only the width of the glyph tells that a letter is missing, and the letters behind it tell which.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from esrag.loading.placed import count_wide, measure_loosely, read_font

_F = re.compile(r"f")
# Of the width of an f: fi and fl are 1.4 (Century Expanded) to 1.8 (Helvetica), ff is 1.9 or more.
_WIDER, _NARROWER = 1.3, 1.85
_SAME = 0.3  # of its width: glyphs that start nearer to each other are letters of one ligature
# What follows fl in a word: a vowel. What follows fi is a consonant, or one of the vowels of
# "field", "fiend", "fierce", "fiery", "defiance", and after a letter those of "specified".
_AFTER_FL = re.compile(r"(?!eld|end|er[cy]|an[ct])[aeiouy]")
_AFTER_FI = re.compile(r"e(?:d|s|rs?)(?![^\W\d_])")
_WITHIN = re.compile(r"(?!f)[^\W\d_]|[\x02\ufffe]")  # a word, which a line end may cut
_CHECKED = 6  # characters from a letter on

# Which f of a page's text, from 0 → what it stands for.
Ligatures = Mapping[int, str]


def write_ligatures(text: str, ligatures: Ligatures) -> str:
    """Return the text of a page with the letters that its ligatures lack.

    >>> write_ligatures("of fve offcers", {1: "fi", 3: "fi"})
    'of five officers'
    """
    if not ligatures:
        return text
    number = count()
    return _F.sub(lambda _: ligatures.get(next(number), "f"), text)


def find_ligatures(page: Any, text: str) -> Ligatures:
    """Return the ligatures in the text of one of pdfium's text pages that it reads as f."""
    places = [match.start() for match in _F.finditer(text)]
    found = {
        number: choose_ligature(text[place - 1 : place], text[place + 1 : place + _CHECKED])
        for number, place in enumerate(places)
        if text[place + 1 : place + 2].isalpha()
    }
    wide = found.keys() & {*_find_wide(page, text, places)}
    return {number: found[number] for number in wide}


def choose_ligature(before: str, after: str) -> str:
    """Return the ligature that stands between a letter, or none, and others.

    >>> [choose_ligature("", each) for each in ["rst", "eld", "at", "ict", "exible"]]
    ['fi', 'fi', 'fl', 'fl', 'fl']
    >>> choose_ligature("i", "ed"), choose_ligature(" ", "ed")
    ('fi', 'fl')
    """
    if _WITHIN.match(before) and _AFTER_FI.match(after):
        return "fi"
    return "fl" if _AFTER_FL.match(after) else "fi"


def _find_wide(page: Any, text: str, places: list[int]) -> Iterator[int]:
    """Yield which f, from 0, is as wide as a ligature, and no part of one that pdfium read."""
    widths: dict[bytes, dict[int, float]] = defaultdict(dict)
    units = done = 0  # characters that are two units each for pdfium
    for number, place in enumerate(places):
        units += count_wide(text[done:place])
        done = place
        if measured := _measure(page, place + units):
            font, width = measured
            widths[font][number] = width

    for each in widths.values():
        usual = sorted(each.values())[len(each) // 4]  # a page may have many ligatures
        yield from (n for n, width in each.items() if _WIDER < width / usual < _NARROWER)


def _measure(page: Any, index: int) -> tuple[bytes, float] | None:
    """Return the font of an f, and its width as a share of its height; None for another glyph."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    if pdfium.FPDFText_GetUnicode(page, index) != ord("f"):
        return None
    box = measure_loosely(page, index)
    if box is None:
        return None
    width, height = box.right - box.left, box.top - box.bottom
    if not (width > 0 and height > 0) or _is_beside(page, index, box.left, _SAME * width):
        return None
    font, _ = read_font(page, index)
    return font, width / height


def _is_beside(page: Any, index: int, left: float, least: float) -> bool:
    """Return whether the letter before or after one starts where that does."""
    boxes = (measure_loosely(page, other) for other in (index - 1, index + 1))
    return any(box is not None and abs(box.left - left) < least for box in boxes)
