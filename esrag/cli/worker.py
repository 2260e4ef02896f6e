"""`esrag worker`: process queued ingest batches."""

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
    "--concurrency",
    type=click.IntRange(1, 256),
    default=1,
    metavar="N",
    help="Process this many batches at once; each has its own encoder.",
)
@settings_options
def worker(*, concurrency: int, **options: Any) -> int:
    """Process queued ingest batches until stopped.

    The queue (queue.url) announces batches, and the worker takes them from the ledger. Worker and
    ingest must use the same ledger: a shared server or the same folder. Ctrl-C or SIGTERM stops the
    worker after its current batch. If a worker is killed, another one takes over its batch, and
    nothing is lost.
    """
    from esrag.jobs.queue import Queue
    from esrag.settings import mask_value

    settings = _share_cores(settings_of(**options), concurrency)
    Queue(settings.queue).depth()  # fails in one line; Celery would retry and log for ever
    app = import_module("esrag.workers.tasks").application(settings)
    _say_in_one_line(f"ready: {concurrency} at a time from {mask_value(settings.queue.url)}")
    return _run(app, concurrency)


def _run(app: Any, concurrency: int) -> int:
    """Run until a signal ends the worker, and return the exit code."""
    from celery.platforms import SecurityWarning

    name = f"esrag-{os.getpid()}@{socket.gethostname()}"
    # The ledger makes gossip unnecessary.
    alone = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
    with warnings.catch_warnings():
        # It warns root about pickled messages, and these are JSON.
        warnings.simplefilter("ignore", SecurityWarning)
        celery_worker = app.Worker(
            hostname=name, concurrency=concurrency, loglevel="WARNING", quiet=True, **alone
        )
    celery_worker.start()
    return int(celery_worker.exitcode or 0)


def _share_cores(settings: "Settings", concurrency: int) -> "Settings":
    """Divide the cores that this process may use among the encoders.

    Twice as many threads as cores halved an encoder's throughput.
    """
    if concurrency == 1 or settings.embedding.workers:
        return settings

    from esrag.embedding.onnx import count_cores

    workers = max(1, count_cores() // concurrency)
    return settings.model_copy(
        update={"embedding": settings.embedding.model_copy(update={"workers": workers})}
    )


def _say_in_one_line(ready: str) -> None:
    """Log one line per event on stderr, with stack traces only on request."""
    from celery.signals import setup_logging, worker_ready

    def say_ready(**_: Any) -> None:
        remark(ready)

    def set_up(**_: Any) -> None:  # replaces Celery's own setup
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(_FORMAT) if "--debug" in sys.argv else _OneLine())
        logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)

    worker_ready.connect(say_ready, weak=False)
    setup_logging.connect(set_up, weak=False)


class _OneLine(logging.Formatter):
    """Messages cut short and put on one line, as they may quote untrusted text of the queue."""

    def format(self, record: logging.LogRecord) -> str:
        """Return time, level and message."""
        message = " ".join(normalise(record.getMessage()).split())
        return (
            f"{self.formatTime(record)} {record.levelname.lower()}: {message[:_SHOWN_CHARACTERS]}"
        )
