"""Answers and hits by all that they depend on, each made once however many ask for it at the same time."""

import time
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from esrag.caching import Cache, Kind, seal, unseal

PACKAGE = Path(__file__).parents[1]
T = TypeVar("T")

BRIEFLY_S = 60.0  # for refusals and for no hits at all: what is missing may be about to come
WAIT_S = 20.0  # for another who makes the same; then it is made here too. A lock of one who died ends after as long
_POLL_S = 0.05
_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(TypeAdapter)  # some milliseconds each


def key_of(kind: Kind, *parts: object) -> str:
    """A key for everything that the value depends on; parts are told apart by their type too, as `repr` writes them.

    >>> key_of(Kind.QUERY, "kettle", 1) == key_of(Kind.QUERY, "kettle", True)
    False
    """
    return f"{kind}:{blake2b(repr(parts).encode(), digest_size=16).hexdigest()}"


@lru_cache(maxsize=1)
def code_version() -> str:
    """Changes with each file of esrag."""
    digest = blake2b(digest_size=16)
    for path in sorted(PACKAGE.rglob("*.py")):  # 4 ms, once a process
        digest.update(path.read_bytes())
    return digest.hexdigest()


def get_or_compute(
    cache: Cache, key: str, shape: type[T], make: Callable[[], T], brief: Callable[[T], bool]
) -> tuple[T, bool]:
    """What is kept under the key, or what `make` gives, which is then kept; and whether it was kept.

    `brief` says of what was made whether it is kept for BRIEFLY_S only. Of many who ask at once, in any process, one
    makes it and the others wait for it. What `make` raises is not kept.
    """
    if (found := _kept(cache, key, shape)) is not None:
        return found, True

    token, found = _turn(cache, key, shape)
    if found is not None:
        return found, True
    try:
        made = make()
        ttl_s = min(BRIEFLY_S, cache.ttl_s) if brief(made) else cache.ttl_s
        return _keep(cache, key, shape, made, ttl_s), False
    finally:
        if token:
            cache.unlock(key, token)


def _turn(cache: Cache, key: str, shape: type[T]) -> tuple[str | None, T | None]:
    """The right to make it, or what another has made meanwhile; neither, where that takes too long."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        token = cache.lock(key, WAIT_S)
        if (found := _kept(cache, key, shape)) is not None:  # also with the lock: another may just have let go of it
            if token:
                cache.unlock(key, token)
            return None, found
        if token:
            return token, None
        time.sleep(_POLL_S)
    return None, None


def _kept(cache: Cache, key: str, shape: type[T]) -> T | None:
    """What is kept, if it is whole and of this shape."""
    return _unpacked(key, cache.get_many([key]).get(key, b""), shape)


def _keep(cache: Cache, key: str, shape: type[T], made: T, ttl_s: float) -> T:
    """What was made as it will be read back, so that a hit is the same to the letter."""
    try:
        body: bytes = _adapter(shape).dump_json(made, warnings="error")
    except PydanticSerializationError:  # a plugin's number, for example, that JSON does not know
        return made

    value = seal(key, body)
    again = _unpacked(key, value, shape)
    if again is None:  # NaN, for example
        return made

    cache.set_many({key: value}, ttl_s)
    return again


def _unpacked(key: str, value: bytes, shape: type[T]) -> T | None:
    body = unseal(key, value)
    if body is None:
        return None
    try:
        found: T = _adapter(shape).validate_json(body, strict=True)
    except ValidationError:
        return None
    return found
