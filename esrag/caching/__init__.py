"""Caches that save vectors, answers and hits from being computed twice.

Every cache keeps these promises:

- It is never required. If a cache is down, slow, full or not esrag's, it costs less than half a
  second once, logs one warning (logger `esrag`), and is left alone for half a minute. Meanwhile
  reads find nothing, writes store nothing, and nothing raises. Only `usage` and `clear`, which a
  user calls by name, raise.
- Keys are `KIND:…` with a hash of everything that the value depends on, so entries need no
  invalidation. They expire after `ttl_s` ±10 %, so that entries written together do not expire
  together.
- Values are bytes, sealed with a hash of the value and its key. A value that was altered or written
  under another key counts as missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from random import uniform
from typing import Protocol, Self

from esrag.text import format_count


class Kind(StrEnum):
    """The first letter of a key."""

    VECTOR = "e"
    ANSWER = "a"
    QUERY = "s"
    RESPONSE = "m"
    COUNTS = "n"
    LOCK = "l"


LOOKED_UP = (Kind.VECTOR, Kind.ANSWER, Kind.QUERY, Kind.RESPONSE)


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of entries by kind, and the size on disk or in memory, None if unknown.

    `counts` are the sums of what was passed to `count` since the cache was last cleared.
    """

    vectors: int
    answers: int
    queries: int
    responses: int
    size_bytes: int | None
    counts: Mapping[str, float]

    @classmethod
    def of_kinds(
        cls, kinds: Mapping[str, int], size_bytes: int | None, counts: Mapping[str, float]
    ) -> Self:
        """Return the usage with the number of entries of each `Kind`."""
        return cls(
            vectors=kinds.get(Kind.VECTOR, 0),
            answers=kinds.get(Kind.ANSWER, 0),
            queries=kinds.get(Kind.QUERY, 0),
            responses=kinds.get(Kind.RESPONSE, 0),
            size_bytes=size_bytes,
            counts=counts,
        )

    def __str__(self) -> str:
        size = "" if self.size_bytes is None else f", {self.size_bytes / 2**20:.1f} MiB"
        counts = (
            (self.vectors, "vector"),
            (self.answers, "answer"),
            (self.queries, "query"),
            (self.responses, "response"),
        )
        return ", ".join(format_count(number, noun) for number, noun in counts) + size


class Cache(Protocol):
    """A store of bytes that may be lost, as the module promises; entries live for `ttl_s`."""

    ttl_s: float

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return the values that exist, by key."""
        ...

    def set_many(self, items: Mapping[str, bytes], ttl_s: float) -> None:
        """Store the values, each for `ttl_s` ±10 %."""
        ...

    def lock(self, key: str, for_s: float) -> str | None:
        """Return a token, or None if another caller holds the lock.

        The lock ends by itself after `for_s`. A cache that does not answer also returns a token, so
        that callers do not wait for it.
        """
        ...

    def unlock(self, key: str, token: str) -> None:
        """Release the lock if the token still holds it."""
        ...

    def count(self, amounts: Mapping[str, float]) -> None:
        """Add to the counters of these names; they do not expire."""
        ...

    def usage(self) -> Usage:
        """Return the usage. Raises: EsragError if it cannot be read."""
        ...

    def clear(self) -> int:
        """Remove all of esrag's entries and nothing else, and return how many there were.

        Raises: EsragError.
        """
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


def count_lookups(cache: Cache, kind: Kind, hits: int, misses: int) -> None:
    """Add to the hits and misses of a kind of entry."""
    name = kind.name.lower()
    amounts = {f"{name}_hits": hits, f"{name}_misses": misses}
    cache.count({name: amount for name, amount in amounts.items() if amount})


_SEAL_BYTES = 16


def seal(key: str, body: bytes) -> bytes:
    """Return the value to store under a key."""
    return _seal(key, body) + body


def unseal(key: str, value: bytes) -> bytes | None:
    """Return the body of a value stored under a key, or None if it was altered."""
    body = value[_SEAL_BYTES:]
    return body if value[:_SEAL_BYTES] == _seal(key, body) else None


def _seal(key: str, body: bytes) -> bytes:
    return blake2b(body, digest_size=_SEAL_BYTES, key=blake2b(key.encode()).digest()).digest()


def jitter(ttl_s: float) -> float:
    """Return a random lifetime between 0.9 and 1.1 times `ttl_s`."""
    return uniform(0.9 * ttl_s, 1.1 * ttl_s)  # noqa: S311 -- it spreads load and protects nothing
