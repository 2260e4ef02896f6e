"""Caches: vectors, answers and hits that were made once are not made twice.

The contract, for every cache:

- It is never needed. One that is dead, slow, full or foreign costs less than half a second once, is spoken of once (a
  warning of the logger `esrag`), and is then left alone for half a minute: reading finds nothing, writing keeps
  nothing, and nothing raises. Only `usage` and `clear`, which a user asks for by name, raise.
- Keys are `KIND:…`, with a hash of all that the value depends on, so that nothing is ever invalidated: what nobody asks
  for any more fades after `ttl_s`, ±10 %, so that what was made together does not go together.
- Values are bytes, sealed with a hash of themselves and their key. A value that is not as it was written, or that was
  written under another key, counts as missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from random import uniform
from typing import Protocol

from esrag.text import format_count


class Kind(StrEnum):
    """What a key begins with."""

    VECTOR = "e"
    ANSWER = "a"
    QUERY = "s"
    LOCK = "l"


@dataclass(frozen=True, slots=True)
class Usage:
    """How many entries a cache holds by kind, and its size on disk or in memory, None where that is not told."""

    vectors: int
    answers: int
    queries: int
    size_bytes: int | None

    def __str__(self) -> str:
        size = "" if self.size_bytes is None else f", {self.size_bytes / 2**20:.1f} MiB"
        counts = ((self.vectors, "vector"), (self.answers, "answer"), (self.queries, "query"))
        return ", ".join(format_count(number, noun) for number, noun in counts) + size


class Cache(Protocol):
    """A place for bytes that may be lost; see the module for the promises. `ttl_s` is how long an entry is kept."""

    ttl_s: float

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """What there is under the keys."""
        ...

    def set_many(self, items: Mapping[str, bytes], ttl_s: float) -> None:
        """Keeps the values, each for `ttl_s` ±10 %."""
        ...

    def lock(self, key: str, for_s: float) -> str | None:
        """A token, or None where another holds the lock, which ends after `for_s` by itself.

        A cache that does not answer gives a token too, so that nobody waits for it.
        """
        ...

    def unlock(self, key: str, token: str) -> None:
        """Lets go of the lock, if it still is the token's."""
        ...

    def usage(self) -> Usage:
        """What it holds. Raises: EsragError where it cannot be read."""
        ...

    def clear(self) -> int:
        """Removes all that esrag keeps there, and nothing else; gives how many entries. Raises: EsragError."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...


_SEAL_BYTES = 16


def seal(key: str, body: bytes) -> bytes:
    """Return a value to keep under a key."""
    return _seal(key, body) + body


def unseal(key: str, value: bytes) -> bytes | None:
    """Return the body of a value that was kept under a key; None if it is not as it was written."""
    body = value[_SEAL_BYTES:]
    return body if value[:_SEAL_BYTES] == _seal(key, body) else None


def _seal(key: str, body: bytes) -> bytes:
    return blake2b(body, digest_size=_SEAL_BYTES, key=blake2b(key.encode()).digest()).digest()


def jitter(ttl_s: float) -> float:
    """Between 0.9 and 1.1 of it."""
    return uniform(0.9 * ttl_s, 1.1 * ttl_s)  # noqa: S311 -- it spreads load, and guards nothing
