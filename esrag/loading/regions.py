"""Regions of a sheet: tables that stand side by side or below one another on it."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile

from esrag.loading.grids import is_amount, is_wide

Row = Sequence[str]

_MIN_COLUMNS = 2  # of a table that stands beside another one
_MIN_LABELS = 0.5  # share of a table's rows that begin with words


def split_regions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the tables of a sheet, each with the titles above it and the notes below.

    >>> rows = [["In", "2024", "", "Out", "2024"], ["Fares", "5", "", "Fuel", "3"]]
    >>> list(split_regions(rows))
    [[['In', '2024'], ['Fares', '5']], [['Out', '2024'], ['Fuel', '3']]]
    >>> rows = [["Port", "Ships"], ["Kiel", "5"], ["", ""], ["Shift", "Begins"], ["Early", "5:45"]]
    >>> [len(region) for region in split_regions(rows)]
    [2, 2]
    """
    for block in _split_below(rows):
        yield from _split_beside(block)


def _split_below(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows up to each empty row that a table with a header of its own follows."""
    block: list[Row] = []
    for is_filled, group in groupby(rows, key=any):
        below = list(group) if is_filled else []
        if block and _begins_table(block, below):
            yield block
            block = []
        block += below
    if block:
        yield block


def _begins_table(above: Sequence[Row], below: Sequence[Row]) -> bool:
    """Return whether rows below an empty one begin with a header that does not go on above."""
    header = next(filter(is_wide, below), None)
    last = next(filter(is_wide, reversed(above)), None)
    if header is None or last is None or any(map(is_amount, header)):
        return False

    columns, columns_above = _filled(header), set().union(*map(_filled, filter(is_wide, above)))
    has_amounts = any(is_amount(last[column]) for column in columns if column < len(last))
    return has_amounts or columns != columns_above


def _split_beside(block: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the tables that empty columns divide, or the whole block."""
    width = max(map(len, block))
    used = {column for row in block for column in _filled(row)}
    wide = list(filter(is_wide, block))
    parts = [
        [column for _, column in group]
        for _, group in groupby(enumerate(sorted(used)), key=lambda pair: pair[1] - pair[0])
    ]
    if len(parts) < 2 or not all(_is_table(wide, part) for part in parts):  # noqa: PLR2004 -- two tables
        yield list(block)
        return

    padded = [[*row, *[""] * (width - len(row))] for row in block]
    titles = [[next(filter(None, row))] for row in takewhile(_is_title, padded)]
    for number, part in enumerate(parts):
        rows: list[Row] = [[row[column] for column in part] for row in padded]
        yield [*titles, *rows] if number else rows


def _is_table(wide: Sequence[Row], columns: Sequence[int]) -> bool:
    """Return whether columns have a header, and rows that mostly begin with words."""
    if len(columns) < _MIN_COLUMNS:
        return False
    cells = [row[columns[0]] if columns[0] < len(row) else "" for row in wide]
    filled = [cell for cell in cells if cell]
    labels = [cell for cell in filled if any(map(str.isalpha, cell))]
    return bool(cells and cells[0]) and len(labels) >= _MIN_LABELS * len(filled)


def _is_title(row: Row) -> bool:
    return len(_filled(row)) == 1


def _filled(row: Row) -> set[int]:
    return {column for column, cell in enumerate(row) if cell}
