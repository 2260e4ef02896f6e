"""Tables in HTML, or of aligned columns, within Markdown: they become tables with bars."""

import re
from collections.abc import Iterable, Iterator, Sequence

from esrag.loading.aligned import find_aligned
from esrag.loading.headers import HEAD_ROWS, merge_stacked_header
from esrag.loading.html import parse_page, write_page
from esrag.loading.layout import Layout, table_lines
from esrag.loading.markdown_lines import Line
from esrag.records import Source

_BEGINS = re.compile(r"[ \t]*<table\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
_BLOCKS = ("li", "h1", "h2", "h3", "h4", "h5", "h6")  # a table with these lays out a page
_BAR = re.compile(r"(?<!\\)\|")


def write_embedded(lines: Iterable[Line], source: Source) -> tuple[str, int]:
    """Return the text with each table that begins a line outside code as a table of Markdown.

    The number is of the characters of hidden text that was left out. A table that has no end stays
    as it is.
    """
    kept: list[str] = []
    hidden = 0
    for piece, is_table in _split(lines):
        if not is_table:
            kept.append(piece)
            continue
        table, left_out = _write(piece, source)
        kept.append(table)
        hidden += left_out
    return "\n".join(kept), hidden


def write_aligned(lines: Sequence[Line]) -> str:
    """Return the text with each table of aligned columns outside code as a table of Markdown."""
    kept = [line for _, line, _ in lines]
    shown = ["" if code else line for _, line, code in lines]
    for table in reversed([*find_aligned(shown)]):
        kept[table.first : table.last] = ["", *_mark(table_lines(table.rows)), ""]
    return "\n".join(kept)


def merge_header(header: str, rows: Sequence[str]) -> list[str]:
    """Return a table's header and rows, with a second row of names as part of the header.

    Markdown has no cell over several columns: their name is in the first of them.

    >>> merge_header("| | In | |", ["| **City** | **pm** | **am** |", "| Kiel | 5 | 3 |"])
    ['| City | In pm | In am |', '| Kiel | 5 | 3 |']
    """
    cells = [_cut(row) for row in (header, *rows[:HEAD_ROWS])]
    merged = merge_stacked_header(cells[0], cells[1], cells[2:]) if rows else None
    return [f"| {' | '.join(merged)} |", *rows[1:]] if merged else [header, *rows]


def _cut(row: str) -> list[str]:
    bare = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in _BAR.split(bare)]


def _split(lines: Iterable[Line]) -> Iterator[tuple[str, bool]]:
    """Yield lines, and the lines of each table as one piece, with whether it is a table."""
    held: list[str] = []  # of a table
    depth = 0
    for _, line, code in lines:
        if not held and (code or not _BEGINS.match(line)):
            yield line, False
            continue
        held.append(line)
        depth += sum(-1 if tag[1] else 1 for tag in _TAG.finditer(line))
        if depth <= 0:
            yield "\n".join(held), True
            held, depth = [], 0
    yield from ((line, False) for line in held)


def _write(piece: str, source: Source) -> tuple[str, int]:
    """Return what a piece of HTML says with its tables as those of Markdown, and what it hides.

    A table that lays out parts of a page stays as it is.
    """
    tree = parse_page(piece)
    if tree is None or next(tree.iter(*_BLOCKS), None) is not None:
        return piece, 0
    layout = Layout()
    write_page(layout, tree, keep_hidden=source.keep_hidden)
    document = layout.document(source, "html", "")

    parts: list[str] = []
    done = 0
    for table in document.tables:
        rows = document.text[table.start : table.end].split("\n")
        parts += [document.text[done : table.start], "\n".join(_mark(rows))]
        done = table.end
    return "\n" + "".join([*parts, document.text[done:]]) + "\n", document.hidden


def _mark(rows: Sequence[str]) -> Iterator[str]:
    """Yield the rows of a table with bars around them, and a rule below the first whole one.

    What stands above that is a title of the columns: it becomes a line of its own.
    """
    counts = [len(_BAR.findall(row)) for row in rows]
    header = counts.index(max(counts))
    for row in rows[:header]:
        yield row.strip(" |")
    yield ""
    for number, row in enumerate(rows[header:]):
        yield f"| {row.strip()} |"
        if not number:
            yield "|" + " --- |" * (counts[header] + 1)
