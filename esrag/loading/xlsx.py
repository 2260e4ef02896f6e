"""Spreadsheets: a sheet is a page and a section, its rows are a table."""

import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from io import BytesIO

from esrag.loading import archive
from esrag.loading.layout import Layout, sensible_title
from esrag.records import Document, Source


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
                layout.heading(sheet.title, 1)
                sheet.reset_dimensions()  # a sheet may declare a million columns; its rows say how many they have
                layout.table([_shown(value) for value in row] for row in sheet.iter_rows(values_only=True))
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
