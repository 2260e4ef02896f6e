"""Filters → SQL conditions over `chunks c`.

Names and values are always bound, never written into the SQL. A condition is 0 or 1 and never NULL,
so that NOT of a missing field is true.
"""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from esrag.filters import (
    MATCHED_CHARACTERS,
    And,
    Filter,
    Match,
    Not,
    Or,
    Prefix,
    Range,
    Terms,
    format_value,
    is_number,
    require_reasonable,
    round_inwards,
    scalar,
)
from esrag.records import Scalar
from esrag.text.terms import question_terms, terms

_INTEGER_64 = range(-(2**63), 2**63)
_NEVER, _ALWAYS = ("0", ()), ("1", ())
_JSON_LIST = "(SELECT value FROM json_each(?))"

Condition = tuple[str, tuple[Any, ...]]
Leaf = Terms | Prefix | Match | Range


@dataclass(frozen=True, slots=True)
class _Value:
    """SQL of a stored value and of its kind, in the terms of json_each; a column is always text."""

    sql: str
    kind: str


_DOCUMENT_COLUMNS = {"doc_id": "d.doc_id", "source": "d.source", "kind": "d.kind"}
_CHUNK_COLUMNS = {"chunk_id": "c.chunk_id", "title": "c.title", "section": "c.section"}
_ITEM = _Value("item.value", "item.type")


def select_rows(filter_: Filter) -> Condition:
    """Return the query for the rows of the chunks that pass.

    Raises: UsageError for a filter beyond reasonable limits.
    """
    require_reasonable(filter_)
    sql, values = _condition(filter_)
    return f'SELECT c."row" FROM chunks c WHERE {sql}', values  # noqa: S608 -- built from this module's constants only


def _condition(filter_: Filter) -> Condition:
    match filter_:
        case And(parts):
            return _join(map(_condition, parts), " AND ", _ALWAYS)
        case Or(parts):
            return _join(map(_condition, parts), " OR ", _NEVER)
        case Not(part):
            sql, values = _condition(part)
            return f"NOT ({sql})", values
        case _:
            return _leaf(filter_)


def _join(conditions: Iterable[Condition], operator: str, nothing: Condition) -> Condition:
    made = list(conditions)
    sql = operator.join(f"({sql})" for sql, _ in made)
    return (sql, tuple(value for _, values in made for value in values)) if made else nothing


def _leaf(leaf: Leaf) -> Condition:
    """Return a condition on one field: words, pages, or a value."""
    if isinstance(leaf, Match):
        return _has_words(leaf)
    if leaf.field == "page":
        return _on_pages(leaf)
    return _on_field(leaf)


def _has_words(leaf: Match) -> Condition:
    """Match each word by itself: of several keywords, each may have one."""
    words = question_terms(leaf.words)
    if leaf.field == "page" or not words:
        return _NEVER
    if leaf.field == "text":
        quoted = " AND ".join('"{}"'.format(word.replace('"', '""')) for word in words)
        return 'c."row" IN (SELECT rowid FROM words WHERE words MATCH ?)', (quoted,)
    return _join((_on_field(Match(leaf.field, word)) for word in words), " AND ", _ALWAYS)


def has_term(*given: Any) -> bool:
    """Return whether a stored text, the first value, has the second, a term.

    SQLite calls it in conditions.
    """
    value, term = given
    return isinstance(value, str) and term in terms(value[:MATCHED_CHARACTERS])


def _on_field(leaf: Leaf) -> Condition:
    """Return a condition on a column, the keywords or a metadata key."""
    if leaf.field in _CHUNK_COLUMNS:
        return _holds(leaf, _Value(_CHUNK_COLUMNS[leaf.field], "'text'"))
    if leaf.field in _DOCUMENT_COLUMNS:
        sql, values = _holds(leaf, _Value(_DOCUMENT_COLUMNS[leaf.field], "'text'"))
        return f"c.document IN (SELECT d.key FROM documents d WHERE {sql})", values  # noqa: S608 -- constants only

    sql, values = _holds(leaf, _ITEM)
    if leaf.field == "keywords":
        return f"EXISTS (SELECT 1 FROM json_each(c.keywords) item WHERE {sql})", values  # noqa: S608 -- constants only

    chosen = "SELECT f.key FROM facts f, json_each(f.facts) item WHERE item.key = ?"
    return f"c.facts IN ({chosen} AND ({sql}))", (_to_bindable(leaf.field), *values)


def _holds(leaf: Leaf, value: _Value) -> Condition:
    match leaf:
        case Terms(_, wanted):
            return _is_one_of(wanted, value)
        case Prefix(_, start):
            as_text = (
                f"CASE {value.kind} WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' "
                f"ELSE {value.sql} END"
            )
            return f"instr({as_text}, ?) = 1", (_to_bindable(start),)
        case Match(_, term):
            return f"{value.kind} = 'text' AND has_term({value.sql}, ?)", (term,)
        case _:
            return _join(
                _bounds(leaf, lambda bound, sign: _compare(bound, sign, value)), " AND ", _ALWAYS
            )


def _is_one_of(wanted: tuple[Scalar, ...], value: _Value) -> Condition:
    """Match values that are equal within one kind, or that are written alike.

    For example, "2024" in a CSV file matches the number 2024.
    """
    texts = [format_value(scalar_) for scalar_ in wanted]
    read = [scalar(text) for text in texts]
    numbers = [number for number in (*wanted, *read) if is_number(number) and math.isfinite(number)]
    truths = [text for text, scalar_ in zip(texts, read, strict=True) if isinstance(scalar_, bool)]
    sql = f"({value.kind} = 'text' AND {value.sql} IN {_JSON_LIST})"
    if value.kind == "'text'":
        return f"{value.sql} IN {_JSON_LIST}", (json.dumps(texts),)

    sql += f" OR ({value.kind} IN ('integer', 'real') AND {value.sql} IN {_JSON_LIST})"
    sql += f" OR {value.kind} IN {_JSON_LIST}"
    return sql, (json.dumps(texts), json.dumps(numbers), json.dumps(truths))


def _bounds(leaf: Range, compared: Callable[[Scalar, str], Condition]) -> Iterable[Condition]:
    if leaf.low is not None:
        yield compared(leaf.low, ">" if leaf.low_open else ">=")
    if leaf.high is not None:
        yield compared(leaf.high, "<" if leaf.high_open else "<=")


def _compare(bound: Scalar, sign: str, value: _Value) -> Condition:
    """Compare with values of the bound's own kind only: numbers, truth values or texts."""
    if bound != bound:  # noqa: PLR0124 -- NaN, which SQLite would treat as NULL
        return _NEVER
    kinds = {bool: "'true', 'false'", str: "'text'"}.get(type(bound), "'integer', 'real'")
    return f"{value.kind} IN ({kinds}) AND {value.sql} {sign} ?", (_to_bindable(bound),)


def _on_pages(leaf: Terms | Prefix | Range) -> Condition:
    """Match chunks by page: a chunk is on every page from its first to its last.

    A range matches if any of these pages lies in it.
    """
    if isinstance(leaf, Terms):
        pages = {
            number for number in map(scalar, map(format_value, leaf.values)) if is_number(number)
        }
        return _join((_pages_between(page, page) for page in sorted(pages)), " OR ", _NEVER)
    if isinstance(leaf, Prefix) or not all(
        is_number(b) for b in (leaf.low, leaf.high) if b is not None
    ):
        return _NEVER
    return _pages_between(leaf.low, leaf.high, low_open=leaf.low_open, high_open=leaf.high_open)


def _pages_between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Condition:
    """Match whole pages between two numbers."""
    if any(bound is not None and not math.isfinite(bound) for bound in (low, high)):
        return _NEVER
    limits = _INTEGER_64[0], _INTEGER_64[-1]
    first, last = round_inwards(low, high, limits, low_open=low_open, high_open=high_open)
    if first > last:
        return _NEVER
    return "c.end_page >= ? AND c.start_page <= ?", (_to_bindable(first), _to_bindable(last))


def _to_bindable(value: Scalar) -> Scalar:
    """Return a value that SQLite can bind.

    Lone surrogates, which no stored text can contain, are replaced; large integers become floats.
    """
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, int) and value not in _INTEGER_64:
        return float(value)
    return value
