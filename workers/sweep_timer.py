"""The clock of the sweep: every worker that takes sweeps sends one every `queue.sweep_s`.

No separate scheduler is needed, and sweeps go on as long as one worker lives. The ledger lets one
sweep through at a time.
"""

import logging
from typing import Any

from celery import Celery, bootsteps
from kombu.exceptions import OperationalError

from esrag.jobs.queue import SWEEP_TASK, QueueName

_log = logging.getLogger(__name__)


class Sweeping(bootsteps.StartStopStep):  # type: ignore[misc]
    """Begins with each connection to the broker, so that a lost one is followed by a sweep."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, c: Any) -> None:
        """Send a sweep now and at intervals.

        Celery ends the timer together with the connection.
        """
        # No worker without this queue would empty it.
        if QueueName.CONTROL in c.app.amqp.queues.consume_from:
            c.timer.call_repeatedly(c.app.tasks[SWEEP_TASK].every_s, _send, (c.app,))
            _send(c.app)


def _send(app: Celery) -> None:
    """Send one sweep. Without a broker nothing is sent, and the consumer has noticed already."""
    try:
        app.tasks[SWEEP_TASK].apply_async(retry=False)
    except OperationalError as error:
        _log.debug("no sweep was sent: %s", error)
