"""The embedded engine: one folder an index, SQLite for words and records, a flat file for vectors, no server."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from esrag.engines import EngineOptions, SearchRequest, SearchResult, Writer
from esrag.engines.embedded import rows
from esrag.engines.embedded.checking import problems
from esrag.engines.embedded.reading import Reader
from esrag.engines.embedded.searching import search
from esrag.engines.embedded.store import (
    Places,
    failures,
    is_ours_by_names,
    open_reading,
    open_writing,
    require_replaceable,
    transaction,
)
from esrag.engines.embedded.where import allowed_rows
from esrag.engines.embedded.writing import EmbeddedWriter
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing
from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, StoredDocument


class EmbeddedEngine:
    """An index in a folder of its own, `url`/`index`; see `Engine` for the promises."""

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._places = Places(Path(options.url), options.index)
        self._reader = Reader(self._places)

    def exists(self) -> bool:
        """Whether anything was ever ingested here. Raises: IndexMismatch where the folder is another program's."""
        try:
            self.generation()
        except IndexMissing:
            return False
        return True

    def fingerprint(self) -> Fingerprint:
        """What the index was made with. Raises: IndexMissing."""
        with self._reader.snapshot() as snapshot:
            return snapshot.cache.state.fingerprint

    def generation(self) -> int:
        """A number that grows with every change of content. Raises: IndexMissing."""
        with self._reader.snapshot() as snapshot:
            return snapshot.cache.state.generation

    def documents(self) -> Iterator[StoredDocument]:
        """What is stored, by doc_id. Raises: IndexMissing."""
        sql = f"SELECT {rows.DOCUMENT_COLUMNS} FROM documents ORDER BY doc_id"  # noqa: S608 -- a constant
        return map(rows.document, self._streamed(sql))

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Chunks by document and position. Raises: IndexMissing, UsageError."""
        allowed, values = allowed_rows(filter) if filter is not None else ('SELECT "row" FROM chunks', ())
        sql = f'{rows.CHUNK_SELECT} WHERE c."row" IN ({allowed}) ORDER BY d.doc_id, c.ordinal'
        return map(rows.chunk, self._streamed(sql, values))

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """The chunks up to `window` before and after it in its document, in order, itself left out."""
        near = "d.doc_id = ? AND c.ordinal BETWEEN ? AND ? AND c.ordinal <> ?"
        sql = f"{rows.CHUNK_SELECT} WHERE {near} ORDER BY c.ordinal"
        values = (chunk.doc_id, chunk.ordinal - window, chunk.ordinal + window, chunk.ordinal)
        with self._reader.snapshot() as snapshot:
            return [rows.chunk(row) for row in snapshot.connection.execute(sql, values)]

    def search(self, request: SearchRequest) -> SearchResult:
        """Both legs, the filter and the fusion. Raises: IndexMissing, EngineError, UsageError."""
        with self._reader.snapshot() as snapshot:
            return search(snapshot, request)

    @contextmanager
    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> Iterator[Writer]:
        """The one writer; see `Engine.writer`."""
        with self._locked():
            self._mend()
            if rebuild:
                with self._rebuilding(fingerprint) as writer:
                    yield writer
            else:
                with _writing(self._places.folder, fingerprint) as writer:
                    yield writer

    def check(self) -> Sequence[str]:
        """What is wrong with the index, a line each; empty when it is sound. Raises: IndexMissing."""
        try:
            with self._reader.snapshot() as snapshot:
                return list(problems(snapshot))
        except IndexMissing:
            raise
        except EngineError as error:
            return [str(error)]

    def close(self) -> None:
        """Lets go of files and connections; the next use opens them again."""
        self._reader.close()

    def _streamed(self, sql: str, values: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """Rows of one state, over a connection of their own: whoever reads slowly holds up nobody."""
        places = self._places
        with failures(places.folder), closing(open_reading(places.current())) as connection, transaction(connection):
            yield from connection.execute(sql, tuple(values))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        folder, wait_s = self._places.folder, self._options.lock_wait_s
        lock = FileLock(self._places.lock, timeout=wait_s)
        with failures(folder, writing=True):
            self._places.url.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire()
            except Timeout as error:
                hint = "wait for it to end, or raise engine.lock_wait_s"
                raise IndexBusy(f"another program has been writing {folder} for {wait_s:g} s", hint=hint) from error
        try:
            yield
        finally:
            lock.release()

    def _mend(self) -> None:
        """Ends a rebuild that was killed: the former index is put back or dropped, the unfinished one dropped."""
        with failures(self._places.folder, writing=True):
            if self._places.old.exists() and not self._places.folder.exists():
                self._places.old.rename(self._places.folder)
            _discard(self._places.old)
            _discard(self._places.new)

    @contextmanager
    def _rebuilding(self, fingerprint: Fingerprint) -> Iterator[EmbeddedWriter]:
        places = self._places
        require_replaceable(places.folder)
        try:
            with _writing(places.new, fingerprint, self._former_generation() + 1) as writer:
                yield writer
            with failures(places.folder, writing=True):
                if places.folder.exists():
                    places.folder.rename(places.old)
                places.new.rename(places.folder)
                _discard(places.old)
        finally:
            _discard(places.new)

    def _former_generation(self) -> int:
        try:
            return self.generation()
        except EngineError:
            return 0


@contextmanager
def _writing(folder: Path, fingerprint: Fingerprint, generation: int = 0) -> Iterator[EmbeddedWriter]:
    with closing(open_writing(folder, fingerprint, generation)) as connection:
        writer = EmbeddedWriter(connection, folder)
        yield writer
        writer.finish()


def _discard(folder: Path) -> None:
    if folder.exists():
        if not is_ours_by_names(folder):
            hint = "move it away, or choose another engine.url"
            raise IndexMismatch(f"{folder} holds something that is not an index of esrag", hint=hint)
        shutil.rmtree(folder)
