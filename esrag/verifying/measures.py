"""Find the unit and the power of ten of a number, in the text around it and above it.

The unit in a table's header applies to its column, and that in a caption to its table. A unit in a
sentence of the passage may apply to any of its numbers without a unit.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from esrag.evidence.lines import Line
from esrag.evidence.tables import Row
from esrag.text.figures import (
    CURRENCIES,
    PREFIXES,
    Use,
    header_scales,
    header_units,
    numbers,
    units,
    uses,
)
from esrag.text.terms import compounds
from esrag.verifying.columns import headers_of

_PERCENT = "percent"
_PLAIN = frozenset(("",))
_LABEL = re.compile(r"\A\W*\d{1,3}[.)] ")  # of an item of a list
_PREFIX = re.compile(rf"\A(?:{PREFIXES})")


@dataclass(frozen=True, slots=True)
class _Measure:
    """A possible reading of a number in a passage.

    Without `units`, it may have any unit of its passage. A caption's scale applies to money, and
    may apply to other numbers.
    """

    scales: frozenset[str]
    units: frozenset[str]
    is_of_caption: bool = False


def find_other_measure(
    sentence: str, lines: Sequence[Line], texts: Sequence[str], titles: Sequence[str]
) -> str:
    """Return the first number that the lines have only in another unit or power of ten.

    "" if the sentence has no such number.
    """
    prose = [*titles, *(line.text for line in lines if line.row is None)]
    general = frozenset(unit for text in prose for unit in _units(text))
    named = compounds(sentence)

    for use in dict.fromkeys(uses(sentence)):
        with_it = [line for line in lines if use.number in line.text]
        own = [line for line in with_it if named & compounds(line.text)]
        found = [measure for line in own for measure in _measures(use.number, line)]
        found = found or [measure for line in with_it for measure in _measures(use.number, line)]
        found = found or [
            measure for text in texts for measure in _of_text(use.number, text, frozenset())
        ]
        if found and not any(_is_read_as(use, measure, general, sentence) for measure in found):
            return " ".join(filter(None, (use.number, use.scale, use.unit)))

    return ""


def find_other_unit(sentence: str, texts: Sequence[str]) -> str:
    """Return a unit that the sentence names and the texts only with another prefix, or "".

    >>> find_other_unit("The time is in seconds.", ["the time, in epoch milliseconds"])
    'second'
    """
    # In the plural: "the second" is no unit.
    named = sorted(unit for unit in units(sentence) if f"{unit}s" in sentence.lower())
    if not named:
        return ""
    held = {unit for text in texts for unit in _units(text) | header_units(text)}
    return next((unit for unit in named if unit not in held and held & _same_kind(unit)), "")


def _same_kind(unit: str) -> set[str]:
    """Return the units that differ from one in their prefix: millisecond, second."""
    base = _PREFIX.sub("", unit)
    return {base, *(f"{prefix}{base}" for prefix in PREFIXES.split("|"))} - {unit}


def _is_read_as(use: Use, measure: _Measure, general: frozenset[str], sentence: str) -> bool:
    is_scaled = use.scale in measure.scales or (
        not use.scale and bool(measure.scales & header_scales(sentence))
    )
    is_plain = measure.is_of_caption and not use.scale and use.unit not in CURRENCIES
    if not (is_scaled or is_plain):
        return False

    if not use.unit:  # 45 % of the people are not 45 people
        return measure.units != {_PERCENT} or _PERCENT in units(sentence)
    # "40 degrees" may be degrees Celsius.
    return any(
        unit.startswith(use.unit) or use.unit.startswith(unit) for unit in measure.units or general
    )


def _measures(number: str, line: Line) -> Iterator[_Measure]:
    """Yield the possible readings of each use of a number in a line."""
    if line.row is None:
        yield from _of_text(number, line.text, _units(line.text))
    else:
        yield from _of_row(number, line.row)


def _of_text(number: str, text: str, around: frozenset[str]) -> Iterator[_Measure]:
    others = around - {_PERCENT}  # stands with its number
    for use in uses(_LABEL.sub("", text)):
        if use.number == number:
            yield _Measure(frozenset((use.scale,)), frozenset((use.unit,)) if use.unit else others)


def _of_row(number: str, row: Row) -> Iterator[_Measure]:
    """Yield readings with units next to the number, above it, in the row's words or the caption."""
    cells = [cell for _, cell in row.cells] or [row.line]
    words = [cell for cell in cells if not numbers(cell)]
    over = headers_of(number, row)
    # "In millions of CHF" may also stand above the names of the rows.
    above = [row.above, *(name for name, _ in row.cells[:1])]
    over_units = _all(header_units, over) or (
        _all(units, over) | _all(header_units, [*words, *above])
    )
    over_scales, above_scales = _all(header_scales, over), _all(header_scales, above)

    for cell in cells:
        is_label = cell == cells[0] and any(map(str.isalpha, cell))
        for use in (use for use in uses(cell) if use.number == number):
            own = frozenset((use.unit,)) if use.unit else over_units
            scales = over_scales or above_scales or _PLAIN
            if use.scale or is_label:  # "as per Note 3.1" counts nothing
                scales = frozenset((use.scale,))
            yield _Measure(scales, own, is_of_caption=not (use.scale or over_scales))


def _all(read: Callable[[str], set[str]], texts: Sequence[str]) -> frozenset[str]:
    return frozenset(one for text in texts for one in read(text))


def _units(text: str) -> frozenset[str]:
    return frozenset(units(text) | {use.unit for use in uses(text)} - {""})
