"""A cache in a Redis instance of its own, with `maxmemory` and the policy `allkeys-lfu`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from esrag.caching import Kind, Usage, jitter
from esrag.caching.breaker import Breaker
from esrag.errors import CacheUnreachable, EsragError, SettingsError
from esrag.plugins import install_hint
from esrag.settings import mask_value

if TYPE_CHECKING:
    from redis import Redis

PREFIX = "esrag:c:"
_COUNTS = f"{PREFIX}{Kind.COUNTS}:counts"
TIMEOUT_S = 0.3  # to connect, and for each answer; on a local network an answer takes a millisecond
_AT_ONCE = 512  # vectors of 1,024 numbers: a megabyte, which arrives in time even over a slow link
_RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end"


class RedisCache:
    """Entries under `esrag:c:`, with the promises of `Cache`."""

    def __init__(self, url: str, ttl_s: float) -> None:
        self.ttl_s = ttl_s
        # Any: its types say str for values that are bytes.
        self._client: Any = client(url, "cache.url", TIMEOUT_S)
        import redis

        self._where = mask_value(url)
        self._refused = redis.ResponseError
        self._failed = (redis.RedisError, OSError)
        self._breaker = Breaker(self._where, self._failed, (redis.ResponseError,))

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return the values that exist, by key."""
        found: dict[str, bytes] = {}
        for some in _portions(list(keys)):
            mget = partial(self._client.mget, [PREFIX + key for key in some])
            values: list[bytes | None] = self._breaker.run(mget, [None] * len(some))
            found |= {
                key: value for key, value in zip(some, values, strict=True) if value is not None
            }
        return found

    def set_many(self, items: Mapping[str, bytes], ttl_s: float) -> None:
        """Store the values, each for `ttl_s` ±10 %."""
        for some in _portions(list(items)):
            pipeline = self._client.pipeline(transaction=False)
            for key in some:
                pipeline.set(PREFIX + key, items[key], px=round(1000 * jitter(ttl_s)))
            self._breaker.run(pipeline.execute, [])

    def lock(self, key: str, for_s: float) -> str | None:
        """Return a token, or None if another caller holds the lock; see `Cache.lock`."""
        name, token = f"{PREFIX}{Kind.LOCK}:{key}", token_hex(16)
        got = self._breaker.run(
            lambda: self._client.set(name, token, nx=True, px=round(1000 * for_s)), otherwise=True
        )
        return token if got else None

    def unlock(self, key: str, token: str) -> None:
        """Release the lock if the token still holds it."""
        self._breaker.run(lambda: self._release(f"{PREFIX}{Kind.LOCK}:{key}", token), None)

    def count(self, amounts: Mapping[str, float]) -> None:
        """Add to the counters of these names; they do not expire."""
        pipeline = self._client.pipeline(transaction=False)
        for name, amount in amounts.items():
            pipeline.hincrbyfloat(_COUNTS, name, amount)
        self._breaker.run(pipeline.execute, [])

    def usage(self) -> Usage:
        """Return the usage, with the size of the whole instance. Raises: EsragError."""
        try:
            kinds = Counter(
                name[len(PREFIX) :].partition(b":")[0].decode()
                for names in self._scan()
                for name in names
            )
            size_bytes = self._size_bytes()
            found = self._client.hgetall(_COUNTS)
        except self._failed as error:
            raise self._explain(error, "+scan +hgetall") from error

        counts = {name.decode(): float(found[name]) for name in sorted(found)}
        return Usage.of_kinds(kinds, size_bytes, counts)

    def clear(self) -> int:
        """Remove everything under `esrag:c:` and nothing else. Raises: EsragError."""
        try:
            self._client.unlink(_COUNTS)  # no entry
            return sum(self._client.unlink(*names) for names in self._scan() if names)
        except self._failed as error:
            raise self._explain(error, "+scan +unlink") from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _release(self, name: str, token: str) -> None:
        from redis.exceptions import NoPermissionError

        try:
            self._client.eval(_RELEASE, 1, name, token)
        except NoPermissionError:
            # A user without +eval: another caller may take the lock in between, and computes too.
            if self._client.mget(name) == [token.encode()]:
                self._client.delete(name)

    def _scan(self) -> Iterator[list[bytes]]:
        cursor = 0
        while True:
            cursor, names = self._client.scan(cursor, match=f"{PREFIX}*", count=1000)
            yield names
            if not cursor:
                return

    def _size_bytes(self) -> int | None:
        from redis.exceptions import NoPermissionError

        try:
            return int(self._client.info("memory")["used_memory"])
        except NoPermissionError:
            return None

    def _explain(self, error: Exception, rights: str) -> EsragError:
        if isinstance(error, self._refused):
            return EsragError(
                f"{self._where} refuses: {error}", hint=f"give the cache's user {rights}"
            )
        message = f"the cache {self._where} does not answer: {error}"
        return CacheUnreachable(message, hint="start it, or check cache.url")


def client(url: str, setting: str, timeout_s: float) -> "Redis":
    """Return a client that waits at most `timeout_s` for each answer, and never retries.

    The limit also holds for connecting. By default, redis-py waits 59 s for a server that accepts
    connections and never answers.

    Raises: SettingsError.
    """
    _require_redis(setting)
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    waits = {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s}
    try:
        opened: Redis = Redis.from_url(url, **waits, retry=Retry(NoBackoff(), 0))
    except ValueError as error:  # the error is hidden because it may contain a password
        hint = "write redis://user:password@host:6379/0, the password URL-quoted"
        raise SettingsError(f"{setting} is not the address of a Redis", hint=hint) from error
    return opened


def _require_redis(setting: str) -> None:
    try:
        import redis  # noqa: F401 -- whether it is there
    except ImportError as error:
        message = f"{setting} is a Redis, which needs a package that is not installed: redis"
        raise SettingsError(message, hint=install_hint("redis")) from error


def _portions(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
