"""The ledger: planned work, finished work and failures, stored with the index, never in the broker.

A job is one ingest: its files in batches. A batch is recorded before it is published, claimed by
its worker, and ended by the same worker. A claim lasts as long as it is renewed. Each change of a
batch is compared with the version that was read, so that one of two concurrent writers wins. Queues
may lose and duplicate what they hold. The ledger does not, and its records are the ones that count.

States of a batch: `pending` (waits, perhaps until `not_before_ms`), `running` (claimed), `done`,
`failed` (a permanent error, or one that outlasted its attempts), `dead` (ended its worker at every
attempt). Before a batch of several files is declared dead, it is split into one batch per file.
States of a job: `recording` (its batches are being recorded), `open`, `done` (no batch is open and
deleted files were removed), `cancelled`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from esrag.ingesting import Result, Skip, Task
from esrag.records import Fingerprint

BatchState = Literal["pending", "running", "done", "failed", "dead"]
JobState = Literal["recording", "open", "done", "cancelled"]
TAKEN_OVER = "taken over by "  # before the id of the job that goes on with it, in a note
REMOVAL_KEY = (
    "removal"  # of the jobs that say what was removed by hand; those of ingests have hashes
)


@dataclass(frozen=True, slots=True)
class Job:
    """One ingest; `key` is the same for the same arguments on the same index.

    A newer job takes over from an older one with its key. A `rebuild` that is interrupted leaves
    nothing behind. `gone` holds the sources that no longer exist: their documents are removed at
    the end. For a removal by hand it holds the sources whose documents were removed. `left_out`
    holds those of them that exist but are no longer wanted. `note` says why the job was cancelled.
    Times are milliseconds since 1970.
    """

    job_id: str
    key: str
    index: str
    made: Fingerprint
    created_ms: int
    files: int
    rebuild: bool = False
    gone: tuple[str, ...] = ()
    unchanged: int = 0
    removed: int = 0
    skips: tuple[Skip, ...] = ()
    state: JobState = "recording"
    ended_ms: int = 0
    note: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """Some files of a job, claimed and ended as a whole.

    `attempts` counts the claims; `until_ms` is when the present claim ends unless it is renewed.
    `queued_ms` is when the batch was last published, 0 if it was not; `error` is one line,
    `traceback` what a developer needs. `result` is there before the end of the batch if some of its
    files are retried. `turned_away` counts the turns in a row that met a transient obstacle.
    `alone` marks a batch that was split from one that ended its worker.
    """

    batch_id: str
    job_id: str
    tasks: tuple[Task, ...]
    state: BatchState = "pending"
    attempts: int = 0
    queued_ms: int = 0
    not_before_ms: int = 0
    until_ms: int = 0
    owner: str = ""
    result: Result = field(default_factory=Result)
    error: str = ""
    traceback: str = ""
    took_ms: int = 0
    turned_away: int = 0
    alone: bool = False

    @property
    def left(self) -> tuple[Task, ...]:
        """Return the files without an outcome."""
        told = {outcome.source for outcome in self.result.outcomes}
        return tuple(task for task in self.tasks if task.source not in told)


@dataclass(frozen=True, slots=True)
class Counts:
    """A job in figures, from its batches: `batches` by state, and `files` by outcome.

    Files without an outcome count as `pending`, and as `failed` in failed and dead batches. Every
    state and every outcome is there, also at 0.
    """

    batches: Mapping[BatchState, int]
    files: Mapping[str, int]
    chunks: int = 0
    embedded: int = 0
    reused: int = 0

    @property
    def open(self) -> int:
        """Return how many batches are pending or running."""
        return self.batches.get("pending", 0) + self.batches.get("running", 0)
