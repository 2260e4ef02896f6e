"""Tables of plain text in frames, as memos and database clients print them: "| Key | 12 |"."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

_BORDER = re.compile(r"\s{0,40}\+(?:[-=]{1,200}\+){2,40}")
# What other programs draw frames with.
_PLAINER = str.maketrans("┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝│║─═", "+" * 18 + "||--")

Row = list[str]


def read_framed(block: Sequence[str]) -> tuple[int, int, list[Row]] | None:
    """Return the first line of a table in a frame, the one after its last, and its rows.

    The header is above the second border. Between the rows there are borders, or empty lines, or
    nothing: then a row begins where its first cell is filled.

    >>> rule = "  +-----+------+"
    >>> block = [rule, "  | Key | Oil  |", rule, "  | lid | none |", "  |     | left |", rule]
    >>> read_framed(["Table 1", *block])
    (1, 7, [['Key', 'Oil'], ['lid', 'none left']])
    """
    lines = [line.translate(_PLAINER) for line in block]
    first = next((n for n, line in enumerate(lines) if _is_border(line)), None)
    if first is None:
        return None

    framed = [*_iter_framed(lines[first:])]
    groups = [[*group] for is_border, group in groupby(framed, _is_border) if not is_border]
    if len(groups) < 2 or not _is_border(framed[-1]):  # noqa: PLR2004 -- a header and rows
        return None

    ends = _find_ends(framed[0])
    header, *body = [[_cut(line, ends) for line in group] for group in groups]
    rows = _split_rows(body[0]) if len(body) == 1 else body
    return first, first + len(framed), [_join(row) for row in (header, *rows)]


def _is_border(line: str) -> bool:
    return bool(_BORDER.fullmatch(line))


def _find_ends(border: str) -> list[int]:
    return [number for number, mark in enumerate(border) if mark == "+"]


def _iter_framed(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines from a border on that have its corners, or bars in their places."""
    ends = _find_ends(lines[0])
    for line in lines:
        if len(line) != ends[-1] + 1 or not all(line[end] in "+|" for end in ends):
            return
        yield line


def _cut(line: str, ends: Sequence[int]) -> Row:
    return [line[left + 1 : right].strip() for left, right in pairwise(ends)]


def _split_rows(lines: Sequence[Row]) -> list[list[Row]]:
    """Return the lines of each row."""
    if not all(map(any, lines)):
        return [[*group] for is_filled, group in groupby(lines, any) if is_filled]

    rows: list[list[Row]] = []
    for line in lines:
        if line[0] or not rows:
            rows.append([])
        rows[-1].append(line)
    return rows


def _join(lines: Sequence[Row]) -> Row:
    """Return the cells of a row, each joined from the lines that it stands on."""
    return [" ".join(filter(None, parts)) for parts in zip(*lines, strict=True)]
