"""Snapshots: one consistent state of the index for the duration of a call."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import apsw
import numpy as np

from esrag.engines import Vectors
from esrag.engines.embedded.databases import is_outdated
from esrag.engines.embedded.index_folder import (
    AGAIN_HINT,
    Places,
    State,
    failures,
    identity,
    open_current,
    state,
    transaction,
)
from esrag.engines.embedded.vector_file import Rows, StoredVectors, map_vectors
from esrag.engines.preconditions import text_hash
from esrag.errors import EngineError, IndexBusy
from esrag.text.edits import MAX_EDITS, is_near

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Cache:
    """Values that stay valid until the next write: rows of the vector leg, and term counts.

    A term count is the number of chunks a term occurs in.
    """

    state: State
    vectors: StoredVectors
    live: list[tuple[Rows, Rows]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A read transaction with the vectors that belong to it."""

    connection: apsw.Connection
    cache: Cache

    def read_live_rows(self) -> tuple[Rows, Rows]:
        """Return the rows of `chunks` that have a vector, and their rows in the vector file."""
        if not self.cache.live:
            sql = (
                'SELECT vector_row, "row" FROM chunks WHERE vector_row IS NOT '
                "NULL ORDER BY vector_row"
            )
            pairs = np.array(self.connection.execute(sql).fetchall(), dtype=np.int64).reshape(-1, 2)
            self.cache.live.append(
                (np.ascontiguousarray(pairs[:, 1]), np.ascontiguousarray(pairs[:, 0]))
            )
        return self.cache.live[0]

    def count(self, term: str) -> int:
        """Return the number of chunks a term occurs in."""
        counts = self.cache.counts
        if term not in counts:
            found = self.connection.execute(
                "SELECT doc FROM word_counts WHERE term = ?", (term,)
            ).fetchone()
            counts[term] = found[0] if found else 0
        return counts[term]

    def similar_terms(self, like: Sequence[str]) -> dict[str, int]:
        """Return terms at most two edits from one of these, by the number of their chunks.

        The first letter is the same.
        """
        sql = "SELECT term FROM word_counts WHERE term >= ? AND term < ?"
        found: dict[str, int] = {}
        for word in like:
            first, after = word[:1], chr(ord(word[0]) + 1)
            for (term,) in self.connection.execute(sql, (first, after)):
                if is_near(word, term, MAX_EDITS):
                    found[term] = self.count(term)
        return found

    def vectors_of(self, indexed_texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the stored vectors of texts, by text; texts that are not indexed are left out."""
        texts = {text_hash(text): text for text in indexed_texts}
        wanted = "text_hash IN (SELECT value FROM json_each(?))"
        sql = f"SELECT text_hash, vector_row FROM chunks WHERE vector_row IS NOT NULL AND {wanted}"  # noqa: S608 -- constants
        found = self.connection.execute(sql, (json.dumps(list(texts)),))
        return {texts[key]: self.cache.vectors.row(row) for key, row in found}


class Reader:
    """A reader that opens the index at first use, and reopens it after a rebuild."""

    def __init__(self, places: Places) -> None:
        self._places = places
        # SQLite allows one transaction per connection; threads take turns.
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._cache: Cache | None = None

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Yield one state of the index, unaffected by concurrent writes.

        Raises: IndexMissing, EngineError.
        """
        with self._lock, failures(self._places.folder):
            for attempt in range(_ATTEMPTS):
                connection = self._open()
                with transaction(connection):
                    try:
                        cache = self._refresh_cache(connection)
                    except (OSError, ValueError, EngineError):
                        # A writer removed the vectors in between, or replaced the index: retry.
                        if attempt == _ATTEMPTS - 1:
                            raise
                        self._identity = None  # so that it is opened again
                        continue
                    yield Snapshot(connection, cache)
                    return

    def close(self) -> None:
        """Close the connection and unmap the vectors."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection, self._identity, self._cache = None, None, None

    def _open(self) -> apsw.Connection:
        found = identity(self._places.find_current())
        if self._connection is None or found != self._identity or is_outdated(self._connection):
            self.close()
            self._connection, self._identity = open_current(self._places)
        return self._connection

    def _refresh_cache(self, connection: apsw.Connection) -> Cache:
        now = state(connection)
        if self._cache is None or self._cache.state != now:
            former = self._cache.vectors if self._cache else None
            folder = self._places.find_current()
            vectors = map_vectors(connection, folder, now, former)
            if identity(folder) != self._identity:
                raise IndexBusy("the index was replaced while it was read", hint=AGAIN_HINT)
            self._cache = Cache(now, vectors)
        return self._cache
