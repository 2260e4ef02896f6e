"""Tables of plain text in frames, as memos and database clients print them: "| Key | 12 |"."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, takewhile

# A border has the corners of all cells, and an edge at least those of the frame.
_BORDER = re.compile(r"\s{0,40}[+|](?:[-=]{1,200}[+|]){2,40}")
_EDGE = re.compile(r"\s{0,40}\+[-=]{3,200}\+")
# Below the header of a table without a frame: "----+-----". A Markdown table has no such marks.
_DIVIDER = re.compile(r"\s{0,40}(?=[-|]{0,200}[+=])[-=]{1,200}(?:[+|][-=]{1,200}){1,40}\s*")
_MAX_HEADER = 3  # lines above a divider
_WIDE_GAP = re.compile(r"\S\s{3,40}\S")
# What other programs draw frames with.
_PLAINER = str.maketrans("┌┬┐├┼┤└┴┘╔╦╗╠╬╣╚╩╝│║─═", "+" * 18 + "||--")

Row = list[str]
Framed = tuple[int, int, list[Row]]  # the first line, the one after the last, and the rows


def read_framed(block: Sequence[str]) -> Framed | None:
    """Return the first line of a table in a frame, the one after its last, and its rows.

    Or of one with bars between its columns and a line of dashes below its header.

    The header is above the second border. Between the rows there are borders, or empty lines, or
    nothing: then a row begins where its first cell is filled.

    >>> rule = "  +-----+------+"
    >>> block = [rule, "  | Key | Oil  |", rule, "  | lid | none |", "  |     | left |", rule]
    >>> read_framed(["Table 1", *block])
    (1, 7, [['Key', 'Oil'], ['lid', 'none left']])
    >>> read_framed(["Key | Oil", "----+-----", "lid | none", "(1 row)"])
    (0, 3, [['Key', 'Oil'], ['lid', 'none']])
    """
    lines = [line.translate(_PLAINER) for line in block]
    return _read_boxed(lines) or _read_divided(lines)


def _read_boxed(lines: Sequence[str]) -> Framed | None:
    """Return a table with borders above and below.

    >>> lines = ["+---------+", "|Key|Oil  |", "|---+-----|", "|lid|none |", "+---------+"]
    >>> _read_boxed(lines)
    (0, 5, [['Key', 'Oil'], ['lid', 'none']])
    """
    first = next((n for n, line in enumerate(lines) if _is_border(line)), None)
    corners = next((line for line in lines[first or 0 :] if _BORDER.fullmatch(line)), None)
    if first is None or corners is None:
        return None

    framed = [*_iter_framed(lines[first:], corners)]
    groups = [[*group] for is_border, group in groupby(framed, _is_border) if not is_border]
    if len(groups) < 2 or not _is_border(framed[-1]):  # noqa: PLR2004 -- a header and rows
        return None

    ends = _find_ends(corners)
    header, *body = [[_cut(line, ends) for line in group] for group in groups]
    rows = _split_rows(body[0]) if len(body) == 1 else body
    return first, first + len(framed), [_join(row) for row in (header, *rows)]


def _read_divided(lines: Sequence[str]) -> Framed | None:
    """Return a table whose header is above a line of dashes with a mark for each bar of its rows.

    >>> rule = "====|====="
    >>> _read_divided(["Use:", "Key | Oil", rule, "lid | none", "    | left", rule, "pan | 3"])
    (1, 7, [['Key', 'Oil'], ['lid', 'none left'], ['pan', '3']])
    >>> _read_divided(["  |  ", "--+--", "  |  "])
    """
    number = next((n for n, line in enumerate(lines) if n and _DIVIDER.fullmatch(line)), None)
    if number is None:
        return None

    bars = _find_ends(lines[number])
    above = lines[max(number - _MAX_HEADER, 0) : number][::-1]
    header = [*takewhile(lambda line: _has_bars(line, bars), above)][::-1]
    rows = [*takewhile(lambda line: _has_bars(line, bars), lines[number + 1 :])]
    groups = [[*group] for is_rule, group in groupby(rows, _is_divider) if not is_rule]
    if not (header and groups):
        return None

    ends = [-1, *bars, max(map(len, lines))]
    names, *body = [[_cut(line, ends) for line in group] for group in (header, *groups)]
    read = [_join(row) for row in (names, *(_split_rows(body[0]) if len(body) == 1 else body))]
    is_table = all(read[0][1:]) and all(map(any, read))
    is_whole = not any(_WIDE_GAP.search(cell) for row in read for cell in row)
    return (number - len(header), number + 1 + len(rows), read) if is_table and is_whole else None


def _has_bars(line: str, bars: Sequence[int]) -> bool:
    return len(line) > bars[-1] and all(line[bar] in "+|" for bar in bars)


def _is_divider(line: str) -> bool:
    return not line.strip("-=+| ")


def _is_border(line: str) -> bool:
    return bool(_BORDER.fullmatch(line) or _EDGE.fullmatch(line))


def _find_ends(border: str) -> list[int]:
    return [number for number, mark in enumerate(border) if mark in "+|"]


def _iter_framed(lines: Sequence[str], corners: str) -> Iterator[str]:
    """Yield the lines that have the corners of a border, or bars in their places, and edges."""
    ends = _find_ends(corners)
    for line in lines:
        is_edge = _EDGE.fullmatch(line) and line.index("+") == ends[0]
        if len(line) != ends[-1] + 1 or not (is_edge or _has_bars(line, ends)):
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
    """Return the cells of a row, each joined from its lines."""
    return [" ".join(filter(None, parts)) for parts in zip(*lines, strict=True)]
