"""Celery's consumer with fixes for a Redis that goes away, is full, or holds nonsense."""

import logging
import time
import warnings
from queue import Empty
from typing import Any

import celery
from celery.exceptions import CPendingDeprecationWarning
from celery.worker import consumer
from kombu.transport import redis, virtual

_AGAIN_S = 2
# What our messages need; others, of the wrong kind, stop Celery's pool.
_HEADERS = ("lang", "task", "id", "expires")

_log = logging.getLogger(__name__)


class _Message(virtual.Message):
    """A message with only the headers that ours need.

    Its channel knows of it as soon as it could be read.
    """

    def __init__(self, payload: Any, channel: Any = None, **options: Any) -> None:
        super().__init__(payload, channel, **options)  # type: ignore[no-untyped-call]
        self.headers = {name: self.headers[name] for name in _HEADERS if name in self.headers}
        texts = (self.delivery_tag, self.headers.get("task", ""), self.headers.get("id", ""))
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("a tag, a task or an id that is not a text")
        channel.received = self


class _Channel(redis.Channel):
    """A channel that drops an entry of the queue that Celery cannot process.

    With Celery's own channel, such an entry ends the worker.
    """

    Message = _Message
    received: _Message | None = None

    def _brpop_read(self, **options: Any) -> bool:
        self.received = None
        try:
            return bool(super()._brpop_read(**options))  # type: ignore[no-untyped-call]
        except Empty:
            raise
        except Exception as error:
            # KeyError is one of them.
            if isinstance(error, self.connection_errors) and not isinstance(error, KeyError):
                raise
            self._drop(error)
            return True

    def _drop(self, error: Exception) -> None:
        """Drop the entry that was just read."""
        reason = f"{type(error).__name__}: {error}"
        _log.error("dropped an entry of the queue that is not a message: %s", reason)
        # Else it would come back.
        if self.received is not None and not self.received.acknowledged:
            self.received.reject()  # type: ignore[no-untyped-call]


class Consumer(consumer.Consumer):  # type: ignore[misc]
    """Celery's own, which outlives its connection."""

    connection_errors: tuple[type[Exception], ...]

    def ensure_connected(self, conn: Any) -> Any:
        """Open the connection, whose channels then outlive what is in the queue."""
        conn.transport.Channel = _Channel
        return super().ensure_connected(conn)

    def update_strategies(self) -> None:
        """Let a failed acknowledgement end the connection, as any other error does.

        The caller opens another one. Celery only logs the failure. The message then takes a
        process's place for ever: with one process, the worker waited for that place, without
        sending anything that could have failed, until somebody restarted it.
        """
        errors = self.connection_errors
        self.connection_errors = ()  # those that are only logged
        super().update_strategies()
        self.connection_errors = errors

    def on_connection_error_before_connected(self, exc: Exception) -> None:
        """Log the error and wait.

        Celery asks a Redis that answers and refuses, as a full one does, without a pause.
        """
        super().on_connection_error_before_connected(exc)
        time.sleep(_AGAIN_S)

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close the connection; the caller opens another.

        Celery 5.7.0 closes it twice. The second time its transport is gone, one is made for a
        client that is None, and the AttributeError ends the worker: 10 of 12 did with a task under
        way and a process free, none of 7 with 5.6.3.
        """
        if celery.__version__ == "5.7.0" and self.connection is not None:
            self.connection.close = lambda: None
        with warnings.catch_warnings():  # that tasks are not cancelled is what we want
            warnings.simplefilter("ignore", CPendingDeprecationWarning)
            super().on_connection_error_after_connected(exc)
