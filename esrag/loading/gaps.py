"""Columns of a PDF: pdfium reads the cells of a row as words; here a mark separates the cells.

A page has no tables, only words at places, and perhaps rules between the cells of a table. Without
rules, lines below each other whose words stand in the same columns, with gaps between these, are
rows if they are under a caption or have several figures, or if at least three cells of each begin
below those of a header.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from esrag.loading.grids import is_amount
from esrag.loading.lined import find_lined
from esrag.loading.markers import find_markers
from esrag.loading.painted import sort_words
from esrag.loading.placed import GAP, TABLE_CAPTION, Marks, Piece, join_pieces, measure_lines
from esrag.loading.ruled import Ruled, mark_ruled
from esrag.loading.rules import Rules, find_grids

MIN_GAP = 1.1  # heights of a letter, between two cells; justified words stand closer
MIN_ROWS, MIN_CELLS = 2, 2
MAX_CELLS = 40
MAX_SHIFT = 2.5  # points, between the left ends of a column's cells
MAX_HEADER = 12  # lines above the first row that may be its header, cell by cell
MIN_FIGURES = 2  # in each of two rows of a table without a caption
MIN_ALIGNED, MIN_ALIGNED_ROWS = 3, 3  # cells, and rows below the header, of a table without figures
_NAME = re.compile(r"(?:\./)?[A-Za-z][\w .,/()%#-]{1,40}")  # of a column
_NAME_WORD = re.compile(r"(?<![^\W_])[^\W\d_]{3}")
_FIGURES = re.compile(r"\d.{0,40}\d")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = r"\d(?:[\d.,:]{0,18}\d)?"
_UNIT = r"(?:[%‰]|°?[^\W\d_]{1,8}[²³]?(?:[ /·][^\W\d_]{1,8}[²³]?)?)"
_VALUE = re.compile(rf"[<>≤≥~±+–−-]? ?[$€£¥]?{_NUMBER}(?:(?:[–-]| [–-] ){_NUMBER})?(?: ?{_UNIT})?")
_CAPTION_LINES = 2  # of a caption


_Line = list[Piece]
_Column = tuple[float, float]  # its left and right end


def find_gaps(page: Any, text: str, rules: Rules) -> Marks:
    """Return the marks to write into the text of one of pdfium's text pages, with these rules.

    Between two cells there is a mark for each column that the second one is further right.
    """
    measured = [*measure_lines(page, text)]
    words = [word for line in measured for word in line]
    grids = find_grids(rules.across, rules.down)
    grids += find_lined(text, words, [*rules.across, *rules.edges], grids)
    ruled = [table for grid in grids if (table := mark_ruled(text, words, grid))]
    free = [line for line in measured if not _is_within(line, ruled)]
    found = find_markers(text, free)
    found |= {place: mark for table in ruled for place, mark in table.marks.items()}

    lines = [*_lines(free)]
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
    for line in free:
        found |= {} if any(word.end in found for word in line) else sort_words(text, line)
    return found


def _aligned(lines: Sequence[_Line]) -> Iterator[tuple[list[_Line], Marks]]:
    """Yield runs of lines whose cells begin below each other, and what joins their last cells.

    A line with nothing but more of the last cell belongs to the row above it.
    """
    rows: list[_Line] = []
    joins: Marks = {}
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


def _marks(line: _Line, columns: Sequence[_Column]) -> Marks:
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


def _is_in_column(cell: Piece, columns: Sequence[_Column]) -> bool:
    """Return whether a cell stands over one column, or nearer to its middle than to others."""
    left, right = columns[_place(cell, columns)]
    middle = (cell.left + cell.right) / 2
    near = [n for n, (start, end) in enumerate(columns) if start < cell.right and cell.left < end]
    return len(near) == 1 and abs(middle - (left + right) / 2) < cell.right - cell.left


def with_gaps(text: str, marked: str, gaps: Marks) -> str:
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
        pieces.append(marked[first:place])
        done = start
        if marked.startswith(text[start:end], place):  # it has no exponent
            pieces.append(marks)
            place += end - start
            done = end

    return "".join([*pieces, marked[place:]])


def _is_within(line: _Line, tables: Sequence[Ruled]) -> bool:
    return bool(line) and any(table.start <= line[0].start < table.end for table in tables)


def _lines(measured: Sequence[_Line]) -> Iterator[_Line]:
    """Yield the cells of each line; none for a line that cannot be measured.

    What pdfium reads as the next line, but is further right at the same height, is the same line.
    """
    cells: _Line = []
    for words in measured:
        if not (cells and words and _goes_on(cells[-1], words[0])):
            yield cells
            cells = []
        for word in words:
            height = max(word.top - word.bottom, *(cell.top - cell.bottom for cell in cells), 0.0)
            if cells and word.left - cells[-1].right < MIN_GAP * height:
                cells[-1] = join_pieces(cells[-1], word)
            else:
                cells.append(word)
    yield cells


def _goes_on(cell: Piece, word: Piece) -> bool:
    height = word.top - word.bottom
    shared = min(cell.top, word.top) - max(cell.bottom, word.bottom)
    return 2 * shared > height and word.left > cell.right + MIN_GAP * height


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
    """Return whether lines are under a caption, two are a name with figures, or three are named."""
    above = text[: block[0][0].start].rstrip().splitlines()[-_CAPTION_LINES:]
    if any(TABLE_CAPTION.match(line) for line in above):
        return True
    rows = [[text[cell.start : cell.end] for cell in line] for line in block]
    figures = (row for row in rows if re.search(r"[^\W\d_]{2}", row[0]))
    are_figures = sum(sum(map(_is_value, row[1:])) >= MIN_FIGURES for row in figures) >= MIN_ROWS
    return are_figures or any(_names_figures(rows[n:]) for n in range(len(rows) - MIN_ALIGNED_ROWS))


def _names_figures(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a line has a word in each cell, and the three below it figures in as many.

    The first cell of these may be anything.

    >>> _names_figures([["Flag", "usage", "Size"], *[[f"-{n}", "1200k", "5"] for n in range(3)]])
    True
    """
    header, *below = rows[: MIN_ALIGNED_ROWS + 1]
    is_named = len(header) >= MIN_ALIGNED and all(map(_NAME_WORD.search, header))
    return is_named and all(
        len(row) == len(header) and all(map(_is_value, row[1:])) for row in below
    )


def _is_value(cell: str) -> bool:
    """Return whether a cell is a figure, perhaps with its unit, a range or a time; no year is."""
    return is_amount(cell) or bool(_VALUE.fullmatch(cell) and not _YEAR.fullmatch(cell))


def _share(upper: _Line, lower: _Line) -> bool:
    """Return whether two lines have cells below each other, in more than one place."""
    pairs = sum(any(_overlap(one, other) for other in lower) for one in upper)
    return pairs >= MIN_CELLS


def _overlap(one: Piece, other: Piece) -> bool:
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


def _place(cell: Piece, columns: Sequence[_Column]) -> int:
    """Return the column that a cell is in, or nearest to."""
    distances = [max(left - cell.right, cell.left - right) for left, right in columns]
    return distances.index(min(distances))
