"""The tasks, thin and sent by name with ids only; what they do is in `esrag.jobs`."""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from esrag.errors import EsragError
from esrag.jobs.queue import BATCH_TASK, SWEEP_TASK, Queue, celery
from esrag.settings import Settings
from esrag.text import format_count

from .sweep_timer import Sweeping

if TYPE_CHECKING:
    from celery import Celery

    from esrag.jobs.work import Work

# As many may pile up behind a long batch before the first is dropped, and clocks may differ by as
# much.
_SWEEPS = 6

_log = logging.getLogger(__name__)
_log.setLevel(logging.INFO)  # whatever Celery's own level is
logging.getLogger("opensearch").setLevel(logging.INFO)  # at DEBUG it writes whole documents


def application(settings: Settings) -> "Celery":
    """Return the workers' Celery application.

    Raises: SettingsError without queue.url or without Celery.
    """
    app = celery("esrag", settings.queue)
    app.conf.worker_consumer = "esrag.workers.consumer:Consumer"
    app.steps["consumer"].add(Sweeping)
    process = Process(settings)
    every_s = settings.queue.sweep_s

    def batch(batch_id: str, **_ignored: Any) -> None:  # ignored: what a newer version may say
        process.run_batch(str(batch_id))

    def sweep(**_ignored: Any) -> None:
        process.sweep()

    app.task(name=BATCH_TASK)(batch)
    app.task(name=SWEEP_TASK, every_s=every_s, expires=_SWEEPS * every_s)(sweep)
    return app


class Process:
    """What a worker's process keeps from one task to the next.

    Opened by its first task and never before the fork: an encoder that the parent had used hung in
    every child, and one that was loaded when a process started made Celery end the process for
    being slow.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = Lock()
        self._opened: Work | None = None

    def run_batch(self, batch_id: str) -> None:
        """Process a batch and log one line about it."""
        from esrag.jobs.running import run_batch

        with _log_errors(batch_id), _limit_time(self._settings.queue.time_limit_s):
            batch = run_batch(self._work(), batch_id)
            if batch and batch.state != "running":  # another's by now
                work = (
                    f"{format_count(len(batch.tasks), 'file')}, "
                    f"{format_count(batch.result.chunks, 'chunk')}"
                )
                result = f"{work}, {batch.took_ms / 1000:.1f} s"
                _log.info("%s %s: %s", batch_id, batch.state, batch.error or result)

    def sweep(self) -> None:
        """Queue batches that wait or were lost."""
        from esrag.jobs.sweeping import sweep

        with _log_errors("sweep"):
            sweep(self._work(), Queue(self._settings.queue))

    def _work(self) -> "Work":
        from esrag.jobs.work import Work

        with self._opening:
            if self._opened is None:
                self._opened = Work(self._settings)
            return self._opened


@contextmanager
def _log_errors(what: str) -> Iterator[None]:
    """Log an error of esrag as one line; the next sweep tries again.

    Any other error is a bug, and keeps its trace.
    """
    try:
        yield
    except EsragError as error:
        _log.error("%s: %s", what, error)


@contextmanager
def _limit_time(time_limit_s: float) -> Iterator[None]:
    """End the process, native code or not, if the block takes longer.

    The ledger then counts the attempt. At Celery's own limit the process is first told to end, as
    at a shutdown, which gives the batch back uncounted: one that is always too slow would come back
    for ever.
    """
    signal.setitimer(signal.ITIMER_REAL, time_limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
