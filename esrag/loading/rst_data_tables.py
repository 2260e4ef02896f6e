"""Tables that directives of reStructuredText hold: the lists of a list-table, or CSV."""

import csv
import re
from collections.abc import Callable, Iterator, Sequence

from esrag.loading.attributes import read_number
from esrag.loading.headers import join_header
from esrag.loading.layout import Line, find_indent, join_lines, split_rows
from esrag.loading.rst_directives import read_options
from esrag.records import Span

_DIRECTIVE = re.compile(r"(\s*)\.\. (list-table|csv-table)::(?:[ \t]+(\S.*))?")
_ROW, _CELL = re.compile(r"([*+-]\s+)-(?:\s|\Z)"), re.compile(r"-(?:\s|\Z)")
_DELIMITERS = {"tab": "\t", "space": " "}

Row = list[str]


def find_data_tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Yield the directives with what is indented below them."""
    number = 0
    while number < len(lines):
        begin, number = number, number + 1
        found = _DIRECTIVE.fullmatch(lines[begin][1])
        if not found:
            continue
        last = begin
        while number < len(lines) and _is_below(lines[number][1], len(found[1])):
            last = number if lines[number][1].strip() else last
            number += 1
        if last > begin:
            yield Span(lines[begin][0], lines[last][0] + len(lines[last][1]))


def write_data_table(directive: str, plain: Callable[[str], str]) -> tuple[str, str]:
    r"""Return the title of a directive's table, and a line for each row; two "" without a header.

    Inline marks are removed by `plain`. A long table is continued in others.

    >>> lines = [".. list-table:: Sizes", "   :header-rows: 1", "", "   * - Lamp", "     - Oil"]
    >>> write_data_table("\n".join([*lines, "   * - A", "     - *4* ml"]), lambda cell: cell)
    ('Sizes', 'Lamp | Oil\nA | *4* ml')
    """
    first, *rest = directive.split("\n")
    found = _DIRECTIVE.fullmatch(first)
    if found is None:
        return "", ""

    options = read_options(rest)
    title = plain(found[3] or "")
    read = _read_lists if found[2] == "list-table" else _read_csv
    rows = read(rest[len(options) :], dict(options))
    shown = [" | ".join(plain(cell).replace("|", "¦") for cell in row) for row in rows]
    return title, "\n\n".join("\n".join(part) for part in split_rows(shown, title))


def _is_below(line: str, indent: int) -> bool:
    return not line.strip() or find_indent(line) > indent


def _read_lists(lines: Sequence[str], options: dict[str, str]) -> list[Row]:
    """Return the rows of a list of lists, with one header row; [] without a header."""
    rows: list[list[list[str]]] = []  # the lines of each cell
    row_indent = cell_indent = -1

    for line in lines:
        indent, said = find_indent(line), line.strip()
        if (mark := _ROW.match(said)) and row_indent in (-1, indent):
            row_indent, cell_indent = indent, indent + len(mark[1])
            rows.append([[said[len(mark[1]) + 1 :]]])
        elif rows and indent == cell_indent and _CELL.match(said):
            rows[-1].append([said[1:]])
        elif rows:
            rows[-1][-1].append(said)

    return _join_header([[join_lines(" ".join(cell)) for cell in row] for row in rows], options)


def _read_csv(lines: Sequence[str], options: dict[str, str]) -> list[Row]:
    """Return the rows of CSV, with one header row; [] without a header."""
    delimiter = _DELIMITERS.get(options.get("delim", ","), options.get("delim", ","))
    body = [line.strip() for line in (options.get("header", ""), *lines) if line.strip()]
    try:
        rows = [*csv.reader(body, delimiter=delimiter, skipinitialspace=True)]
    except (csv.Error, TypeError, ValueError):  # the latter two: a bad delimiter
        return []
    return _join_header(rows, options)


def _join_header(rows: Sequence[Row], options: dict[str, str]) -> list[Row]:
    count = int("header" in options) + read_number(options.get("header-rows"), 0)
    if not 0 < count < len(rows):
        return []
    return [join_header(rows[:count]), *rows[count:]]
