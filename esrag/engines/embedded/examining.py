"""What an index in a folder stands on: SQLite with full-text search, and room on the disk."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from esrag.engines import Finding

LEAST_FREE_BYTES = 2**30


def examine(folder: Path) -> Iterator[Finding]:
    """A finding on SQLite, then one on the disk that `folder` is on, or will be."""
    yield _full_text()
    yield _free_space(folder)


def _full_text() -> Finding:
    with closing(sqlite3.connect(":memory:")) as connection:
        (with_fts5,) = connection.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    version = f"SQLite {sqlite3.sqlite_version}"
    if with_fts5:
        return Finding("ok", f"{version} with full-text search")
    return Finding("error", f"{version} lacks FTS5", "use a Python whose sqlite3 has it")


def _free_space(folder: Path) -> Finding:
    folder = folder.absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    what = f"{free / 2**30:.1f} GiB free at {folder}"
    if free >= LEAST_FREE_BYTES:
        return Finding("ok", what)
    return Finding("warning", what, "make room before a large ingest")
