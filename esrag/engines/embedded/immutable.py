"""SQLite files where nothing can be written: on a read-only or a full disk, or in another user's folder.

A database with a log can be read where the log and its index are, or can be made. Where they cannot, and no log waits,
SQLite reads the file itself if it is told that nobody writes it. Somebody else still may, so that is looked at.
"""

import sqlite3
from pathlib import Path

REPLAY_HINT = "changes wait in its log: run esrag doctor where there is room and it can be written"
_REFUSED = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}
_NO_ROOM = {sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMMAP}


class ImmutableConnection(sqlite3.Connection):
    """A connection that sees no change of its file; what it read is true if the file `is_current` afterwards."""

    file: Path
    opened: tuple[int, ...]

    def is_current(self) -> bool:
        """Whether nobody has written since it was opened."""
        return self.opened == _stamp(self.file)


def connect_immutable(file: Path, error: sqlite3.OperationalError) -> ImmutableConnection:
    """The connection that is left where SQLite could not make its files beside a database; else raises the error."""
    opened = _stamp(file)  # first: a log that comes after it is seen by whoever reads
    if (error.sqlite_errorcode & 0xFF not in _REFUSED and not has_no_room(error)) or any(opened[-1:]):
        raise error
    uri = f"{file.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, factory=ImmutableConnection
    )
    connection.file, connection.opened = file, opened
    return connection


def has_no_room(error: sqlite3.Error) -> bool:
    """Whether the index of a log could not be made, as on a full disk."""
    return getattr(error, "sqlite_errorcode", 0) in _NO_ROOM


def is_outdated(connection: sqlite3.Connection) -> bool:
    """Whether a connection that sees no change has missed one."""
    return isinstance(connection, ImmutableConnection) and not connection.is_current()


def log_bytes(file: Path) -> int:
    """How long the log beside a database is; 0 where there is none."""
    try:
        return file.with_name(f"{file.name}-wal").stat().st_size
    except OSError:
        return 0


def _stamp(file: Path) -> tuple[int, ...]:
    """What changes when the file is written; nothing where it is gone."""
    try:
        found = file.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, log_bytes(file)
