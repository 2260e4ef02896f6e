"""Tables and lines of JSON: a row with a text is a document of its own.

Text, title and id of a row are in the columns that the settings name, else in those that are called
so, such as "body" or "headline"; the other columns become metadata. Where the settings name no
column of texts, they are also in the text of a table's row: a search for words does not see
metadata.
"""

import csv
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Self

from esrag.errors import ParsingError
from esrag.loading import Skipped
from esrag.loading.decoding import decode, is_text
from esrag.loading.headers import HEAD_ROWS, count_header_rows, has_no_header, join_header
from esrag.loading.layout import Layout, join_lines
from esrag.records import Columns, Document, Source
from esrag.text import format_count, normalise

_TEXTS = ("text", "content", "body", "abstract", "description", "answer", "passage")
_TITLES = (
    "title", "name", "headline", "subject", "question", "term", "summary", "product",
    "titel", "frage", "begriff", "artikel",
)  # fmt: skip
_IDS = ("id", "_id", "doc_id", "key")
_JSONL, _JSON = (".jsonl", ".ndjson"), ".json"
_LONG_CELL = 80  # characters, on average: a column of sentences
_DELIMITERS = ",;\t|"
_SNIFFED_ROWS = 20
_MAX_TITLES, _MIN_COLUMNS = 8, 3  # lines above the columns' names, and names below them
_MAX_ID = 200  # characters
_MAX_NAMES = 200  # characters of all columns' names in a message
_MAX_CELL = 2**31 - 1
_MAX_UNCLOSED = 20  # quotes that swallow the rest of a file; each costs another look at that rest
_SEPARATOR = re.compile(r"\ufeff?sep=([,;\t|])\r?\n", re.IGNORECASE)  # as Excel writes it
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Fields = Mapping[str, Any]
Cells = list[str]
Row = tuple[int, Cells]  # with the line it starts on
Titles = dict[int, str]  # the texts above the names of columns, by their lines


class CsvLoader:
    """Comma separated values, or semicolon, tab or bar separated ones."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, if the bytes are text."""
        return 0.5 if name.lower().endswith(".csv") and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield a document for each row if a column holds text, else one document of all rows."""
        yield from _load_table(source, "csv")


class TsvLoader:
    """Tab separated values."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, if the bytes are text."""
        return 0.5 if name.lower().endswith((".tsv", ".tab")) and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield a document for each row if a column holds text, else one document of all rows."""
        yield from _load_table(source, "tsv", "\t")


class JsonlLoader:
    """A JSON object a line, or a list of objects."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, if the bytes are text, and a list of objects in a `.json` file."""
        name = name.lower()
        is_known = name.endswith(_JSONL) or (name.endswith(_JSON) and bool(_read_list(data)))
        return 0.5 if is_known and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield a document for each object. A line that is not an object is skipped."""
        rows = _Rows(source, "jsonl", source.columns.text)
        entries = _read_list(source.data) if source.name.lower().endswith(_JSON) else []
        parts = (
            _check(entry, f"entry {number}", source.columns, number)
            for number, entry in enumerate(entries, start=1)
        )
        for part in parts if entries else _read_objects(decode(source.data), source.columns):
            yield part if isinstance(part, Skipped) else rows.document(*part)


def _read_list(data: bytes) -> list[Any]:
    """Return the objects of a JSON file that is a list of them, [] of any other."""
    try:
        found = json.loads(decode(data))
    except (ParsingError, ValueError, RecursionError):
        return []
    is_list = isinstance(found, list) and all(isinstance(entry, dict) for entry in found)
    return found if is_list else []


def _read_objects(text: str, columns: Columns) -> Iterator[tuple[int, Fields] | Skipped]:
    """Yield the number and the fields of each line that is not blank."""
    for number, line in enumerate(_lines(text), start=1):
        if line.strip():
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError) as error:
                message = join_lines(str(error))[:120]
                yield Skipped(f"line {number}", f"is not JSON: {message}")
            else:
                yield _check(fields, f"line {number}", columns, number)


def _check(fields: Any, place: str, columns: Columns, number: int) -> tuple[int, Fields] | Skipped:
    """Return the number and the fields of an object, with those of its `metadata`."""
    if not isinstance(fields, dict):
        return Skipped(place, f"holds a {type(fields).__name__}, expected an object")
    nested = fields.pop("metadata", None)
    fields = {**(nested if isinstance(nested, dict) else {}), **fields}
    missing = [name for name in _named(columns) if name not in fields]
    return Skipped(place, f"has no {missing[0]!r}") if missing else (number, fields)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines one by one: a list of them would take several times the text's memory."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def _load_table(source: Source, kind: str, delimiter: str = "") -> Iterator[Document | Skipped]:
    text, delimiter, titles = _read_table(source, delimiter)
    names, count = _open_table(text, source.columns, delimiter)
    column = source.columns.text
    if names and not column:
        column = _find_text_column(names, _iter_rows(text, delimiter, count))

    if column:
        documents = _Rows(source, kind, column)
        yield from (Skipped(f"line {line}", "stands above the columns' names") for line in titles)
        yield from _load_rows(documents, _read_rows(text, delimiter), names, count)
        return

    yield from (part for part in _read_rows(text, delimiter) if isinstance(part, Skipped))
    if names:
        rows = _iter_rows(text, delimiter, count)
        yield _to_document(source, kind, names, rows, titles.values())


def _read_table(source: Source, delimiter: str = "") -> tuple[str, str, Titles]:
    """Return the text of a table, its delimiter, and the lines above its columns' names.

    Those are empty in the text, so that the lines below keep their numbers.
    """
    text = decode(source.data)
    if told := _SEPARATOR.match(text):
        text, delimiter = text[told.end() :], told[1]
    delimiter = delimiter or sniff_delimiter(list(islice(_Lines(text), _SNIFFED_ROWS)))

    titles = _find_titles(text, delimiter)
    if titles:
        above = _Lines(text)
        count = sum(1 for _ in islice(above, max(titles)))
        text = "\n" * count + text[above.end :]
    return text, delimiter, titles


def _find_titles(text: str, delimiter: str) -> Titles:
    """Return the lines above the names of columns: one text of several words each, or a pair.

    Pairs, such as the name and the number of an account, are above an empty line.
    """
    titles: Titles = {}
    rows = ((line, _fill(cells)) for line, cells in _iter_raw_rows(text, delimiter))
    is_apart = True
    has_pairs = False
    for line, filled in islice(rows, _MAX_TITLES):
        if len(filled) >= _MIN_COLUMNS:
            is_table = len(next(rows, (0, []))[1]) >= _MIN_COLUMNS
            return titles if not has_pairs or (is_apart and is_table) else {}
        if len(filled) == 1 and " " not in filled[0].strip():
            break
        has_pairs = has_pairs or len(filled) > 1
        is_apart = not filled
        if filled:
            titles[line] = " ".join(filled)
    return {}


def _fill(cells: Cells | Skipped) -> Cells:
    """Return the cells that have a text."""
    return [] if isinstance(cells, Skipped) else [cell for cell in cells if cell.strip()]


def _open_table(text: str, columns: Columns, delimiter: str) -> tuple[list[str], int]:
    """Return the names of the columns, and the number of header rows.

    There are no names without a row. Raises: ParsingError for a missing column.
    """
    head = list(islice(_iter_rows(text, delimiter), HEAD_ROWS))
    names, count = _read_header(head) if head else ([], 0)
    _require_columns(names, columns)
    return names, count


def _named(columns: Columns) -> list[str]:
    return [name for name in (columns.text, columns.title, columns.id) if name]


def _require_columns(names: Sequence[str], columns: Columns) -> None:
    """Raise ParsingError for a column that the settings name and the table lacks."""
    missing = [name for name in _named(columns) if name not in names]
    if missing:
        found = join_lines(", ".join(names))[:_MAX_NAMES] or "none"
        raise ParsingError(
            f"has no column {missing[0]!r}; its columns: {found}",
            hint="set loading.columns.text, .title and .id to names in its first row",
        )


def _read_header(rows: Sequence[Cells]) -> tuple[list[str], int]:
    """Return the names of the columns, and how many of the first rows they take, which may be 0."""
    headers = [[join_lines(normalise(name)) for name in cells] for cells in rows]
    if _are_asked(headers):
        return ["question", "answer"], 0
    count = 0 if has_no_header(headers) else count_header_rows(headers)
    joined = enumerate(join_header(headers[:count]) if count else [""] * len(rows[0]), start=1)
    return [name or f"column {number}" for number, name in joined], count


def _are_asked(rows: Sequence[Cells]) -> bool:
    """Return whether the first rows, of two cells each, are questions with their answers."""
    return len(rows) > 1 and all(len(row) == 2 and row[0].endswith("?") for row in rows)  # noqa: PLR2004


def _load_rows(
    documents: "_Rows", parts: Iterable[Row | Skipped], names: Sequence[str], count: int
) -> Iterator[Document | Skipped]:
    """Yield a document for each row below the header, and what is not a row or has no text."""
    number = 0
    for part in _iter_fields(parts, names, count):
        if isinstance(part, Skipped):
            yield part
            continue
        number += 1
        line, fields = part
        if documents.has_text(fields):
            yield documents.document(number, fields)
        else:
            yield Skipped(f"line {line}", "holds no text")


def _iter_fields(
    parts: Iterable[Row | Skipped], names: Sequence[str], count: int
) -> Iterator[tuple[int, Fields] | Skipped]:
    """Yield the line and the fields of each row below the header, and what is not a row."""
    header_rows = count
    for part in parts:
        if isinstance(part, Skipped):
            yield part
        elif header_rows:
            header_rows -= 1
        else:
            line, cells = part
            yield line, _name_cells(names, cells)


def _name_cells(names: Sequence[str], cells: Sequence[str]) -> Fields:
    """Return a row's cells by their names, those of columns with the same name together.

    >>> _name_cells(["key", "note", "note"], ["A-1", "Raise it.", "Done."])
    {'key': 'A-1', 'note': 'Raise it.; Done.'}
    """
    found: dict[str, str] = {}
    for name, cell in zip(names, cells, strict=False):
        found[name] = "; ".join(filter(None, (found.get(name), cell)))
    return found


def iter_records(source: Source) -> Iterator[tuple[int, Fields] | Skipped]:
    """Yield the line and the fields of each row of a table, or of each object of a JSONL file.

    Anything else is yielded as skipped. Raises: ParsingError for a missing column.
    """
    if source.name.lower().endswith(_JSONL):
        yield from _read_objects(decode(source.data), source.columns)
        return

    text, delimiter, _ = _read_table(source)
    names, count = _open_table(text, source.columns, delimiter)
    yield from _iter_fields(_read_rows(text, delimiter), names, count)


class _Lines:
    """Lines of a text from a place on, with their ends; `end` is where the last one read ends."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.end = start
        self._matches = _LINE.finditer(text, start)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        match = next(self._matches)
        self.end = match.end()
        return match[0]


def _iter_rows(text: str, delimiter: str, first: int = 0) -> Iterator[Cells]:
    """Yield the rows of the table from the first one on, and nothing else."""
    rows = (part[1] for part in _read_rows(text, delimiter) if not isinstance(part, Skipped))
    return islice(rows, first, None)


def _read_rows(text: str, delimiter: str) -> Iterator[Row | Skipped]:
    """Yield each row, the header's first, and what is not a row of this table.

    A quote that is never closed, or closed by another row's, swallows the lines below it: then its
    own line is left out and reading goes on with the next. So is a row with more or fewer cells
    than the header, since it cannot be told which are missing; empty ones at the end may be.
    """
    width = least = 0
    for line, cells in _iter_raw_rows(text, delimiter):
        if isinstance(cells, Skipped):
            yield cells
            continue
        if not any(cell.strip() for cell in cells):
            continue

        width = width or len(cells)
        least = least or _count_filled(cells)
        if least <= len(cells) and _count_filled(cells) <= width:
            yield line, [*cells, *[""] * (width - len(cells))][:width]
        else:
            has = f"has {format_count(len(cells), 'cell')}"
            yield Skipped(f"line {line}", f"{has}, the header has {width}")


def _count_filled(cells: Cells) -> int:
    """Return the number of cells up to the last one with a text."""
    return max((n for n, cell in enumerate(cells, start=1) if cell.strip()), default=0)


def _iter_raw_rows(text: str, delimiter: str) -> Iterator[tuple[int, Cells | Skipped]]:
    """Yield each row with the line it starts on, from 1."""
    csv.field_size_limit(_MAX_CELL)
    line, place, unclosed = 1, 0, 0
    while place < len(text) and unclosed < _MAX_UNCLOSED:
        first, lines = line, _Lines(text, place)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                yield line, cells
                line, place = first + reader.line_num, lines.end
        except csv.Error:
            alone = _Lines(text, place)
            broken = next(alone)
            # A stray quote within one line.
            if first + reader.line_num == line + 1 and alone.end < len(text):
                yield line, _read_line(broken, delimiter)
            else:
                yield line, Skipped(f"line {line}", "has a quote that is never closed")
                unclosed += 1
            line, place = line + 1, alone.end

    for number, rest in enumerate(_Lines(text, place), start=line):  # so many quotes are not quotes
        yield number, _read_line(rest, delimiter)


def _read_line(line: str, delimiter: str) -> Cells:
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def sniff_delimiter(lines: Sequence[str]) -> str:
    r"""Return the delimiter that cuts the first lines into the most even rows.

    >>> sniff_delimiter(["a;b,c\n", "d;e\n"])
    ';'
    """

    def evenness(delimiter: str) -> tuple[float, int]:
        rows = csv.reader(lines[:_SNIFFED_ROWS], delimiter=delimiter, skipinitialspace=True)
        widths = Counter(map(len, rows))
        width, count = max(
            ((w, n) for w, n in widths.items() if w > 1), key=lambda p: p[1], default=(0, 0)
        )
        return (count / max(1, widths.total()), width)

    csv.field_size_limit(_MAX_CELL)
    return max(_DELIMITERS, key=evenness)


def _find_text_column(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the column with the rows' text, by its name or its long cells; "" without one."""
    if named := _find_name(names, _TEXTS):
        return named

    lengths, count = [0] * len(names), 0
    for row in rows:
        count += 1
        for column, cell in enumerate(row):
            lengths[column] += len(cell)
    longest = max(range(len(names)), key=lengths.__getitem__)
    return names[longest] if lengths[longest] > _LONG_CELL * count else ""


def _find_name(names: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the first of the wanted names that occurs, as it is written in the source."""
    written = {name.casefold(): name for name in reversed(names)}
    return next((written[name] for name in wanted if name in written), "")


def _to_document(
    source: Source,
    kind: str,
    names: Sequence[str],
    rows: Iterable[Cells],
    titles: Iterable[str],
) -> Document:
    layout = Layout()
    for title in titles:
        layout.add(title)
    grid = [*rows]
    used = {column for cells in grid for column, cell in enumerate(cells) if cell.strip()}
    called = names.index(_find_name(names, _TITLES) or names[0])  # by what is in this column
    order = sorted(used, key=lambda column: (column != called, column))
    layout.table([cells[column] for column in order] for cells in [names, *grid])
    return layout.document(source, kind, next(iter(titles), ""))


def _to_text(value: object) -> str:
    if isinstance(value, list):
        # SciFact's abstracts are lists of sentences.
        return "\n".join(_to_text(item) for item in value)
    if isinstance(value, dict):
        return "\n".join(filter(None, map(_to_text, value.values())))
    return "" if value is None else str(value)


class _Rows:
    """Makes documents of one source's rows."""

    def __init__(self, source: Source, kind: str, text: str) -> None:
        self._source, self._kind, self.text = source, kind, text
        self._given: defaultdict[bytes, bytearray] = defaultdict(bytearray)
        self._repeated: Counter[str] = Counter()

    def document(self, number: int, fields: Fields) -> Document:
        """Return the row's document; its text is all strings if no field holds text."""
        text = self.text or _find_name(list(fields), _TEXTS)
        title, row_id = self._name(fields)
        others = {key: value for key, value in fields.items() if key not in (text, title, row_id)}
        layout = Layout()
        if text:
            layout.add(_to_text(fields.get(text)))
            layout.add(self._say(others))
        else:
            said = (value for value in fields.values() if isinstance(value, str | list | dict))
            layout.add("\n".join(filter(None, map(_to_text, said))))

        own_id = self._make_id(_to_text(fields.get(row_id)) or str(number))
        row = Source(f"{self._source.doc_id}#{own_id}", "", b"")
        return layout.document(row, self._kind, _to_text(fields.get(title)), others)

    def has_text(self, fields: Fields) -> bool:
        """Return whether a row of a table has a text, or other cells that follow the text."""
        if fields[self.text].strip():
            return True
        told = {self.text, *self._name(fields)}
        return bool(self._say({name: cell for name, cell in fields.items() if name not in told}))

    def _say(self, others: Fields) -> str:
        """Return the other cells of a table's row, by name, if the settings name no text."""
        if self._kind == "jsonl" or self._source.columns.text:
            return ""
        cells = ((name, join_lines(cell)) for name, cell in others.items())
        return "\n".join(f"{name}: {cell}" for name, cell in cells if cell and "://" not in cell)

    def _name(self, fields: Fields) -> tuple[str, str]:
        """Return the names of the fields with a row's title and id, "" for none."""
        names, columns = list(fields), self._source.columns
        return columns.title or _find_name(names, _TITLES), columns.id or _find_name(names, _IDS)

    def _make_id(self, wanted: str) -> str:
        """Return the id on one line, made unique: a second "a" becomes "a~2"."""
        base = row_id = re.sub(r"\s+", "_", normalise(wanted).strip())[:_MAX_ID]
        while not self._is_new(row_id):
            self._repeated[base] += 1
            row_id = f"{base}~{self._repeated[base] + 1}"
        return row_id

    def _is_new(self, row_id: str) -> bool:
        """Note an id, and return whether it is new.

        Ids are kept as eight bytes of their hash, by the first two: a set of two million ids takes
        180 MB, this 25. Two ids that share all eight cost one of them a `~2`.
        """
        mark = hashlib.blake2b(row_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        noted = self._given[mark[:2]]
        if mark[2:] in noted:
            return False

        noted += mark[2:]
        return True
