"""The words of a PDF's page, each with its place, and marks between those of different cells."""

import re
from collections.abc import Iterator
from ctypes import c_double, c_int, create_string_buffer
from dataclasses import dataclass
from typing import Any

TABLE_CAPTION = re.compile(r"(?:Table|Tab\.) [A-Z]?\d[\w.-]*[.:]?\s+\S")
GAP = "\u241f"  # Unicode's picture of a separator; marks may be in the text of a PDF

# Where white space between two words starts → where it ends, and what comes instead of it.
Marks = dict[int, tuple[int, str]]

FIRST_SHOWN = 32  # below are the codes of glyphs that are no characters
_MAX_NAME = 128  # bytes of a font's name
_WORD = re.compile(r"[^ \t\r\n]+")
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the page's text, with its place on the page in points."""

    start: int
    end: int
    left: float
    right: float
    bottom: float
    top: float


def join_pieces(one: Piece, other: Piece) -> Piece:
    """Return a piece and what is right of it as one piece."""
    return Piece(
        start=min(one.start, other.start),
        end=max(one.end, other.end),
        left=one.left,
        right=max(one.right, other.right),
        bottom=min(one.bottom, other.bottom),
        top=max(one.top, other.top),
    )


def measure_lines(page: Any, text: str) -> Iterator[list[Piece]]:
    """Yield the words of each line, an empty list for a line that cannot be measured."""
    wide = done = 0  # characters that are two units each for pdfium
    for line in _LINE.finditer(text):
        words: list[Piece | None] = []
        for word in _WORD.finditer(text, line.start(), line.end()):
            wide += count_wide(text[done : word.start()])
            done = word.start()
            words.append(_measure(page, word, wide))
        yield [word for word in words if word] if None not in words else []


def _measure(page: Any, word: re.Match[str], wide: int) -> Piece | None:
    """Return a word with its place on the page; None if pdfium has something else there."""
    inner = count_wide(word[0][:-1])
    first = _box(page, word.start() + wide, word[0][0])
    last = _box(page, word.end() - 1 + wide + inner, word[0][-1])
    if first is None or last is None:
        return None
    return Piece(
        start=word.start(),
        end=word.end(),
        left=first[0],
        right=last[1],
        bottom=min(first[2], last[2]),
        top=max(first[3], last[3]),
    )


def count_wide(text: str) -> int:
    """Return how many characters of a text are two units each for pdfium."""
    return 0 if text.isascii() else sum(character > "\uffff" for character in text)


def _box(page: Any, index: int, character: str) -> tuple[float, float, float, float] | None:
    """Return the left, right, bottom and top of a character; None if it is another one."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    code = pdfium.FPDFText_GetUnicode(page, index)
    is_known = code >= FIRST_SHOWN
    if is_known and code not in (ord(character), _high_surrogate(character)):
        return None
    return measure_character(page, index)


def measure_character(page: Any, index: int) -> tuple[float, float, float, float]:
    """Return the left, right, bottom and top of a character of one of pdfium's text pages."""
    import pypdfium2.raw as pdfium

    left, right, bottom, top = (c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(page, index, left, right, bottom, top)
    return left.value, right.value, bottom.value, top.value


def measure_loosely(page: Any, index: int) -> Any:
    """Return the box of a character with the room that its font gives it; None without one."""
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    return box if pdfium.FPDFText_GetLooseCharBox(page, index, box) else None


def read_font(page: Any, index: int) -> tuple[bytes, int]:
    """Return the name and the flags of a character's font."""
    import pypdfium2.raw as pdfium

    name, flags = create_string_buffer(_MAX_NAME), c_int()
    pdfium.FPDFText_GetFontInfo(page, index, name, _MAX_NAME, flags)
    return name.value, flags.value


def _high_surrogate(character: str) -> int:
    return 0xD800 + ((ord(character) - 0x10000) >> 10)
