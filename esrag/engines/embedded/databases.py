"""SQLite files whose pages carry checksums, also on a read-only or a full disk, or in another user's folder.

SQLite itself would take a flipped bit for content. The checksums are those of its extension cksumvfs, which comes with
APSW: eight bytes at the end of each page, written with it and verified whenever it is read.

A database with a log can be read if the log and its index are there or can be made. Otherwise, if no log waits, SQLite
reads the file directly if it is marked as immutable. Another program may still write it, so that is checked.
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
_WAIT_S = 30  # for another program's write; one takes milliseconds
_REFUSED = {apsw.SQLITE_CANTOPEN, apsw.SQLITE_READONLY}
_NO_ROOM = {apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP}

C = TypeVar("C", bound=apsw.Connection)


class ImmutableConnection(apsw.Connection):
    """A connection that sees no change of its file; what it read is true if the file `is_current` afterwards."""

    file: Path
    opened: tuple[int, ...]

    def is_current(self) -> bool:
        """Whether the file is unchanged since it was opened."""
        return self.opened == _stamp(self.file)


def connect(file: Path, mode: str) -> apsw.Connection:
    """Connect to a database by SQLite's `mode`: ro, rw, or rwc, which makes a private file.

    Raises: apsw.Error, OSError.
    """
    if mode == "rwc":
        make_file(file)
    return _connect(file, f"mode={mode}", apsw.Connection)


def connect_immutable(file: Path, error: apsw.Error) -> ImmutableConnection:
    """Connect to a database in a folder where SQLite could not create its files, or raise the error again."""
    opened = _stamp(file)  # first: a reader sees a log that appears later
    if (result(error) not in _REFUSED and not has_no_room(error)) or any(opened[-1:]):
        raise error
    connection = _connect(file, "mode=ro&immutable=1", ImmutableConnection)
    connection.file, connection.opened = file, opened
    return connection


def use_checksums(connection: apsw.Connection) -> None:
    """Let the pages of an empty database carry checksums. Raises: apsw.Error."""
    connection.reserve_bytes("main", CHECKSUM_BYTES)


def has_checksums(connection: apsw.Connection) -> bool:
    """Return whether the pages carry checksums that are verified. Raises: apsw.Error."""
    return bool(value(connection, "PRAGMA checksum_verification") == "1")


def has_tables(connection: apsw.Connection) -> bool:
    """Return whether the database holds anything. Raises: apsw.Error."""
    return bool(value(connection, "SELECT EXISTS (SELECT 1 FROM sqlite_schema)"))


def value(connection: apsw.Connection, sql: str, bound: Sequence[object] = ()) -> Any:
    """Return the first value of a query's first row; None without rows. Raises: apsw.Error."""
    row = connection.execute(sql, tuple(bound)).fetchone()
    return row[0] if row else None


def result(error: apsw.Error) -> int:
    """Return SQLite's primary result code of an error."""
    return int(getattr(error, "result", apsw.SQLITE_ERROR)) & 0xFF


def has_no_room(error: apsw.Error) -> bool:
    """Return whether the index of a log could not be made, as on a full disk."""
    return getattr(error, "extendedresult", 0) in _NO_ROOM


def has_wrong_checksum(error: apsw.Error) -> bool:
    """Return whether a page was not as it had been written."""
    return bool(getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA)


def is_outdated(connection: apsw.Connection) -> bool:
    """Return whether a connection that sees no change has missed one."""
    return isinstance(connection, ImmutableConnection) and not connection.is_current()


def log_bytes(file: Path) -> int:
    """Return the length of a database's write-ahead log; 0 without one."""
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
    """Make cksumvfs known to SQLite, once a process. Raises: EngineError."""
    if not apsw.sqlite_extra.has("cksumvfs"):
        hint = "install it from PyPI: pip install --force-reinstall apsw"
        raise EngineError("the installed APSW lacks SQLite's extension cksumvfs", hint=hint)
    with closing(apsw.Connection(":memory:")) as connection:
        apsw.sqlite_extra.load(connection, "cksumvfs")


def _stamp(file: Path) -> tuple[int, ...]:
    """What changes when the file is written; nothing where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, log_bytes(file)
