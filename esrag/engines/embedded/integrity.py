"""Integrity checks of an index."""

from collections.abc import Iterator

from esrag.engines.embedded.databases import value
from esrag.engines.embedded.snapshots import Snapshot

_EQUAL_COUNTS = {
    "chunks without a passage": (
        'SELECT count(*) FROM chunks WHERE "row" NOT IN (SELECT "row" FROM passages)'
    ),
    "passages without a chunk": (
        'SELECT count(*) FROM passages WHERE "row" NOT IN (SELECT "row" FROM chunks)'
    ),
    "chunks without words": (
        'SELECT count(*) FROM chunks WHERE "row" NOT IN (SELECT id FROM words_docsize)'
    ),
    "words without a chunk": (
        'SELECT count(*) FROM words_docsize WHERE id NOT IN (SELECT "row" FROM chunks)'
    ),
    "chunks without a document": (
        "SELECT count(*) FROM chunks WHERE document NOT IN (SELECT key FROM documents)"
    ),
    "chunks without facts": (
        "SELECT count(*) FROM chunks WHERE facts NOT IN (SELECT key FROM facts)"
    ),
    "chunks that share a vector": (
        "SELECT count(vector_row) - count(DISTINCT vector_row) FROM chunks"
    ),
    "vectors beyond the end": "SELECT count(*) FROM chunks, state WHERE vector_row >= vector_rows",
    "chunks with a vector too many or too few": (
        "SELECT count(*) FROM chunks, state WHERE (dimensions > 0) <> (vector_row IS NOT NULL)"
    ),
    "documents that lack chunks": (
        "SELECT count(*) FROM documents d WHERE chunk_count <> (SELECT count(*) FROM chunks "
        "WHERE document = d.key)"
    ),
}


def problems(snapshot: Snapshot) -> Iterator[str]:
    """Yield one line per kind of damage."""
    # FTS5 reloads its structure after another connection's write when it is searched, but not when
    # it is checked. SQLite (at least from 3.46 on) would report an index as damaged if another
    # connection has written to it since.
    snapshot.connection.execute("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").fetchone()
    for (line,) in snapshot.connection.execute("PRAGMA integrity_check(10)"):
        if line != "ok":
            yield f"the database is damaged: {line}"
    for what, sql in _EQUAL_COUNTS.items():
        if count := value(snapshot.connection, sql):
            yield f"{count} {what}"
    vectors = snapshot.cache.vectors
    for block in vectors.find_damaged_blocks():
        yield f"the checksum of block {block} of {vectors.path.name} is wrong"
