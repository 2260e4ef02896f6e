"""Processing batches: a command claims them from the ledger, a worker those whose ids it receives.

The process that finds a job without work left ends it.
"""

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from esrag.embedding import Vectors
from esrag.engines import Writer
from esrag.errors import (
    EngineUnreachable,
    EsragError,
    IndexBusy,
    IndexMismatch,
    IndexUnwritable,
    JobEnded,
    KeyRefused,
    LedgerError,
    LoadingError,
    ModelError,
    QueueUnreachable,
    ServiceBusy,
    SettingsError,
    UsageError,
)
from esrag.ingesting import Progress, Result, Silent
from esrag.ingesting.batches import Target
from esrag.ingesting.planning import is_emptied, is_gone
from esrag.jobs.summaries import update_summaries
from esrag.jobs.work import Work
from esrag.ledger import Batch, Job
from esrag.ledger.ledger import Ledger
from esrag.liveness import is_dead
from esrag.loading.budgets import Budgets
from esrag.records import Fingerprint
from esrag.text import format_count

# Passes by itself, or is the fault of this process and not of the batch: it costs no attempt.
TRANSIENT = (
    EngineUnreachable,
    IndexBusy,
    IndexUnwritable,
    LedgerError,
    QueueUnreachable,
    ServiceBusy,
)
_WORKER_FAULTS = (SettingsError, ModelError)
_FATAL = (KeyRefused, IndexMismatch, UsageError)  # would stop the next batch as well
_AT_ONCE = 20  # batches read at once: on a server each read costs a refresh
_LOOKS_S = 0.2
_CAUSES = 10  # an error may be in the chain of its own causes


class _Stopped(Exception):  # noqa: N818 -- no error
    """The claim is another's by now, or the job was cancelled."""


def files_left(work: Work, job: Job) -> int:
    """Return how many files of a job are pending."""
    return work.ledger.counts(job.job_id).files.get("pending", 0)


@contextmanager
def cancel_if_stopped(job: Job, work: Work) -> Iterator[None]:
    """Cancel a job if the user stops its command or has to change it.

    A transient error leaves the job open.
    """
    try:
        yield
    except (KeyboardInterrupt, SettingsError, ModelError) as error:
        note = (
            error.line
            if isinstance(error, EsragError)
            else "interrupted; the same esrag ingest continues from there"
        )
        work.ledger.cancel(job.job_id, note)
        raise


def run_job(job: Job, work: Work, target: Target, progress: Progress, *, eager: bool) -> None:
    """Process what is left of a job.

    Raises: EsragError if the job was cancelled, or a rebuild lacks a batch.
    """
    if job.state != "open":
        return

    drain(work, job, target, progress, eager=eager)
    _require_whole(work, job)


def _require_whole(work: Work, job: Job) -> None:
    """Raise JobEnded if a job was cancelled, or a rebuild lacks a batch."""
    counts = work.ledger.counts(job.job_id).batches
    if work.ledger.job(job.job_id).state == "cancelled":
        raise JobEnded(
            f"job {job.job_id} was cancelled", hint=f"to go on: esrag jobs resume {job.job_id}"
        )
    if job.rebuild and (lost := counts["failed"] + counts["dead"]):
        message = (
            f"the rebuild lacks {format_count(lost, 'batch')} and is thrown away; "
            "the index is as it was"
        )
        raise JobEnded(message, hint=f"esrag jobs show {job.job_id} says why")


def drain(work: Work, job: Job, target: Target, progress: Progress, *, eager: bool = False) -> None:
    """Process a job's batches here, one by one, until none is open or the job was cancelled.

    With `eager` the first error of any kind ends it.

    Raises: an error that the next batch would meet as well; the batch waits in the ledger.
    """
    ledger = work.ledger
    work.ingestion.watch(progress.reading)
    budgets = Budgets(work.settings.loading.budget_s)

    while True:
        for waiting in ledger.list_due(_AT_ONCE, job.job_id):
            if batch := ledger.claim(waiting.batch_id, work.owner):
                with _leave_to_ledger(eager=eager):
                    _perform(work, batch, lambda: target, progress, budgets)
        if ledger.job(job.job_id).state != "open" or not ledger.counts(job.job_id).open:
            return
        _take_from_workers(ledger, job)
        time.sleep(_LOOKS_S)


@contextmanager
def _leave_to_ledger(*, eager: bool) -> Iterator[None]:
    """Ignore an error of a single batch, which the ledger has, unless `eager`."""
    try:
        yield
    except (*TRANSIENT, *_WORKER_FAULTS, *_FATAL):
        raise
    except Exception:
        if eager:
            raise


def _take_from_workers(ledger: Ledger, job: Job) -> None:
    """Take over the batches of the queue and of dead owners, unless the next is due later."""
    if (ledger.find_next_due_ms(job.job_id) or 0) <= 1000 * time.time():
        ledger.requeue(round(1000 * time.time()) + 1)
        ledger.reap(is_dead)


@contextmanager
def open_target(work: Work, *, rebuild: bool = False) -> Iterator[Target]:
    """Yield the index to fill; no other process writes to it meanwhile.

    A rebuild makes another one, and trusts no stored vectors.
    """
    engine = work.context.engine
    with engine.writer(work.made, rebuild=rebuild) as writer:
        known = _no_vectors if rebuild else engine.vectors_of
        yield Target(work.made, lambda: nullcontext(writer), known)


def _no_vectors(_texts: Sequence[str]) -> Mapping[str, Vectors]:
    return {}


def finish_earlier_jobs(
    work: Work, key: str, target: Target, progress: Progress, *, eager: bool
) -> int:
    """Process what other ingests into the same index left to do, and return how many files.

    Called under the writer's lock. Raises: as `run_job`.
    """
    files = 0
    for job in take_over(work, key, progress.say):
        files += files_left(work, job)
        progress.start(files)
        run_job(job, work, target, progress, eager=eager)
        with target.writing() as writer:
            remove_gone(writer, job)
        work.ledger.end(job.job_id)
    return files


def take_over(work: Work, key: str, say: Callable[[str], None]) -> Iterator[Job]:
    """Yield the jobs that other ingests into the same index left open, telling `say` of each.

    Called under the writer's lock.
    """
    work.ledger.reap(is_dead)
    for left in list(work.ledger.jobs()):
        if left.state != "open" or left.index != work.settings.engine.index or left.key == key:
            continue
        if left.rebuild or left.made != work.made:
            _cancel_outdated(work, left, say)
            continue

        left_files = format_count(files_left(work, left), "file")
        dropping = f"to drop it: esrag jobs cancel {left.job_id}"
        say(f"first what job {left.job_id} has left, {left_files}; {dropping}")
        yield left


def _cancel_outdated(work: Work, job: Job, say: Callable[[str], None]) -> None:
    """Cancel a job whose documents the index would not take any more."""
    note = "was cut short, and the index is made otherwise now: run esrag ingest"
    work.ledger.cancel(job.job_id, note)
    say(f"job {job.job_id} {note} with its files")


def run_batch(work: Work, batch_id: str) -> Batch | None:
    """Claim a batch, process it and record the outcome. Return None if there was nothing to claim.

    An error is in the ledger and nowhere else: who looks finds it with the batch.
    """
    batch = work.ledger.claim(batch_id, work.owner)
    if batch is None:
        return None

    job = work.ledger.job(batch.job_id)
    try:
        _perform(work, batch, lambda: _target(work, job), Silent(), patient=True)
    except Exception:  # noqa: BLE001 -- it is in the ledger
        return work.ledger.batch(batch_id)
    with suppress(EsragError):  # else a sweep ends it
        end(work, work.ledger.job(job.job_id))
    return work.ledger.batch(batch_id)


def _target(work: Work, job: Job) -> Target:
    """Return the index that a worker fills."""
    if job.made != work.made:
        came = f"the job was made for {_describe(job.made)}, this worker for {_describe(work.made)}"
        raise IndexBusy(came, hint="give the worker the settings of the job, then it goes on")
    engine = work.engine(job.index)
    return Target(job.made, lambda: engine.writer(job.made), engine.vectors_of)


def _describe(made: Fingerprint) -> str:
    return f"{made.model or 'no model'}, {made.chunker}"


def _perform(  # noqa: PLR0913 -- what is done, where to, who is told, and within what bounds
    work: Work,
    batch: Batch,
    target: Callable[[], Target],
    progress: Progress,
    budgets: Budgets | None = None,
    *,
    patient: bool = False,
) -> None:
    """Process a claimed batch and record the outcome.

    If `patient`, requests to the ledger are retried while the claim lasts, and transient errors of
    a batch later, with growing delays. Otherwise the caller decides when to retry.

    Raises: the error that stopped it, which is recorded too.
    """
    started, ledger, wait_s = time.perf_counter(), work.ledger, work.settings.queue.sweep_s
    surely = partial(_write_surely, work.settings.queue.lease_s if patient else 0.0)

    try:
        result = _load(work, batch, target, progress, budgets)
    except _Stopped:
        ledger.put_back(batch, "", counted=False)
    except _FATAL as error:
        ledger.give_up(batch, line_of(error), trace_of(error))
        ledger.cancel(batch.job_id, line_of(error))
        raise
    except (*TRANSIENT, *_WORKER_FAULTS) as error:
        min_s = error.wait_s if isinstance(error, ServiceBusy) else 0
        again = partial(ledger.put_back, batch, line_of(error), min_s=min_s, counted=False)
        surely(partial(again, wait_s=wait_s if patient else 0))
        raise
    except Exception as error:
        surely(partial(ledger.put_back, batch, line_of(error), trace_of(error), wait_s=wait_s))
        raise
    except BaseException:  # told to stop
        ledger.put_back(batch, "", counted=False)
        raise
    else:
        surely(partial(ledger.finish, batch, result, round(1000 * (time.perf_counter() - started))))


def _load(
    work: Work,
    batch: Batch,
    target: Callable[[], Target],
    progress: Progress,
    budgets: Budgets | None,
) -> Result:
    """Load the files that are left of a batch, while its claim is renewed.

    Raises: _Stopped, EsragError.
    """
    with _Held(work.ledger, batch, work.settings.queue.lease_s) as held:
        into = target()
        # Else what cannot be stored for now is parsed and embedded at each turn, in vain.
        with into.writing():
            held()
        return work.ingestion.load(batch.left, into, progress, held, budgets)


def _write_surely(for_s: float, write: Callable[[], object]) -> None:
    """Retry a ledger write for up to `for_s` seconds.

    Raises: EngineUnreachable, LedgerError.
    """
    end_s = time.monotonic() + for_s
    while True:
        try:
            write()
        except (EngineUnreachable, LedgerError):
            if time.monotonic() > end_s:
                raise
            time.sleep(_LOOKS_S)
        else:
            return


def line_of(error: BaseException) -> str:
    """Return an error as the ledger and a worker's log show it.

    Of a foreign error only its kind and place are shown, since its message may quote a document.
    """
    if isinstance(error, EsragError):
        return error.line
    if isinstance(error, OSError) and error.strerror:
        return f"{type(error).__name__}: {error.strerror}"

    places = traceback.extract_tb(error.__traceback__)
    where = f", {Path(places[-1].filename).name} line {places[-1].lineno}" if places else ""
    return f"{type(error).__name__}{where} (esrag ingest --eager shows what it says)"


def trace_of(error: BaseException) -> str:
    """Return the traces of an error and of its causes, each with the line that the ledger shows."""
    traces: list[str] = []
    cause: BaseException | None = error
    while cause and len(traces) < _CAUSES:
        traces.append("".join(traceback.format_tb(cause.__traceback__)) + line_of(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "\n\n".join(reversed(traces))


class _Held:
    """Keeps a claim while its batch is processed, renewed by a thread of its own.

    Calling it raises _Stopped if the claim is another owner's or the job was cancelled.
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
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        # One that waits for a server is left: what it renews has ended by then.
        self._renewing.join(self._every_s)

    def __call__(self) -> None:
        if self._lost:
            raise _Stopped

    def _renew(self) -> None:
        while not self._lost and not self._over.wait(self._every_s):
            with suppress(EsragError):  # the claim lasts for some more of these
                self._lost = not self._ledger.renew(self._batch)


def end(work: Work, job: Job) -> None:
    """End an open job that has no open batch: remove documents of files that are gone, and sum up.

    Calling it twice changes nothing. A job ends without its summaries if they cannot be made:
    the documents are stored, and esrag doctor tells what lacks a summary.

    Raises: EngineError, LedgerError.
    """
    if job.state != "open" or work.ledger.counts(job.job_id).open:
        return
    if job.gone and not job.rebuild:
        with work.engine(job.index).writer(job.made) as writer:
            remove_gone(writer, job)
    try:
        update_summaries(work, job.index, Silent())
    except TRANSIENT:
        raise
    except EsragError:
        pass
    work.ledger.end(job.job_id)


def remove_gone(writer: Writer, job: Job) -> None:
    """Remove the documents of sources that were gone and still are.

    A document id that another source has by now stays.
    """
    writer.remove_former(dict.fromkeys(sorted(find_gone_sources(job)), ""))


def find_gone_sources(job: Job) -> set[str]:
    """Return the sources of a job whose documents are to be removed.

    Those are the ones that did not come back, or are left out.
    """
    left_out = set(job.left_out)
    return {source for source in job.gone if source in left_out or is_still_gone(source)}


def is_still_gone(source: str) -> bool:
    """Return whether nothing of a source came back; False if its store does not say.

    The next ingest then looks again.
    """
    try:
        return is_gone(source) or is_emptied(source)
    except LoadingError:
        return False
