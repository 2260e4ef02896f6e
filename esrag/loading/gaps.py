"""Columns of a PDF: pdfium reads the cells of a row as words; here a mark separates the cells.

A page has no tables, only words at places. Lines below each other whose words stand in the same
columns, with gaps between these, are rows if they are under a caption or have several figures, or
if at least three cells of each begin below those of a header.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from ctypes import c_double
from dataclasses import dataclass
from typing import Any

from esrag.loading.grids import is_amount

GAP = "\u241f"  # Unicode's picture of a separator; marks may be in the text of a PDF
MIN_GAP = 1.1  # heights of a letter, between two cells; justified words stand closer
MIN_ROWS, MIN_CELLS = 2, 2
MAX_CELLS = 40
MAX_SHIFT = 2.5  # points, between the left ends of a column's cells
MAX_HEADER = 12  # lines above the first row that may be its header, cell by cell
MIN_FIGURES = 2  # in each of two rows of a table without a caption
MIN_ALIGNED, MIN_ALIGNED_ROWS = 3, 3  # cells, and rows below the header, of a table without figures
_NAME = re.compile(r"(?:\./)?[A-Za-z][\w .,/()%#-]{1,40}")  # of a column
_FIGURES = re.compile(r"\d.{0,40}\d")
_CAPTION = re.compile(r"Table [A-Z]?\d[\w.-]*[.:]?\s+\S")
_CAPTION_LINES = 2  # of a caption
_WORD = re.compile(r"[^ \t\r\n]+")
_LINE = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the page's text, with its left and right end on the page."""

    start: int
    end: int
    left: float
    right: float
    bottom: float
    top: float


_Line = list[_Piece]
_Column = tuple[float, float]  # its left and right end


def find_gaps(page: Any, text: str) -> dict[int, tuple[int, str]]:
    """Return the marks to write into the text of one of pdfium's text pages.

    The keys are where white space between two cells starts; the values are where it ends, and a
    mark for each column that the second cell is further right.
    """
    found: dict[int, tuple[int, str]] = {}
    lines = [*_lines(page, text)]
    for first, block in _blocks(lines):
        if not _is_table(text, block):
            continue
        columns = _columns(block)
        for line in [_header_above(lines[max(first - MAX_HEADER, 0) : first], columns), *block]:
            found |= _marks(line, columns)
    for rows, joins in _aligned(lines):
        if rows[0][0].end not in found and _has_names(text, rows[0]):
            found |= joins
            columns = _columns(rows)
            for row in rows:
                found |= _marks(row, columns)
    return found


def _aligned(lines: Sequence[_Line]) -> Iterator[tuple[list[_Line], dict[int, tuple[int, str]]]]:
    """Yield runs of lines whose cells begin below each other, and what joins their last cells.

    A line with nothing but more of the last cell belongs to the row above it.
    """
    rows: list[_Line] = []
    joins: dict[int, tuple[int, str]] = {}
    last = 0
    for line in [*lines, []]:
        if rows and _begin_alike(rows[0], line):
            rows.append(line)
        elif rows and _begin_alike(rows[0][-1:], line):
            joins[last] = (line[0].start, " ")
        else:
            if len(rows) > MIN_ALIGNED_ROWS:
                yield rows, joins
            rows, joins = [line] if len(line) >= MIN_ALIGNED else [], {}
        last = line[-1].end if line else 0


def _begin_alike(upper: _Line, lower: _Line) -> bool:
    """Return whether the cells of two lines begin below each other."""
    return len(upper) == len(lower) and all(
        abs(one.left - other.left) < MAX_SHIFT for one, other in zip(upper, lower, strict=True)
    )


def _has_names(text: str, header: _Line) -> bool:
    """Return whether a line has names of columns: different ones, without more than a digit."""
    names = [text[cell.start : cell.end] for cell in header]
    is_named = all(_NAME.fullmatch(name) and not _FIGURES.search(name) for name in names)
    return is_named and len({*names}) == len(names)


def _marks(line: _Line, columns: Sequence[_Column]) -> dict[int, tuple[int, str]]:
    """Return the marks within a line, and before it if its first columns are empty."""
    places = [_place(cell, columns) for cell in line]
    found = {line[0].start: (line[0].start, GAP * places[0])} if line and places[0] else {}
    for n, cell in enumerate(line[1:], 1):
        steps = places[n] - places[n - 1]
        found[line[n - 1].end] = (cell.start, GAP * steps if steps > 0 else " ")
    return found


def _header_above(lines: Sequence[_Line], columns: Sequence[_Column]) -> _Line:
    """Return the header that pdfium reads column by column, each cell with lines of its own."""
    header: _Line = []
    for line in reversed(lines):
        if len(line) != 1 or not _is_in_column(line[0], columns):
            break
        header.insert(0, line[0])

    places = [_place(cell, columns) for cell in header]
    is_ordered = places == sorted(places) and len({*places} - {0}) >= MIN_CELLS
    return header if is_ordered else []


def _is_in_column(cell: _Piece, columns: Sequence[_Column]) -> bool:
    """Return whether a cell stands over one column, or nearer to its middle than to others."""
    left, right = columns[_place(cell, columns)]
    middle = (cell.left + cell.right) / 2
    near = [n for n, (start, end) in enumerate(columns) if start < cell.right and cell.left < end]
    return len(near) == 1 and abs(middle - (left + right) / 2) < cell.right - cell.left


def with_gaps(text: str, marked: str, gaps: Mapping[int, tuple[int, str]]) -> str:
    r"""Return a page's text with marks, given the text without and with marks of exponents.

    >>> with_gaps("A 28 5", "A 2^8 5", {1: (2, "\t"), 4: (5, "\t")})
    'A\t2^8\t5'
    """
    pieces: list[str] = []
    done = place = 0  # in the text, in the marked one

    for start, (end, marks) in sorted(gaps.items()):
        first = place
        for character in text[done:start]:
            place += 2 if marked[place] != character else 1
        pieces += [marked[first:place], marks]
        place += end - start
        done = end

    return "".join([*pieces, marked[place:]])


def _lines(page: Any, text: str) -> Iterator[_Line]:
    """Yield the cells of each line; none for a line that cannot be measured.

    What pdfium reads as the next line, but is further right at the same height, is the same line.
    """
    cells: _Line = []
    for words in _measure_lines(page, text):
        if not (cells and words and _goes_on(cells[-1], words[0])):
            yield cells
            cells = []
        for word in words:
            height = max(word.top - word.bottom, *(cell.top - cell.bottom for cell in cells), 0.0)
            if cells and word.left - cells[-1].right < MIN_GAP * height:
                cells[-1] = _join(cells[-1], word)
            else:
                cells.append(word)
    yield cells


def _goes_on(cell: _Piece, word: _Piece) -> bool:
    height = word.top - word.bottom
    shared = min(cell.top, word.top) - max(cell.bottom, word.bottom)
    return 2 * shared > height and word.left > cell.right + MIN_GAP * height


def _join(cell: _Piece, word: _Piece) -> _Piece:
    return _Piece(
        start=cell.start,
        end=word.end,
        left=cell.left,
        right=word.right,
        bottom=min(cell.bottom, word.bottom),
        top=max(cell.top, word.top),
    )


def _measure_lines(page: Any, text: str) -> Iterator[_Line]:
    """Yield the words of each line; none for a line that cannot be measured."""
    wide = done = 0  # characters that are two units each for pdfium
    for line in _LINE.finditer(text):
        words: list[_Piece | None] = []
        for word in _WORD.finditer(text, line.start(), line.end()):
            wide += count_wide(text[done : word.start()])
            done = word.start()
            words.append(_measure(page, word, wide))
        yield [word for word in words if word] if None not in words else []


def _measure(page: Any, word: re.Match[str], wide: int) -> _Piece | None:
    """Return a word with its place on the page; None if pdfium has something else there."""
    inner = count_wide(word[0][:-1])
    first = _box(page, word.start() + wide, word[0][0])
    last = _box(page, word.end() - 1 + wide + inner, word[0][-1])
    if first is None or last is None:
        return None
    return _Piece(
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

    if pdfium.FPDFText_GetUnicode(page, index) not in (ord(character), _high_surrogate(character)):
        return None
    left, right, bottom, top = (c_double() for _ in range(4))
    pdfium.FPDFText_GetCharBox(page, index, left, right, bottom, top)
    return left.value, right.value, bottom.value, top.value


def _high_surrogate(character: str) -> int:
    return 0xD800 + ((ord(character) - 0x10000) >> 10)


def _blocks(lines: Sequence[_Line]) -> Iterator[tuple[int, list[_Line]]]:
    """Yield runs of lines with several cells that share columns, and where they begin."""
    block: list[_Line] = []
    for number, line in enumerate([*lines, []]):
        if MIN_CELLS <= len(line) <= MAX_CELLS and (not block or _share(block[-1], line)):
            block.append(line)
            continue
        if len(block) >= MIN_ROWS:
            yield number - len(block), block
        block = [line] if MIN_CELLS <= len(line) <= MAX_CELLS else []


def _is_table(text: str, block: Sequence[_Line]) -> bool:
    """Return whether lines are under a caption, or at least two of them are a name with figures."""
    above = text[: block[0][0].start].rstrip().splitlines()[-_CAPTION_LINES:]
    if any(_CAPTION.match(line) for line in above):
        return True
    rows = [[text[cell.start : cell.end] for cell in line] for line in block]
    figures = (row for row in rows if re.search(r"[^\W\d_]{2}", row[0]))
    return sum(sum(map(is_amount, row[1:])) >= MIN_FIGURES for row in figures) >= MIN_ROWS


def _share(upper: _Line, lower: _Line) -> bool:
    """Return whether two lines have cells below each other, in more than one place."""
    pairs = sum(any(_overlap(one, other) for other in lower) for one in upper)
    return pairs >= MIN_CELLS


def _overlap(one: _Piece, other: _Piece) -> bool:
    return one.left < other.right and other.left < one.right


def _columns(block: Sequence[_Line]) -> list[_Column]:
    """Return the left and right end of the columns, as the lines with most cells have them."""
    most = max(map(len, block))
    columns: list[list[float]] = []
    for cell in sorted(
        (cell for line in block if len(line) == most for cell in line), key=lambda cell: cell.left
    ):
        if columns and cell.left < columns[-1][1]:
            columns[-1][1] = max(columns[-1][1], cell.right)
        else:
            columns.append([cell.left, cell.right])
    return [(left, right) for left, right in columns]


def _place(cell: _Piece, columns: Sequence[_Column]) -> int:
    """Return the column that a cell is in, or nearest to."""
    distances = [max(left - cell.right, cell.left - right) for left, right in columns]
    return distances.index(min(distances))
