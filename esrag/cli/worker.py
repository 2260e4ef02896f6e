"""`esrag worker`: works off what ingests put into the queue."""

import logging
import os
import socket
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import settings_of, settings_options
from esrag.cli.output import remark
from esrag.text import normalise

if TYPE_CHECKING:
    from esrag.settings import Settings

_FORMAT = "%(asctime)s %(levelname)s: %(message)s"
_SHOWN_CHARACTERS = 500


@click.command()
@click.option(
    "--concurrency", type=click.IntRange(1, 256), default=1, metavar="N", help="Batches at once; each has an encoder."
)
@settings_options
def worker(*, concurrency: int, **options: Any) -> int:
    """Process queued ingest batches until stopped.

    The queue (queue.url) announces batches, and the worker takes them from the ledger. It must reach the ledger as the
    ingest does: a shared server, or the same folder. Ctrl-C or SIGTERM ends it after the current batch. If it is
    killed, another worker takes its batch, and nothing is lost.
    """
    from esrag.jobs.queue import Queue
    from esrag.settings import mask_value

    settings = _shared(settings_of(**options), concurrency)
    Queue(settings.queue).depth()  # says in one line that Celery is missing, and what Celery would say for ever
    app = import_module("esrag.workers.tasks").application(settings)
    _say_in_one_line(f"ready: {concurrency} at a time from {mask_value(settings.queue.url)}")
    return _run(app, concurrency)


def _run(app: Any, concurrency: int) -> int:
    """Runs until a signal ends it; gives the exit code."""
    from celery.platforms import SecurityWarning

    name = f"esrag-{os.getpid()}@{socket.gethostname()}"
    alone = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}  # the ledger knows the others
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of root, for what is pickled; nothing is
        celery_worker = app.Worker(hostname=name, concurrency=concurrency, loglevel="WARNING", quiet=True, **alone)
    celery_worker.start()
    return int(celery_worker.exitcode or 0)


def _shared(settings: "Settings", concurrency: int) -> "Settings":
    """The cores shared out: with twice as many threads as cores an encoder did half the work of one with its own."""
    if concurrency == 1 or settings.embedding.workers:
        return settings
    workers = max(1, (os.cpu_count() or 1) // concurrency)
    return settings.model_copy(update={"embedding": settings.embedding.model_copy(update={"workers": workers})})


def _say_in_one_line(ready: str) -> None:
    """Log one line for each event on stderr, with stack traces only on request."""
    from celery.signals import setup_logging, worker_ready

    def say_ready(**_: Any) -> None:
        remark(ready)

    def set_up(**_: Any) -> None:  # instead of Celery's own
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT) if "--debug" in sys.argv else _OneLine())
        logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)

    worker_ready.connect(say_ready, weak=False)
    setup_logging.connect(set_up, weak=False)


class _OneLine(logging.Formatter):
    """The beginning of a message; it may quote what somebody put into the queue."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and message."""
        message = " ".join(normalise(record.getMessage()).split())
        return f"{self.formatTime(record)} {record.levelname.lower()}: {message[:_SHOWN_CHARACTERS]}"
