"""SQLite files with page checksums, including those on read-only or full disks.

SQLite itself would take a flipped bit for content. The checksums are those of its extension
cksumvfs, which APSW includes: eight bytes at the end of each page, written with the page and
verified on every read.

A database in WAL mode can be read if its log and the log's index exist or can be created.
Otherwise, if no log is pending, SQLite reads the file alone, opened as immutable. Another program
may still write to it, for example in another user's folder, so this is checked after each read.
"""

from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import apsw
import apsw.sqlite_extra

from esrag.errors import EngineError
from esrag.private import make_file

REPLAY_HINT = "changes wait in its log: run esrag doctor where there is room and it can be written"
CHECKSUM_BYTES = 8
_VFS = "cksmvfs"
_WAIT_S = 30  # for another program's write, which takes milliseconds
_REFUSED = {apsw.SQLITE_CANTOPEN, apsw.SQLITE_READONLY}
_NO_ROOM = {apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP}

C = TypeVar("C", bound=apsw.Connection)


class ImmutableConnection(apsw.Connection):
    """A connection that sees no change of its file; check `is_current` after reading."""

    file: Path
    opened: tuple[int, ...]

    def is_current(self) -> bool:
        """Return whether nothing has been written since the connection was opened."""
        return self.opened == _stamp(self.file)


def connect(file: Path, mode: str) -> apsw.Connection:
    """Connect to a database in SQLite's `mode`: ro, rw, or rwc, which creates a private file.

    Raises: apsw.Error, OSError.
    """
    if mode == "rwc":
        make_file(file)
    return _connect(file, f"mode={mode}", apsw.Connection)


def connect_immutable(file: Path, error: apsw.Error) -> ImmutableConnection:
    """Connect read-only to a database for which SQLite could not create its WAL files.

    Re-raises `error` if that would not help.
    """
    opened = _stamp(file)  # first: a reader sees a log that appears later
    if (result(error) not in _REFUSED and not has_no_room(error)) or any(opened[-1:]):
        raise error
    connection = _connect(file, "mode=ro&immutable=1", ImmutableConnection)
    connection.file, connection.opened = file, opened
    return connection


def use_checksums(connection: apsw.Connection) -> None:
    """Enable page checksums in an empty database. Raises: apsw.Error."""
    connection.reserve_bytes("main", CHECKSUM_BYTES)


def has_checksums(connection: apsw.Connection) -> bool:
    """Return whether the pages carry checksums and SQLite verifies them. Raises: apsw.Error."""
    return bool(value(connection, "PRAGMA checksum_verification") == "1")


def has_tables(connection: apsw.Connection) -> bool:
    """Return whether the database contains any table. Raises: apsw.Error."""
    return bool(value(connection, "SELECT EXISTS (SELECT 1 FROM sqlite_schema)"))


def value(connection: apsw.Connection, sql: str, bound: Sequence[object] = ()) -> Any:
    """Return the first value of a query's first row, or None. Raises: apsw.Error."""
    row = connection.execute(sql, tuple(bound)).fetchone()
    return row[0] if row else None


def result(error: apsw.Error) -> int:
    """Return SQLite's primary result code of an error."""
    return int(getattr(error, "result", apsw.SQLITE_ERROR)) & 0xFF


def has_no_room(error: apsw.Error) -> bool:
    """Return whether the index of a log could not be created, as on a full disk."""
    return getattr(error, "extendedresult", 0) in _NO_ROOM


def has_wrong_checksum(error: apsw.Error) -> bool:
    """Return whether a page does not match its checksum."""
    return bool(getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA)


def is_outdated(connection: apsw.Connection) -> bool:
    """Return whether an immutable connection has missed a change."""
    return isinstance(connection, ImmutableConnection) and not connection.is_current()


def log_bytes(file: Path) -> int:
    """Return the length of a database's log, or 0 without a log."""
    try:
        return file.with_name(f"{file.name}-wal").stat().st_size
    except OSError:
        return 0


def _connect(file: Path, parameters: str, kind: type[C]) -> C:
    _register()
    flags = apsw.SQLITE_OPEN_URI | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = kind(f"{file.absolute().as_uri()}?{parameters}", flags=flags, vfs=_VFS)
    connection.set_busy_timeout(1000 * _WAIT_S)
    return connection


@cache
def _register() -> None:
    """Register cksumvfs with SQLite, once per process. Raises: EngineError."""
    if not apsw.sqlite_extra.has("cksumvfs"):
        hint = "install it from PyPI: pip install --force-reinstall apsw"
        raise EngineError("the installed APSW lacks SQLite's extension cksumvfs", hint=hint)
    with closing(apsw.Connection(":memory:")) as connection:
        apsw.sqlite_extra.load(connection, "cksumvfs")


def _stamp(file: Path) -> tuple[int, ...]:
    """Return values that change when the file is written; empty if the file is gone."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, log_bytes(file)
