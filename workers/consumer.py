"""The consumer, without what is wrong with Celery's when its Redis goes away for a moment or is full."""

import time
import warnings

import celery
from celery.exceptions import CPendingDeprecationWarning
from celery.worker import consumer

_AGAIN_S = 2


class Consumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's own, which outlives its connection."""

    connection_errors: tuple[type[Exception], ...]

    def update_strategies(self) -> None:
        """Lets an acknowledgement that fails end the connection, as any other error does; the caller opens another.

        Celery only logs it. The message then takes a process's place for ever: with one process, the worker waited for
        that place, with nothing sent that could have failed, until somebody restarted it.
        """
        errors = self.connection_errors
        self.connection_errors = ()  # those that are only logged
        super().update_strategies()
        self.connection_errors = errors

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Says it and waits: Celery asks a Redis that answers and refuses, as a full one does, without a pause."""
        super().on_connection_error_before_connected(exc)
        time.sleep(_AGAIN_S)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Lets go of the connection; the caller opens another.

        5.7.0 closes it twice. The second time its transport is gone, a new one is made for a client that is None, and
        the AttributeError ends the worker: 10 of 12 did with a task under way and a process free, none of 7 with 5.6.3.
        """
        if celery.__version__ == "5.7.0" and self.connection is not None:
            self.connection.close = lambda: None
        with warnings.catch_warnings():  # that tasks are not cancelled is what we want
            warnings.simplefilter("ignore", CPendingDeprecationWarning)
            super().on_connection_error_after_connected(exc)
