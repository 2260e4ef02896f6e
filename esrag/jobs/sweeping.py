"""Sending batches to workers, and recovering lost ones.

A command that waits for a job sweeps as well.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from esrag.errors import EngineUnreachable, EsragError, LedgerError
from esrag.jobs.queue import Queue
from esrag.jobs.running import TRANSIENT, end
from esrag.jobs.work import Work
from esrag.ledger import Counts, Job
from esrag.liveness import is_dead

_LOOKS_S = 0.5


def sweep(work: Work, queue: Queue) -> None:
    """Queue waiting batches, and take back lost ones; one process at a time does it.

    Raises: QueueUnreachable, LedgerError, EngineError.
    """
    limits, ledger = work.settings.queue, work.ledger
    with ledger.claim_sweep(3 * limits.sweep_s) as mine:
        if not mine:
            return
        ledger.reap(is_dead)
        waiting = queue.depth()
        ledger.requeue(_find_deadline_ms(work, queue))
        batch_ids = list(islice(_iter_due(work), max(0, limits.window_batches - waiting)))
        ledger.mark_queued(batch_ids)
        queue.publish(batch_ids)

    _end_jobs(work)


def _end_jobs(work: Work) -> None:
    """End the jobs of workers that have no open batch; cancel one that cannot be ended."""
    for job in _list_jobs(work):
        try:
            end(work, job)
        except TRANSIENT:  # the next sweep tries again
            continue
        except EsragError as error:
            work.ledger.cancel(job.job_id, error.line)


def _find_deadline_ms(work: Work, queue: Queue) -> int:
    """Return the time before which queued batches without a message are lost.

    The longest waiting message is taken first, so everything queued before it was taken. A batch
    that is just being claimed is queued twice.
    """
    now_ms = round(1000 * (time.time() - work.settings.queue.sweep_s))
    batch_id = queue.find_oldest()
    if not batch_id:
        return 0 if queue.depth() else now_ms
    try:
        return min(now_ms, work.ledger.batch(batch_id).queued_ms)
    except LedgerError:  # another ledger's
        return 0


def _list_jobs(work: Work) -> list[Job]:
    """Return the open jobs of workers, the oldest first.

    Rebuilds are not among them, because a command fills its new index by itself.
    """
    return [
        job for job in reversed(list(work.ledger.jobs())) if job.state == "open" and not job.rebuild
    ]


def _iter_due(work: Work) -> Iterator[str]:
    """Yield the ids of the batches that may be queued."""
    for job in _list_jobs(work):
        yield from (
            batch.batch_id
            for batch in work.ledger.list_due(work.settings.queue.window_batches, job.job_id)
        )


@dataclass(frozen=True, slots=True)
class Seen:
    """A job as it is now; `trouble` says what keeps it from being handed out, or is ""."""

    job: Job
    counts: Counts
    trouble: str = ""


def follow(work: Work, queue: Queue | None, job_id: str) -> Iterator[Seen]:
    """Yield a job twice a second until it is no longer open. With a queue, this also sweeps.

    Raises: LedgerError, EngineError; a server that was there goes unanswered for as long as it
    takes.
    """
    swept = 0.0
    trouble = ""
    seen: Seen | None = None

    while True:
        if queue and time.monotonic() - swept > min(1.0, work.settings.queue.sweep_s):
            trouble = _sweep(work, queue)
            swept = time.monotonic()
        seen = _look(work, job_id, trouble, seen)
        yield seen
        if seen.job.state != "open":
            return
        time.sleep(_LOOKS_S)


def _look(work: Work, job_id: str, trouble: str, before: Seen | None) -> Seen:
    """Return a job as it is, or as it was before if the server does not answer."""
    try:
        return Seen(work.ledger.job(job_id), work.ledger.counts(job_id), trouble)
    except EngineUnreachable as error:
        if before is None:
            raise
        return replace(before, trouble=error.line)


def _sweep(work: Work, queue: Queue) -> str:
    """Sweep, and return what kept it from finishing; "" for nothing."""
    try:
        sweep(work, queue)
    except TRANSIENT as error:
        return error.line
    return ""
