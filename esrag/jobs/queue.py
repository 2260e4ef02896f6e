"""The queue: batches handed to workers by their id, through Celery on Redis.

Celery on Redis may lose a message and may deliver one twice, whatever is set: it takes one with
BRPOP and only then records that it is under way. Everything that must not be lost is in the ledger;
a message only tells an idle worker that a batch is waiting.
"""

import json
import ssl
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from esrag.errors import QueueUnreachable, SettingsError
from esrag.plugins import install_hint
from esrag.settings import QueueSettings, mask_value

if TYPE_CHECKING:
    from celery import Celery

BATCH_TASK, SWEEP_TASK = "esrag.batch", "esrag.sweep"
PREFIX = "esrag:q:"  # of every key, so that a user of the Redis can be held to them
_GRACE_S = 30
_ANSWER_S = 15  # a link that swallows what it is given hung a worker for ever without it
_PRODUCER_S, _AGAIN_S = 2, 0.2  # a connection is tried twice, for at most 5 s


class QueueName(StrEnum):
    """The queues; workers/README.md has their table."""

    INGEST = "ingest"  # batches of files to load, embed and store
    CONTROL = "control"  # sweeps: what was lost or is overdue is queued again, jobs are ended


class Queue:
    """Sends batches to workers.

    It opens a connection each time, so that a restart of Redis does not matter.
    """

    def __init__(self, settings: QueueSettings) -> None:
        self._settings = settings

    def publish(self, batch_ids: Sequence[str]) -> None:
        """Put batches into the queue in one exchange.

        After an error all of them may still be in the queue, if it was the answer that was lost.

        Raises: QueueUnreachable, within seconds; SettingsError.
        """
        with (
            self._channel() as channel,
            self._app.amqp.Producer(channel) as producer,
            producer.batch(),
        ):
            for batch_id in batch_ids:
                self._app.send_task(
                    BATCH_TASK, (batch_id,), queue=QueueName.INGEST, producer=producer, retry=False
                )

    def depth(self) -> int:
        """Return how many batches wait in the queue.

        Batches with a worker are not counted: those of a killed worker stay among the
        unacknowledged for the visibility time-out, and an idle queue would look busy. The ledger
        knows which batches are running.

        Raises: QueueUnreachable, within seconds; SettingsError.
        """
        with self._channel() as channel:
            return int(channel.client.llen(QueueName.INGEST))

    def find_oldest(self) -> str:
        """Return the id of the batch that has waited longest.

        "" if none waits, or if the oldest message is not one of esrag's.

        Raises: QueueUnreachable, within seconds; SettingsError.
        """
        with self._channel() as channel:
            # Taken from the right. kombu puts the prefix before the keys of the commands that it
            # uses itself.
            message = channel.client.lindex(f"{PREFIX}{QueueName.INGEST}", -1)
        try:
            (batch_id,), *_ = json.loads(b64decode(json.loads(message or "")["body"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            return ""
        return str(batch_id)

    def close(self) -> None:
        """Close the connections. The next use opens them again."""
        if app := self.__dict__.pop("_app", None):
            app.close()

    @cached_property
    def _app(self) -> "Celery":
        app = celery("esrag", self._settings, set_as_current=False)
        app.conf.broker_transport_options |= {
            "socket_timeout": _PRODUCER_S,
            "socket_connect_timeout": _PRODUCER_S,
        }
        return app

    @contextmanager
    def _channel(self) -> Iterator[Any]:
        """Yield a channel; raise any failure as one line, without the contents of the address."""
        app = self._app
        from kombu.exceptions import KombuError
        from redis.exceptions import RedisError

        try:
            with _open_channel(app) as channel:
                yield channel
        except (RedisError, KombuError, OSError) as error:
            raise _explain_failure(error, self._settings.url) from error
        except (ValueError, TypeError) as error:
            # A port that is not a number, an option that kombu lacks; not shown: it may quote a
            # password.
            hint = "write redis://user:password@host:6379/0, with %2F for a / in the password"
            raise SettingsError("queue.url is not the address of a Redis", hint=hint) from error


@contextmanager
def _open_channel(app: "Celery") -> Iterator[Any]:
    """Yield a channel over a connection of its own."""
    with app.connection_for_write() as connection:
        # kombu's own wait is 2 s.
        connection.ensure_connection(max_retries=1, interval_start=_AGAIN_S)
        with connection.channel() as channel:
            yield channel


def _explain_failure(error: Exception, url: str) -> QueueUnreachable:
    """Return the error of a queue that cannot be reached."""
    reason = " ".join(str(error).split()).rstrip(".")
    hint = "start its Redis or look at queue.url; without one, esrag ingest does the work itself"
    return QueueUnreachable(f"no queue at {mask_value(url)}: {reason}", hint=hint)


def celery(name: str, settings: QueueSettings, **options: Any) -> "Celery":
    """Return a Celery application with our settings.

    Raises: SettingsError without the libraries or without queue.url.
    """
    application = _import_celery()
    if not settings.url:
        raise SettingsError(
            "queue.url is not set", hint="workers need a Redis: set it to redis://host:6379/0"
        )

    app = application(name, **options)
    app.conf.update(celery_settings(settings))
    return app


def _import_celery() -> Any:
    """Return the class of applications. Raises: SettingsError without the libraries."""
    try:
        import redis  # noqa: F401 -- Celery would miss it much later, in other words
        from celery import Celery
    except ImportError as error:
        message = f"a queue needs the package {error.name!r}, which is not installed"
        raise SettingsError(message, hint=f"install them: {install_hint('queue')}") from error
    return Celery


def celery_settings(settings: QueueSettings) -> dict[str, Any]:
    """Return Celery's configuration for both sides of the queue; every line was tried.

    Neither task_reject_on_worker_lost nor task_retry_on_worker_lost is set. A process that is
    killed leaves its claim in the ledger, so a message that came back at once would find the batch
    claimed and do nothing; the claim ends with the process or the lease, and the sweep queues the
    batch again and counts. Nor is there a soft time limit, whose exception would fail all files of
    a batch: one that is killed is cut into its files, and the guilty one is found. Nor a limit on a
    process's memory: Celery measures it after a batch, and would reload a large encoder each time.
    """
    # A batch that is too slow ends its own process; this is the net.
    hard_s = settings.time_limit_s + _GRACE_S
    visibility_s = 2 * hard_s + 60  # shorter, and a batch is delivered again while it is worked on
    return {
        **_STEADY,
        **_broker_settings(settings.url),
        "broker_transport_options": {**_TRANSPORT, "visibility_timeout": visibility_s},
        "visibility_timeout": visibility_s,
        "task_time_limit": hard_s,
    }


def _broker_settings(url: str) -> dict[str, Any]:
    """Return the address of the Redis as Celery writes it, and what TLS verifies."""
    broker_url = url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
    # kombu's own choice for rediss:// is not to verify; what the address says comes before this
    verification = {"ssl_cert_reqs": ssl.CERT_REQUIRED} if url.startswith("rediss:") else None
    return {"broker_url": broker_url, "broker_use_ssl": verification}


_TRANSPORT = {
    "global_keyprefix": PREFIX,
    "priority_steps": [0],  # one list a queue
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,  # by default only each tenth look is one
    "socket_timeout": _ANSWER_S,
    "socket_connect_timeout": 5,
    "socket_keepalive": True,
    "health_check_interval": 10,
}
_LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"
_STEADY: Mapping[str, Any] = {
    "broker_connection_retry_on_startup": True,
    "broker_connection_max_retries": None,  # a worker waits for its Redis for ever
    "broker_channel_error_retry": True,  # a worker does not end because its Redis is full either
    "broker_pool_acquire_timeout": 30,
    "accept_content": ["json"],
    "task_serializer": "json",
    "task_ignore_result": True,  # without a result backend: the ledger has the results
    "task_default_queue": QueueName.INGEST.value,
    "task_queues": {name.value: {} for name in QueueName},
    "task_create_missing_queues": False,  # a misspelt -Q is an error, not a queue that stays empty
    "task_routes": {SWEEP_TASK: {"queue": QueueName.CONTROL.value}},
    "task_acks_late": True,
    "task_acks_on_failure": True,
    "task_acks_on_timeout": True,  # without it a batch that is always too slow comes back for ever
    "worker_concurrency": 1,  # an encoder uses all cores; Celery's own choice is a process a core
    "worker_prefetch_multiplier": 1,
    "worker_lost_wait": 1,  # for the last word of a process that died; it is in the ledger
    "worker_max_tasks_per_child": 500,  # leaks of the libraries end with their process
    "worker_proc_alive_timeout": 120,
    "worker_soft_shutdown_timeout": 30,
    "worker_enable_soft_shutdown_on_idle": True,
    "worker_cancel_long_running_tasks_on_connection_loss": False,  # True lost them
    # Unused; without it, access to the Redis is not enough to stop workers.
    "worker_enable_remote_control": False,
    "worker_redirect_stdouts": False,
    "worker_log_format": _LOG_FORMAT,
    "worker_task_log_format": _LOG_FORMAT,
}
