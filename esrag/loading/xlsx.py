"""Spreadsheets: a sheet is a page and a section, its rows are a table."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import IO, Any
from zipfile import ZipFile

from esrag.loading import archive
from esrag.loading.attributes import read_number
from esrag.loading.headers import MAX_COVERED, Cell, spread_cells
from esrag.loading.layout import Layout, clean_title, count_characters
from esrag.loading.number_formats import format_duration, format_number
from esrag.loading.regions import split_regions
from esrag.records import Document, Source

_PIECE_BYTES = 2**20
_XML = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": True}
MAX_MERGED = 100_000  # cells of a sheet

# (row, column) from 0 → how many of each a cell covers.
Merged = dict[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What of a sheet is not shown: all of it, rows by number, columns as first and last."""

    everything: bool
    rows: frozenset[int] = frozenset()
    columns: tuple[tuple[int, int], ...] = ()

    def without(self, layout: Layout, number: int, cells: Iterable[str]) -> list[str]:
        """Return a row's cells, the hidden ones empty and counted."""
        kept = []
        for column, cell in enumerate(cells, start=1):
            spans = self.columns if cell else ()
            is_hidden = (
                self.everything
                or number in self.rows
                or any(low <= column <= high for low, high in spans)
            )
            layout.leave_out(count_characters(cell) if is_hidden else 0)
            kept.append("" if is_hidden else cell)
        return kept


class XlsxLoader:
    """Excel workbooks by openpyxl; of formulas the values that were saved with them."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for an archive with a workbook in it, 0.5 for a damaged one by name."""
        return archive.recognise(name, data, ".xlsx", r"xl/workbook\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError for a bomb or a damaged archive.
        """
        archive.open_archive(source.data).close()
        layout = Layout()
        with warnings.catch_warnings():
            # openpyxl warns of extensions that it leaves out: formatting and validation, no text.
            warnings.simplefilter("ignore")
            reader = _open_reader(source.data)
            _write_sheets(layout, reader, keep_hidden=source.keep_hidden)
        properties = reader.wb.properties
        title = clean_title(properties.title or "")
        yield layout.document(source, "xlsx", title, {"author": properties.creator})


def _open_reader(data: bytes) -> Any:
    """Return a workbook as openpyxl's `load_workbook` opens it, with the archive it is in."""
    from openpyxl.reader.excel import ExcelReader  # type: ignore[import-untyped]

    reader = ExcelReader(BytesIO(data), read_only=True, data_only=True)
    reader.read()
    return reader


def _write_sheets(layout: Layout, reader: Any, *, keep_hidden: bool) -> None:
    """Add each sheet as a page."""
    parts = {sheet.name: relation.target for sheet, relation in reader.parser.find_sheets()}
    for number, sheet in enumerate(reader.wb.worksheets, start=1):
        layout.page(number)
        hidden = _Hidden(everything=False) if keep_hidden else _find_hidden(sheet)
        merged = _read_merged(reader.archive, parts.get(sheet.title, ""))
        _write_sheet(layout, sheet, hidden, merged)


def _write_sheet(layout: Layout, sheet: Any, hidden: _Hidden, merged: Merged) -> None:
    """Add a sheet's title as a heading, and its rows as a table."""
    if not hidden.everything:
        layout.heading(sheet.title, 1)

    # A sheet may declare a million columns; its rows say how many they have.
    sheet.reset_dimensions()
    shown = enumerate(sheet.iter_rows(), start=1)
    rows = (hidden.without(layout, index, map(_to_text, row)) for index, row in shown)
    shown_rows = spread_cells(_cells(rows, merged)) if merged else rows
    for region in [shown_rows] if hidden.columns else split_regions(shown_rows):
        layout.table(region)


def _read_merged(book: ZipFile, part: str) -> Merged:
    """Return the merged cells of a sheet.

    openpyxl leaves them out unless it keeps the whole sheet in memory.
    """
    from openpyxl.utils.cell import range_boundaries  # type: ignore[import-untyped]

    merged: Merged = {}
    if part not in book.NameToInfo:
        return merged
    with book.open(part) as sheet:
        for reference in _iter_references(sheet):
            if len(merged) < MAX_MERGED:
                left, top, right, bottom = range_boundaries(reference)
                merged[top - 1, left - 1] = (bottom - top + 1, right - left + 1)
    return merged


def _iter_references(sheet: IO[bytes]) -> Iterator[str]:
    """Yield the ranges of the merged cells, without keeping the rows."""
    from lxml import etree  # type: ignore[import-untyped]

    for _, element in etree.iterparse(
        sheet, tag=("{*}row", "{*}mergeCell"), resolve_entities=False, no_network=True
    ):
        if element.tag.endswith("mergeCell"):
            yield element.get("ref", "")
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _cells(rows: Iterable[Sequence[str]], merged: Merged) -> Iterator[list[Cell]]:
    """Yield the rows without the cells that others cover."""
    covered: dict[int, int] = {}  # by column, the row below the last one that is covered
    for number, row in enumerate(rows):
        cells: list[Cell] = []
        column = 0
        while column < len(row):
            height, width = merged.get((number, column), (1, 1))
            width = min(width, max(len(row) - column, MAX_COVERED))
            if covered.get(column, 0) <= number:
                cells.append((row[column], height, width))
                covered.update(dict.fromkeys(range(column, column + width), number + height))
            column += width
        yield cells


def _to_text(cell: Any) -> str:
    """Return a cell roughly as a reader sees it: not rounded, dates and times as in ISO 8601."""
    value = cell.value
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime | time):
        is_exact = value.second or value.microsecond
        text = value.isoformat(timespec="auto" if is_exact else "minutes")
        return text.replace("T", " ")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return format_number(value, _find_format(cell))
    text = "" if value is None else str(value)
    return text if text.strip() else ""


def _find_format(cell: Any) -> str:
    """Return the number format of a cell, "" for one that the workbook lacks."""
    try:
        return str(cell.number_format)
    except (AttributeError, LookupError):
        return ""


def _find_hidden(sheet: Any) -> _Hidden:
    """Return what of a sheet is hidden.

    It is read from the XML, because openpyxl does not tell it of a sheet that is opened read-only.
    """
    if sheet.sheet_state != "visible":
        return _Hidden(everything=True)
    with sheet._get_source() as stream:  # noqa: SLF001 -- openpyxl's own way to the sheet's part
        if not any(b"hidden=" in piece for piece in _iter_overlapping(stream)):
            return _Hidden(everything=False)

    with sheet._get_source() as stream:  # noqa: SLF001
        return _read_hidden(stream)


def _read_hidden(stream: IO[bytes]) -> _Hidden:
    """Return the hidden rows and columns of a sheet's XML."""
    from lxml import etree

    rows: set[int] = set()
    columns: list[tuple[int, int]] = []
    number = 0
    for _, element in etree.iterparse(stream, tag=("{*}row", "{*}col"), **_XML):
        is_hidden = element.get("hidden") in ("1", "true")
        if element.tag.endswith("}row"):
            number = read_number(element.get("r"), number + 1)
            rows |= {number} if is_hidden else set()
        elif is_hidden:
            columns.append((read_number(element.get("min"), 1), read_number(element.get("max"), 0)))
        element.clear(keep_tail=False)
    return _Hidden(everything=False, rows=frozenset(rows), columns=tuple(columns))


def _iter_overlapping(stream: Any) -> Iterator[bytes]:
    """Yield a stream in pieces, each with the end of the one before."""
    end = b""
    while piece := stream.read(_PIECE_BYTES):
        yield end + piece
        end = piece[-16:]
