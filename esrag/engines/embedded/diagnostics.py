"""Diagnostics of an index in a folder: full-text search in SQLite, and free disk space."""

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw

from esrag.engines import Finding
from esrag.engines.embedded.databases import value

MIN_FREE_BYTES = 2**30


def examine(folder: Path) -> Iterator[Finding]:
    """Yield a finding on SQLite, then one on the disk that holds or will hold `folder`."""
    yield _full_text()
    yield _free_space(folder)


def _full_text() -> Finding:
    with closing(apsw.Connection(":memory:")) as connection:
        with_fts5 = value(connection, "SELECT sqlite_compileoption_used('ENABLE_FTS5')")
    version = f"SQLite {apsw.sqlite_lib_version()}"
    if with_fts5:
        return Finding("ok", f"{version} with full-text search")
    return Finding(
        "error",
        f"{version} lacks FTS5",
        "install APSW from PyPI: pip install --force-reinstall apsw",
    )


def _free_space(folder: Path) -> Finding:
    free, place = next(_measure_free(folder.absolute()))
    what = f"{free / 2**30:.1f} GiB free at {place}"
    if free >= MIN_FREE_BYTES:
        return Finding("ok", what)
    return Finding("warning", what, "make room before a large ingest")


def _measure_free(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the free bytes at a folder and at those above it, as far as they can be looked at."""
    for place in (folder, *folder.parents):
        with suppress(OSError):
            yield shutil.disk_usage(place).free, place
