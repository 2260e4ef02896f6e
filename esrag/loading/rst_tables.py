"""Tables of reStructuredText: rows whose cells are between bars, as other formats have them."""

import re
from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from esrag.loading.layout import find_indent, join_lines, split_rows

_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+")
_CORNER = re.compile(r"\+(?=[-=])|(?<=[-=])\+")
SIMPLE_BORDER = re.compile(r"=+(?: +=+)+")
_UNDERLINE = re.compile(r"[- ]+")
_BORDERS = 3  # of a simple table with a header: above it, below it, at the end

Rows = list[list[str]]


def write_rows(table: str, plain: Callable[[str], str], caption: str = "") -> str:
    r"""Return a table with a line for each row; as it is if it has no header, or cells that span.

    Inline marks are removed by `plain`. A long table is continued in others.

    >>> print(write_rows("== ===\na  b\n== ===\n1  2\n   3\n== ===", str))
    a | b
    1 | 2 3
    """
    lines = [line.rstrip() for line in table.expandtabs().split("\n")]
    inner = [line[find_indent(lines[0]) :] for line in lines]
    rows = _grid_rows(inner) if inner[0].startswith("+") else _simple_rows(inner)
    if not rows or "|" in "".join(cell for row in rows for cell in row):
        return table

    shown = [" | ".join(plain(join_lines(cell)) for cell in row).rstrip(" |") for row in rows]
    return "\n\n".join("\n".join(part) for part in split_rows(shown, caption))


def _grid_rows(lines: Sequence[str]) -> Rows:
    """Return the rows of a grid table; none if a cell below the header covers others.

    The header is what is above the first border without a gap. Its cells may cover others, which
    then have their text too.
    """
    ends = sorted({corner.start() for line in lines for corner in _CORNER.finditer(line)})
    columns = [(left + 1, right) for left, right in pairwise(ends)]
    first = next((n for n, line in enumerate(lines) if n and _GRID_BORDER.fullmatch(line)), 0)
    body = lines[first:]
    if not all(
        len(line) == len(lines[0])
        and (_has_corners(line, ends) if _GRID_BORDER.fullmatch(line) else _has_bars(line, ends))
        for line in body
    ):
        return []

    groups = groupby(body, key=lambda line: bool(_GRID_BORDER.fullmatch(line)))
    rows = [_join(list(group), columns) for is_border, group in groups if not is_border]
    return [_spread(lines[1:first], ends), *rows]


def _spread(lines: Sequence[str], ends: Sequence[int]) -> list[str]:
    """Return the cells of a header between column ends, each with the cells that cover it.

    >>> _spread(["|a |  C++  |", "|  +---+---+", "|  | c | d |"], [0, 3, 7, 11])
    ['a', 'C++ c', 'C++ d']
    """
    header: list[list[str]] = [[] for _ in ends[1:]]
    for line in lines:
        corners = {corner.start() for corner in _CORNER.finditer(line)}
        bars = [n for n, end in enumerate(ends) if line[end : end + 1] == "|" or end in corners]
        for first, last in pairwise(bars):
            text = line[ends[first] + 1 : ends[last]].strip()
            for cell in header[first:last] if text.strip("-=") else ():
                cell.append(text)
    return [" ".join(cell) for cell in header]


def _has_bars(line: str, ends: Sequence[int]) -> bool:
    return all(line[end] == "|" for end in ends)


def _has_corners(line: str, ends: Sequence[int]) -> bool:
    return all(line[end : end + 1] == "+" for end in ends)


def _simple_rows(lines: Sequence[str]) -> Rows:
    """Return the rows of a simple table; none without a header.

    A line whose first cell is empty continues the row above.
    """
    borders = [n for n, line in enumerate(lines) if SIMPLE_BORDER.fullmatch(line)]
    if len(borders) != _BORDERS or borders[0] or borders[-1] != len(lines) - 1:
        return []

    starts = [match.start() for match in re.finditer("=+", lines[0])]
    columns = list(zip(starts, [*starts[1:], max(map(len, lines)) + 1], strict=True))
    if any(_crosses(line, starts) for line in lines):
        return []

    groups = _group_by_row(lines[borders[1] + 1 : borders[2]], starts[1])
    return [_join(group, columns) for group in (lines[1 : borders[1]], *groups)]


def _group_by_row(lines: Sequence[str], second: int) -> list[list[str]]:
    """Return the lines of each row; the second column starts at a place of the line."""
    groups: list[list[str]] = []
    for line in lines:
        if not line.strip() or _UNDERLINE.fullmatch(line):
            continue
        if line[:second].strip() or not groups:
            groups.append([])
        groups[-1].append(line)
    return groups


def _crosses(line: str, starts: Sequence[int]) -> bool:
    """Return whether text crosses the space between two columns."""
    return any(line[start - 1 : start].strip() for start in starts[1:])


def _join(lines: Sequence[str], columns: Sequence[tuple[int, int]]) -> list[str]:
    """Return a row's cells, each joined from the lines that it stands on."""
    return [" ".join(line[left:right].strip() for line in lines).strip() for left, right in columns]
