"""The ledger: planned work, finished work and failures. It is stored with the index, never in the broker.

A job is one ingest: its files in batches. A batch is recorded before it is published, claimed by its worker,
and ended by the same worker. A claim lasts as long as it is renewed. Each change of a batch is a comparison with
the version that was read, so that of two who try one wins. Queues may lose and double what they hold: the ledger does
not, and what it says is what counts.

States of a batch: `pending` (waits, perhaps until `not_before_ms`), `running` (claimed), `done`, `failed` (an error
that will not pass, or outlasted its attempts), `dead` (ended its worker at every attempt). A batch of several files
that would be dead is cut into one a file first. States of a job: `recording` (its batches are being recorded),
`open`, `done` (no batch is open and what is gone was removed), `cancelled`.
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
    """One ingest. `key` is the same for the same arguments on the same index: a newer job takes over from an older.

    Of a `rebuild` nothing is left where it is cut short. `gone` holds the sources that are no longer there: their
    documents are removed at the end. Of a removal by hand they are those of which documents were removed. `left_out`
    holds those of them that are there and not wanted any more. `note` says
    why it was cancelled. Times are milliseconds since 1970.
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
    """Some files of a job. `attempts` counts the claims; `until_ms` is when the present one ends unless it is renewed.

    `queued_ms` is when it was last published, 0 for not; `error` is one line, `traceback` what a developer needs.
    `result` is there before its end where some of its files are tried again. `turned_away` counts the turns in a row
    in which something stood in the way that passes by itself. `alone`: cut from a batch that ended its worker.
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
        """The files that nothing came of yet."""
        told = {outcome.source for outcome in self.result.outcomes}
        return tuple(task for task in self.tasks if task.source not in told)


@dataclass(frozen=True, slots=True)
class Counts:
    """A job in figures, from its batches; `batches` by state, `files` by outcome, the open ones under `pending`.

    What is left of failed and dead batches counts as `failed`. Every state and every outcome is there, also at 0.
    """

    batches: Mapping[BatchState, int]
    files: Mapping[str, int]
    chunks: int = 0
    embedded: int = 0
    reused: int = 0

    @property
    def open(self) -> int:
        """Batches that are still to be done or under way."""
        return self.batches.get("pending", 0) + self.batches.get("running", 0)
