"""The clock of the sweep: every worker that takes sweeps sends one every `queue.sweep_s`.

So there is no scheduler to run besides, and as long as one worker lives there are sweeps; the ledger lets one through
at a time.
"""

import logging
from typing import Any

from celery import Celery, bootsteps
from kombu.exceptions import OperationalError

from esrag.jobs.queue import SWEEP_TASK, QueueName

_log = logging.getLogger(__name__)


class Sweeping(bootsteps.StartStopStep):  # type: ignore[misc]
    """Begins with each connection to the broker, so that a sweep is the first thing after one was lost."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, c: Any) -> None:
        """Sends a sweep now and then again and again; Celery ends what is timed together with the connection."""
        if QueueName.CONTROL in c.app.amqp.queues.consume_from:  # who takes none would fill a queue nobody empties
            c.timer.call_repeatedly(c.app.tasks[SWEEP_TASK].every_s, _send, (c.app,))
            _send(c.app)


def _send(app: Celery) -> None:
    """One sweep; without a broker there is none, and the consumer has noticed."""
    try:
        app.tasks[SWEEP_TASK].apply_async(retry=False)
    except OperationalError as error:
        _log.debug("no sweep was sent: %s", error)
