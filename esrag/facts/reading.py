"""Read facts from a table or from lines of JSON."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from esrag.errors import LoadingError, UsageError
from esrag.facts import Fact
from esrag.facts.citing import find_refusal
from esrag.loading import Skipped
from esrag.loading.files import to_source
from esrag.loading.layout import scalars
from esrag.loading.reading import read_unlinked
from esrag.loading.rows import iter_records
from esrag.records import Columns, Source
from esrag.text import normalise
from esrag.text.terms import terms

COLUMNS = ("question", "answer", "source_url", "valid_from", "valid_until")
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
_LONGEST = {"question": 500, "answer": 4_000, "source_url": 2_000}  # characters
_MAX_SHOWN = 60
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True)
class Fault:
    """A row that is not a fact, or a fact that cannot be used, and why."""

    place: str
    reason: str


def read_facts(path: Path, max_bytes: int) -> Iterator[tuple[str, Fact] | Fault]:
    """Yield each row of a CSV, TSV or JSONL file as a fact with its line, or what is wrong with it.

    Raises: UsageError for another kind of file, one that cannot be read, or a missing column.
    """
    if not path.name.lower().endswith(_ENDINGS):
        hint = f"its name has to end in {', '.join(_ENDINGS)}"
        raise UsageError(f"{path} is not a file of facts", hint=hint)

    if not path.exists():
        raise UsageError(f"{path} does not exist", hint="name a file with facts")

    try:
        data = read_unlinked(path, max_bytes)
        columns = Columns("answer", "question")
        yield from _read_rows(Source(path.name, to_source(str(path)), data, columns=columns))
    except LoadingError as error:
        hint = f"facts are rows with the columns {', '.join(COLUMNS[:3])}; dates are optional"
        raise UsageError(f"{path} {error}", hint=hint) from error


def _read_rows(source: Source) -> Iterator[tuple[str, Fact] | Fault]:
    for part in iter_records(source):
        if isinstance(part, Skipped):
            yield Fault(part.where, part.reason)
            continue

        line, fields = part
        place = f"line {line}"
        try:
            yield place, _to_fact(fields, source.name)
        except ValueError as error:
            yield Fault(place, str(error))


def _to_fact(fields: Mapping[str, Any], file: str) -> Fact:
    """Return the fact of a row. Raises: ValueError, which says what is wrong with it."""
    question, answer, source = (_read_text(fields, name) for name in COLUMNS[:3])
    if not terms(question):
        raise ValueError("has a question without a word to search for")
    _require_source(source)
    first, last = (_read_day(fields, name) for name in COLUMNS[3:])
    if first and last and first > last:
        raise ValueError(f"holds from {first}, but only until {last}")

    others = {name: value for name, value in fields.items() if name not in COLUMNS}
    fact = Fact(
        question=question,
        answer=answer,
        source_url=source,
        valid_from=first,
        valid_until=last,
        file=file,
        metadata=scalars(others),
    )
    if refused := find_refusal(fact):
        raise ValueError(refused)
    return fact


def _read_text(fields: Mapping[str, Any], name: str) -> str:
    """Return a text on one line. Raises: ValueError if it is missing or too long."""
    value = fields.get(name)
    text = " ".join(normalise("" if value is None else str(value)).split())
    if not text:
        raise ValueError(f"has no {name}")
    if len(text) > _LONGEST[name]:
        raise ValueError(f"has a {name} of more than {_LONGEST[name]:,} characters")
    return text


def _require_source(source: str) -> None:
    """Raise ValueError for text that looks like an address but cannot be one."""
    if not _SCHEME.match(source):
        return  # the name of a document
    try:
        parts = urlsplit(source)
        is_address = (
            parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in source
        )
    except ValueError:
        is_address = False
    if not is_address:
        raise ValueError(
            f"has the source_url {source[:_MAX_SHOWN]!r}, which is not an http address"
        )


def _read_day(fields: Mapping[str, Any], name: str) -> str:
    """Return a day in ISO 8601, "" for none. Raises: ValueError."""
    text = str(fields.get(name) or "").strip()
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        what = f"has the {name} {text[:_MAX_SHOWN]!r}, expected a day such as 2024-04-01"
        raise ValueError(what) from None
