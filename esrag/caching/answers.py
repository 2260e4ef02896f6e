"""Answers and hits, each computed once for concurrent callers and cached by all their inputs."""

import time
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from esrag.caching import Cache, Kind, count_lookups, seal, unseal

PACKAGE = Path(__file__).parents[1]
T = TypeVar("T")

BRIEFLY_S = 60.0  # for refusals and empty results: the missing document may be added soon
# For another process that computes the same; also the lifetime of a crashed process's lock.
WAIT_S = 20.0
_POLL_S = 0.05
# Each adapter takes some milliseconds to build.
_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(TypeAdapter)


def key_of(kind: Kind, *parts: object) -> str:
    """Return a key for everything that the value depends on.

    Parts of different types give different keys.

    >>> key_of(Kind.QUERY, "kettle", 1) == key_of(Kind.QUERY, "kettle", True)
    False
    """
    return f"{kind}:{blake2b(repr(parts).encode(), digest_size=16).hexdigest()}"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return a hash that changes with every source file of esrag, and with its weights."""
    digest = blake2b(digest_size=16)
    # Takes 50 ms, once per process.
    for path in (*sorted(PACKAGE.rglob("*.py")), *sorted(PACKAGE.rglob("*.safetensors"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def get_or_compute(  # noqa: PLR0913 -- what is computed, where it is kept, and for how long
    cache: Cache,
    key: str,
    shape: type[T],
    make: Callable[[], T],
    brief: Callable[[T], bool],
    *,
    keeps: Callable[[T], bool] = lambda _: True,
) -> tuple[T, bool]:
    """Return the cached value, or compute and cache it; and whether it was cached.

    If `brief` is true for a computed value, the value is cached for BRIEFLY_S only, and not at all
    unless `keeps` is true. Of concurrent callers in any process, one computes the value and the
    others wait for it, for WAIT_S at most. Errors of `make` are not cached.
    """
    found = _read(cache, key, shape)
    token = None
    if found is None:
        token, found = _turn(cache, key, shape)

    is_hit = found is not None
    count_lookups(cache, Kind(key[0]), hits=int(is_hit), misses=int(not is_hit))
    if found is not None:
        return found, True
    try:
        made = make()
        ttl_s = min(BRIEFLY_S, cache.ttl_s) if brief(made) else cache.ttl_s
        return _keep(cache, key, shape, made, ttl_s) if keeps(made) else made, False
    finally:
        if token:
            cache.unlock(key, token)


def _turn(cache: Cache, key: str, shape: type[T]) -> tuple[str | None, T | None]:
    """Return the lock to compute the value, or the value that another process computed.

    Both are None on timeout.
    """
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        token = cache.lock(key, WAIT_S)
        # The lock's last holder may have stored it.
        if (found := _read(cache, key, shape)) is not None:
            if token:
                cache.unlock(key, token)
            return None, found
        if token:
            return token, None
        time.sleep(_POLL_S)
    return None, None


def _read(cache: Cache, key: str, shape: type[T]) -> T | None:
    """Return the cached value if it is intact and has this type."""
    return _unpack(key, cache.get_many([key]).get(key, b""), shape)


def _keep(cache: Cache, key: str, shape: type[T], made: T, ttl_s: float) -> T:
    """Store a value and return it as it will be read back, so that cache hits are identical."""
    try:
        body: bytes = _adapter(shape).dump_json(made, warnings="error")
    except PydanticSerializationError:  # such as a plugin's number that JSON does not support
        return made

    value = seal(key, body)
    again = _unpack(key, value, shape)
    if again is None:  # such as NaN
        return made

    cache.set_many({key: value}, ttl_s)
    return again


def _unpack(key: str, value: bytes, shape: type[T]) -> T | None:
    body = unseal(key, value)
    if body is None:
        return None
    try:
        found: T = _adapter(shape).validate_json(body, strict=True)
    except ValidationError:
        return None
    return found
