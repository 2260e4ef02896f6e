"""Diagnose the cache and the queue's Redis, which must be different instances."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from esrag.caching.opening import open_cache
from esrag.caching.redis import client
from esrag.engines import Finding
from esrag.errors import EsragError
from esrag.settings import CacheSettings, Settings, is_redis, mask_value

_TIMEOUT_S = 2.0
_EVICTS = "give it maxmemory and maxmemory-policy allkeys-lfu"
_ONE = (
    "cache.url and queue.url are the same Redis: when the cache evicts entries, "
    "the queue may lose batches"
)
_Facts = Mapping[str, Any]


def examine(settings: Settings) -> Iterator[Finding]:
    """Check the configured cache and queue. Raises: SettingsError for an invalid Redis address."""
    cache, queue = settings.cache.url, settings.queue.url
    urls = {"cache.url": cache, "queue.url": queue}
    asked = {url: _ask(url, name) for name, url in urls.items() if is_redis(url)}

    if cache:
        yield from _check_cache(settings.cache, asked.get(cache, {}))
    if queue:
        yield from _check_queue(mask_value(queue), asked[queue])
    if cache == queue != "" or _are_one(asked.values()):
        yield Finding("warning", _ONE, "start a second redis-server, and set cache.url to it")


def _are_one(asked: Iterable[_Facts | Exception]) -> bool:
    """Return whether two servers are the same instance."""
    told = [facts.get("run_id") for facts in asked if not isinstance(facts, Exception)]
    return len(told) == 2 and bool(told[0]) and told[0] == told[1]  # noqa: PLR2004 -- both of them


def _ask(url: str, setting: str) -> _Facts | Exception:
    """Return the server's own information, or the error."""
    asking = client(url, setting, _TIMEOUT_S)  # first, because it reports a missing package
    from redis import RedisError

    try:
        facts: _Facts = asking.info()
    except (RedisError, OSError) as error:
        return error
    finally:
        asking.close()
    return facts


def _check_cache(settings: CacheSettings, facts: _Facts | Exception) -> Iterator[Finding]:
    where = f"cache {mask_value(settings.url)}"
    opened = open_cache(settings)
    if opened is None:
        return

    try:
        yield Finding("ok", f"{where}: {opened.usage()}")
    except EsragError as error:
        yield Finding("warning", str(error), error.hint)
        return
    finally:
        opened.close()
    yield from _check_eviction(where, facts)


def _check_eviction(where: str, facts: _Facts | Exception) -> Iterator[Finding]:
    if isinstance(facts, Exception):
        what = f"{where} does not report its memory and policy: {facts}"
        yield Finding("warning", what, "give its user +info")
    elif facts and (not facts.get("maxmemory") or facts.get("maxmemory_policy") == "noeviction"):
        limit = (
            f"maxmemory {facts.get('maxmemory')}, maxmemory-policy {facts.get('maxmemory_policy')}"
        )
        yield Finding("warning", f"{where} evicts nothing when it is full: {limit}", _EVICTS)


def _check_queue(where: str, facts: _Facts | Exception) -> Iterator[Finding]:
    if isinstance(facts, Exception):
        what = f"queue {where} does not answer: {facts}"
        yield Finding("error", what, "start it, or check queue.url")
    else:
        yield Finding("ok", f"queue {where}: redis {facts.get('redis_version')}")
        yield from _check_durability(where, facts)


def _check_durability(where: str, facts: _Facts) -> Iterator[Finding]:
    policy = facts.get("maxmemory_policy")

    if policy != "noeviction":
        what = f"queue {where} drops batches when it is full: maxmemory-policy {policy}"
        yield Finding("error", what, "set its maxmemory-policy to noeviction")
    if not facts.get("aof_enabled"):
        what = (
            f"queue {where} loses queued batches on a restart, until the next sweep: appendonly no"
        )
        yield Finding("warning", what, "set its appendonly to yes")
