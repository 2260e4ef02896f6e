"""Measures: the unit and the power of ten of a number, from where it stands and from what stands over it.

The unit of a table's header holds for its column, that of a caption for its table. What sentences of a passage say may
hold for any number of it that has no unit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from esrag.evidence.statements import Line
from esrag.evidence.tables import Row
from esrag.text.figures import CURRENCIES, Use, header_scales, header_units, numbers, units, uses
from esrag.text.terms import compounds
from esrag.verifying.columns import headers_of

_PERCENT = "percent"
_PLAIN = frozenset(("",))


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a number of a passage can be read as; without `units`, as in any that its passage speaks of.

    A caption's scale holds for money, and may hold for the rest.
    """

    scales: frozenset[str]
    units: frozenset[str]
    is_of_caption: bool = False


def other_measure(sentence: str, lines: Sequence[Line], texts: Sequence[str], titles: Sequence[str]) -> str:
    """Return the first number of the sentence that the lines have in another unit or power of ten only, or "".

    `texts` are the whole passages, for text that is not part of a statement.
    """
    prose = [*titles, *(line.text for line in lines if line.row is None)]
    general = frozenset(unit for text in prose for unit in _units(text))
    named = compounds(sentence)

    for use in dict.fromkeys(uses(sentence)):
        with_it = [line for line in lines if use.number in line.text]
        own = [line for line in with_it if named & compounds(line.text)]
        found = [measure for line in own for measure in _measures(use.number, line)]
        found = found or [measure for line in with_it for measure in _measures(use.number, line)]
        found = found or [measure for text in texts for measure in _of_text(use.number, text, frozenset())]
        if found and not any(_is_read_as(use, measure, general, sentence) for measure in found):
            return " ".join(filter(None, (use.number, use.scale, use.unit)))

    return ""


def _is_read_as(use: Use, measure: _Measure, general: frozenset[str], sentence: str) -> bool:
    is_scaled = use.scale in measure.scales or (not use.scale and bool(measure.scales & header_scales(sentence)))
    is_plain = measure.is_of_caption and not use.scale and use.unit not in CURRENCIES
    if not (is_scaled or is_plain):
        return False
    if not use.unit:  # 45 % of the people are not 45 people
        return measure.units != {_PERCENT} or _PERCENT in units(sentence)
    # "40 degrees" may be degrees Celsius.
    return any(unit.startswith(use.unit) or use.unit.startswith(unit) for unit in measure.units or general)


def _measures(number: str, line: Line) -> Iterator[_Measure]:
    """Yield what each use of a number in a line can be read as."""
    if line.row is None:
        yield from _of_text(number, line.text, _units(line.text))
    else:
        yield from _of_row(number, line.row)


def _of_text(number: str, text: str, around: frozenset[str]) -> Iterator[_Measure]:
    for use in uses(text):
        if use.number == number:
            yield _Measure(frozenset((use.scale,)), frozenset((use.unit,)) if use.unit else around)


def _of_row(number: str, row: Row) -> Iterator[_Measure]:
    """Yield units next to the number, then above it, then in the row's words and in the caption."""
    cells = [cell for _, cell in row.cells] or [row.line]
    words = [cell for cell in cells if not numbers(cell)]
    over = headers_of(number, row)
    over_units = _all(header_units, over) or (_all(units, over) | _all(header_units, [*words, row.above]))
    over_scales, above_scales = _all(header_scales, over), frozenset(header_scales(row.above))

    for use in (use for cell in cells for use in uses(cell) if use.number == number):
        own = frozenset((use.unit,)) if use.unit else over_units
        scales = frozenset((use.scale,)) if use.scale else over_scales or above_scales or _PLAIN
        yield _Measure(scales, own, is_of_caption=not (use.scale or over_scales))


def _all(read: Callable[[str], set[str]], texts: Sequence[str]) -> frozenset[str]:
    return frozenset(one for text in texts for one in read(text))


def _units(text: str) -> frozenset[str]:
    return frozenset(units(text) | {use.unit for use in uses(text)} - {""})
