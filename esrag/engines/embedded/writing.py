"""The only writer: vectors go to disk first, then one transaction refers to them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from esrag.engines import Prepared, Vectors
from esrag.engines.embedded import conversion
from esrag.engines.embedded.databases import value
from esrag.engines.embedded.index_folder import State, failures, state, transaction
from esrag.engines.embedded.searching import EVERYWHERE
from esrag.engines.embedded.vector_file import BLOCK_ROWS, map_vectors, update_checksums, write
from esrag.engines.preconditions import check_rows, text_hash
from esrag.records import StoredDocument

_OF_ID = "doc_id = ?1"
_OF_FORMER = """
    source IN (SELECT json_extract(value, '$[0]') FROM json_each(?1))
    AND (source, source_sha256) NOT IN
        (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?1))
"""
_LIVE_ROWS = 'SELECT "row", vector_row FROM chunks WHERE vector_row IS NOT NULL ORDER BY vector_row'


class EmbeddedWriter:
    """Writer of documents; see `Writer` for the contract."""

    def __init__(self, connection: apsw.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._drop_leftovers()

    def replace(self, documents: Sequence[Prepared]) -> Mapping[str, str]:
        """Store documents, all or none; none is refused. Raises: EngineError, IndexUnwritable."""
        if not documents:
            return {}

        with failures(self._folder, writing=True):
            now = state(self._connection)
            vectors = self._append_vectors(documents, now)
            with transaction(self._connection, "IMMEDIATE"):
                self._store(documents, vectors, now)
        return {}

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove documents, all or none. Raises: IndexUnwritable."""
        with failures(self._folder, writing=True), transaction(self._connection, "IMMEDIATE"):
            if sum(self._delete(_OF_ID, doc_id) for doc_id in doc_ids):
                self._advance(state(self._connection).vector_rows)

    def remove_former(self, sources: Mapping[str, str]) -> None:
        """Remove what was read from other bytes than these, all or nothing.

        Raises: IndexUnwritable.
        """
        with failures(self._folder, writing=True), transaction(self._connection, "IMMEDIATE"):
            if sources and self._delete(_OF_FORMER, json.dumps(list(sources.items()))):
                self._advance(state(self._connection).vector_rows)

    def finish(self) -> None:
        """Reclaim what deletions left: unreferenced facts, and vectors if most are unreferenced."""
        with failures(self._folder, writing=True):
            now = state(self._connection)
            live = value(self._connection, "SELECT count(vector_row) FROM chunks")
            if live * 2 < now.vector_rows:
                self._compact(now)
            self._connection.execute(
                "DELETE FROM facts WHERE key NOT IN (SELECT facts FROM chunks)"
            )
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _append_vectors(self, documents: Sequence[Prepared], now: State) -> Vectors:
        """Append the vectors of documents to their file, and return them.

        Rows that a crash leaves from here on are unreferenced; the next writer overwrites them.
        """
        dimensions = now.fingerprint.dimensions
        rows = [check_rows(each.vectors, len(each.chunks), dimensions) for each in documents]
        vectors = np.concatenate(rows)
        if dimensions:
            write(self._folder / now.vector_file, now.vector_rows, vectors)
        return vectors

    def _store(self, documents: Sequence[Prepared], vectors: Vectors, now: State) -> None:
        """Replace documents whose vectors were appended to the file."""
        first = now.vector_rows if now.fingerprint.dimensions else None
        for prepared in documents:
            self._delete(_OF_ID, prepared.document.doc_id)
            self._insert(prepared, first)
            first = None if first is None else first + len(prepared.chunks)

        if first is not None:
            self._sign(now.vector_rows, vectors)
        self._advance(first or 0)

    def _compact(self, now: State) -> None:
        """Copy the live vectors to a new file; readers keep the old one for now."""
        live: list[Any] = self._connection.execute(_LIVE_ROWS).fetchall()
        kept = np.array([vector_row for _, vector_row in live], dtype=np.int64)
        vectors = map_vectors(self._connection, self._folder, now).read_all()
        path = self._folder / _next_name(now.vector_file)

        for start in range(0, len(live), BLOCK_ROWS):
            write(path, start, vectors[kept[start : start + BLOCK_ROWS]])
        with transaction(self._connection, "IMMEDIATE"):
            self._point_to(path.name, [row for row, _ in live])
            for start in range(0, len(live), BLOCK_ROWS):
                self._sign(start, vectors[kept[start : start + BLOCK_ROWS]])
        self._drop_leftovers()

    def _point_to(self, vector_file: str, rows: Sequence[int]) -> None:
        """Let chunks find their vectors in a file that holds those of these rows, in order."""
        execute, many = self._connection.execute, self._connection.executemany
        execute("DELETE FROM vector_blocks")
        many('UPDATE chunks SET vector_row = ? WHERE "row" = ?', enumerate(rows))
        execute("UPDATE state SET vector_file = ?, vector_rows = ?", (vector_file, len(rows)))

    def _drop_leftovers(self) -> None:
        """Delete vector files left by compactions, finished or interrupted."""
        with failures(self._folder, writing=True):
            current = state(self._connection).vector_file
            for path in self._folder.glob("vectors-*.f32"):
                if path.name != current:
                    path.unlink()

    def _delete(self, which: str, wanted: str) -> int:
        """Remove documents; return 0 if there were none, else 1.

        `which` is one of the conditions above.
        """
        keys = f"SELECT key FROM documents WHERE {which}"  # noqa: S608 -- a constant
        if not self._connection.execute(f"{keys} LIMIT 1", (wanted,)).fetchone():
            return 0

        chunks = f'SELECT "row" FROM chunks WHERE document IN ({keys})'  # noqa: S608 -- a constant
        for table, rows_of in (
            ("words", f"rowid IN ({chunks})"),
            ("passages", f'"row" IN ({chunks})'),
            ("chunks", f"document IN ({keys})"),
            ("documents", which),
        ):
            self._connection.execute(f"DELETE FROM {table} WHERE {rows_of}", (wanted,))  # noqa: S608

        return 1

    def _insert(self, prepared: Prepared, first_vector: int | None) -> None:
        document = self._insert_document(prepared.document)
        first = value(self._connection, 'SELECT coalesce(max("row"), 0) + 1 FROM chunks')
        links = list(self._link(prepared, first_vector))
        rows = (
            (
                first + index,
                chunk.chunk_id,
                document,
                *conversion.chunk_row(chunk),
                *links[index],
                chunk.context,
                conversion.encode_breaks(chunk.breaks),
            )
            for index, chunk in enumerate(prepared.chunks)
        )

        marks = ", ".join("?" * 17)
        self._connection.executemany(f"INSERT INTO chunks VALUES ({marks})", rows)  # noqa: S608 -- question marks
        self._insert_texts(prepared, first)

    def _insert_texts(self, prepared: Prepared, first: int) -> None:
        """Store the texts of chunks, whose rows begin at `first`, and their words."""
        passages = ((first + i, chunk.text) for i, chunk in enumerate(prepared.chunks))
        words = (
            (first + i, " ".join((EVERYWHERE, *prepared.find_terms(i))))
            for i in range(len(prepared.chunks))
        )
        many = self._connection.executemany
        many("INSERT INTO passages VALUES (?, ?)", passages)
        many("INSERT INTO words (rowid, terms) VALUES (?, ?)", words)

    def _insert_document(self, document: StoredDocument) -> int:
        """Store a document's record and return its key."""
        values = conversion.document_row(document)
        marks = ", ".join("?" * len(values))
        sql = f"INSERT INTO documents ({conversion.DOCUMENT_COLUMNS}) VALUES ({marks})"  # noqa: S608 -- a constant
        self._connection.execute(sql, values)
        return self._connection.last_insert_rowid()

    def _link(
        self, prepared: Prepared, first_vector: int | None
    ) -> Iterator[tuple[int, str, int | None]]:
        """Yield, for each chunk, the key of its facts, the hash of its text and its vector's row.

        Facts that are not known yet are stored.
        """
        keys: dict[str, int] = {}
        for index, (chunk, text) in enumerate(
            zip(prepared.chunks, prepared.indexed_texts, strict=True)
        ):
            facts = conversion.encode_json({**prepared.document.metadata, **chunk.metadata})
            if facts not in keys:
                keys[facts] = self._store_facts(facts)
            vector_row = None if first_vector is None else first_vector + index
            yield keys[facts], text_hash(text), vector_row

    def _store_facts(self, encoded: str) -> int:
        self._connection.execute(
            "INSERT INTO facts (facts) VALUES (?) ON CONFLICT DO NOTHING", (encoded,)
        )
        key: int = value(self._connection, "SELECT key FROM facts WHERE facts = ?", (encoded,))
        return key

    def _sign(self, row: int, vectors: Vectors) -> None:
        """Store the checksums of vectors that were written at a row number."""
        begun = self._connection.execute(
            "SELECT block, checksum FROM vector_blocks WHERE block = ?", (row // BLOCK_ROWS,)
        )
        changed = update_checksums(dict(begun), row, vectors)
        self._connection.executemany(
            "INSERT OR REPLACE INTO vector_blocks VALUES (?, ?)", changed.items()
        )

    def _advance(self, vector_rows: int) -> None:
        self._connection.execute(
            "UPDATE state SET generation = generation + 1, vector_rows = ?", (vector_rows,)
        )


def _next_name(vector_file: str) -> str:
    """Return the name that follows in the numbering of vector files.

    >>> _next_name("vectors-0.f32")
    'vectors-1.f32'
    """
    number = int(vector_file.removeprefix("vectors-").removesuffix(".f32"))
    return f"vectors-{number + 1}.f32"
