"""Ranges in tables: a boat of 12 metres is in the row "9 to 15 metres", not in "up to 9 metres"."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

from esrag.evidence.tables import Row
from esrag.text.dates import list_dates
from esrag.text.figures import header_units, to_figures, uses
from esrag.text.terms import STOP_WORDS

_MAX_CELL = 80  # characters
_NUMBER = r"(?<![\d.,])(\d[\d,]{0,14}+(?:\.\d{1,6}+)?)"
_UNIT, _SIGN = r"(?: ?(?:%|[^\W\d_]{1,10}))?", r" ?[$€£]?"
_SPAN = re.compile(rf"{_NUMBER}{_UNIT} ?(?:–|—|-|\bto\b|\band\b){_SIGN} ?{_NUMBER}", re.IGNORECASE)
_LESS = re.compile(
    rf"(?:(under|below|less than|fewer than|<)|up to|until|at most|no more than|not more than|≤)"
    rf"{_SIGN} ?{_NUMBER}",
    re.IGNORECASE,
)
_MORE = re.compile(
    rf"(?:(over|above|more than|greater than|exceeding|>)|from|at least|≥){_SIGN} ?{_NUMBER}",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    rf"{_NUMBER}{_UNIT} ?(?:\+|(?:and|or) (?:above|longer|more|older|over)\b)",
    re.IGNORECASE,
)
_OR_LESS = re.compile(
    rf"{_NUMBER}{_UNIT} (?:and|or) (?:below|fewer|less|shorter|under|younger)\b", re.IGNORECASE
)
_AGE = re.compile(
    r"\b(\d{1,3})[- ]years?[- ]old\b|\baged? (\d{1,3})\b"
    r"|(?:\b(?:am|is|turned)|'m) (\d{1,2})(?=[,.;?!]|\Z| and\b)",  # "My boy is 5."
    re.IGNORECASE,
)
_NAMED = re.compile(rf"{_NUMBER} ?([^\W\d_]{{2,10}})(?![\w-])")  # by a unit that no list has
_COUNTED = re.compile(r"\b(day|month|week|year)s? (\d{1,3})\b", re.IGNORECASE)  # "month 15"
_YEARS = "year"


@dataclass(frozen=True, slots=True)
class Range:
    """From the number `low` to `high`; a bound that is open is not in the range."""

    low: float = -inf
    high: float = inf
    is_low_open: bool = False
    is_high_open: bool = False

    def holds(self, number: float) -> bool:
        """Return whether a number is in the range."""
        is_above = number > self.low or (number == self.low and not self.is_low_open)
        return is_above and (number < self.high or (number == self.high and not self.is_high_open))


def read_range(text: str) -> Range | None:
    """Return the range that a cell tells, None for a cell without one.

    >>> read_range("9.01 to 15 metres")
    Range(low=9.01, high=15.0, is_low_open=False, is_high_open=False)
    >>> read_range("Car over 5 m, up to 7 m")
    Range(low=5.0, high=7.0, is_low_open=True, is_high_open=False)
    >>> read_range("12 metres or more but under 20 metres").holds(20), read_range("12 metres")
    (False, None)
    """
    if len(text) > _MAX_CELL:
        return None

    spans = [(_read(low), _read(high)) for low, high in _SPAN.findall(text)]
    rest = _SPAN.sub(" ", text)
    lows = [
        *((low, False) for low, _ in spans),
        *((_read(number), bool(word)) for word, number in _MORE.findall(rest)),
        *((_read(number), False) for number in _OR_MORE.findall(rest)),
    ]
    highs = [
        *((high, False) for _, high in spans),
        *((_read(number), bool(word)) for word, number in _LESS.findall(rest)),
        *((_read(number), False) for number in _OR_LESS.findall(rest)),
    ]
    if not (lows or highs):
        return None

    low, is_low_open = max(lows, default=(-inf, False))
    high, is_high_open = min(highs, default=(inf, False))
    if low > high:
        return None
    return Range(low=low, high=high, is_low_open=is_low_open, is_high_open=is_high_open)


def _read(number: str) -> float:
    return float(number.replace(",", ""))


@lru_cache(maxsize=8)  # a question is looked for in many passages
def _list_quantities(question: str) -> tuple[tuple[float, str], ...]:
    """Return the numbers of a question that have a unit, and ages; bounds are none.

    >>> _list_quantities("What does a 12 metre boat cost my father, who is aged 67, in 2025?")
    ((12.0, 'meter'), (67.0, 'year'))
    >>> _list_quantities("What does a roof of 15 kWp cost in month 3, and in 2025?")
    ((15.0, 'kWp'), (3.0, 'month'))
    >>> _list_quantities("Are vans over 7 m carried, and those of 5 to 7 m?")
    ()
    """
    for bound in (_SPAN, _LESS, _MORE, _OR_MORE, _OR_LESS):
        question = bound.sub(" ", question)
    found = [(_read(use.number), use.unit) for use in uses(to_figures(question)) if use.unit]
    ages = [(float("".join(age)), _YEARS) for age in _AGE.findall(question)]
    named = [(_read(number), unit) for number, unit in _NAMED.findall(question)]
    others = [(number, unit) for number, unit in named if not _is_known(number, unit)]
    counted = [(_read(number), unit.lower()) for unit, number in _COUNTED.findall(question)]
    return (*dict.fromkeys([*found, *ages, *others, *counted]),)


def _is_known(number: float, unit: str) -> bool:
    """Return whether what follows a number is a unit that has a name, or no unit at all."""
    return unit in STOP_WORDS or any(use.unit for use in uses(to_figures(f"{number:g} {unit}")))


def split_rows(question: str, rows: Iterable[Row]) -> tuple[set[Row], set[Row]]:
    """Return the rows whose range holds a quantity of the question, and those next to them.

    A row counts only if one of its table has the quantity in its range.
    """
    meant: set[Row] = set()
    others: set[Row] = set()
    quantities = _list_quantities(question)
    if not quantities:
        return meant, others

    tables: defaultdict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        tables[tuple(name for name, _ in row.cells)].append(row)
    for table in tables.values():
        for number, unit in quantities:
            found = {row: _holds(row, number, unit) for row in table}
            if True in found.values():
                meant |= {row for row, holds in found.items() if holds}
                others |= {row for row, holds in found.items() if holds is False}
    return meant - others, others


def _holds(row: Row, number: float, unit: str) -> bool | None:
    """Return whether a cell's range in a unit holds a number; None if no cell has such a range."""
    held = (_is_in(cell, number, unit, header_units(name)) for name, cell in row.cells)
    return next((is_held for is_held in held if is_held is not None), None)


def _is_in(text: str, number: float, unit: str, otherwise: set[str]) -> bool | None:
    """Return whether the range of a text holds a number; None if it has no range in that unit.

    Ages may have no unit; other ranges may have one elsewhere.
    """
    told = None if list_dates(text) else read_range(text)
    given = {use.unit for use in uses(to_figures(text)) if use.unit}
    named = {word for _, word in _NAMED.findall(text)}
    named |= {word.lower() for word, _ in _COUNTED.findall(text)}
    units = given or otherwise
    if told and (unit in units | named or (unit == _YEARS and not units)):
        return told.holds(number)
    return None


def keep_columns(question: str, row: Row) -> Row:
    """Return a row without columns for other amounts than the question's, if there is one for it.

    >>> row = Row("", (("Plan", "Oak"), ("Months 1-12", "75%"), ("Months 13-18", "66%")))
    >>> keep_columns("What is due for Oak in month 15?", row).cells
    (('Plan', 'Oak'), ('Months 13-18', '66%'))
    """
    for number, unit in _list_quantities(question):
        held = [_is_in(name, number, unit, set()) for name, _ in row.cells]
        if True in held:
            kept = [
                cell for cell, is_held in zip(row.cells, held, strict=True) if is_held is not False
            ]
            row = replace(row, cells=(*kept,))
    return row
