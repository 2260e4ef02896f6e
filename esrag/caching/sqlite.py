"""A cache in one SQLite file, shared by the processes of one machine."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import TypeVar

from esrag.caching import Kind, Usage, jitter
from esrag.caching.breaker import Breaker
from esrag.errors import EsragError
from esrag.private import make_file, make_folder

T = TypeVar("T")

APPLICATION_ID = 1702064995
_BUSY_S = 0.3
_AT_ONCE = 512
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB NOT NULL, until REAL NOT NULL);
CREATE INDEX IF NOT EXISTS entries_until ON entries (until);
PRAGMA application_id = {APPLICATION_ID};
COMMIT;
"""
_TAKE = """
INSERT INTO entries VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until WHERE until <= ?
"""
_COUNT = """
INSERT INTO entries VALUES (?, ?, 9e999)
ON CONFLICT (key) DO UPDATE SET value = CAST(value AS REAL) + excluded.value
"""
_COUNTS = "SELECT substr(key, 3), CAST(value AS REAL) FROM entries WHERE key GLOB ? ORDER BY key"
_SIZE = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"


class SqliteCache:
    """Entries in a table, as `Cache` promises; a process's first write removes expired entries."""

    def __init__(self, path: Path, ttl_s: float, clock: Callable[[], float] = time.time) -> None:
        self.ttl_s = ttl_s
        self._path = path
        self._clock = clock
        self._breaker = Breaker(str(path), (sqlite3.Error, OSError))
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._purged = False

    def get_many(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        """Return the values that exist, by key."""
        return self._breaker.run(lambda: self._get(list(keys)), {})

    def set_many(self, items: Mapping[str, bytes], ttl_s: float) -> None:
        """Store the values, each for `ttl_s` ±10 %."""
        if items:
            self._breaker.run(lambda: self._set(items, ttl_s), None)

    def lock(self, key: str, for_s: float) -> str | None:
        """Return a token, or None if another caller holds the lock; see `Cache.lock`."""
        token = token_hex(16)
        return (
            token
            if self._breaker.run(
                lambda: self._take(f"{Kind.LOCK}:{key}", token, for_s), otherwise=True
            )
            else None
        )

    def unlock(self, key: str, token: str) -> None:
        """Release the lock if the token still holds it."""
        self._breaker.run(lambda: self._release(f"{Kind.LOCK}:{key}", token), None)

    def count(self, amounts: Mapping[str, float]) -> None:
        """Add to the counters of these names; they do not expire."""
        rows = [(f"{Kind.COUNTS}:{name}", amount) for name, amount in amounts.items()]
        self._breaker.run(lambda: self._add_counts(rows), None)

    def usage(self) -> Usage:
        """Return the usage. Raises: EsragError."""
        sql = "SELECT substr(key, 1, 1), count(*) FROM entries WHERE until > ? GROUP BY 1"
        with self._explain(), self._connect() as connection:
            kinds = dict(connection.execute(sql, (self._clock(),)).fetchall())
            (size_bytes,) = connection.execute(_SIZE).fetchone()
            counts = dict(connection.execute(_COUNTS, (f"{Kind.COUNTS}:*",)).fetchall())

        return Usage.of_kinds(kinds, size_bytes, counts)

    def clear(self) -> int:
        """Remove all entries and the counters. Raises: EsragError."""
        with self._explain(), self._connect() as connection:
            with connection:
                connection.execute("DELETE FROM entries WHERE key GLOB ?", (f"{Kind.COUNTS}:*",))
                count = connection.execute("DELETE FROM entries").rowcount
            # Another process is reading: the space is reused later.
            with suppress(sqlite3.OperationalError):
                connection.execute("VACUUM")
        return count

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None

    def _get(self, keys: Sequence[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._connect() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                sql = (
                    "SELECT key, CAST(value AS BLOB) FROM entries "  # noqa: S608 -- marks only
                    f"WHERE key IN ({marks}) AND until > ?"
                )
                found |= dict(connection.execute(sql, (*some, self._clock())).fetchall())
        return found

    def _set(self, items: Mapping[str, bytes], ttl_s: float) -> None:
        now = self._clock()
        rows = [(key, value, now + jitter(ttl_s)) for key, value in items.items()]
        with self._connect() as connection, connection:  # one transaction
            if not self._purged:
                connection.execute("DELETE FROM entries WHERE until <= ?", (now,))
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", rows)
        self._purged = True

    def _add_counts(self, rows: Sequence[tuple[str, float]]) -> None:
        with self._connect() as connection, connection:
            connection.executemany(_COUNT, rows)

    def _take(self, name: str, token: str, for_s: float) -> bool:
        now = self._clock()
        with self._connect() as connection, connection:
            return connection.execute(_TAKE, (name, token.encode(), now + for_s, now)).rowcount > 0

    def _release(self, name: str, token: str) -> None:
        with self._connect() as connection, connection:
            connection.execute(
                "DELETE FROM entries WHERE key = ? AND value = ?", (name, token.encode())
            )

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """Yield the only connection, to one thread at a time."""
        with self._lock:
            if self._connection is None:
                self._connection = _open(self._path)
            yield self._connection

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            hint = "check cache.url; a damaged cache file can be deleted"
            raise EsragError(
                f"the cache {self._path} cannot be used: {error}", hint=hint
            ) from error


def _open(path: Path) -> sqlite3.Connection:
    """Open a connection, and create the table in a new file. Raises: sqlite3.Error, OSError."""
    make_folder(path.parent)
    make_file(path)
    connection = sqlite3.connect(path, timeout=_BUSY_S, check_same_thread=False)

    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise

    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        connection.executescript(_SCHEMA)
        # Another process is doing it at the same moment.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")

    _require_ours(connection)
    connection.execute("PRAGMA synchronous = NORMAL")


def _require_ours(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise sqlite3.DatabaseError("it is not a cache of esrag")
