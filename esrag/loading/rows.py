"""Tables and lines of JSON: a row with a text is a document of its own."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from esrag.loading import Skipped
from esrag.loading.decoding import decode, is_text
from esrag.loading.headers import HEAD_ROWS, count_header_rows, join_header
from esrag.loading.layout import Layout, one_line
from esrag.records import Document, Source
from esrag.text import normalise

_TEXTS = ("text", "content", "body", "abstract", "description", "answer", "passage")
_TITLES = ("title", "name", "headline", "subject")
_IDS = ("id", "_id", "doc_id", "key")
_LONG_CELL = 80  # characters, on average: a column of sentences
_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 20
_LONGEST_ID = 200  # characters
_LARGEST_CELL = 2**31 - 1

Fields = Mapping[str, Any]
Rows = list[tuple[int, list[str]]]


class CsvLoader:
    """Comma separated values, or semicolon, tab or bar separated ones."""

    def recognises(self, name: str, data: bytes) -> float:
        """0.5 by name, if it is text."""
        return 0.5 if name.lower().endswith(".csv") and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """A document a row where a column holds text, else one document of all rows."""
        yield from _load_table(source, "csv")


class TsvLoader:
    """Tab separated values."""

    def recognises(self, name: str, data: bytes) -> float:
        """0.5 by name, if it is text."""
        return 0.5 if name.lower().endswith((".tsv", ".tab")) and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """A document a row where a column holds text, else one document of all rows."""
        yield from _load_table(source, "tsv", "\t")


class JsonlLoader:
    """A JSON object a line."""

    def recognises(self, name: str, data: bytes) -> float:
        """0.5 by name, if it is text."""
        return 0.5 if name.lower().endswith((".jsonl", ".ndjson")) and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """A document a line; a line that is no object is skipped."""
        rows = _Rows(source, "jsonl")
        for number, line in enumerate(decode(source.data).split("\n"), start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield Skipped(f"line {number}", f"is not JSON: {one_line(str(error))[:120]}")
                continue
            if isinstance(fields, dict):
                nested = fields.pop("metadata", None)
                yield rows.document(number, {**(nested if isinstance(nested, dict) else {}), **fields})
            else:
                yield Skipped(f"line {number}", f"holds a {type(fields).__name__}, expected an object")


def _load_table(source: Source, kind: str, delimiter: str = "") -> Iterator[Document | Skipped]:
    lines = io.StringIO(decode(source.data), newline="").readlines()
    rows, skipped = read_rows(lines, delimiter or sniffed(lines))
    yield from skipped
    if not rows:
        return
    headers = [[one_line(normalise(name)) for name in cells] for _, cells in rows[:HEAD_ROWS]]
    count = count_header_rows(headers)
    header, rows = join_header(headers[:count]), rows[count - 1 :]
    names = [name or f"column {number}" for number, name in enumerate(header, start=1)]
    text = _text_column(names, [row for _, row in rows[1:]])
    if not text:
        yield _whole_table(source, kind, names, rows)
        return
    documents = _Rows(source, kind, text)
    for number, (_, cells) in enumerate(rows[1:], start=1):
        yield documents.document(number, dict(zip(names, cells, strict=False)))


def read_rows(lines: Sequence[str], delimiter: str) -> tuple[Rows, list[Skipped]]:
    """The rows as (line from 1, cells), and the rows that are no rows of this table.

    A quote that is never closed, or closed by another row's, swallows the lines below it: then its own line is left
    out and reading goes on with the next. Cells that are missing at the end are empty ones.
    """
    csv.field_size_limit(_LARGEST_CELL)
    rows: Rows = []
    skipped: list[Skipped] = []
    done = 0
    while done < len(lines):
        base = done
        reader = csv.reader((lines[index] for index in range(base, len(lines))), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
                _sort(cells, done + 1, rows, skipped)
                done = base + reader.line_num
        except csv.Error:
            if base + reader.line_num == done + 1 < len(lines):  # a stray quote within one line: read it leniently
                _sort(next(csv.reader([lines[done]], delimiter=delimiter)), done + 1, rows, skipped)
            else:
                skipped.append(Skipped(f"line {done + 1}", "has a quote that is never closed"))
            done += 1
    return rows, skipped


def _sort(cells: list[str], line: int, rows: Rows, skipped: list[Skipped]) -> None:
    """Puts a row where it belongs; the first row is the header and says how many cells there are."""
    if rows and len(cells) > len(rows[0][1]):
        skipped.append(Skipped(f"line {line}", f"has {len(cells)} cells, the header has {len(rows[0][1])}"))
    elif any(cell.strip() for cell in cells):
        rows.append((line, cells))


def sniffed(lines: Sequence[str]) -> str:
    r"""The delimiter that cuts the first lines into the most even rows.

    >>> sniffed(["a;b,c\n", "d;e\n"])
    ';'
    """

    def evenness(delimiter: str) -> tuple[float, int]:
        widths = Counter(map(len, csv.reader(lines[:_SNIFFED_ROWS], delimiter=delimiter)))
        width, count = max(((w, n) for w, n in widths.items() if w > 1), key=lambda p: p[1], default=(0, 0))
        return (count / max(1, widths.total()), width)

    csv.field_size_limit(_LARGEST_CELL)
    return max(_DELIMITERS, key=evenness)


def _text_column(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The column that holds the rows' text, by its name or by its long cells; "" if there is none."""
    if named := _named(names, _TEXTS):
        return named
    lengths = [sum(len(row[column]) for row in rows if column < len(row)) for column in range(len(names))]
    longest = max(range(len(names)), key=lengths.__getitem__)
    return names[longest] if rows and lengths[longest] > _LONG_CELL * len(rows) else ""


def _named(names: Sequence[str], wanted: Sequence[str]) -> str:
    """The first of the wanted names that is there, as it is written there."""
    written = {name.casefold(): name for name in reversed(names)}
    return next((written[name] for name in wanted if name in written), "")


def _whole_table(source: Source, kind: str, names: Sequence[str], rows: Rows) -> Document:
    layout = Layout()
    lines = (
        "; ".join(f"{n}: {one_line(c)}" for n, c in zip(names, cells, strict=False) if c.strip())
        for _, cells in rows[1:]
    )
    if span := layout.add("\n".join(lines)):
        layout.mark_table(span)
    return layout.document(source, kind)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(_shown(item) for item in value)  # SciFact's abstracts are lists of sentences
    return "" if value is None or isinstance(value, dict) else str(value)


class _Rows:
    """Makes documents of one source's rows: text, title and id by the fields' names, the others as metadata."""

    def __init__(self, source: Source, kind: str, text: str = "") -> None:
        self._source, self._kind, self._text = source, kind, text
        self._given: set[str] = set()
        self._repeated: Counter[str] = Counter()

    def document(self, number: int, fields: Fields) -> Document:
        """The row's document; without a field that holds text, all its strings are the text."""
        names = list(fields)
        text, title, row_id = self._text or _named(names, _TEXTS), _named(names, _TITLES), _named(names, _IDS)
        layout = Layout()
        if text:
            layout.add(_shown(fields.get(text)))
        else:
            layout.add("\n".join(value for value in fields.values() if isinstance(value, str)))
        doc_id = f"{self._source.doc_id}#{self._next_id(_shown(fields.get(row_id)) or str(number))}"
        others = {name: value for name, value in fields.items() if name not in (text, title, row_id)}
        return layout.document(Source(doc_id, "", b""), self._kind, _shown(fields.get(title)), others)

    def _next_id(self, wanted: str) -> str:
        """The id on one line, and unlike those before it: a second "a" is "a~2"."""
        base = row_id = re.sub(r"\s+", "_", normalise(wanted).strip())[:_LONGEST_ID]
        while row_id in self._given:
            self._repeated[base] += 1
            row_id = f"{base}~{self._repeated[base] + 1}"
        self._given.add(row_id)
        return row_id
