"""Working batches off; the command itself takes them from the ledger, a worker those whose ids it is sent.

Whoever finds that nothing of a job is left to do ends it.
"""

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Event, Thread
from types import TracebackType
from typing import Self

from esrag.engines import UNFINISHED, Engine, Writer
from esrag.errors import (
    EngineUnreachable,
    EsragError,
    IndexBusy,
    IndexMismatch,
    IndexUnwritable,
    LedgerError,
    ModelError,
    QueueUnreachable,
    ServiceBusy,
    SettingsError,
    UsageError,
)
from esrag.ingesting import Progress, Target
from esrag.jobs.work import Work, is_dead
from esrag.ledger import Batch, Job
from esrag.ledger.ledger import Ledger
from esrag.records import Fingerprint

# Passes by itself: it costs a batch no attempt.
PASSES = (EngineUnreachable, IndexBusy, IndexUnwritable, LedgerError, QueueUnreachable, ServiceBusy)

_STOPS = (SettingsError, ModelError, IndexMismatch, UsageError)  # the next batch would meet it as well

_AT_ONCE = 20  # batches asked for together: on a server each question costs a refresh


class _Stopped(Exception):  # noqa: N818 -- no error
    """The claim is another's by now, or the job was cancelled."""


def files_left(work: Work, job: Job) -> int:
    """Files of a job that are still to be done."""
    return work.ledger.counts(job.job_id).files.get("pending", 0)


def drain(work: Work, job: Job, target: Target, progress: Progress, *, eager: bool = False) -> None:
    """Does a job's batches here, one after the other. With `eager` the first error of any kind ends it.

    Raises: what the next batch would meet as well; the batch waits in the ledger.
    """
    ledger = work.ledger
    ledger.requeue(round(1000 * time.time()) + 1)  # what was handed to a queue before is this command's now
    while True:
        for waiting in ledger.waiting(_AT_ONCE, job.job_id):
            batch = ledger.claim(waiting.batch_id, work.owner)
            try:
                if batch:
                    _perform(work, batch, lambda: target, progress.step)
            except (*PASSES, *_STOPS):
                raise
            except Exception:
                if eager:
                    raise
        due_ms = ledger.next_due_ms(job.job_id)
        if due_ms is None:
            return
        time.sleep(max(0.0, due_ms / 1000 - time.time()))


def take_over(work: Work, job: Job) -> Iterator[Job]:
    """What earlier ingests into the same index left to do; asked while nobody else works on it."""
    work.ledger.reap(is_dead)
    for left in list(work.ledger.jobs()):
        if left.state != "open" or left.index != job.index or left.job_id == job.job_id or left.target:
            continue
        if left.rebuild or left.made != job.made:
            work.ledger.cancel(left.job_id, "was cut short, and the index is made otherwise now: run esrag ingest")
            continue
        yield left


def run_batch(work: Work, batch_id: str) -> Batch | None:
    """Claims a batch, works on it and writes down what came of it; None where there was nothing to claim.

    An error is in the ledger and nowhere else: who looks finds it with the batch.
    """
    batch = work.ledger.claim(batch_id, work.owner)
    if batch is None:
        return None
    job = work.ledger.job(batch.job_id)
    try:
        _perform(work, batch, lambda: _target(work, job), _untold)
    except Exception:  # noqa: BLE001 -- it is in the ledger
        return work.ledger.batch(batch_id)
    if not work.ledger.counts(job.job_id).open:
        end(work, job)
    return work.ledger.batch(batch_id)


def _untold(name: str, detail: str) -> None:
    """A worker tells of batches, not of files."""


def _target(work: Work, job: Job) -> Target:
    """The index that a worker fills."""
    if job.made != work.made:
        came = f"the job was made for {_told(job.made)}, this worker for {_told(work.made)}"
        raise IndexBusy(came, hint="give the worker the settings of the job, then it goes on")
    engine = work.engine(job.target or job.index)
    return Target(job.made, lambda: engine.writer(job.made), engine.vectors_of)


def _told(made: Fingerprint) -> str:
    return f"{made.model or 'no model'}, {made.chunker}"


def _perform(work: Work, batch: Batch, target: Callable[[], Target], step: Callable[[str, str], None]) -> None:
    """Works on a claimed batch and writes down what came of it. Raises: what stood in the way, also written down."""
    started = time.perf_counter()
    ledger, wait_s = work.ledger, work.settings.queue.sweep_s
    try:
        with _Held(ledger, batch, work.settings.queue.lease_s) as held:
            result = work.ingestion.load(batch.tasks, target(), step, held)
    except _Stopped:
        ledger.put_back(batch, "", counted=False)
    except PASSES as error:
        told_s = error.wait_s if isinstance(error, ServiceBusy) else 0
        ledger.put_back(batch, line_of(error), wait_s=max(wait_s, told_s), counted=False)
        raise
    except _STOPS as error:
        ledger.give_up(batch, line_of(error), traceback.format_exc())
        ledger.cancel(batch.job_id, line_of(error))
        raise
    except Exception as error:
        ledger.put_back(batch, line_of(error), traceback.format_exc(), wait_s=wait_s)
        raise
    except BaseException:  # told to stop
        ledger.put_back(batch, "", counted=False)
        raise
    else:
        ledger.finish(batch, result, round(1000 * (time.perf_counter() - started)))


def line_of(error: BaseException) -> str:
    """An error as it is shown: what and what to do."""
    if isinstance(error, EsragError):
        return "; ".join(filter(None, (str(error), error.hint)))
    return f"{type(error).__name__}: {error}"


class _Held:
    """Keeps a claim while its batch is worked on, however long a file takes: renewed by a thread of its own.

    Called in between, it raises _Stopped when the claim is another's or the job was cancelled.
    """

    def __init__(self, ledger: Ledger, batch: Batch, lease_s: float) -> None:
        self._ledger = ledger
        self._batch = batch
        self._every_s = min(1.0, lease_s / 10)
        self._lost = False
        self._over = Event()
        self._renewing = Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        self._renewing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._renewing.join(self._every_s)  # one that waits for a server is left: what it renews has ended by then

    def __call__(self) -> None:
        if self._lost:
            raise _Stopped

    def _renew(self) -> None:
        while not self._lost and not self._over.wait(self._every_s):
            with suppress(EsragError):  # the claim lasts for some more of these
                self._lost = not self._ledger.renew(self._batch)


def end(work: Work, job: Job) -> None:
    """What is left when no batch is: documents of files that are gone go, a rebuilt index takes its place.

    Done twice it changes nothing. Raises: EngineError.
    """
    if job.gone and not job.rebuild:
        with work.engine(job.index).writer(job.made) as writer:
            remove_gone(work.engine(job.index), writer, job)
    if job.target:
        _put_in_place(work.engine(job.index), job.target)
    work.ledger.end(job.job_id)


def _put_in_place(engine: Engine, name: str) -> None:
    """A rebuilt index in place of the one in use, unless that was done before."""
    if any(index.name == name and index.problem == UNFINISHED for index in engine.indexes()):
        former = engine.swap(name)
        if former:
            engine.drop(former)


def remove_gone(engine: Engine, writer: Writer, job: Job) -> None:
    """Removes what is stored of sources that are gone; an id that another source has by now stays."""
    gone = set(job.gone)
    writer.remove([document.doc_id for document in engine.documents() if document.source in gone])
