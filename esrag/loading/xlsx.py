"""Spreadsheets: a sheet is a page and a section, its rows are a table."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from io import BytesIO
from typing import Any

from esrag.loading import archive
from esrag.loading.layout import Layout, count_characters, sensible_title
from esrag.records import Document, Source

_PIECE_BYTES = 2**20


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
            is_hidden = self.everything or number in self.rows or any(low <= column <= high for low, high in spans)
            layout.leave_out(count_characters(cell) if is_hidden else 0)
            kept.append("" if is_hidden else cell)
        return kept


class XlsxLoader:
    """Excel workbooks by openpyxl; of formulas the values that were saved with them."""

    def recognises(self, name: str, data: bytes) -> float:
        """1.0 for an archive with a workbook in it, 0.5 for a damaged one by name."""
        return archive.recognised(name, data, ".xlsx", r"xl/workbook\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """One document. Raises: ParsingError for a bomb or a damaged archive."""
        import openpyxl  # type: ignore[import-untyped]

        archive.opened(source.data).close()
        layout = Layout()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of extensions it leaves out: formatting and validation, no text
            book = openpyxl.load_workbook(BytesIO(source.data), read_only=True, data_only=True)
            for number, sheet in enumerate(book.worksheets, start=1):
                layout.page(number)
                hidden = _Hidden(everything=False) if source.keep_hidden else _hidden(sheet)
                if not hidden.everything:
                    layout.heading(sheet.title, 1)
                sheet.reset_dimensions()  # a sheet may declare a million columns; its rows say how many they have
                rows = enumerate(sheet.iter_rows(values_only=True), start=1)
                layout.table(hidden.without(layout, index, map(_shown, row)) for index, row in rows)
        properties = book.properties
        yield layout.document(source, "xlsx", sensible_title(properties.title or ""), {"author": properties.creator})


def _shown(value: object) -> str:
    """A cell as a reader sees it, more or less: number formats are not applied."""
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "" if value is None else str(value)


def _hidden(sheet: Any) -> _Hidden:
    """What of a sheet is not shown, from its XML: openpyxl does not tell it of a sheet that is only read."""
    from lxml import etree  # type: ignore[import-untyped]

    if sheet.sheet_state != "visible":
        return _Hidden(everything=True)
    with sheet._get_source() as stream:  # noqa: SLF001 -- openpyxl's own way to the sheet's part
        if not any(b"hidden=" in piece for piece in _overlapping(stream)):
            return _Hidden(everything=False)

    rows: set[int] = set()
    columns: list[tuple[int, int]] = []
    number = 0
    with sheet._get_source() as stream:  # noqa: SLF001
        options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": True}
        for _, element in etree.iterparse(stream, tag=("{*}row", "{*}col"), **options):
            is_hidden = element.get("hidden") in ("1", "true")
            if element.tag.endswith("}row"):
                number = _number(element.get("r"), number + 1)
                rows |= {number} if is_hidden else set()
            elif is_hidden:
                columns.append((_number(element.get("min"), 1), _number(element.get("max"), 0)))
            element.clear(keep_tail=False)
    return _Hidden(everything=False, rows=frozenset(rows), columns=tuple(columns))


def _overlapping(stream: Any) -> Iterator[bytes]:
    """A stream in pieces, each with the end of the one before."""
    end = b""
    while piece := stream.read(_PIECE_BYTES):
        yield end + piece
        end = piece[-16:]


def _number(text: str | None, otherwise: int) -> int:
    is_number = text is not None and text.isdecimal() and text.isascii() and len(text) < 10  # noqa: PLR2004 -- 32 bits
    return int(text or 0) if is_number else otherwise
