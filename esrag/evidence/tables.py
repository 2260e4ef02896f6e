"""Turn table rows into statements that can be read without their table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.text import NAMED_ROW

RULE = re.compile(r"[\s|:+=-]+")  # the line between a table's header and rows
CAPTION = re.compile(r"(?:Table|Tab\.)\s+[\w.-]+")

MAX_TITLE = 120  # characters of a line that can be a table's title

_FIGURE_CELL = re.compile(r"\W{0,3}\d[\d.,\s]*\W{0,3}")
_YEAR_CELL = re.compile(r"(?:19|20)\d\d")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_EMPHASIS = "*_ "
_ENDS = ".:;"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its `cells`, each with its header.

    If columns cannot be separated, they are two lines. `above` is the table's caption or title.
    """

    above: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    header: str = ""
    line: str = ""


class TableReader:
    """Reads the spans of a passage in order, and finds rows and the tables that they belong to."""

    def __init__(self, text: str) -> None:
        """Start before the first span of the text."""
        self._text, self._end = text, 0
        self._above = ""
        self._header: tuple[str, ...] | None = (
            None  # None: not read yet; (): the table began in another passage
        )
        self._has_figures = False
        self._is_titled = False

    def read(self, start: int, end: int) -> Iterator[tuple[str, Row]]:
        """Yield the row of a span of cells with bars, with its text; nothing for a header."""
        span = self._text[start:end]
        cells = split_cells(span)
        if self._is_apart(start):
            is_caption = self._header is None and bool(CAPTION.match(self._above))
            self._start(self._above if is_caption else "")
        elif self._is_titled and self._is_header(cells):
            self._start(self._above)
        self._is_titled, self._end = False, end

        if RULE.fullmatch(span):
            return
        if self._header is None:
            self._header = () if start == 0 and _is_continued(cells, self._text[end:]) else cells
            if self._header:
                return
        self._has_figures = self._has_figures or any(map(is_figure, cells))
        yield _row(self._above, self._header, cells)

    def pass_by(self, start: int, end: int) -> None:
        """Note a span that is not a row: a title, also within a table, or the end of a table."""
        span = self._text[start:end]
        is_title = "\n" not in span and len(span) <= MAX_TITLE and span[-1] not in ".!?"
        if self._is_apart(start) or not is_title:
            self._start("")
        self._above = span.strip(_EMPHASIS).rstrip(_ENDS) if is_title else ""
        self._is_titled, self._end = True, end

    def pass_caption(self, caption: str, end: int) -> None:
        """Note the caption "Table N …" of the following text."""
        self._start(caption)
        self._end = end

    def _start(self, above: str) -> None:
        self._above, self._header, self._has_figures = above, None, False

    def _is_apart(self, start: int) -> bool:
        return bool(_BLANK_LINE.search(self._text, self._end, start))

    def _is_header(self, cells: tuple[str, ...]) -> bool:
        """Return whether a row under a title is the header of another table than the one before."""
        header = self._header or ()
        has_none = self._has_figures and not any(map(is_figure, cells))
        return cells == header or len(cells) != len(header) or has_none


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


def split_cells(line: str) -> tuple[str, ...]:
    """Return the cells of a row with bars."""
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def is_figure(cell: str) -> bool:
    """Return whether a cell contains only a figure. A year is not a figure.

    >>> [is_figure(cell) for cell in ("1,184", "12 %", "2023", "Kiel", "H1 2023")]
    [True, True, False, False, False]
    """
    return bool(_FIGURE_CELL.fullmatch(cell.strip())) and not _YEAR_CELL.fullmatch(cell.strip())


def _is_continued(cells: Sequence[str], rest: str) -> bool:
    """Return whether a passage begins within a table.

    It does if its first row has figures where the next one does.
    """
    below = split_cells(rest.lstrip("\n").partition("\n")[0])
    return any(
        is_figure(cell) and is_figure(other) for cell, other in zip(cells, below, strict=False)
    )


def _row(above: str, header: Sequence[str], cells: Sequence[str]) -> tuple[str, Row]:
    """Return the row and its text, which can be read by itself.

    >>> _row("Sizes", ["Kettle", "litres"], ["A", "1.7"])[0]
    'Sizes: Kettle: A, litres: 1.7'
    """
    if len(header) == len(cells):
        named = tuple((name, cell) for name, cell in zip(header, cells, strict=True) if cell)
        row, text = (
            Row(above, named),
            ", ".join(f"{name}: {cell}" if name else cell for name, cell in named),
        )
    else:
        text = " | ".join(cells)
        row = Row(above, line=text)
    return (f"{above}: {text}" if above else text), row
