"""What every store of runs does, and what its implementations share."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from esrag.errors import EsragError, UsageError
from esrag.runs import Feedback, Verdict, remove_texts
from esrag.settings import RunsSettings
from esrag.text import drop_unshowable, find_closest

MAX_NOTE_CHARACTERS = 2000
Record = dict[str, Any]


class RunStore(Protocol):
    """Runs by id. The oldest are removed if they are too old, or too large together.

    A run that is too old is not read either. Every method raises EsragError if the store cannot be
    used.
    """

    def add(self, record: Record) -> None:
        """Keep a record, with or without its texts, as `runs.keep` says."""

    def runs(self) -> Iterator[tuple[Record, tuple[Feedback, ...]]]:
        """Yield each record with its feedback, the newest first."""

    def run(self, run_id: str) -> tuple[Record, tuple[Feedback, ...]]:
        """Return a record and its feedback. Raises: UsageError for an unknown id."""

    def rate(self, run_id: str, verdict: Verdict, note: str) -> Feedback:
        """Keep what a reader says of a run. Raises: UsageError for an unknown id or a long note."""

    def close(self) -> None:
        """Close connections; the next use opens them again."""


def serialise(record: Record, settings: RunsSettings) -> str:
    """Return a record as the JSON that is kept. Raises: EsragError if it exceeds `max_bytes`."""
    kept = record if settings.keep == "whole" else remove_texts(record)
    text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
    size_bytes = len(text.encode("utf-8", "replace"))
    if size_bytes > settings.max_bytes:
        raise EsragError(
            f"expected a record of at most {settings.max_bytes:,} bytes, found {size_bytes:,}",
            hint="raise runs.max_bytes",
        )
    return text


def find_oldest(settings: RunsSettings) -> str:
    """Return the time before which a run is too old."""
    oldest = datetime.now(UTC) - timedelta(days=settings.max_days)
    return oldest.isoformat(timespec="milliseconds")


def rate_now(run_id: str, verdict: Verdict, note: str) -> Feedback:
    """Return the feedback of this moment, without what cannot be shown or stored.

    Raises: UsageError for a long note.
    """
    if len(note) > MAX_NOTE_CHARACTERS:
        raise UsageError(
            f"expected a note of at most {MAX_NOTE_CHARACTERS} characters, found {len(note)}"
        )
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    run_id, note = map(drop_unshowable, (run_id, note))
    return Feedback(run_id=run_id, verdict=verdict, note=note, at=at)


def run_id_error(run_id: str, known: Sequence[str]) -> UsageError:
    """Return the error for an id under which nothing is kept."""
    hint = "esrag runs list shows what is kept"
    if not known:
        hint = "set runs.keep to keep runs from now on"
    elif alike := find_closest(run_id, known):
        hint = f"did you mean {alike[0]}?"
    return UsageError(f"no run {run_id!r} is kept", hint=hint)
