"""Grids: a table's cells in the columns that a reader sees.

A financial table often has "$", ")" and "%" in columns of their own, and a year over the column of
the "$". Such columns are joined with the column of the numbers.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

MAX_HEADER_LOOKED_AT = 10  # rows above the first figure

_FIGURE = re.compile(r"[\s(+–−-]{0,4}[$€£¥]?[\s(+–−-]{0,4}\d[\d.,]{0,40}[\s)%]{0,4}|[$€£¥]?[—–-]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_OPENS = re.compile(r"[+–−(-]?(?:US|CA?|AU?|HK)?[$€£¥][(–−-]?|\(")
_CLOSES = re.compile(r"[)%]{1,3}|\) ?%|% ?\)")
_BULLETS = "•·●▪◦‣–-"
_ITEM = re.compile(rf"[{_BULLETS}]|\((?:\d{{1,2}}|[a-z]|[ivx]{{1,4}})\)")
_ITEM_CELLS = 2  # its mark and its text
_REACH = 2  # columns between a sign and its number

Row = list[str]


def tidy_grid(rows: Iterable[Sequence[str]]) -> list[Row]:
    """Return the rows without empty rows and columns, with signs joined to their numbers.

    A column that only has a header is joined with the neighbour that only lacks one.

    >>> tidy_grid([["", "2021", "", ""], ["Cash", "$", "16", ""], ["Loss", "", "(2", ")"]])
    [['', '2021'], ['Cash', '$16'], ['Loss', '(2)']]
    """
    grid = [_join_signs([" ".join(cell.split()) for cell in row]) for row in rows]
    grid = _without_empty(grid)
    top = _count_rows_above_figures(grid)
    if top == len(grid):
        return grid

    for left, right in reversed(list(pairwise(range(1, max(map(len, grid), default=0))))):
        if _complement(grid, left, right, top):
            for row in grid:
                row[left : right + 1] = [row[left] or row[right]]
    return grid


def split_tables(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the parts of a grid that have headers of their own.

    A part begins where the first header comes again below figures, perhaps for another year.

    >>> header = ["City", "In", "Out"]
    >>> rows = [header, ["Kiel", "5", "3"], header, ["Ulm", "1", "2"]]
    >>> [len(part) for part in split_tables(rows)]
    [2, 2]
    """
    top = _count_rows_above_figures(rows)
    known = {cell.casefold() for row in rows[:top] if is_wide(row) for cell in row if cell}
    titles = list(takewhile(_is_title, rows))
    start, has_figures = 0, False

    for number, row in enumerate(rows):
        if has_figures and _is_header_again(row, known):
            first = number - sum(1 for _ in takewhile(_is_title, reversed(rows[start:number])))
            yield _below(titles if start else [], rows[start:first])
            start, has_figures = first, False
        has_figures = has_figures or any(map(is_amount, row))
    yield _below(titles if start else [], rows[start:])


def _below(titles: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """Return the rows below the titles of their table, unless they have a title of their own."""
    return [*([] if any(map(_is_title, rows[:1])) else titles), *rows]


def _is_title(row: Row) -> bool:
    """Return whether a row has text in its first column only."""
    return bool(row[0]) and not any(row[1:]) and not row[0].endswith((".", ";"))


def list_items(grid: Sequence[Row]) -> list[str]:
    """Return the items of a list that is laid out as a table, else nothing.

    >>> list_items([["•", "Press."], ["•", "Wait."]]), list_items([["(1)", "In 2021."]])
    (['- Press.', '- Wait.'], ['(1) In 2021.'])
    """
    cells = [[cell for cell in row if cell] for row in grid]
    if not all(len(row) == _ITEM_CELLS and _ITEM.fullmatch(row[0]) for row in cells):
        return []
    return [f"{'-' if mark in _BULLETS else mark} {text}" for mark, text in cells]


def is_amount(cell: str) -> bool:
    """Return whether a cell only contains a figure, or the dash that stands for none.

    >>> [is_amount(cell) for cell in ("$1,184", "(12)%", "—", "2023", "Kiel")]
    [True, True, True, False, False]
    """
    return bool(_FIGURE.fullmatch(cell)) and not _YEAR.fullmatch(cell)


def _join_signs(row: Row) -> Row:
    """Return a row with "$" joined to the number after it, and ")" or "%" to that before it."""
    cells = list(row)
    for place, cell in enumerate(row):
        if not cell:
            continue
        if _OPENS.fullmatch(cell) and (after := _find_amount(row, place, 1)):
            cells[after], cells[place] = f"{cell}{cells[after]}", ""
        elif _CLOSES.fullmatch(cell) and (before := _find_amount(cells, place, -1)):
            cells[before], cells[place] = f"{cells[before]}{cell}", ""
    return cells


def _find_amount(row: Row, place: int, step: int) -> int:
    """Return the column of the number that a sign opens (step 1) or closes (-1), else 0."""
    near = (place + step * distance for distance in range(1, _REACH + 1))
    found = next((column for column in near if 0 < column < len(row) and row[column]), 0)
    return found if found and _begins_amount(row[found]) else 0


def _begins_amount(cell: str) -> bool:
    return bool(re.match(r"\W{0,4}\d", cell)) or cell in {"—", "–", "-"}


def _without_empty(grid: Sequence[Row]) -> list[Row]:
    """Return the filled rows, all with the filled columns."""
    used = sorted({column for row in grid for column, cell in enumerate(row) if cell})
    return [
        [row[column] if column < len(row) else "" for column in used] for row in grid if any(row)
    ]


def _count_rows_above_figures(grid: Sequence[Row]) -> int:
    """Return how many rows are above the first one with a figure; all if that is far below."""
    found = next((n for n, row in enumerate(grid) if any(map(is_amount, row[1:]))), len(grid))
    return found if found <= MAX_HEADER_LOOKED_AT else len(grid)


def _complement(grid: Sequence[Row], left: int, right: int, top: int) -> bool:
    """Return whether two columns are one: at least one of them has no header or no figures.

    A header that covers both is in both.
    """
    if any(row[left] and row[right] and row[left] != row[right] for row in grid[:top]):
        return False
    if any(row[left] and row[right] for row in grid[top:]):
        return False
    return not all(
        any(row[column] for row in part)
        for column in (left, right)
        for part in (grid[:top], grid[top:])
    )


def is_wide(row: Sequence[str]) -> bool:
    """Return whether a row has several cells; one alone is a title or a note."""
    return sum(map(bool, row)) > 1


def _is_header_again(row: Row, known: set[str]) -> bool:
    """Return whether a row without figures only has cells of the first header, and years."""
    cells = [cell for cell in row if cell]
    if not is_wide(row) or any(map(is_amount, cells)):
        return False
    alike = sum(cell.casefold() in known for cell in cells)
    years = sum(bool(re.search(r"(?:19|20)\d\d", cell)) for cell in cells[1:] or cells)
    return alike > 0 and alike + years >= len(cells)
