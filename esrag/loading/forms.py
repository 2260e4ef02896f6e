"""Forms and boxes of facts, laid out as tables without a header: names with their values."""

import re
from collections.abc import Iterator, Sequence

from esrag.loading.grids import is_wide

Row = list[str]

_PAIR = 2  # cells
_MAX_NAME_WORDS = 6
_MIN_TEXT_WORDS = 8  # of a value that cannot be a header
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


def read_form(grid: Sequence[Row], *, is_known: bool = False) -> list[str]:
    """Return the lines of a form, "name: value", with its titles; nothing for any other table.

    Names and values take turns in a row. Their source may tell that a table is a form.

    >>> read_form([["Ship", "Fulmar", "Date", "3 May"], ["Crew", "4", "Master", "A. Lund"]])
    ['Ship: Fulmar', 'Date: 3 May', 'Crew: 4', 'Master: A. Lund']
    >>> read_form([["Ship", "Built", "Port", "Crew"], ["Fulmar", "1993", "Kiel", "4"]])
    []
    >>> read_form([["Ship:", "Fulmar"], ["Port:", "Kiel"]])
    ['Ship: Fulmar', 'Port: Kiel']
    """
    rows = [row for row in grid if is_wide(row)]
    if not (is_known or _is_form(rows)):
        return []
    return [line for row in grid for line in _say(row)]


def _say(row: Row) -> Iterator[str]:
    """Yield each name with its value; a title stands alone."""
    if not is_wide(row):
        yield "".join(row)
        return
    for place in range(0, len(row), _PAIR):
        name, value = row[place], "".join(row[place + 1 : place + _PAIR])
        if name and value:
            yield f"{name.rstrip(' :')}: {value}"
        elif name or value:
            yield name or value


def _is_form(rows: Sequence[Row]) -> bool:
    """Return whether rows are pairs of a name, which is short and unique, and a value.

    The first row shows that it is no header: by names with a colon, or by a value.
    """
    width = max(map(len, rows), default=0)
    if len(rows) < _PAIR or width % _PAIR:
        return False

    names = [cell for row in rows for cell in row[::_PAIR] if cell]
    if len({name.casefold() for name in names}) < len(names) or not all(map(_is_name, names)):
        return False
    if all(name.endswith(":") for name in names):
        return True

    first = rows[0][1::_PAIR]
    values = [row[place] for row in rows for place in range(1, len(row), _PAIR) if row[place]]
    if any(len(value.split()) >= _MIN_TEXT_WORDS for value in first):
        return True
    has_figure = any(_DIGIT.search(value) and not _YEAR.search(value) for value in first)
    return has_figure and _are_mixed(values)


def _is_name(cell: str) -> bool:
    is_short = len(cell.split()) <= _MAX_NAME_WORDS and not _DIGIT.search(cell)
    return is_short and cell[0].isupper()


def _are_mixed(values: Sequence[str]) -> bool:
    """Return whether values are of several kinds: with figures, and words without any."""
    filled = [value for value in values if _LETTER.search(value) or _DIGIT.search(value)]
    return 0 < sum(1 for value in filled if _DIGIT.search(value)) < len(filled)
