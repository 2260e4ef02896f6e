"""A small filter algebra as data; engines translate it, values are never syntax.

>>> parse("year>=2024")
Range(field='year', low=2024, high=None, low_open=False, high_open=False)
>>> parse("folder=pdf,docx")
Terms(field='folder', values=('pdf', 'docx'))
"""

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from esrag.errors import UsageError
from esrag.records import Scalar


@dataclass(frozen=True, slots=True)
class Terms:
    """The field is one of the values, exactly."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """The field, as text, starts with the value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Match:
    """The field has every word, as keyword search compares words; no word at all holds never.

    The field `text` is a passage with its headings. Of other texts the first 1,000 characters are
    compared.
    """

    field: str
    words: str


@dataclass(frozen=True, slots=True)
class Range:
    """The field lies between two bounds of its own kind.

    None means unbounded, and an open bound is itself excluded.
    """

    field: str
    low: Scalar | None = None
    high: Scalar | None = None
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds; no part at all holds always."""

    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds."""

    parts: "tuple[Filter, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold; a field that is missing counts as not holding."""

    part: "Filter"


Filter = Terms | Prefix | Match | Range | And | Or | Not
Where = Filter | Mapping[str, Scalar | Sequence[Scalar]] | Sequence[str] | str | None

MATCHED_CHARACTERS = 1_000  # of a value
MAX_FILTER_PARTS = 500  # parts; SQLite refuses expressions deeper than 1,000
MAX_SHOWN = 60  # characters of a condition in a message
MAX_FILTER_DEPTH = 20  # parts in parts; a search server refuses more than 30

_CONDITION = re.compile(r"\s*+([A-Za-z_][\w.-]*+)\s*+(!=|>=|<=|=|>|<)\s*+(?![=<>])(.*)", re.DOTALL)


def require_reasonable(filter_: Filter) -> None:
    """Raise UsageError for too many parts, parts nested too deeply, or a number too large."""
    waiting, seen = [(filter_, 1)], 0
    while waiting:  # without recursion: the filter may be as deep as memory
        part, depth = waiting.pop()
        seen += 1
        if seen > MAX_FILTER_PARTS or depth > MAX_FILTER_DEPTH:
            raise UsageError(
                f"the filter has more than {MAX_FILTER_PARTS} parts, "
                f"or more than {MAX_FILTER_DEPTH} in a row"
            )
        if isinstance(part, And | Or):
            waiting += [(inner, depth + 1) for inner in part.parts]
        elif isinstance(part, Not):
            waiting.append((part.part, depth + 1))
        else:
            _require_number(part)


def _require_number(leaf: Terms | Prefix | Match | Range) -> None:
    """Raise UsageError for a whole number that no engine can hold."""
    bounds = (leaf.low, leaf.high) if isinstance(leaf, Range) else ()
    values = leaf.values if isinstance(leaf, Terms) else bounds
    if any(isinstance(each, int) and abs(each) > sys.float_info.max for each in values):
        raise UsageError(f"the filter compares {leaf.field} with a number of over 308 digits")


def parse_all(conditions: Sequence[str]) -> Filter | None:
    """Return a filter of conditions that must all hold, or None without any.

    Raises: UsageError.
    """
    return _combine(tuple(parse(condition) for condition in conditions))


def _combine(parts: tuple[Filter, ...]) -> Filter | None:
    """Return a filter that passes what passes all parts; None without parts."""
    if len(parts) > 1:
        return And(parts)
    return parts[0] if parts else None


def filter_to_dict(filter_: Filter | None) -> dict[str, Any]:  # noqa: PLR0911 -- one for each form
    """Return a filter as JSON has it; `filter_from_dict` reads it back.

    >>> filter_to_dict(parse("kind!=pdf"))
    {'not': {'field': 'kind', 'values': ['pdf']}}
    """
    match filter_:
        case None:
            return {}
        case And(parts):
            return {"and": [filter_to_dict(part) for part in parts]}
        case Or(parts):
            return {"or": [filter_to_dict(part) for part in parts]}
        case Not(part):
            return {"not": filter_to_dict(part)}
        case Prefix(field, value):
            return {"field": field, "prefix": value}
        case Match(field, words):
            return {"field": field, "match": words}
        case Terms(field, values):
            return {"field": field, "values": [*values]}
    return {
        "field": filter_.field,
        "range": [filter_.low, filter_.high, filter_.low_open, filter_.high_open],
    }


def filter_from_dict(written: Any, depth: int = 1) -> Filter | None:  # noqa: C901, PLR0911 -- one for each form
    """Return the filter that JSON holds; {} means no filter. Raises: UsageError for anything else.

    >>> filter_from_dict(filter_to_dict(parse("year>=2024")))
    Range(field='year', low=2024, high=None, low_open=False, high_open=False)
    """
    if depth > MAX_FILTER_DEPTH:
        raise UsageError(f"the filter is too large: expected at most {MAX_FILTER_DEPTH} levels")

    def parts(inner: list[Any]) -> tuple[Filter, ...]:
        return tuple(each for part in inner if (each := filter_from_dict(part, depth + 1)))

    match written:
        case {} if written == {}:
            return None
        case {"and": [*inner]}:
            return And(parts(inner))
        case {"or": [*inner]}:
            return Or(parts(inner))
        case {"not": inner} if part := filter_from_dict(inner, depth + 1):
            return Not(part)
        case {"field": str(field), "prefix": str(value)}:
            return Prefix(field, value)
        case {"field": str(field), "match": str(words)}:
            return Match(field, words)
        case {"field": str(field), "values": [*values]} if values:
            return Terms(field, _values(field, values))
        case {"field": str(field), "range": [low, high, bool(low_open), bool(high_open)]} if (
            _are_bounds(low, high)
        ):
            return Range(field=field, low=low, high=high, low_open=low_open, high_open=high_open)
    raise UsageError(f"expected a filter, found {str(written)[:MAX_SHOWN]!r}")


def _are_bounds(*values: Any) -> bool:
    return all(value is None or isinstance(value, str | int | float) for value in values)


def to_filter(where: Where) -> Filter | None:
    """Return a filter for conditions as text, or for fields with one or several values.

    Raises: UsageError.

    >>> to_filter({"folder": "nist", "year": 2023})
    And(parts=(Terms(field='folder', values=('nist',)), Terms(field='year', values=(2023,))))
    >>> to_filter({"year": [2023, 2024]})
    Terms(field='year', values=(2023, 2024))
    >>> to_filter("year>=2024") == to_filter(["year>=2024"]) == parse("year>=2024")
    True
    """
    match where:
        case None:
            return None
        case str():
            return parse(where)
        case Mapping() if all(isinstance(field, str) for field in where):
            return _parse_fields(where)
        case Sequence() if all(isinstance(condition, str) for condition in where):
            return parse_all(where)
        case Terms() | Prefix() | Match() | Range() | And() | Or() | Not():
            return where
    hint = 'write {"folder": "nist"}, "year>=2024" or a list of such conditions'
    raise UsageError(f"expected a filter, found {str(where)[:MAX_SHOWN]!r}", hint=hint)


def _parse_fields(where: Mapping[str, Any]) -> Filter | None:
    return _combine(tuple(Terms(field, _values(field, value)) for field, value in where.items()))


def _values(field: str, value: Scalar | Sequence[Scalar]) -> tuple[Scalar, ...]:
    values = (
        tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    )
    if not values or not all(isinstance(each, str | int | float) for each in values):
        raise UsageError(
            f"expected a value or a list of values for {field}, found {str(value)[:MAX_SHOWN]!r}"
        )
    return values


def parse(condition: str) -> Filter:
    """Return the filter of one condition.

    It is `field=a`, `field=a,b`, `field=a*`, `field!=a`, or `field>=1` with `>=`, `<=`, `>` or `<`.

    Raises: UsageError.

    >>> parse("section=Intro*")
    Prefix(field='section', value='Intro')
    >>> parse("kind!=pdf")
    Not(part=Terms(field='kind', values=('pdf',)))
    """
    match = _CONDITION.fullmatch(condition)
    if match is None or not match[3].strip(", "):
        hint = "write it as field=value, field=a,b, field=start*, field!=value or field>=number"
        raise UsageError(f"{condition[:MAX_SHOWN]!r} is not a condition", hint=hint)

    field, operator, value = match[1], match[2], match[3].rstrip()
    if operator in ("=", "!="):
        equal = _parse_equal(field, value)
        return Not(equal) if operator == "!=" else equal

    return _range(field, operator, value)


def _range(field: str, operator: str, value: str) -> Range:
    bound, is_open = scalar(value), operator in (">", "<")
    if ">" in operator:
        return Range(field, low=bound, low_open=is_open)
    return Range(field, high=bound, high_open=is_open)


def _parse_equal(field: str, value: str) -> Filter:
    if value.endswith("*"):
        return Prefix(field, value[:-1])
    return Terms(field, tuple(scalar(part.strip()) for part in value.split(",") if part.strip()))


def scalar(text: str) -> Scalar:
    """Return a value as written: a whole number, a decimal number, true or false, or the text.

    Only a text that is written as the number itself would be becomes one: "007" and "1.50" stay
    texts, so that nothing is lost.

    >>> scalar("2024"), scalar("0.5"), scalar("true"), scalar("v2"), scalar("007")
    (2024, 0.5, True, 'v2', '007')
    """
    if re.fullmatch(r"-?\d{1,18}", text) and str(int(text)) == text:
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+", text) and str(float(text)) == text:
        return float(text)
    return {"true": True, "false": False}.get(text, text)


def format_value(value: Scalar) -> str:
    """Return a value as text that `scalar` reads back.

    >>> format_value(True), format_value(2024)
    ('true', '2024')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def is_number(value: Scalar | None) -> TypeGuard[int | float]:
    """Return whether a value is a number; a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def round_inwards(
    low: float | None,
    high: float | None,
    limits: tuple[int, int],
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> tuple[int, int]:
    """Return the first and the last whole number between two bounds; `limits` if unbounded.

    >>> round_inwards(1.5, 4, (0, 99)), round_inwards(1, 4, (0, 99), low_open=True, high_open=True)
    ((2, 4), (2, 3))
    >>> round_inwards(None, None, (0, 99))
    (0, 99)
    """
    first, last = limits
    if low is not None:
        first = math.floor(low) + 1 if low_open else math.ceil(low)
    if high is not None:
        last = math.ceil(high) - 1 if high_open else math.floor(high)

    return first, last
