"""Documents built piece by piece, with pages, sections and tables as true spans over the text."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from esrag.filters import scalar
from esrag.loading.forms import read_form
from esrag.loading.grids import list_items, split_tables, tidy_grid
from esrag.loading.headers import merge_headers
from esrag.records import Document, Page, Scalar, Section, Source, Span
from esrag.text import get_number, is_clause, normalise
from esrag.text.captions import is_title, read_caption

Line = tuple[int, str]  # where it starts, and its text

_PARAGRAPH = "\n\n"
_OWN_FIELDS = {"chunk_id", "doc_id", "folder", "keywords", "kind", "page", "section", "source"}
_MAX_RECENT, _MAX_SHOWN = 5, 1_000  # pieces, and characters of each, that may be a table's caption
# A table of up to so many characters is one passage, which one vector can represent.
_MAX_TABLE = 1_000
_MIN_BODY = 3  # characters of rows for each one of a caption and header that are repeated
_MAX_TITLE = 1_000  # characters of a title from a file's properties
# Names of files and programs; "TCP/IP" and "Node.js" end true titles.
_FILLED_IN = re.compile(
    r"^\(?(?:untitled|anonymous|unspecified)\b|^microsoft (word|powerpoint|excel)\b"
    r"|^(word|powerpoint) (document|presentation)$"
    r"|^(presentation|slide|document|title) ?\d*$|^(?:[a-z]:|file:)?[/\\]"
    r"|\.(?:docx?|pptx?|xlsx?|pdf|rtf|odt|tex|dvi|ps|indd|qxd|html?|md|txt)$",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\. ?){6,}+")
_MAX_DIGITS = 18  # a whole number of more does not fit the 64 bits of an index's column


class Layout:
    """Text that grows by pieces; each is normalised when it is added, so that no span moves later.

    Pieces are joined by line ends, which compose with nothing: the whole is in NFC where its pieces
    are.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[tuple[int, int, str]] = []
        self._tables: list[Span] = []
        self._pages: list[Page] = []
        self._open_page: int | None = None
        self._page_start: int | None = None
        self._hidden = 0
        self._recent: list[str] = []

    def leave_out(self, characters: int) -> None:
        """Count characters of hidden text that do not become part of the document."""
        self._hidden += characters

    def add(self, text: str, separator: str = _PARAGRAPH) -> Span | None:
        """Append a piece after the separator and return its span; None if it shows nothing."""
        text = trim(shorten_leaders(normalise(text)))
        if not text.strip():
            return None
        if self._parts:
            self._append(separator)
        start = self._length
        if self._page_start is None:
            self._page_start = start
        self._append(text)
        self._recent = [*self._recent, text[-_MAX_SHOWN:]][-_MAX_RECENT:]
        return Span(start, self._length)

    def heading(self, text: str, level: int) -> None:
        """Append a heading on a line of its own; level 1 is the outermost."""
        title = join_lines(text)
        if span := self.add(title):
            self.mark_heading(span.start, level, title)

    def mark_heading(self, start: int, level: int, title: str) -> None:
        """Let a section start at text that was added already; headings are marked in order."""
        self._headings.append((start, level, title))

    def table(self, rows: Iterable[Sequence[str]], *, is_form: bool = False) -> None:
        """Append a table with a line for each row, or a form with a paragraph for each value.

        Empty columns are dropped, and a single column becomes plain lines.

        A header of several rows becomes one. A long table is continued in another one, which
        repeats caption and header.
        """
        grid = tidy_grid(rows)
        if lines := read_form(grid, is_known=is_form):
            for line in lines:
                self.add(line)
            return
        if items := list_items(grid):
            for item in items:
                self.add(item, "\n")
            return

        caption = read_caption(self._recent)
        for part in split_tables(grid):
            for lines in split_rows(table_lines(merge_headers(part)), caption):
                span = self.add("\n".join(lines))
                if span and any(" | " in line for line in lines):
                    self.mark_table(span)

    def mark_table(self, span: Span) -> None:
        """Mark text that was added already as a table; tables are marked in order."""
        self._tables.append(span)

    def page(self, number: int) -> None:
        """Start a page, which gets everything that is added from here on."""
        self._pages.extend(self._find_page())
        self._open_page = number
        self._page_start = None

    def document(
        self, source: Source, kind: str, title: str = "", metadata: Mapping[str, Any] | None = None
    ) -> Document:
        """Return the document that was built so far."""
        return Document(
            doc_id=source.doc_id,
            kind=kind,
            text="".join(self._parts),
            title=join_lines(normalise(title)),
            pages=(*self._pages, *self._find_page()),
            sections=sections(self._headings, self._length),
            tables=tuple(self._tables),
            metadata=scalars(metadata or {}),
            hidden=self._hidden,
        )

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)

    def _find_page(self) -> tuple[Page, ...]:
        if self._open_page is None:
            return ()
        start = self._length if self._page_start is None else self._page_start
        return (Page(self._open_page, start, self._length),)


def sections(headings: Sequence[tuple[int, int, str]], end: int) -> tuple[Section, ...]:
    """Return the sections of headings (start, level, title), for a text that ends at `end`.

    A numbered clause that is styled as a heading is named by its number.

    >>> sections([(0, 1, "A"), (5, 2, "B"), (9, 1, "C")], 12)[1]
    Section(path=('A', 'B'), start=5, end=9)
    >>> sections([(0, 1, "2.1 The rent is due on the first of the month.")], 46)[0].path
    ('2.1',)
    """
    made: list[Section] = []
    above: list[tuple[int, str]] = []
    ends = [start for start, _, _ in headings[1:]] + [end]

    for (start, level, title), stop in zip(headings, ends, strict=False):
        own = (is_clause(title) and get_number(title)) or title
        above = [(outer, name) for outer, name in above if outer < level and _may_hold(name, own)]
        above.append((level, own))
        made.append(Section(tuple(name for _, name in above), start, stop))

    return tuple(made)


def _may_hold(outer: str, inner: str) -> bool:
    """Return whether a section may be within another one by their numbers.

    >>> [_may_hold(outer, "2.1 Rates") for outer in ("2 Rent", "3 Keys", "Part 3")]
    [True, False, True]
    """
    above, own = (get_number(title).split(".") for title in (outer, inner))
    is_numbered = above[0].isdigit() and len(own) > len(above)
    return not is_numbered or own[: len(above)] == above


def table_lines(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table's rows as lines, without empty rows and columns.

    >>> table_lines([["a", "", "b"], ["", "", ""], ["c", "", "d"]])
    ['a | b', 'c | d']
    """
    grid = [[join_lines(cell) for cell in row] for row in rows]
    used = sorted({column for row in grid for column, cell in enumerate(row) if cell})
    return [
        " | ".join(row[column] for column in used if column < len(row)).rstrip(" |")
        for row in grid
        if any(row)
    ]


def split_rows(lines: Sequence[str], caption: str = "") -> Iterator[list[str]]:
    """Yield a table's lines in parts that can be read by themselves.

    Each part after the first one begins with the caption, the titles and header of the table, and
    the title of the group of rows that it continues.

    >>> rows = ["City | Ships", "North:", *(f"Kiel {n} | {n}" for n in range(300))]
    >>> [part[:3] for part in split_rows(rows, "Ports")][1]
    ['Ports', 'City | Ships', 'North:']
    """
    titles = next((n for n, line in enumerate(lines) if " | " in line), len(lines))
    head = [*([caption] if caption else []), *lines[: titles + 1]]
    total = sum(map(len, lines))
    count = math.ceil(total / max(_MAX_TABLE, (1 + _MIN_BODY) * sum(map(len, head))))
    most = total / max(count, 1)  # parts of about the same length
    part: list[str] = []
    length, group = 0, ""

    for number, line in enumerate(lines):
        if number > titles + 1 and length >= most:
            yield part
            part = [*head, *([group] if group and " | " in line else [])]
            length = 0
        part.append(line)
        length += len(line)
        group = _group_after(line, group) if number > titles else ""

    yield part


def _group_after(line: str, group: str) -> str:
    """Return the group of the rows below a line: a line of one cell begins one, a total ends it."""
    if " | " not in line:
        return line if is_title(line) else ""
    return "" if line.casefold().startswith("total") else group


def trim(text: str) -> str:
    """Return the text without empty lines around it and white space at its end.

    The indent of the first line stays.
    """
    return text.strip("\n").rstrip()


def shorten_leaders(text: str) -> str:
    """Return the text with five dots for longer rows of them, which lead to a page number.

    >>> shorten_leaders("Lids ............ 4"), shorten_leaders("Oil . . . . . . . 5")
    ('Lids ..... 4', 'Oil ..... 5')
    """
    return _LEADERS.sub(lambda found: "....." + " " * found[0].endswith(" "), text)


def split_lines(text: str) -> list[Line]:
    """Return the lines, each with its start."""
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append((start, line))
        start += len(line) + 1
    return lines


def find_indent(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip())


def count_characters(text: str) -> int:
    """Return how many characters a text has, white space not counted."""
    return sum(map(len, text.split()))


def join_lines(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.split())


def clean_title(title: str) -> str:
    """Return a title from a file's properties, or "" for one that a program filled in.

    >>> clean_title("Microsoft Word - draft3.doc"), clean_title("Annual report")
    ('', 'Annual report')
    >>> clean_title("/home/ann/draft"), clean_title("Introduction to TCP/IP with Node.js")
    ('', 'Introduction to TCP/IP with Node.js')
    """
    title = join_lines(normalise(title[:_MAX_TITLE]))
    return "" if _FILLED_IN.search(title) or not re.search(r"\w\w", title) else title


def scalars(values: Mapping[Any, Any]) -> dict[str, Scalar]:
    """Return the values to filter by, under names that a filter can spell.

    Text is typed as a filter types it.

    A name that every document or chunk has by itself gets a `_` at its end: `--where kind_=x` finds
    it.

    >>> scalars({"Due date": "2024", "tags": ["a"], "": "x", "draft": False, "kind": "x"})
    {'Due_date': 2024, 'draft': False, 'kind_': 'x'}
    """
    kept: dict[str, Scalar] = {}
    for name, value in values.items():
        key = re.sub(r"[^\w.-]+", "_", normalise(str(name))).strip("_.-")
        typed = _scalar(value)
        # A document has a title of its own.
        if key and typed is not None and key.casefold() != "title":
            kept[f"{key}_" if key in _OWN_FIELDS else key] = typed
    return kept


def _scalar(value: object) -> Scalar | None:
    if isinstance(value, str):
        text = join_lines(normalise(value))
        return scalar(text) if text else None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**_MAX_DIGITS else str(value)
    return None
