"""The embedded engine: one folder per index, without a server.

SQLite holds words and records, and a flat file holds the vectors.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from esrag.engines import (
    EngineOptions,
    Finding,
    SearchRequest,
    SearchResult,
    StoredIndex,
    Vectors,
    Writer,
)
from esrag.engines.clock import Clock
from esrag.engines.embedded import conversion, indexes
from esrag.engines.embedded.diagnostics import examine
from esrag.engines.embedded.filter_sql import select_rows
from esrag.engines.embedded.index_folder import (
    Places,
    failures,
    open_writing,
    read_once,
    require_replaceable,
)
from esrag.engines.embedded.integrity import problems
from esrag.engines.embedded.searching import search
from esrag.engines.embedded.snapshots import Reader
from esrag.engines.embedded.writing import EmbeddedWriter
from esrag.engines.preconditions import require_generation, swap_error
from esrag.errors import EngineError, IndexMissing
from esrag.filters import Filter
from esrag.private import make_file, make_folder
from esrag.records import Chunk, Fingerprint, StoredDocument


class EmbeddedEngine:
    """An index in a folder of its own, `url`/`index`; see `Engine` for the contract."""

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._places = Places(Path(options.url), options.index)
        self._reader = Reader(self._places)

    def exists(self) -> bool:
        """Return whether anything was ever ingested here.

        Raises: IndexMismatch if the folder belongs to another program.
        """
        try:
            self.generation()
        except IndexMissing:
            return False
        return True

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the index. Raises: IndexMissing."""
        with self._reader.snapshot() as snapshot:
            return snapshot.cache.state.fingerprint

    def generation(self) -> int:
        """Return a number that grows with every change of content. Raises: IndexMissing."""
        with self._reader.snapshot() as snapshot:
            return snapshot.cache.state.generation

    def documents(self, doc_ids: Sequence[str] | None = None) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids, all or those of `doc_ids`.

        Raises: IndexMissing.
        """
        named = "" if doc_ids is None else "WHERE doc_id IN (SELECT value FROM json_each(?))"
        sql = f"SELECT {conversion.DOCUMENT_COLUMNS} FROM documents {named} ORDER BY doc_id"  # noqa: S608 -- constants
        return map(
            conversion.document,
            self._stream(sql, () if doc_ids is None else (json.dumps([*doc_ids]),)),
        )

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Yield chunks, ordered by document and position. Raises: IndexMissing, UsageError."""
        allowed, values = (
            select_rows(filter) if filter is not None else ('SELECT "row" FROM chunks', ())
        )
        sql = f'{conversion.CHUNK_SELECT} WHERE c."row" IN ({allowed}) ORDER BY d.doc_id, c.ordinal'
        return map(conversion.chunk, self._stream(sql, values))

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """Return the chunks of a document up to `window` before and after a chunk, in order."""
        near = "d.doc_id = ? AND c.ordinal BETWEEN ? AND ? AND c.ordinal <> ?"
        sql = f"{conversion.CHUNK_SELECT} WHERE {near} ORDER BY c.ordinal"
        values = (chunk.doc_id, chunk.ordinal - window, chunk.ordinal + window, chunk.ordinal)
        with self._reader.snapshot() as snapshot:
            return [conversion.chunk(row) for row in snapshot.connection.execute(sql, values)]

    def search(self, request: SearchRequest) -> SearchResult:
        """Search both legs, apply the filter and fuse.

        Raises: IndexMissing, EngineError, UsageError.
        """
        clock = Clock()
        with self._reader.snapshot() as snapshot:
            clock.lap("open")
            return search(snapshot, request, clock)

    def count_terms(self, terms: Sequence[str], like: Sequence[str] = ()) -> Mapping[str, int]:
        """Return the number of chunks of each term that occurs; see `Engine.count_terms`.

        Raises: IndexMissing.
        """
        with self._reader.snapshot() as snapshot:
            similar = snapshot.similar_terms(like)
            return {term: count for term in terms if (count := snapshot.count(term))} | similar

    def any_match(self, filters: Sequence[Filter]) -> Sequence[bool]:
        """Return, for each filter, whether any chunk passes it.

        Raises: IndexMissing, UsageError.
        """
        with self._reader.snapshot() as snapshot:
            return [
                snapshot.connection.execute(f"{allowed} LIMIT 1", values).fetchone() is not None
                for allowed, values in map(select_rows, filters)
            ]

    @contextmanager
    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> Iterator[Writer]:
        """Return the only writer; see `Engine.writer`."""
        with self._lock():
            if rebuild:
                with self._rebuild(fingerprint) as writer:
                    yield writer
            else:
                with _write(self._places.folder, fingerprint) as writer:
                    yield writer

    def check(self) -> Sequence[str]:
        """Return one line per defect of the index; empty if it is sound. Raises: IndexMissing."""
        try:
            with self._reader.snapshot() as snapshot:
                return list(problems(snapshot))
        except IndexMissing:
            raise
        except EngineError as error:
            return [str(error)]

    def verify_chunks(self, sources: Sequence[str]) -> None:
        """Read the stored chunks of sources, whose pages carry checksums.

        Raises: IndexMissing, EngineError.
        """
        for _ in self._stream(conversion.CHUNKS_READ, (json.dumps([*sources]),)):
            pass

    def examine(self) -> Iterator[Finding]:
        """Check SQLite and the disk; see `Engine.examine`."""
        return examine(Path(self._options.url))

    def vectors(self) -> Iterator[tuple[str, Vectors]]:
        """Yield chunk ids and their vectors in the order of `chunks`. Raises: IndexMissing."""
        sql = "SELECT c.chunk_id, c.vector_row FROM chunks c JOIN documents d ON d.key = c.document"
        ordered = f"{sql} WHERE c.vector_row IS NOT NULL ORDER BY d.doc_id, c.ordinal"
        with self._reader.snapshot() as snapshot:
            vectors = snapshot.cache.vectors.read_all()
            found: list[Any] = snapshot.connection.execute(ordered).fetchall()
        yield from ((chunk_id, vectors[row]) for chunk_id, row in found)

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the stored vectors of texts, by text; see `Engine.vectors_of`."""
        try:
            with self._reader.snapshot() as snapshot:
                return snapshot.vectors_of(indexed_texts)
        except IndexMissing:
            return {}

    def info(self) -> StoredIndex:
        """Describe the index in use. Raises: IndexMissing, EngineError."""
        return indexes.read_stored_index(self._places)

    def indexes(self) -> Sequence[StoredIndex]:
        """Describe every index in the folder, by name; see `Engine.indexes`."""
        return tuple(indexes.describe_all(self._places))

    def create(self, fingerprint: Fingerprint) -> str:
        """Create an empty index next to the one in use; see `Engine.create`."""
        self.exists()  # raises if another program's folder or a damaged index is in the way
        with self._lock():
            indexes.drop_unfinished(self._places)
            places = Places(self._places.url, indexes.choose_free_name(self._places))
            with failures(places.folder, writing=True):
                make_folder(places.folder)
                make_file(places.unfinished)
            with _write(places.folder, fingerprint):
                return places.name

    def swap(self, name: str, since: int | None = None) -> str:
        """Exchange the names of two indexes; see `Engine.swap`."""
        other = indexes.find_existing(self._places.url, name)
        if other == self._places:
            raise swap_error(name)

        with self._lock(), indexes.lock_index(other, self._options.lock_wait_s):
            former = self.generation() if self.exists() else None
            require_generation(former or 0, since)
            indexes.raise_generation(other, former or 0)
            indexes.exchange(self._places, other)

        return "" if former is None else name

    def drop(self, name: str) -> None:
        """Delete an index; see `Engine.drop`."""
        places = indexes.find_existing(self._places.url, name)
        with indexes.lock_index(places, self._options.lock_wait_s):
            indexes.drop(places)

    def refresh(self) -> None:
        """Do nothing: stored documents are visible at once. Raises: IndexMissing."""
        self.generation()

    def close(self) -> None:
        """Close files and connections; the next use reopens them."""
        self._reader.close()

    def _stream(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """Yield rows of one state over a separate connection, so that slow readers block no one."""
        with read_once(self._places) as connection:
            yield from connection.execute(sql, tuple(values))

    def _lock(self) -> AbstractContextManager[None]:
        return indexes.lock_index(self._places, self._options.lock_wait_s)

    @contextmanager
    def _rebuild(self, fingerprint: Fingerprint) -> Iterator[EmbeddedWriter]:
        places = self._places
        require_replaceable(places.folder)

        try:
            with _write(places.new, fingerprint, self._former_generation() + 1) as writer:
                yield writer
            with failures(places.folder, writing=True):
                if places.folder.exists():
                    places.folder.rename(places.old)
                places.new.rename(places.folder)
                indexes.discard(places.old)
        finally:
            indexes.discard(places.new)

    def _former_generation(self) -> int:
        try:
            return self.generation()
        except EngineError:
            return 0


@contextmanager
def _write(folder: Path, fingerprint: Fingerprint, generation: int = 0) -> Iterator[EmbeddedWriter]:
    with closing(open_writing(folder, fingerprint, generation)) as connection:
        writer = EmbeddedWriter(connection, folder)
        yield writer
        writer.finish()
