"""Turn table rows into statements that can be read without their table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from esrag.text import NAMED_ROW
from esrag.text.captions import MAX_TITLE, is_title, read_caption, to_title
from esrag.text.terms import is_year

RULE = re.compile(r"[\s|:+=-]+")  # the line between a table's header and rows
_NO_NAMES = re.compile(r"\|[\s|]*")  # a header whose cells are empty

_FIGURE_CELL = re.compile(r"\W{0,3}\d[\d.,\s]*\W{0,3}")
_BREAK = re.compile(r"\n(?![a-z])")  # of lines, but not of a sentence over several
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_TOTAL = re.compile(r"total\b", re.IGNORECASE)  # ends a group of rows
MAX_ROW = 690  # characters of a row with its caption

NONE = ("—", "–", "-", "$—")  # what a table has instead of a figure
_MARKS_AT_END = " :,"
NAME_AND_VALUE = 2  # cells
_OF_UNIT = re.compile(r"\d[\d.,]* [a-z]{1,20}")  # "4.5 years"
_BEGINS = re.compile(r"[^\w\s]{0,3}\d")
_OF_TABLE = re.compile(
    r"\b(?:the following|this|the) tables?\b"
    r"|\bthe following (?:[\w-]{1,20} )?(?:arguments|fields|options|parameters|settings)\b",
    re.IGNORECASE,
)
MAX_LEADS = 2  # before the first cell of a row: a heading, and a sentence above the table
_MAX_RECENT = 4  # spans above a table that may say what it is about


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its `cells`, each with its header.

    If columns cannot be separated, they are two lines. `above` is the table's caption or title with
    the `group` of rows that the row belongs to. `empty` has the headers without a cell.
    """

    above: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    header: str = ""
    line: str = ""
    group: str = ""
    empty: tuple[str, ...] = ()


class TableReader:
    """Reads the spans of a passage in order, and finds rows and the tables that they belong to."""

    def __init__(self, text: str) -> None:
        """Start before the first span of the text."""
        self._text, self._end = text, 0
        self._recent: list[str] = []  # spans since the last row
        self._caption = self._group = self._first = ""  # first: cell of the last row that has one
        # None: not read yet; (): the table began in another passage.
        self._header: tuple[str, ...] | None = None
        self._has_figures = False

    def read(self, start: int, end: int) -> Iterator[tuple[str, Row]]:
        """Yield the row of a span of cells with bars, with its text; nothing for a header."""
        span = self._text[start:end]
        if RULE.fullmatch(span):
            if self._is_apart(start):
                self._header = None
            self._drop_first(len(_split_cells(span)))
            if self._header is None and _NO_NAMES.fullmatch(span):
                self._start(read_caption(self._recent))
                self._header, self._recent = (), []
            self._end = end
            return

        cells = _split_cells(span)
        is_within = self._header is not None and not self._is_apart(start)
        if is_within and self._header and not cells[0] and len(cells) == len(self._header) + 1:
            cells = cells[1:]  # the last bar of the row is missing
        if not is_within or (self._recent and self._is_header(cells)):
            self._start(read_caption(self._recent))
        elif self._recent:
            self._group = to_title(self._recent[-1]) if is_title(self._recent[-1]) else ""
        self._recent, self._end = [], end

        if self._header is None:
            rest = self._text[end:]
            is_within = start == 0 or all(map(is_figure, cells[1:]))
            is_row = (is_within and _is_continued(cells, rest)) or _is_list_of_values(cells, rest)
            self._header = () if is_row else cells
            if self._header:
                return
        self._has_figures = self._has_figures or any(map(is_figure, cells))
        cells = self._repeat_first(cells)
        yield _row(self._caption, self._header, cells, self._group)
        if _TOTAL.match(cells[0]):
            self._group = ""

    def _drop_first(self, columns: int) -> None:
        """Drop the empty name before the first one of a header whose last bar is missing."""
        header = self._header or ("",)
        if not header[0] and len(header) == columns + 1:
            self._header = header[1:]

    def _repeat_first(self, cells: tuple[str, ...]) -> tuple[str, ...]:
        """Return a row with the first cell of the one above if it has words and no first cell.

        A row of figures without a name may be a total.
        """
        first, *rest = cells
        self._first = first or self._first
        has_words = bool(rest and rest[0]) and not _is_value(rest[0])
        return (self._first, *rest) if self._header and has_words else cells

    def pass_by(self, start: int, end: int) -> None:
        """Note a span that is not a row: a title, also within a table, or the end of a table."""
        span = self._text[start:end]
        if self._is_apart(start) or span[-1] in ".!?" or len(span) > MAX_TITLE:
            self._start("")
        # A title and the title of a group may follow each other.
        titles = [" ".join(title.split()) for title in _BREAK.split(span)]
        self._recent = [*self._recent, *titles][-_MAX_RECENT:]
        self._end = end

    def pass_caption(self, caption: str, end: int) -> None:
        """Note the caption "Table N …" of the following text."""
        self._start("")
        self._recent, self._end = [caption], end

    def _start(self, caption: str) -> None:
        self._caption, self._group, self._first = caption, "", ""
        self._header, self._has_figures = None, False

    def _is_apart(self, start: int) -> bool:
        return bool(_BLANK_LINE.search(self._text, self._end, start))

    def _is_header(self, cells: tuple[str, ...]) -> bool:
        """Return whether a row under a title is the header of another table than the one before."""
        header = self._header or ()
        has_none = self._has_figures and not any(map(_is_value, cells))
        return cells == header or len(cells) > len(header) or has_none


def parse_named_row(span: str) -> Row | None:
    """Return the row of a line `name: cell; name: cell`, else None.

    >>> parse_named_row("City: Kiel; Port: north; west; Founded: 1242").cells
    (('City', 'Kiel'), ('Port', 'north; west'), ('Founded', '1242'))
    """
    if "\n" in span or not NAMED_ROW.match(span):
        return None

    cells: list[tuple[str, str]] = []
    for part in span.split("; "):
        name, colon, cell = part.partition(": ")
        if colon:
            cells.append((name, cell))
        elif cells:
            cells.append((cells[-1][0], f"{cells.pop()[1]}; {part}"))

    return Row(cells=tuple(cells))


def iter_captioned_rows(lines: Sequence[str]) -> Iterator[tuple[str, Row | None]]:
    """Yield the lines of a PDF's table, such as `A 800 768`, with their rows.

    A row has the caption `Table 3. Sizes` and the header `key ciphertext`.

    Lines without a figure before the first row belong to the header.
    """
    if len(lines) <= 2:  # noqa: PLR2004 -- a caption and one line have no separable rows
        yield " ".join(lines), None
        return

    first = next((n for n, line in enumerate(lines[2:], 2) if re.search(r"\d", line)), 2)
    header = " ".join(lines[1:first])
    for line in lines[first:]:
        yield f"{lines[0]}: {header}: {line}", Row(lines[0], header=header, line=line)


def _split_cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row with bars.

    >>> _split_cells("| a | b |"), _split_cells("| 2021 | 2020"), _split_cells("a | b")
    (('a', 'b'), ('', '2021', '2020'), ('a', 'b'))
    """
    line = line.strip()
    if line.endswith("|"):
        line = line.removeprefix("|").removesuffix("|")
    return tuple(cell.strip() for cell in line.split("|"))


def is_figure(cell: str) -> bool:
    """Return whether a cell contains only a figure. A year is not a figure.

    >>> [is_figure(cell) for cell in ("1,184", "12 %", "2023", "Kiel", "H1 2023")]
    [True, True, False, False, False]
    """
    return bool(_FIGURE_CELL.fullmatch(cell.strip())) and not is_year(cell.strip())


def _is_value(cell: str) -> bool:
    """Return whether a cell is a figure, perhaps of a unit, or stands for none."""
    return is_figure(cell) or cell in NONE or bool(_OF_UNIT.fullmatch(cell))


def _is_continued(cells: Sequence[str], rest: str) -> bool:
    """Return whether a passage begins within a table.

    It does if its first row has figures where the next one does.
    """
    below = _next_cells(rest)
    return any(
        is_figure(cell) and is_figure(other) for cell, other in zip(cells, below, strict=False)
    )


def _is_list_of_values(cells: Sequence[str], rest: str) -> bool:
    """Return whether a first row of two cells is data: a name with a number and its unit.

    >>> _is_list_of_values(["Patents", "4 years"], "Software | 3 years")
    True
    """
    both = (cells, _next_cells(rest))
    return all(len(row) == NAME_AND_VALUE and _is_of_row(row[1]) for row in both)


def _is_of_row(cell: str) -> bool:
    """Return whether a cell begins with a figure, and is no year."""
    return bool(_BEGINS.match(cell)) and not is_year(cell)


def _next_cells(rest: str) -> tuple[str, ...]:
    return _split_cells(rest.lstrip("\n").partition("\n")[0])


def _row(
    caption: str, header: Sequence[str], cells: Sequence[str], group: str = ""
) -> tuple[str, Row]:
    """Return the row and its text, which can be read by itself.

    >>> _row("Sizes", ["Kettle", "litres"], ["A", "1.7"])[0]
    'Sizes: Kettle: A, litres: 1.7'
    """
    above = ": ".join(filter(None, (caption, group)))
    while len(cells) > len(header) and not cells[-1]:
        cells = cells[:-1]
    if not header and len(cells) == NAME_AND_VALUE:
        header, cells = cells[:1], cells[1:]
    if header and len(cells) <= len(header):
        named = tuple((name, cell) for name, cell in zip(header, cells, strict=False) if cell)
        text = ", ".join(_labelled(name, cell) for name, cell in named)
        empty = tuple(name for name, cell in zip_longest(header, cells) if name and not cell)
        row = Row(above, named, group=group, empty=empty)
    else:
        text = " | ".join(cells)
        row = Row(above, line=text, group=group)
    is_short = len(above) + len(text) < MAX_ROW  # a caption does not make a row too long to cite
    return (f"{above}: {text}" if above and is_short else text), row


def _labelled(name: str, cell: str) -> str:
    """Return a cell after its header, without marks that would stand next to those between them."""
    name, cell = name.rstrip(_MARKS_AT_END), cell.rstrip(",") or cell
    return f"{name}: {cell}" if name else cell


def drop_lead(row: str) -> str:
    """Return the text of a row without what only says that a table follows.

    >>> drop_lead("Lamps: The following table lists all lamps: Lamp: A, Litres: 2")
    'Lamp: A, Litres: 2'
    """
    parts = row.split(": ", MAX_LEADS)
    leads = [n for n, part in enumerate(parts[:-1]) if _OF_TABLE.search(part)]
    return ": ".join(parts[max(leads, default=-1) + 1 :])
