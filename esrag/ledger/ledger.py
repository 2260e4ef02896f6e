"""The ledger itself: the states of jobs and batches, their claims, and the recovery from failures.

Every change is applied to the current row, and applied again if another process changed the row
meanwhile.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import TypeVar
from uuid import uuid4

from esrag.errors import JobMissing, LedgerError
from esrag.ingesting import Outcome, Result, Task
from esrag.ledger import TAKEN_OVER, Batch, BatchState, Counts, Job
from esrag.ledger.integrity import problems
from esrag.ledger.store import (
    GIVEN_UP,
    OUTCOMES,
    PAGE_ROWS,
    SUMS,
    Query,
    Row,
    Store,
    batch_key,
    batch_of,
    batch_row,
    iter_rows,
    job_key,
    job_of,
    job_row,
)

_ERROR_CHARACTERS = 500
_TRACEBACK_CHARACTERS = 10_000
_SWEEPER = "lock sweeper"
_MAX_WAIT_S = 300.0  # what passes by itself passes after minutes or after hours
_FAILED = SUMS.index("failed")
_STATES: tuple[BatchState, ...] = ("pending", "running", "done", "failed", "dead")
_T = TypeVar("_T")


class Ledger:
    """Jobs and their batches in a store.

    `lease_s` is how long a claim lasts, `attempts` how often a batch may be claimed. `clock` gives
    seconds since 1970. Every method raises LedgerError if the store cannot be read or written, and
    on a server EngineError.
    """

    def __init__(
        self, store: Store, lease_s: float, attempts: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._store = store
        self._lease_ms = round(1000 * lease_s)
        self._attempts = attempts
        self._clock = clock

    def open(self, job: Job, batches: Iterable[Sequence[Task]], begun: Sequence[Batch] = ()) -> Job:
        """Record a job and all its batches, then offer them; take over from older jobs of its key.

        Batches that were `begun` in those go on as they are, after all others: attempts count from
        job to job. Return the job as it is then: cancelled, if a newer one was opened meanwhile.

        Raises: LedgerError if a job of that id exists.
        """
        if not all(self._store.write([job_row(replace(job, state="recording"))])):
            raise LedgerError(f"there is a job {job.job_id} already", hint="run the command again")

        fresh = (Batch("", "", tuple(tasks)) for tasks in batches)
        self._record(job.job_id, chain(fresh, begun))
        self._change_job(
            job.job_id, lambda now: replace(now, state="open") if now.state == "recording" else None
        )
        self._take_over(job)
        return self.job(job.job_id)

    def _record(self, job_id: str, batches: Iterable[Batch]) -> None:
        """Write the batches of a job, numbered in their order."""
        for some in _portions(enumerate(batches, start=1)):
            named = (
                replace(it, batch_id=f"{job_id}-{number:06}", job_id=job_id) for number, it in some
            )
            self._store.write([batch_row(batch) for batch in named])

    def job(self, job_id: str) -> Job:
        """Return a job.

        Raises: JobMissing for an unknown one.
        """
        for row in self._store.get([job_key(job_id)]):
            return job_of(row)
        raise JobMissing(f"no job {job_id!r}", hint="esrag jobs list shows all jobs")

    def jobs(self) -> Iterator[Job]:
        """Yield all jobs, the newest first."""
        jobs = map(job_of, iter_rows(self._store, Query("job")))
        return iter(sorted(jobs, key=_age, reverse=True))

    def batch(self, batch_id: str) -> Batch:
        """Return a batch.

        Raises: JobMissing for an unknown one.
        """
        for row in self._store.get([batch_key(batch_id)]):
            return batch_of(row)
        raise JobMissing(
            f"no batch {batch_id!r}", hint="esrag jobs show JOB lists the batches of a job"
        )

    def batches(self, job_id: str, states: Collection[BatchState] = ()) -> Iterator[Batch]:
        """Yield the batches of a job by id, all or those in some states."""
        return map(batch_of, iter_rows(self._store, Query("batch", job_id, states)))

    def iter_dead(self) -> Iterator[Batch]:
        """Yield the dead batches of all jobs."""
        return map(batch_of, iter_rows(self._store, Query("batch", states=("dead",))))

    def counts(self, job_id: str) -> Counts:
        """Return a job in figures; every state and every outcome is there."""
        totals = self._store.totals(job_id)
        columns = zip(*(total.sums for total in totals.values()), strict=True)
        sums = dict(zip(SUMS, map(sum, columns), strict=False))
        batches = {state: totals[state].batches if state in totals else 0 for state in _STATES}
        return Counts(
            batches=batches,
            files={name: sums.get(name, 0) for name in OUTCOMES},
            chunks=sums.get("chunks", 0),
            embedded=sums.get("embedded", 0),
            reused=sums.get("reused", 0),
        )

    def list_due(self, limit: int, job_id: str = "") -> Sequence[Batch]:
        """Return batches of open jobs that are due and not queued, the oldest first."""
        jobs = [it for it in [job_id] if self._is_open(it)] if job_id else self._open_jobs()
        offered = (row for one in jobs for row in self._find_offered(one, limit))
        return [batch_of(row) for row in islice(offered, limit)]

    def find_next_due_ms(self, job_id: str) -> int | None:
        """Return when the first pending batch of a job is due; None if no batch is pending."""
        total = self._store.totals(job_id).get("pending")
        return total.due_ms if total else None

    def mark_queued(self, batch_ids: Iterable[str], queued: bool = True) -> None:  # noqa: FBT001, FBT002 -- one word
        """Mark pending batches as published, or as not published after all."""
        now_ms = self._now_ms() if queued else 0
        self._change(
            map(batch_key, batch_ids),
            lambda it: replace(it, queued_ms=now_ms) if it.state == "pending" else None,
        )

    def claim(self, batch_id: str, owner: str) -> Batch | None:
        """Claim a batch for its owner until the lease ends, and return it.

        Return None if another owner holds it, or if it has ended or is unknown. A batch whose claim
        is over and whose attempts are used up is left to `reap`.
        """
        now_ms = self._now_ms()

        def claimed(batch: Batch) -> Batch | None:
            if not self._may_be_claimed(batch, now_ms):
                return None
            begun = replace(batch, state="running", owner=owner, attempts=batch.attempts + 1)
            return replace(begun, until_ms=now_ms + self._lease_ms, not_before_ms=0, queued_ms=0)

        return next(iter(self._change([batch_key(batch_id)], claimed)), None)

    def _may_be_claimed(self, batch: Batch, now_ms: int) -> bool:
        is_over = (
            batch.state == "running"
            and batch.until_ms <= now_ms
            and batch.attempts < self._attempts
        )
        return (batch.state == "pending" or is_over) and self._is_open(batch.job_id)

    def renew(self, batch: Batch) -> bool:
        """Extend a claim.

        Return False if the claim is another owner's by now or the job was cancelled: then stop
        working.
        """
        until_ms = self._now_ms() + self._lease_ms
        return self._is_open(batch.job_id) and self._change_held(
            batch, lambda it: replace(it, until_ms=until_ms)
        )

    def finish(self, batch: Batch, result: Result, took_ms: int) -> bool:
        """Record the outcome of the rest of a batch.

        Return False if another process has the claim by now.
        """
        now_ms = self._now_ms()
        told = replace(
            result, outcomes=tuple(replace(outcome, at_ms=now_ms) for outcome in result.outcomes)
        )
        return self._change_held(
            batch,
            lambda it: replace(_end(it, "done"), result=_add(it.result, told), took_ms=took_ms),
        )

    def put_back(  # noqa: PLR0913 -- what went wrong, and what is to be done about it
        self,
        batch: Batch,
        error: str,
        traceback: str = "",
        *,
        wait_s: float = 0,
        min_s: float = 0,
        counted: bool = True,
    ) -> None:
        """Let a batch be retried after a while, or fail if that was its last attempt.

        A turn that is not counted never fails the batch. Each of such turns in a row waits twice as
        long as the one before, and at least `min_s`. Nothing happens if the claim is another
        owner's by now.
        """
        now_ms = self._now_ms()

        def back(it: Batch) -> Batch:
            if counted and it.attempts >= self._attempts:
                return _end(it, "failed", error, traceback)
            turned_away = it.turned_away + 1 if wait_s and not counted else 0
            longer_s = max(min_s, _grow_wait(wait_s, turned_away))
            due_ms = now_ms + round(1000 * longer_s) if longer_s else 0
            waiting = _reset(it, it.attempts - (not counted), due_ms)
            told = replace(waiting, error=_shorten(error), traceback=_end_of(traceback))
            return replace(told, turned_away=turned_away)

        self._change_held(batch, back)

    def give_up(self, batch: Batch, error: str, traceback: str = "") -> None:
        """End a batch with a permanent error; do nothing if the claim is another owner's by now."""
        self._change_held(batch, lambda it: _end(it, "failed", error, traceback))

    def reap(self, is_dead: Callable[[str], bool] = lambda _owner: False) -> Sequence[Batch]:
        """Take back batches whose claim is over or whose owner `is_dead`; return their new state.

        With attempts left they are pending. Otherwise a batch of several files is split into one
        per file, and a batch of a single file is dead.
        """
        now_ms = self._now_ms()
        running = map(batch_of, iter_rows(self._store, Query("batch", states=("running",))))
        left = [batch for batch in running if batch.until_ms <= now_ms or is_dead(batch.owner)]
        return [after for batch in left for after in self._take_back(batch)]

    def requeue(self, before_ms: int) -> int:
        """Offer pending batches again whose messages of before then were lost; return how many."""
        lost = Query("batch", states=("pending",), queued_ms=(1, before_ms - 1), bodies=False)

        def unqueued(it: Batch) -> Batch | None:
            return (
                replace(it, queued_ms=0)
                if it.state == "pending" and 0 < it.queued_ms < before_ms
                else None
            )

        return sum(
            1 for _ in self._change((row.key for row in iter_rows(self._store, lost)), unqueued)
        )

    def end(self, job_id: str) -> bool:
        """End an open job that has no open batch; return whether this call ended it."""
        if self.counts(job_id).open:
            return False
        ended_ms = self._now_ms()
        return self._change_job(
            job_id,
            lambda job: (
                replace(job, state="done", ended_ms=ended_ms) if job.state == "open" else None
            ),
        )

    def cancel(self, job_id: str, note: str) -> None:
        """Stop a job that is recording or open, and offer its batches no more.

        Raises: LedgerError.
        """
        self.job(job_id)
        self._cancel(job_id, note)

    def reopen(self, job_id: str) -> None:
        """Open a done or cancelled job again.

        Raises: LedgerError, also if its batches were not all recorded.
        """
        job = self.job(job_id)
        if sum(self.counts(job_id).files.values()) < job.files:
            raise LedgerError(
                f"the job {job_id} was not recorded to its end", hint="run esrag ingest again"
            )
        self._change_job(
            job_id,
            lambda it: (
                replace(it, state="open", ended_ms=0, note="")
                if it.state in {"done", "cancelled"}
                else None
            ),
        )

    def retry(
        self,
        job_id: str,
        batch_ids: Collection[str] = (),
        sources: Collection[str] = (),
        but: Collection[str] = (),
    ) -> int:
        """Make failed files of a job pending, and open the job again.

        These are all its failed files, or those of the named batches and sources, without those in
        `but`. Return how many batches wait again.

        Raises: LedgerError for an unknown job.
        """
        self.job(job_id)
        again = partial(_retry, sources=sources, but=but, now_ms=self._now_ms())
        failed = self._list_failed(job_id, frozenset(map(batch_key, batch_ids)))
        keys = [row.key for row in failed if again(batch_of(row))]
        if not keys:
            return 0

        self.reopen(job_id)
        changed = self._change(keys, again)
        self.reopen(job_id)  # a sweeper may have found nothing open in between
        return len(changed)

    def _list_failed(self, job_id: str, keys: Collection[str]) -> Iterator[Row]:
        """Yield the batches of a job with failed files, all or those of some keys."""
        rows = iter_rows(self._store, Query("batch", job_id, bodies=False))
        failed = (row.key for row in rows if row.sums[_FAILED] and (not keys or row.key in keys))
        for some in _portions(failed):
            yield from self._store.get(some)

    def prune(self, before_ms: int) -> int:
        """Remove old jobs with their batches, and return how many jobs.

        These are jobs that ended before then, or that were begun before then and never recorded.
        """
        old = [job.job_id for job in self.jobs() if _is_over(job, before_ms)]
        self._remove(old)
        return len(old)

    def forget(self, index: str) -> None:
        """Remove all jobs of a deleted index. Workers on one of them stop."""
        known = [job.job_id for job in self.jobs() if job.index == index]
        for job_id in known:
            self._cancel(job_id, "its index was deleted")
        self._remove(known)

    @contextmanager
    def claim_sweep(self, for_s: float) -> Iterator[bool]:
        """Yield whether this process is now the sweeper; there is one at a time on all machines.

        It stays the sweeper for `for_s` seconds at most.
        """
        now_ms, holder = self._now_ms(), uuid4().hex
        new = Row(key=_SWEEPER, kind="lock", job_id="", state="")
        row = next(iter(self._store.get([_SWEEPER])), new)
        mine = replace(row, state="held", due_ms=now_ms + round(1000 * for_s), body=holder)

        if row.due_ms > now_ms or not all(self._store.write([mine])):
            yield False
            return
        try:
            yield True
        finally:
            held = [row for row in self._store.get([_SWEEPER]) if row.body == holder]
            self._store.write([replace(row, state="", due_ms=0, body="") for row in held])

    def problems(self) -> Sequence[str]:
        """Return the contradictions in the ledger, one line each."""
        return list(problems(self._store))

    def close(self) -> None:
        """Close files and connections."""
        self._store.close()

    def _remove(self, job_ids: Iterable[str]) -> None:
        for job_id in job_ids:
            for some in _portions(
                row.key for row in iter_rows(self._store, Query("batch", job_id, bodies=False))
            ):
                self._store.remove(some)
            self._store.remove([job_key(job_id)])

    def _now_ms(self) -> int:
        return int(1000 * self._clock())

    def _is_open(self, job_id: str) -> bool:
        return [row.state for row in self._store.get([job_key(job_id)], bodies=False)] == ["open"]

    def _open_jobs(self) -> list[str]:
        return [
            row.job_id
            for row in iter_rows(self._store, Query("job", states=("open",), bodies=False))
        ]

    def _find_offered(self, job_id: str, limit: int) -> Iterator[Row]:
        query = Query("batch", job_id, ("pending",), due_ms=self._now_ms(), queued_ms=(0, 0))
        return iter_rows(self._store, query, limit)

    def _take_over(self, job: Job) -> None:
        """Cancel all jobs of this job's key and index except the newest that was opened.

        That may be another job than this one.
        """
        rivals = [it for it in self.jobs() if (it.key, it.index) == (job.key, job.index)]
        newest = next((it for it in rivals if it.state == "open"), job)
        for it in rivals:
            if _age(it) < _age(newest):
                self._cancel(it.job_id, f"{TAKEN_OVER}{newest.job_id}")

    def _cancel(self, job_id: str, note: str) -> None:
        ended_ms = self._now_ms()
        self._change_job(
            job_id,
            lambda job: (
                replace(job, state="cancelled", ended_ms=ended_ms, note=note)
                if job.state in {"recording", "open"}
                else None
            ),
        )

    def _change_held(self, batch: Batch, change: Callable[[Batch], Batch]) -> bool:
        """Change a batch for the holder of its claim; return whether the claim was still held."""
        claim = (batch.owner, batch.attempts)

        def changed(now: Batch) -> Batch | None:
            return (
                change(now)
                if now.state == "running" and (now.owner, now.attempts) == claim
                else None
            )

        return bool(self._change([batch_key(batch.batch_id)], changed))

    def _take_back(self, batch: Batch) -> Sequence[Batch]:
        if batch.attempts < self._attempts:
            after = _reset(batch, batch.attempts)
        elif len(batch.left) > 1:
            return self._cut(batch)
        else:
            after = _end(batch, "dead", f"ended its worker {batch.attempts} times", batch.traceback)
        return self._change([batch_key(batch.batch_id)], lambda it: after if it == batch else None)

    def _cut(self, batch: Batch) -> Sequence[Batch]:
        """Replace a batch by one for each file. Those that a killed sweeper made already stay."""
        key = batch_key(batch.batch_id)
        if not self._change(
            [key], lambda it: replace(it, owner=_SWEEPER, until_ms=1) if it == batch else None
        ):
            return []  # its owner was not dead after all; from here on he cannot end it any more

        pieces = list(_split(batch))
        for some in _portions(pieces):
            self._store.write([batch_row(piece) for piece in some])
        self._store.remove([key])
        return pieces

    def _change(self, keys: Iterable[str], change: Callable[[Batch], Batch | None]) -> list[Batch]:
        """Change batches, except those that `change` gives None for; return the changed ones."""

        def changed(row: Row) -> Row | None:
            after = change(batch_of(row))
            return batch_row(after, row.version) if after else None

        return [batch_of(row) for row in self._rewrite(keys, changed)]

    def _change_job(self, job_id: str, change: Callable[[Job], Job | None]) -> bool:
        def changed(row: Row) -> Row | None:
            after = change(job_of(row))
            return job_row(after, row.version) if after else None

        return any(self._rewrite([job_key(job_id)], changed))

    def _rewrite(self, keys: Iterable[str], change: Callable[[Row], Row | None]) -> Iterator[Row]:
        """Change rows, again if another process was quicker, and yield the changed ones."""
        for portion in _portions(keys):
            left: Sequence[str] = portion
            while left:
                wanted = [after for row in self._store.get(left) if (after := change(row))]
                written = list(zip(wanted, self._store.write(wanted), strict=True))
                yield from (row for row, done in written if done)
                left = [row.key for row, done in written if not done]


def _reset(batch: Batch, attempts: int = 0, not_before_ms: int = 0) -> Batch:
    """Return the batch as pending; its error is kept."""
    unclaimed = replace(batch, state="pending", owner="", until_ms=0, queued_ms=0, turned_away=0)
    return replace(unclaimed, attempts=attempts, not_before_ms=not_before_ms)


def _split(batch: Batch) -> Iterator[Batch]:
    """Yield a batch for each file, done if the file is finished.

    The first of the finished ones carries the batch's counts.
    """
    error = f"cut from {batch.batch_id}, which ended its worker {batch.attempts} times"
    told, result = ({outcome.source: outcome for outcome in batch.result.outcomes}, batch.result)

    for number, task in enumerate(batch.tasks, start=1):
        piece = Batch(f"{batch.batch_id}-{number:04}", batch.job_id, (task,))
        if outcome := told.get(task.source):
            yield replace(piece, state="done", result=replace(result, outcomes=(outcome,)))
            result = Result()
        else:
            yield replace(piece, error=error, alone=True)


def _retry(
    batch: Batch, sources: Collection[str], but: Collection[str], now_ms: int
) -> Batch | None:
    """Return a batch with its failed files, to be retried; None if none failed.

    These are all, or those of `sources`, without those in `but`.
    """
    left = batch.left if batch.state in GIVEN_UP else ()
    given_up = (Outcome(task.source, "failed", batch.error, at_ms=now_ms) for task in left)
    outcomes = (*batch.result.outcomes, *given_up)
    failed = {it.source for it in outcomes if it.state == "failed"}.difference(but)
    failed = failed.intersection(sources) if sources else failed
    if batch.state == "running" or not failed:
        return None

    kept = tuple(outcome for outcome in outcomes if outcome.source not in failed)
    beginnings = tuple(f"{source}:" for source in failed)
    parts = tuple(part for part in batch.result.parts if not part.source.startswith(beginnings))
    return replace(_reset(batch), result=replace(batch.result, outcomes=kept, parts=parts))


def _add(one: Result, other: Result) -> Result:
    """Return two results of one batch, about different files, as one."""
    return Result(
        outcomes=(*one.outcomes, *other.outcomes),
        parts=(*one.parts, *other.parts),
        chunks=one.chunks + other.chunks,
        embedded=one.embedded + other.embedded,
        reused=one.reused + other.reused,
    )


def _grow_wait(wait_s: float, turned_away: int) -> float:
    """Return how long a batch waits: twice as long each time, up to five minutes.

    >>> [_grow_wait(10, turns) for turns in (0, 1, 2, 3, 9999)]
    [10, 10, 20.0, 40.0, 300.0]
    """
    doublings = min(max(0, turned_away - 1), 16)
    return max(wait_s, min(wait_s * float(2**doublings), _MAX_WAIT_S))


def _end(batch: Batch, state: BatchState, error: str = "", traceback: str = "") -> Batch:
    """Return a batch in its last state, without claim and times."""
    ended = replace(batch, state=state, until_ms=0, queued_ms=0, not_before_ms=0)
    return replace(ended, error=_shorten(error), traceback=_end_of(traceback))


def _shorten(error: str) -> str:
    r"""Return an error as one line.

    >>> _shorten("no room\n  on the disk")
    'no room on the disk'
    """
    line = " ".join(error.split())
    return line if len(line) <= _ERROR_CHARACTERS else f"{line[: _ERROR_CHARACTERS - 1]}…"


def _end_of(traceback: str) -> str:
    """Return the last lines of a traceback, which name the error."""
    return traceback[-_TRACEBACK_CHARACTERS:]


def _age(job: Job) -> tuple[int, str]:
    """Return the sort key of a job; the same on every machine."""
    return job.created_ms, job.job_id


def _is_over(job: Job, before_ms: int) -> bool:
    """Return whether a job ended before then, or was begun before then and is still recording."""
    if job.state == "recording":
        return job.created_ms < before_ms
    return job.state in {"done", "cancelled"} and job.ended_ms < before_ms


def _portions(values: Iterable[_T]) -> Iterator[list[_T]]:
    values = iter(values)
    while portion := list(islice(values, PAGE_ROWS)):
        yield portion
