"""reStructuredText: blocks kept as they are written, without inline marks; tables as rows."""

import re
from bisect import bisect, bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from esrag.loading.decoding import decode, is_text
from esrag.loading.inline import add_without_marks, strip_rst_marks
from esrag.loading.layout import Layout, Line, join_lines, split_lines, trim
from esrag.loading.rst_data_tables import find_data_tables, write_data_table
from esrag.loading.rst_directives import find_literal, write_directives
from esrag.loading.rst_tables import SIMPLE_BORDER, write_rows
from esrag.records import Document, Source, Span
from esrag.text import normalise
from esrag.text.captions import read_caption

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*")
_FIELD = re.compile(r":?([A-Za-z][\w -]{0,40}):[ \t]+(\S.*)")
_GRID = re.compile(r"\s*[+|].*[+|]\s*")
# Links and directives, and borders of simple tables; so many show that a text is of this format.
_MARK = re.compile(
    rb"^\.\. (?:_[^:\n]{1,80}:|[a-z][\w:-]{0,30}::)|^=+(?: +=+)+[ \r]*$", re.MULTILINE
)
_MIN_MARKS = 5
_MAX_ABOVE = 1000  # characters above a table in which its caption is looked for
_SURE_ADORNMENT = 4  # docutils takes one that is shorter than its title from here on


class RstLoader:
    """reStructuredText; heading levels are in the order in which the adornments are met."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, and 0.6 for a plain text with this format's marks."""
        if not is_text(data):
            return 0.0
        if name.lower().endswith((".rst", ".rest")):
            return 0.5
        is_marked = name.lower().endswith(".txt") and len(_MARK.findall(data)) >= _MIN_MARKS
        return 0.6 if is_marked else 0.0

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document; a field list at its top, as in a PEP, becomes metadata."""
        text = write_directives(trim(normalise(decode(source.data))))
        text, written = _write_tables(text)
        lines = split_lines(text)
        layout = Layout()
        found = list(headings(lines))
        spans = sorted([*written, *tables(lines)], key=lambda span: span.start)
        literal = find_literal(lines) | _find_within(lines, spans)
        marked = [(line, start in literal) for start, line in lines]
        add_without_marks(layout, marked, strip_rst_marks, found, spans)

        fields = read_top_fields(lines)
        title = fields.get("title") or (found[0][2] if found else "")
        yield layout.document(source, "rst", title, fields)


def _write_tables(text: str) -> tuple[str, list[Span]]:
    """Return the text with tables as rows with bars, and where these are."""
    pieces: list[str] = []
    spans: list[Span] = []
    done = length = 0

    lines = split_lines(text)
    literal = find_literal(lines)
    held = [table for table in find_data_tables(lines) if table.start not in literal]
    for table in sorted([*tables(lines), *held], key=lambda each: each.start):
        if table.start < done:
            continue
        title, written = _write_table(text, table, done)
        if not written:
            continue
        before = text[done : table.start] + (f"{title}\n\n" if title else "")
        length += len(before)
        pieces += [before, written]
        spans += [Span(length + start, length + end) for start, end in _parts(written)]
        length, done = length + len(written), table.end

    return "".join([*pieces, text[done:]]), spans


def _write_table(text: str, table: Span, done: int) -> tuple[str, str]:
    """Return the title that a table's directive gives, and its rows; "" if it stays as it is."""
    shown = text[table.start : table.end]
    if shown.lstrip().startswith(".."):
        return write_data_table(shown, strip_rst_marks)

    before = text[max(table.start - _MAX_ABOVE, done) : table.start]
    above = [line.strip() for line in before.split("\n") if line.strip()]
    written = write_rows(shown, strip_rst_marks, read_caption(above))
    return "", "" if written == shown else written


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the parts of a table are, which blank lines separate."""
    start = 0
    for part in text.split("\n\n"):
        yield start, start + len(part)
        start += len(part) + 2


def _index(lines: Sequence[Line], place: int) -> int:
    """Return the index of the first line that starts at the place or later."""
    return bisect_left(lines, place, key=itemgetter(0))


def _find_within(lines: Sequence[Line], spans: Iterable[Span]) -> set[int]:
    """Return where the lines start that are in one of the spans."""
    return {
        start
        for span in spans
        for start, _ in lines[_index(lines, span.start) : _index(lines, span.end)]
    }


def headings(lines: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """Yield titles with an underline, with or without an overline, as (start, level, title)."""
    styles: list[str] = []
    for index in range(1, len(lines)):
        start, title = lines[index - 1]
        under = lines[index][1]
        above = lines[index - 2] if index > 1 else (0, "")
        over = above[1].rstrip() == under.rstrip()
        if not _is_title(title, under, over=over) or (above[1].strip() and not over):
            continue
        style = under[0] * (2 if over else 1)
        if style not in styles:
            styles.append(style)
        yield above[0] if over else start, styles.index(style) + 1, join_lines(title)


def _is_title(title: str, under: str, *, over: bool) -> bool:
    long_enough = len(under.rstrip()) >= min(len(title.rstrip()), _SURE_ADORNMENT)
    marked = bool(_ADORNMENT.fullmatch(under)) and long_enough
    return (
        marked
        and bool(title.strip())
        and not _ADORNMENT.fullmatch(title)
        and (over or not title[0].isspace())
    )


def tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Yield grid tables, and simple tables from their first border to their last."""
    index, ends = 0, _ends_of_simple_tables(lines)
    while index < len(lines):
        begin, index = index, index + 1
        if re.match(r"\s*\+[-=]", lines[begin][1]):
            while index < len(lines) and _GRID.fullmatch(lines[index][1]):
                index += 1
        elif SIMPLE_BORDER.fullmatch(lines[begin][1].strip()):
            later = bisect(ends, begin + 1)
            index = ends[later] if later < len(ends) else begin + 1
        if index - begin > 2:  # noqa: PLR2004 -- a border, a row and a border
            last, text = lines[index - 1]
            yield Span(lines[begin][0], last + len(text))


def _ends_of_simple_tables(lines: Sequence[Line]) -> list[int]:
    """Return the lines after borders above a blank line, where a simple table can end."""
    return [
        index + 1
        for index, (_, line) in enumerate(lines)
        if (index + 1 == len(lines) or not lines[index + 1][1].strip())
        and SIMPLE_BORDER.fullmatch(line.strip())
    ]


def read_top_fields(lines: Sequence[Line]) -> dict[str, str]:
    """Return the fields before the first blank line, if that block has nothing but fields."""
    fields: dict[str, str] = {}
    last = ""

    for _, line in lines:
        match = _FIELD.fullmatch(line)
        if not line.strip():
            break
        if match:
            last = match[1].lower()
            fields[last] = match[2].strip()
        elif last and line[0].isspace():
            fields[last] += " " + line.strip()
        elif not re.match(r":?[A-Za-z][\w -]*:\s*$", line):
            return {}

    return fields
