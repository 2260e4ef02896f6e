"""Rate limits of a service: one bucket for all workers, in Redis, or one for this process.

A token bucket whose level may fall below zero: a caller takes its share at once and learns how long
to wait for it. So every caller has a place in the queue, without polling. A service that rejects
requests moves the bucket's clock forward, and with it everyone's wait.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Protocol, TypeVar

from esrag.errors import ServiceBusy
from esrag.plugins import install_hint

KEY_PREFIX = "esrag:q:limit:"
MAX_WAIT_S = (
    120.0  # well below a worker's lease; a work that is put back meanwhile lets others go on
)
_REDIS_TIMEOUT_S = 1.0
_REDIS_PAUSE_S = 30.0  # a Redis that was away is not asked again before

Result = TypeVar("Result")
_OPENING = Lock()


@dataclass(frozen=True, slots=True)
class Share:
    """What a request takes of one resource: `burst` at once, `per_second` from then on."""

    resource: str
    cost: float
    burst: float
    per_second: float


def share(resource: str, cost: float, per_minute: int) -> Share:
    """Return a share of a resource, of which no minute holds more than `per_minute`.

    A minute can hold what is in the bucket at its start and what flows in before its end: burst +
    flow, excluding the end. A burst of a tenth lets a question pass without a wait, and costs a
    tenth of the flow.

    >>> share("requests", 1, 120), share("requests", 1, 1).per_second * 60
    (Share(resource='requests', cost=1, burst=12, per_second=1.8166666666666667), 1.0)
    """
    burst = max_burst(per_minute)
    return Share(
        resource=resource, cost=cost, burst=burst, per_second=(per_minute - burst + 1) / 60
    )


def max_burst(per_minute: int) -> int:
    """Return how much of a limit per minute may be taken at once."""
    return max(1, per_minute // 10)


class Bucket(Protocol):
    """Where the levels are kept."""

    def take(self, shares: Sequence[Share]) -> float:
        """Take the shares, and return the seconds to wait for them.

        Below 0 the wait would be too long, and nothing was taken.
        """
        ...

    def block(self, wait_s: float) -> None:
        """Empty the bucket for so long."""
        ...


class Limits:
    """The rate of requests to one service; safe for many threads."""

    def __init__(  # noqa: PLR0913 -- the last two are a test's
        self,
        name: str,
        requests_per_minute: int = 0,
        tokens_per_minute: int = 0,
        url: str = "",
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set the limits; 0 means unlimited.

        `url` is the address of the Redis that all workers share; "" shares nothing.
        """
        self._per_minute = {"requests": requests_per_minute, "tokens": tokens_per_minute}
        self._sleep, self._clock = sleep, clock
        with _OPENING:  # two threads that miss a cache at once would get a bucket each
            self._local: Bucket = _local_bucket(name, clock)
        self._shared: Bucket | None = _RedisBucket(url, KEY_PREFIX + name) if url else None
        self._away_until = clock()
        self._warned = False

    def wait(self, tokens: int) -> None:
        """Wait until a request of so many tokens may be sent.

        Raises: ServiceBusy if the wait would be too long.
        """
        costs = {"requests": 1, "tokens": tokens}
        shares = [
            share(name, costs[name], limit) for name, limit in self._per_minute.items() if limit
        ]
        while (wait_s := self._take(shares)) > 0:
            self._sleep(wait_s)
            # Nothing was blocked meanwhile, which would call for a new place in the line.
            if self._take(()) <= 0:
                return

    def block(self, wait_s: float) -> None:
        """Stop all requests for a time."""
        self._ask(lambda bucket: bucket.block(wait_s))

    def _take(self, shares: Sequence[Share]) -> float:
        wait_s = self._ask(lambda bucket: bucket.take(shares))
        if wait_s < 0:
            message = f"the embedding service may not be asked for another {-wait_s:.0f} s"
            raise ServiceBusy(message, wait_s=-wait_s, hint="run the command again later")
        return wait_s

    def _ask(self, what: Callable[[Bucket], Result]) -> Result:
        """Return the shared bucket's answer, or that of our own while Redis is unreachable."""
        if self._shared and self._clock() >= self._away_until:
            try:
                return what(self._shared)
            except _Away as away:
                self._fall_back(away)
        return what(self._local)

    def _fall_back(self, away: "_Away") -> None:
        self._away_until = self._clock() + _REDIS_PAUSE_S
        if not self._warned:
            self._warned = True
            message = (
                "limits of the embedding service hold for this process alone, "
                "queue.url does not answer: %s"
            )
            logging.getLogger(__name__).warning(message, away)


class _Away(Exception):  # noqa: N818 -- named for what it is
    """The Redis of the limits cannot be used."""


@dataclass(slots=True)
class _LocalBucket:
    """The bucket of all threads of this process."""

    clock: Callable[[], float]
    at: float = float("-inf")
    levels: dict[str, float] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def take(self, shares: Sequence[Share]) -> float:
        with self.lock:
            now = self.clock()
            start = max(now, self.at)
            levels = {one.resource: self._level(one, start) for one in shares}
            debts = [-levels[one.resource] / one.per_second for one in shares]
            wait_s = start - now + max([0.0, *debts])
            if wait_s > MAX_WAIT_S:
                return -wait_s
            if shares:
                self.at, self.levels = start, self.levels | levels
            return wait_s

    def block(self, wait_s: float) -> None:
        with self.lock:
            until = self.clock() + wait_s
            if until > self.at:
                self.at, self.levels = until, dict.fromkeys(("requests", "tokens"), 0.0)

    def _level(self, one: Share, start: float) -> float:
        level = self.levels.get(one.resource)
        return (
            one.burst
            if level is None
            else min(one.burst, level + (start - self.at) * one.per_second)
        ) - one.cost


@cache
def _local_bucket(name: str, clock: Callable[[], float]) -> _LocalBucket:  # noqa: ARG001 -- a bucket a name
    """Return one bucket for all callers that give the same name."""
    return _LocalBucket(clock)


# The same as above on the server, by its clock: the only one that all machines share.
_TAKE = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local at = tonumber(redis.call('HGET', KEYS[1], 'at') or 0)
local start = math.max(now, at)
local wait = start - now
local fields = {'at', string.format('%.6f', start)}
for i = 2, #ARGV, 4 do
  local cost, burst, speed = tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  local level = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or burst)
  level = math.min(burst, level + (start - at) * speed) - cost
  wait = math.max(wait, start - now - level / speed)
  table.insert(fields, ARGV[i])
  table.insert(fields, string.format('%.6f', level))
end
if wait > tonumber(ARGV[1]) then return string.format('%.6f', -wait) end
if #ARGV > 1 then
  redis.call('HSET', KEYS[1], unpack(fields))
  redis.call('EXPIRE', KEYS[1], math.ceil(wait) + 3600)
end
return string.format('%.6f', wait)
"""
_BLOCK = """
local time = redis.call('TIME')
local till = time[1] + time[2] / 1000000 + tonumber(ARGV[1])
if till > tonumber(redis.call('HGET', KEYS[1], 'at') or 0) then
  redis.call('HSET', KEYS[1], 'at', string.format('%.6f', till), 'requests', 0, 'tokens', 0)
  redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[1]) + 3600)
end
return 1
"""


class _RedisBucket:
    """The bucket of all workers; opened at first use."""

    def __init__(self, url: str, key: str) -> None:
        self._url, self._key = url, key
        self._client: Any = None

    def take(self, shares: Sequence[Share]) -> float:
        """Take the shares; see `Bucket.take`.

        Raises: _Away.
        """
        arguments = [
            part for one in shares for part in (one.resource, one.cost, one.burst, one.per_second)
        ]
        return float(self._run(_TAKE, MAX_WAIT_S, *arguments))

    def block(self, wait_s: float) -> None:
        """Empty the bucket; see `Bucket.block`.

        Raises: _Away.
        """
        self._run(_BLOCK, wait_s)

    def _run(self, script: str, *arguments: float | str) -> Any:
        try:
            import redis
        except ImportError as error:
            raise _Away(f"the package redis is not installed, {install_hint('queue')}") from error
        try:
            self._client = self._client or self._open()
            return self._client.register_script(script)([self._key], arguments)
        except (redis.RedisError, OSError, ValueError) as error:
            # Its words may hold the address, and a password.
            raise _Away(type(error).__name__) from None

    def _open(self) -> Any:
        from redis import Redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        wait = {"socket_timeout": _REDIS_TIMEOUT_S, "socket_connect_timeout": _REDIS_TIMEOUT_S}
        return Redis.from_url(self._url, retry=Retry(NoBackoff(), 0), **wait)
