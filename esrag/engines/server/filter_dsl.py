"""Filters → query DSL over one keyword field, `facts`, with one token per value of a chunk.

A token is `<length of the field's name>:<name>:<kind>:<value>`, so that names and values cannot be
confused. Kinds: `t` a text, `n` a number as 16 hexadecimal digits that sort like the numbers, `b`
true or false, `w` a number or truth value as written, for prefixes, and `m` a term of a text.
Servers compare keywords by their UTF-8 bytes, as SQLite does.
"""

import math
import struct
from collections.abc import Iterable, Iterator
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
from esrag.records import Chunk, Metadata, Scalar
from esrag.text.terms import question_terms, terms

MAX_VALUE = 8000  # characters; Lucene refuses terms of more than 32,766 bytes
_INTEGER_32 = (-(2**31), 2**31 - 1)
_NEVER: dict[str, Any] = {"match_none": {}}
_ALWAYS: dict[str, Any] = {"match_all": {}}

Query = dict[str, Any]


def facts(chunk: Chunk, metadata: Metadata, source: str, kind: str) -> list[str]:
    """Return every token a filter may match: the chunk's fields, its keywords, and the metadata."""
    texts = {"chunk_id": chunk.chunk_id, "title": chunk.title, "section": chunk.section}
    texts |= {"doc_id": chunk.doc_id, "source": source, "kind": kind}
    found = [token for field, value in texts.items() for token in _tokens(field, value)]
    found += [token for word in chunk.keywords for token in _tokens("keywords", word)]

    for field, value in {**metadata, **chunk.metadata}.items():
        if field not in texts and field not in {"keywords", "page"}:
            found += _tokens(field, value)

    return sorted(set(found))


def query(filter_: Filter) -> Query:
    """Return the filter as query DSL. Raises: UsageError for a filter beyond reasonable limits."""
    require_reasonable(filter_)
    return _query(filter_)


def _query(filter_: Filter) -> Query:
    match filter_:
        case And(parts):
            return {"bool": {"filter": [_query(part) for part in parts]}} if parts else _ALWAYS
        case Or(parts):
            return _either(_query(part) for part in parts)
        case Not(part):
            return {"bool": {"must_not": [_query(part)]}}
        case Match():
            return _has_words(filter_)
        case _:
            return _on_pages(filter_) if filter_.field == "page" else _leaf(filter_)


def _has_words(leaf: Match) -> Query:
    words = question_terms(leaf.words)
    if leaf.field == "page" or not words:
        return _NEVER
    if leaf.field == "text":
        return {"bool": {"filter": [{"term": {"terms": word}} for word in words]}}
    tokens = (_token(leaf.field, "m", word) for word in words)
    return {"bool": {"filter": [{"term": {"facts": token}} for token in tokens]}}


def _either(queries: Iterable[Query]) -> Query:
    made = list(queries)
    return {"bool": {"should": made, "minimum_should_match": 1}} if made else _NEVER


def _leaf(leaf: Terms | Prefix | Range) -> Query:
    match leaf:
        case Terms(field, values):
            tokens = {token for value in values for token in _iter_equal_tokens(field, value)}
            return {"terms": {"facts": sorted(tokens)}}
        case Prefix(field, value):
            return _either(_starts_with(_token(field, kind, value)) for kind in "tw")
        case Range(field, low, high, low_open, high_open):
            bounds = [(low, "gt" if low_open else "gte"), (high, "lt" if high_open else "lte")]
            given = [_bound(field, value, sign) for value, sign in bounds if value is not None]
            return {"bool": {"filter": given or [_starts_with(f"{len(field)}:{field}:")]}}


def _starts_with(token: str) -> Query:
    return {"prefix": {"facts": {"value": token}}}


def _iter_equal_tokens(field: str, value: Scalar) -> Iterator[str]:
    """Match values that are equal within one kind, or that are written alike.

    For example, "2024" in a CSV file matches the number 2024.
    """
    text = format_value(value)
    yield _token(field, "t", text)
    for one in {value, scalar(text)}:
        if isinstance(one, bool):
            yield _token(field, "b", format_value(one))
        elif isinstance(one, int | float) and math.isfinite(one):
            yield _token(field, "n", _encode_number(one))


def _bound(field: str, value: Scalar, sign: str) -> Query:
    """Compare with values of the bound's own kind only: numbers, truth values or texts."""
    if value != value:  # noqa: PLR0124 -- NaN
        return _NEVER
    if isinstance(value, str):
        kind, text = "t", value
    elif isinstance(value, bool):
        kind, text = "b", format_value(value)
    else:
        kind, text = "n", _encode_number(value)

    start = _token(field, kind, "")
    around = {"lt": start[:-1] + ";"} if sign.startswith("g") else {"gte": start}  # ";" follows ":"
    return {"range": {"facts": {sign: _token(field, kind, text), **around}}}


def _on_pages(leaf: Terms | Prefix | Range) -> Query:
    """Match chunks by page: a chunk is on every page from its first to its last.

    A range matches if any of these pages lies in it.
    """
    if isinstance(leaf, Terms):
        pages = {
            number
            for number in (scalar(format_value(value)) for value in leaf.values)
            if is_number(number)
        }
        return _either(_pages_between(page, page) for page in sorted(pages))
    if isinstance(leaf, Prefix) or not all(
        is_number(b) for b in (leaf.low, leaf.high) if b is not None
    ):
        return _NEVER
    return _pages_between(leaf.low, leaf.high, low_open=leaf.low_open, high_open=leaf.high_open)


def _pages_between(
    low: Any, high: Any, *, low_open: bool = False, high_open: bool = False
) -> Query:
    if any(bound is not None and not math.isfinite(bound) for bound in (low, high)):
        return _NEVER

    lowest, highest = _INTEGER_32
    first, last = round_inwards(low, high, _INTEGER_32, low_open=low_open, high_open=high_open)
    if first > last or first > highest or last < lowest:
        return _NEVER

    on_or_after = {"range": {"end_page": {"gte": max(first, lowest)}}}
    return {
        "bool": {"filter": [on_or_after, {"range": {"start_page": {"lte": min(last, highest)}}}]}
    }


def _tokens(field: str, value: Scalar) -> Iterator[str]:
    if isinstance(value, str) or (isinstance(value, float) and not math.isfinite(value)):
        yield _token(field, "t", str(value))
        if isinstance(value, str):
            yield from (_token(field, "m", term) for term in terms(value[:MATCHED_CHARACTERS]))
        return
    yield _token(field, "w", format_value(value))
    yield (
        _token(field, "b", format_value(value))
        if isinstance(value, bool)
        else _token(field, "n", _encode_number(value))
    )


def _token(field: str, kind: str, value: str) -> str:
    """Return one token; lone surrogates, which no stored text can contain, are replaced.

    >>> _token("year", "t", "2024")
    '4:year:t:2024'
    """
    token = f"{len(field)}:{field}:{kind}:{value[:MAX_VALUE]}"
    return token.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _encode_number(number: float) -> str:
    """Return a number as digits that sort as the numbers do.

    >>> sorted([10, -1, 2.5, -30], key=_encode_number) == [-30, -1, 2.5, 10]
    True
    """
    try:
        bits: int = struct.unpack(">Q", struct.pack(">d", number + 0.0))[0]  # -0.0 is 0.0
    except OverflowError:
        return _encode_number(math.copysign(math.inf, number))
    return f"{bits ^ (2**64 - 1 if bits >> 63 else 2**63):016x}"
