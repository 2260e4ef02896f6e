"""Headers: the rows at the top of a table that name its columns together, made one row.

A sheet may name its columns in several rows: "2023" over "Revenue" and "Cost", "2022" over the same
again, units below.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from esrag.text.figures import is_unit

MAX_HEADER_ROWS = 5
HEAD_ROWS = 2 * MAX_HEADER_ROWS  # that say which of them are the header
MIN_FIGURES = 2  # below names that are a second row of the header
MAX_COVERED = 100  # columns that a cell may cover beyond those of its row
MAX_ROWS_COVERED = 65_534  # as in HTML
MAX_COPIES = 10_000  # of cells that cover others, in a table
MAX_COPIED = 100  # characters

_FIGURE = re.compile(
    r"[\s(+–−-]{0,4}[$€£]?[\s(+–−-]{0,4}\d[\d.,\s]*+[%)]{0,2}+\s*+(?:[$€£]|[A-Z]{3})?+\s*+"
)
_A_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BOLD = re.compile(r"\*\*([^*]{1,80})\*\*")
_UNIT = re.compile(r"[(\[].{1,20}[)\]]|units?", re.IGNORECASE)

Row = list[str]
Cell = tuple[str, int, int]  # its text, and how many rows and columns it covers


@dataclass(frozen=True, slots=True)
class _Covering:
    """A cell's text, the text of the cells that it covers, and how many rows below it covers."""

    text: str
    copy: str
    rows_below: int


def merge_headers(rows: Iterable[Sequence[str]]) -> list[Row]:
    """Return a table's rows with a header of several rows merged into one row.

    Rows above the header that have one cell stay where they are.

    >>> names = ["City", "In", "Out", "In", "Out"]
    >>> merge_headers([["", "2023", "", "2022", ""], names, ["Kiel", "5", "3", "4", "2"]])
    [['City', '2023 In', '2023 Out', '2022 In', '2022 Out'], ['Kiel', '5', '3', '4', '2']]
    """
    grid = [[" ".join(cell.split()) for cell in row] for row in rows]
    used = sorted({column for row in grid for column, cell in enumerate(row) if cell})
    filled = [[row[column] for column in used if column < len(row)] for row in grid if any(row)]
    wide = [n for n, row in enumerate(filled) if sum(map(bool, row)) > 1]
    first = wide[0] if wide else len(filled)
    if first and any(filled[first - 1][1:]) and count_header_rows(filled[first - 1 :]) > 1:
        first -= 1  # "Years ended December 31," over two years
    count = count_header_rows(filled[first:])
    if count == 1:
        return filled

    header = join_header(filled[first : first + count])
    return [*filled[:first], header, *filled[first + count :]]


def merge_stacked_header(header: Row, below: Row, body: Iterable[Row]) -> Row | None:
    """Return a header with the row of names below it, where it has a gap for each; else None.

    That row has no label of its own, or all of it is in bold.

    >>> merge_stacked_header(["Size", "2023", ""], ["", "In", "Out"], [["A", "5", "3"]])
    ['Size', '2023 In', '2023 Out']
    >>> merge_stacked_header(["Size", "2023", ""], ["A", "5", "3"], [["B", "6", "2"]])
    """
    named = [cell for cell in below if cell]
    is_bold = all(_BOLD.fullmatch(cell) for cell in named)
    if not (is_bold or not below[0]) or not _fills_gaps(below, header):
        return None
    if any(map(_is_figure, named)) or not any(_is_figure(cell) for row in body for cell in row):
        return None
    return join_header([header, [_BOLD.sub(r"\1", cell) for cell in below]])


def count_header_rows(rows: Sequence[Row]) -> int:
    """Return how many of the first rows are one header."""
    count = 1
    while count < min(MAX_HEADER_ROWS, len(rows) - 1) and _goes_on(
        rows[count - 1], rows[count], rows[count + 1 :]
    ):
        count += 1
    return count


def has_no_header(rows: Sequence[Row]) -> bool:
    """Return whether the first row of a table has figures in a column of figures.

    >>> has_no_header([["Kiel", "5.1"], ["Jena", "4"], ["Ulm", "3"]])
    True
    >>> has_no_header([["City", "2023"], ["Jena", "4"], ["Ulm", "3"]])
    False
    """
    columns = zip(*rows, strict=False)
    return len(rows) > MIN_FIGURES and any(all(map(_is_figure, column)) for column in columns)


def join_header(rows: Sequence[Row]) -> Row:
    """Return one name for each column, joined from the cells above each other.

    Without spans a name also holds for the empty cells to its right, but the name over the labels
    of the rows does not.
    """
    width = max(map(len, rows))
    columns: list[list[str]] = [[] for _ in range(width)]

    for number, upper in enumerate(rows):
        below = rows[number + 1 :]
        row = _spread_period(upper, below, width)
        for column, name in enumerate(_spread_names(row, below, width)):
            said = f"({name})" if is_unit(name) and _are_units(row) else name
            if said and said not in columns[column][-1:]:
                columns[column].append(said)

    return [" ".join(names) for names in columns]


def _spread_names(row: Row, below: Sequence[Row], width: int) -> Iterator[str]:
    """Yield the name that a row of a header gives to each column."""
    is_stub = not any(lower[0] for lower in below)
    has_spans = bool(_find_repeats(row))
    name = ""

    for column in range(width):
        cell = row[column] if column < len(row) else ""
        is_named_below = any(column < len(lower) and lower[column] for lower in below)
        name = cell or ("" if has_spans or not is_named_below else name)
        yield name
        if column == 0 and is_stub:
            name = ""


def _spread_period(row: Row, lower: Sequence[Row], width: int) -> Row:
    """Return a row with a period over all columns of its group, of which it may mark the last.

    >>> names = ["", "In", "Out", "In", "Out"]
    >>> _spread_period(["EUR", "", "June 2023", "", "June 2022"], [names], 5)
    ['EUR', 'June 2023', 'June 2023', 'June 2022', 'June 2022']
    """
    named = [n for n in range(1, width) if any("".join(below[n : n + 1]) for below in lower)]
    places = [n for n, cell in enumerate(row) if n and cell]
    has_year = any(_A_YEAR.search(cell) for below in lower for cell in below)
    if not (named and places) or has_year or not all(_A_YEAR.search(row[n]) for n in places):
        return row

    if len(places) > 1 and (places[0] == named[0] or places[-1] != named[-1]):
        return row  # they mark the first columns of their groups
    spread = {n: next((p for p in places if p >= n), places[-1]) for n in named}
    return [row[spread[n]] if n in spread else cell for n, cell in enumerate(row)]


def spread_cells(rows: Iterable[Sequence[Cell]]) -> Iterator[Row]:
    """Yield rows in which the text of a covering cell is in all columns and rows that it covers.

    The only cell of a row is a title, and stays in its first column.

    >>> list(spread_cells([[("City", 2, 1), ("2023", 1, 2)], [("In", 1, 1), ("Out", 1, 1)]]))
    [['City', '2023', '2023'], ['City', 'In', 'Out']]
    """
    below: dict[int, _Covering] = {}
    copies = 0

    for cells in rows:
        given = sum(bool(text) for text, _, _ in cells)
        is_title = given == 1 and not below
        row: list[_Covering] = []
        for text, height, width in cells:
            _cover(row, below)
            copy = "" if is_title or copies > MAX_COPIES or len(text) > MAX_COPIED else text
            row += [_Covering(copy if n else text, copy, height - 1) for n in range(width)]
        _cover(row, below, max(below, default=-1) + 1)
        copies += sum(bool(one.text) for one in row) - given
        is_full = copies > MAX_COPIES
        below = {
            n: replace(one, copy="") if is_full else one
            for n, one in enumerate(row)
            if one.rows_below > 0
        }
        yield [one.text for one in row] if given else []  # nothing of its own: a hidden row


def limit_cover(rows: int, columns: int) -> tuple[int, int]:
    """Return how many rows and columns a cell covers: at least itself, at most what is spread.

    >>> limit_cover(0, 2), limit_cover(1, 10**9)
    ((1, 2), (1, 100))
    """
    return min(max(rows, 1), MAX_ROWS_COVERED), min(max(columns, 1), MAX_COVERED)


def repeat_text(text: str, width: int) -> Row:
    """Return the cells of one that covers so many columns: its text in each, if that is short."""
    return [text, *[text if len(text) <= MAX_COPIED else ""] * (min(width, MAX_COVERED) - 1)]


def _cover(row: list[_Covering], below: Mapping[int, _Covering], width: int = 0) -> None:
    """Add what cells above put into the next columns, up to the row's next own cell or its end."""
    while len(row) in below or len(row) < width:
        above = below.get(len(row), _Covering("", "", 0))
        row.append(_Covering(above.copy, above.copy, above.rows_below - 1))


def _goes_on(upper: Row, lower: Row, body: Sequence[Row]) -> bool:
    """Return whether the lower row continues the header.

    It does if the upper row only groups columns, or the lower one gives their units, above rows
    that hold something else.
    """
    if _names_spans(upper, lower):
        return True
    has_figures_above = any(map(_is_figure, upper))
    if has_figures_above or (any(map(_is_figure, lower)) and not _names_sizes(upper, lower)):
        return False
    if _are_units(lower) or _stand_over_figures(lower, body):
        return True
    if not _fills_gaps(lower, upper):
        return False
    has_figures = any(_is_figure(cell) for row in body[:MAX_HEADER_ROWS] for cell in row)
    if _find_repeats(upper):
        return has_figures or not _fills_others(lower, upper)

    is_repeated = len(set(lower)) < len(lower)
    is_empty = not upper[0] or not lower[0]
    return has_figures and (is_repeated or is_empty or _names_figures(lower, body))


def _names_spans(upper: Row, lower: Row) -> bool:
    """Return whether a row has a cell below each of those that repeat one name, and no other.

    It has no label, so that it is no row of figures, though all of them may be: shares, or years.

    >>> _names_spans(["Term", "Rate up to", "Rate up to"], ["", "60%", "75%"])
    True
    """
    repeats = _find_repeats(upper)
    spanned = repeats | {n - 1 for n in repeats}
    return (
        0 not in spanned
        and bool(spanned)
        and spanned == {n for n, cell in enumerate(lower) if cell}
    )


def _names_sizes(upper: Row, lower: Row) -> bool:
    """Return whether a row below names without a label has its own label, sizes, and a unit.

    >>> _names_sizes(["", "Bytes for", "", "RAM"], ["Lamp", "128", "256", "(bytes)"])
    True
    """
    is_labelled = not upper[0] and bool(lower[0]) and not _is_figure(lower[0])
    return is_labelled and any(map(_UNIT.fullmatch, lower))


def _fills_gaps(lower: Row, upper: Row) -> bool:
    """Return whether a row has text in all of the upper row's gaps, of which there are some."""
    gaps = _gaps(upper)
    return bool(gaps) and all(lower[n : n + 1] not in ([], [""]) for n in gaps)


def _fills_others(lower: Row, upper: Row) -> bool:
    """Return whether a row has other text below a name that its neighbours do not repeat.

    Then it is no header: two columns have the same name.
    """
    gaps = _gaps(upper)
    spanned = {*gaps, *(n - 1 for n in gaps)}
    return any(
        name and cell and cell != name and n not in spanned
        for n, (name, cell) in enumerate(zip(upper, lower, strict=False))
    )


def _are_units(row: Row) -> bool:
    """Return whether a row gives the units of its columns: "(t)" or "EUR million"."""
    cells = [cell for cell in row if cell]
    return bool(cells) and all(_UNIT.fullmatch(cell) or is_unit(cell) for cell in cells)


def _stand_over_figures(row: Row, body: Sequence[Row]) -> bool:
    """Return whether a row without a label only has text over columns of figures."""
    columns = [n for n, cell in enumerate(row) if cell]
    if not columns or row[0]:
        return False
    return any(
        below[:1] not in ([], [""])
        and all(n < len(below) and _is_figure(below[n]) for n in columns)
        for below in body[:1]
    )


def _names_figures(row: Row, body: Sequence[Row]) -> bool:
    """Return whether a row has text in all columns, and figures right below some of it."""
    below = body[0] if body else []
    figures = sum(_is_figure(cell) for cell in below[1 : len(row)])
    return all(row) and figures >= MIN_FIGURES


def _find_repeats(row: Row) -> set[int]:
    """Return the columns that repeat the name before them: it covers several."""
    return {n for n, (left, cell) in enumerate(pairwise(row), 1) if cell and cell == left}


def _gaps(row: Row) -> list[int]:
    """Return the columns right of the first name that are empty or repeat the one before."""
    first = next((column for column, cell in enumerate(row) if cell), len(row))
    return [
        n
        for n, (left, cell) in enumerate(pairwise(row[first:]), first + 1)
        if not cell or cell == left
    ]


def _is_figure(cell: str) -> bool:
    return bool(_FIGURE.fullmatch(cell)) and not _YEAR.fullmatch(cell)
