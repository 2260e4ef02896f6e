"""Watch a job until it ends: a bar on a terminal, elsewhere a line per file and the pace."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING

import click

from esrag.cli.output import remark
from esrag.cli.progress import BarProgress, LineProgress, choose_progress
from esrag.errors import EngineUnreachable

if TYPE_CHECKING:
    from esrag.jobs.queue import Queue
    from esrag.jobs.reporting import IngestReport
    from esrag.jobs.sweeping import Seen
    from esrag.jobs.work import Work
    from esrag.ledger import Batch, Counts, Job
    from esrag.ledger.ledger import Ledger

IDLE_S = 10


def follow(work: "Work", queue: "Queue | None", job: "Job") -> "tuple[Job, IngestReport]":
    """Show the progress of a job until it ends, and return the ended job and its report.

    Without a queue, only observe the job. Raises: click.Abort if interrupted; the job continues.
    """
    from esrag.jobs.reporting import report

    started = time.perf_counter()
    try:
        ended = _show_progress(work, queue, job) if job.state == "open" else job
    except KeyboardInterrupt:
        goes_on = f"interrupted; job {job.job_id} continues" if queue else "interrupted"
        raise click.Abort(
            f"{goes_on}: esrag jobs show {job.job_id} --follow shows its progress"
        ) from None
    if ended.state == "cancelled":
        remark(f"job {ended.job_id} was cancelled: {ended.note}")
    took_ms = round(1000 * (time.perf_counter() - started))
    return ended, replace(report(work.ledger, ended), took_ms=took_ms)


def _show_progress(work: "Work", queue: "Queue | None", job: "Job") -> "Job":
    """Show the progress of an open job, and return the job when it has ended."""
    from esrag.jobs import sweeping

    with choose_progress() as shown, _until_interrupted() as require_calm:
        watch = _Watch(work.ledger, job, shown)
        for seen in sweeping.follow(work, queue, job.job_id):
            watch.look(seen, queued=queue is not None)
            require_calm()
    return seen.job


@contextmanager
def _until_interrupted() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt after a first Ctrl-C.

    A second Ctrl-C raises it at once. A KeyboardInterrupt raised inside a library may be swallowed
    there, and the command would continue.
    """
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        signal.signal(signal.SIGINT, before)

    def require_calm() -> None:
        if came:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, note)
    try:
        yield require_calm
    finally:
        signal.signal(signal.SIGINT, before)


def is_idle(ledger: "Ledger", job: "Job", counts: "Counts") -> bool:
    """Check whether an open job has work that no process is doing."""
    from esrag.liveness import is_dead

    if job.state != "open":
        return False
    if counts.batches.get("running"):
        running = ledger.batches(job.job_id, {"running"})
        return all(
            is_dead(batch.owner) or batch.until_ms < round(1000 * time.time()) for batch in running
        )
    due_ms = ledger.find_next_due_ms(job.job_id)
    return due_ms is not None and due_ms <= round(1000 * time.time())


class _Watch:
    """Shows what changed in a job since the last look."""

    def __init__(self, ledger: "Ledger", job: "Job", shown: BarProgress | LineProgress) -> None:
        self._ledger = ledger
        self._shown = shown
        self._trouble = False
        self._ended = 0
        self._told: set[str] = set()
        self._read_at = 0.0
        self._busy_at = time.monotonic()
        self._idle_told = False
        self._began: tuple[float, int, int] | None = None
        shown.start(job.files)

    def look(self, seen: "Seen", *, queued: bool) -> None:
        """Show the job's current state."""
        self._tell_trouble(seen.trouble)
        ended = sum(seen.counts.batches.get(state, 0) for state in ("done", "failed", "dead"))
        moved, self._ended = ended != self._ended, ended
        done = seen.job.files - seen.counts.files.get("pending", 0)
        pace, left = self._pace(done, seen)

        with suppress(EngineUnreachable):  # the next look says so
            self._tell_idle(seen, moved=moved, queued=queued)
            if isinstance(self._shown, BarProgress):
                # The bar has a column for what is left.
                self._tell_bar(seen, self._shown, done, pace)
            elif self._tell_files(seen, self._shown):
                self._shown.at(done, f"{pace}{left}")

    def _pace(self, done: int, seen: "Seen") -> tuple[str, str]:
        """Return the chunks with their rate since the first look, and the time left.

        The time left is empty until files were completed since then.
        """
        now, chunks = time.monotonic(), seen.counts.chunks
        began, done_before, chunks_before = self._began = self._began or (now, done, chunks)
        pace = f"{chunks:,} chunks, {(chunks - chunks_before) / max(1.0, now - began):,.0f}/s"
        if done <= done_before:
            return pace, ""
        left_s = (now - began) / (done - done_before) * (seen.job.files - done)
        return pace, f", {timedelta(seconds=round(left_s))} left"

    def _tell_trouble(self, trouble: str) -> None:
        """Print a remark when a problem begins and when it ends."""
        if trouble and not self._trouble:
            self._shown.say(f"waiting: {trouble}")
        elif self._trouble and not trouble:
            self._shown.say("resumed")
        self._trouble = bool(trouble)

    def _tell_idle(self, seen: "Seen", *, moved: bool, queued: bool) -> None:
        now = time.monotonic()
        if moved or seen.trouble or not is_idle(self._ledger, seen.job, seen.counts):
            self._busy_at, self._idle_told = now, False
        elif now - self._busy_at > IDLE_S and not self._idle_told:
            self._idle_told = True
            advice = (
                "start a worker: esrag worker"
                if queued
                else "esrag ingest into the same index continues it"
            )
            self._shown.say(f"no worker or command is running job {seen.job.job_id}: {advice}")

    def _tell_bar(self, seen: "Seen", bar: BarProgress, done: int, pace: str) -> None:
        under_way = next(iter(self._ledger.batches(seen.job.job_id, {"running"})), None)
        name = under_way.tasks[0].source if under_way else ""
        bar.at(done, pace, name)

    def _tell_files(self, seen: "Seen", lines: LineProgress) -> bool:
        """Print a line for each file of newly ended batches; return whether there were any.

        Reading the batches takes at most a tenth of the time.
        """
        started = time.monotonic()
        is_open = seen.job.state == "open"
        if len(self._told) == self._ended or (is_open and started < self._read_at):
            return False

        for batch in self._ledger.batches(seen.job.job_id, {"done", "failed", "dead"}):
            if batch.batch_id not in self._told:
                self._told.add(batch.batch_id)
                for source, came in _outcomes(batch):
                    lines.step(source, came)

        self._read_at = time.monotonic() + 10 * (time.monotonic() - started)
        return True


def _outcomes(batch: "Batch") -> Iterator[tuple[str, str]]:
    """Yield each file of an ended batch with its outcome."""
    if batch.state != "done":
        yield from ((task.source, f"failed: {batch.error}") for task in batch.left)
    for outcome in batch.result.outcomes:
        yield outcome.source, ": ".join(filter(None, (outcome.state, outcome.reason)))
