"""Rows of a ledger's store: searched by a few fields, with a record as JSON.

A store knows neither jobs nor batches. It writes a row only if it is still as it was read, which is
all that the states, claims and counts of `ledger.py` depend on.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from esrag.errors import LedgerError
from esrag.ledger import Batch, BatchState, Job

Kind = Literal["job", "batch", "lock"]
SCHEMA_VERSION = 1
OUTCOMES = ("pending", "added", "changed", "renamed", "failed", "skipped")  # of files
SUMS = (*OUTCOMES, "chunks", "embedded", "reused")
PAGE_ROWS = 100  # of batches of 1,000 files with long names some 30 MB
GIVEN_UP: Collection[BatchState] = ("failed", "dead")
NEW: tuple[int, ...] = ()
_SURROGATE = re.compile("[\ud800-\udfff]")
_T = TypeVar("_T")
_JOB, _BATCH = TypeAdapter(Job), TypeAdapter(Batch)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the store.

    `version` is the store's own mark of the version that was read; `NEW` marks a row to be created.
    `due_ms` is when a pending batch may be claimed, or when the claim of a running one ends. `sums`
    are in the order of `SUMS`.
    """

    key: str
    kind: Kind
    job_id: str
    state: str
    due_ms: int = 0
    queued_ms: int = 0
    sums: tuple[int, ...] = (0,) * len(SUMS)
    body: str = ""
    version: tuple[int, ...] = NEW


@dataclass(frozen=True, slots=True)
class Query:
    """A selection of rows: `due_ms` at or before, `queued_ms` from and to; None matches all."""

    kind: Kind
    job_id: str = ""
    states: Collection[str] = ()
    due_ms: int | None = None
    queued_ms: tuple[int, int] | None = None
    bodies: bool = True


@dataclass(frozen=True, slots=True)
class Total:
    """The batches of a job in one state: how many, the earliest `due_ms`, and their sums."""

    batches: int
    due_ms: int
    sums: tuple[int, ...]


class Store(Protocol):
    """Rows by key. A store that is not there yet holds nothing, and is made by the first write.

    Raises: LedgerError; on a server EngineError.
    """

    def get(self, keys: Sequence[str], *, bodies: bool = True) -> Sequence[Row]:
        """Return the rows of these keys as they are now, without unknown ones."""
        ...

    def write(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Write each row that is still of the version it carries; return which ones were written.

        A row of the version `NEW` is written if there is none with its key.
        """
        ...

    def remove(self, keys: Sequence[str]) -> None:
        """Remove rows; unknown keys are ignored."""
        ...

    def find(self, query: Query, after: str, limit: int) -> Sequence[Row]:
        """Return the first rows by key, beyond `after`; all earlier writes are seen."""
        ...

    def totals(self, job_id: str) -> Mapping[str, Total]:
        """Return the batches of a job by state."""
        ...

    def close(self) -> None:
        """Close files and connections. The next use opens them again."""
        ...


def iter_rows(store: Store, query: Query, limit: int = sys.maxsize) -> Iterator[Row]:
    """Yield the rows of a query, by key; one page is held at a time."""
    after = ""
    while page := store.find(query, after, min(limit, PAGE_ROWS)):
        yield from page
        limit -= len(page)
        after = page[-1].key


def job_key(job_id: str) -> str:
    """Return the key of a job's row."""
    return f"job {_spell(job_id)}"


def batch_key(batch_id: str) -> str:
    """Return the key of a batch's row; keys are in the order of ids."""
    return f"batch {_spell(batch_id)}"


def job_row(job: Job, version: tuple[int, ...] = NEW) -> Row:
    """Return a job as a row."""
    return Row(
        key=job_key(job.job_id),
        kind="job",
        job_id=job.job_id,
        state=job.state,
        body=_json(job),
        version=version,
    )


def batch_row(batch: Batch, version: tuple[int, ...] = NEW) -> Row:
    """Return a batch as a row, with the fields that are searched and summed."""
    due_ms = {"pending": batch.not_before_ms, "running": batch.until_ms}.get(batch.state, 0)
    return Row(
        key=batch_key(batch.batch_id),
        kind="batch",
        job_id=batch.job_id,
        state=batch.state,
        due_ms=due_ms,
        queued_ms=batch.queued_ms,
        sums=_sums(batch),
        body=_json(batch),
        version=version,
    )


def job_of(row: Row) -> Job:
    """Return the job of a row.

    Raises: LedgerError.
    """
    return _read(_JOB, row)


def batch_of(row: Row) -> Batch:
    """Return the batch of a row.

    Raises: LedgerError.
    """
    return _read(_BATCH, row)


def _sums(batch: Batch) -> tuple[int, ...]:
    """Return the figures of a batch in the order of SUMS."""
    result = batch.result
    parts = {"chunks": result.chunks, "embedded": result.embedded, "reused": result.reused}
    sums = {**_files(batch), **parts}
    return tuple(sums.get(name, 0) for name in SUMS)


def _files(batch: Batch) -> Mapping[str, int]:
    """Return the number of files of a batch by outcome."""
    files: Counter[str] = Counter(outcome.state for outcome in batch.result.outcomes)
    if batch.state != "done":
        files["failed" if batch.state in GIVEN_UP else "pending"] += len(batch.left)
    return files


def _read(adapter: TypeAdapter[_T], row: Row) -> _T:
    try:
        return adapter.validate_json(row.body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        message = (
            f"the ledger's entry {row.key!r} cannot be read: {where and f'{where}: '}{first['msg']}"
        )
        raise LedgerError(message, hint="was it written by another version of esrag?") from error


def _json(record: Job | Batch) -> str:
    """Return a record as JSON that any store can hold.

    Bytes that are not Unicode are escaped, as in `sources.source_of`.
    """
    text = json.dumps(record, default=_to_mapping, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text)


def _to_mapping(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is nothing that a ledger holds")


def _spell(name: str) -> str:
    """Return a name from a command line without characters that are not Unicode."""
    return name.encode("utf-8", "backslashreplace").decode()
