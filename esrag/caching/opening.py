"""Open the cache that the settings name."""

from pathlib import Path

from esrag.caching import Cache
from esrag.settings import CacheSettings, is_redis

_DAY_S = 86_400


def open_cache(settings: CacheSettings) -> Cache | None:
    """Return the cache, or None if `cache.url` is empty. Nothing connects yet.

    Raises: SettingsError if `cache.url` is a Redis whose package is missing, or an invalid address.
    """
    if not settings.url:
        return None
    ttl_s = settings.ttl_days * _DAY_S
    if is_redis(settings.url):
        from esrag.caching.redis import RedisCache

        return RedisCache(settings.url, ttl_s)
    from esrag.caching.sqlite import SqliteCache

    return SqliteCache(Path(settings.url), ttl_s)
