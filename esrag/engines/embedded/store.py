"""The index folder: its files, connections to its database, and what each failure means to the user."""

import errno
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

import apsw

from esrag.engines.embedded.databases import (
    REPLAY_HINT,
    connect,
    connect_immutable,
    has_checksums,
    has_no_room,
    has_tables,
    has_wrong_checksum,
    is_outdated,
    log_bytes,
    result,
    use_checksums,
    value,
)
from esrag.engines.preconditions import REBUILD_HINT, first_generation, require_same
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing, IndexUnwritable
from esrag.private import make_folder
from esrag.records import Fingerprint

DATABASE = "index.sqlite3"
APPLICATION_ID = 1702064743
SCHEMA_VERSION = 2
_ROOM_HINT = "make room on the disk and run the same command again; what was stored stays"
_WRITABLE_HINT = "make it writable, or choose another folder with --engine"
_AGAIN_HINT = "try again in a moment"
_PERMISSIONS_HINT = "look at its permissions, and at those of the folders above it"
_UNWRITABLE = {apsw.SQLITE_READONLY, apsw.SQLITE_FULL, apsw.SQLITE_PERM, apsw.SQLITE_IOERR, apsw.SQLITE_CANTOPEN}
_BROKEN = {apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB, apsw.SQLITE_ERROR, apsw.SQLITE_IOERR}
# What reading a value that is not of its type, or not there, raises in Python.
_UNREADABLE = (LookupError, TypeError, ValueError, OverflowError, struct.error)
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class State:
    """The one row of the table `state`."""

    fingerprint: Fingerprint
    generation: int
    vector_file: str
    vector_rows: int


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of an index. The hidden ones cannot be another index's: a name does not start with a dot."""

    url: Path
    name: str

    @property
    def folder(self) -> Path:
        """Where the index is."""
        return self.url / self.name

    @property
    def new(self) -> Path:
        """Where a rebuild writes."""
        return self.url / f".{self.name}.new"

    @property
    def old(self) -> Path:
        """Where the former index waits while the new one takes its place."""
        return self.url / f".{self.name}.old"

    @property
    def lock(self) -> Path:
        """The writers' lock."""
        return self.url / f".{self.name}.lock"

    @property
    def unfinished(self) -> Path:
        """The mark of an index that is being filled, to take another's place."""
        return self.folder / f"{DATABASE}-unfinished"

    def set_aside(self, other: str) -> Path:
        """Where the index waits while another takes its place, whose name it gets; no name has capitals."""
        return self.url / f".{self.name}.FOR.{other}"

    def cut_short(self) -> Iterator[tuple[Path, Path]]:
        """What a swap that was killed left: where the former index waits, and what is to be its place."""
        for path in filter(is_ours_by_names, self.url.glob(f".{self.name}.FOR.*")):
            yield path, self.url / path.name.partition(".FOR.")[2]

    def current(self) -> Path:
        """The folder to read: the index, or its former self if its place was to be taken and that was cut short."""
        if self.folder.exists():
            return self.folder
        waiting = (path for path in (self.old, *(path for path, _ in self.cut_short())) if path.exists())
        return next(waiting, self.folder)


def identity(folder: Path) -> tuple[int, int] | None:
    """Return the identity of the folder's database file; None without a database."""
    try:
        found = (folder / DATABASE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def open_reading(folder: Path) -> apsw.Connection:
    """A connection that cannot write. Raises: IndexMissing, IndexMismatch, EngineError."""
    _require_database(folder)
    with failures(folder):
        try:
            return _checked(_connect(folder, "ro"), folder)
        except apsw.Error as error:
            return _checked(connect_immutable(folder / DATABASE, error), folder)


def open_writing(folder: Path, fingerprint: Fingerprint, generation: int = 0) -> apsw.Connection:
    """A connection that may write; an empty folder gets the tables. Raises: IndexMismatch, IndexUnwritable."""
    if folder.exists() and not is_ours_by_names(folder):
        _refuse_foreign(folder)
    with failures(folder, writing=True):
        make_folder(folder)
        connection = _connect(folder, "rwc")
        try:
            if not has_tables(connection):
                _require_new(folder)
                _create(connection, fingerprint, generation)
            _require_ours(connection, folder)
            require_same(state(connection).fingerprint, fingerprint)
            connection.execute("PRAGMA journal_mode = WAL")  # a write, so that a read-only disk is found out here
        except BaseException:
            connection.close()
            raise
    return connection


def state(connection: apsw.Connection) -> State:
    """What the index says of itself."""
    sql = "SELECT model, dimensions, chunker, generation, vector_file, vector_rows FROM state"
    model, dimensions, chunker, generation, vector_file, vector_rows = next(connection.execute(sql))
    return State(Fingerprint(model, dimensions, chunker), generation, vector_file, vector_rows)


@contextmanager
def transaction(connection: apsw.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """All or nothing; for a reader, one snapshot."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, apsw.Error):  # what was torn may look damaged
            _require_current(connection)
        raise
    _require_current(connection)


def _require_current(connection: apsw.Connection) -> None:
    if is_outdated(connection):
        raise IndexBusy("the index was written while it was read", hint=_AGAIN_HINT)


@contextmanager
def failures(folder: Path, *, writing: bool = False) -> Iterator[None]:
    """Turns what SQLite and the disk say into the errors of the contract."""
    try:
        yield
    except apsw.Error as error:
        _explain_sqlite(error, folder, writing=writing)
    except OSError as error:
        _explain_disk(error, folder, writing=writing)
    except UnicodeEncodeError as error:
        raise EngineError(f"text with a lone surrogate cannot be stored or searched: {error.reason}") from error
    except _UNREADABLE as error:
        raise damage_error(folder, f"{type(error).__name__}: {error}") from error


def damage_error(place: Path, what: str) -> EngineError:
    """Return the error of an index whose files are not as they had been written."""
    return EngineError(f"the index in {place} is damaged: {' '.join(what.split())}", hint=REBUILD_HINT)


def is_ours_by_names(folder: Path) -> bool:
    """Whether the folder holds nothing but what an index may hold."""
    if not folder.is_dir():
        return False
    return all(path.name.startswith((DATABASE, "vectors-")) and path.is_file() for path in folder.iterdir())


def require_replaceable(folder: Path) -> None:
    """That a rebuild may put another index in the folder's place. Raises: IndexMismatch for another program's."""
    if folder.exists() and not is_ours_by_names(folder):
        _refuse_foreign(folder)
    if identity(folder):
        # A broken database cannot say whose it is; under our names in our place it is what a rebuild is for.
        with suppress(apsw.Error), closing(_connect(folder, "ro")) as connection:
            _require_application(connection, folder)


def _connect(folder: Path, mode: str) -> apsw.Connection:
    connection = connect(folder / DATABASE, mode)
    # FULL: a compaction removes the old vector file after its commit, so that commit must survive a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _create(connection: apsw.Connection, fingerprint: Fingerprint, generation: int) -> None:
    use_checksums(connection)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    schema = (files("esrag.mappings") / "embedded.sql").read_text(encoding="utf-8")
    connection.execute(f"BEGIN IMMEDIATE;\n{schema}").fetchall()
    sql = "INSERT INTO state VALUES (1, ?, ?, ?, ?, 'vectors-0.f32', 0)"
    first = first_generation(generation)
    connection.execute(sql, (fingerprint.model, fingerprint.dimensions, fingerprint.chunker, first))
    connection.execute("COMMIT")


def _checked(connection: apsw.Connection, folder: Path) -> apsw.Connection:
    """The connection, if what it reads is ours; else it is closed."""
    try:
        _require_ours(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_database(folder: Path) -> None:
    if identity(folder):
        return
    if folder.is_file() or (folder.is_dir() and not is_ours_by_names(folder)):
        _refuse_foreign(folder)
    raise IndexMissing(f"there is no index in {folder}", hint="make one with: esrag ingest FOLDER")


def _require_ours(connection: apsw.Connection, folder: Path) -> None:
    if not has_tables(connection):
        _require_new(folder)
        hint = "make it with: esrag ingest FOLDER"
        raise IndexMissing(f"the index in {folder} is empty: its making was cut short", hint=hint)

    _require_application(connection, folder)
    version = value(connection, "PRAGMA user_version")

    if version != SCHEMA_VERSION:
        age, hint = (
            ("a newer", f"upgrade esrag, or {REBUILD_HINT}") if version > SCHEMA_VERSION else ("an older", REBUILD_HINT)
        )
        message = f"the index in {folder} was made by {age} esrag: version {version}, this one reads {SCHEMA_VERSION}"
        raise IndexMismatch(message, hint=hint)
    if not has_checksums(connection):
        raise damage_error(folder, "its pages carry no checksums")


def _require_new(folder: Path) -> None:
    """Raise EngineError if a database without tables once had some, as its vector file shows."""
    if any(folder.glob("vectors-*")):
        raise damage_error(folder, f"{DATABASE} is empty")


def _require_application(connection: apsw.Connection, folder: Path) -> None:
    if value(connection, "PRAGMA application_id") != APPLICATION_ID and has_tables(connection):
        _refuse_foreign(folder)


def _refuse_foreign(folder: Path) -> NoReturn:
    hint = "choose another engine.url or engine.index"
    raise IndexMismatch(f"{folder} holds something that is not an index of esrag", hint=hint)


def _explain_sqlite(error: apsw.Error, folder: Path, *, writing: bool) -> NoReturn:
    if has_wrong_checksum(error):
        raise damage_error(folder, "the checksum of a page is wrong") from error

    code = result(error)
    if code in {apsw.SQLITE_BUSY, apsw.SQLITE_LOCKED}:
        raise IndexBusy(f"the index in {folder} is held by another program", hint=_AGAIN_HINT) from error
    if writing and code in _UNWRITABLE:
        hint = _ROOM_HINT if code in {apsw.SQLITE_FULL, apsw.SQLITE_IOERR} else _WRITABLE_HINT
        raise IndexUnwritable(f"cannot write the index in {folder}: {error}", hint=hint) from error
    if code == apsw.SQLITE_CANTOPEN or has_no_room(error):
        hint = REPLAY_HINT if log_bytes(folder / DATABASE) else _PERMISSIONS_HINT
        raise EngineError(f"cannot read the index in {folder}: {error}", hint=hint) from error
    if code == apsw.SQLITE_CONSTRAINT:
        raise EngineError(f"two documents would share what must be their own: {error}") from error
    if code in _BROKEN:
        raise damage_error(folder, str(error)) from error
    raise EngineError(f"the index in {folder} cannot be used: {error}", hint=REBUILD_HINT) from error


def _explain_disk(error: OSError, folder: Path, *, writing: bool) -> NoReturn:
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = "expected a folder, found a file"
    if writing:
        hint = _ROOM_HINT if error.errno in _NO_SPACE else _WRITABLE_HINT
        raise IndexUnwritable(f"cannot write the index in {folder}: {reason}", hint=hint) from error
    hint = REBUILD_HINT if isinstance(error, FileNotFoundError) else _PERMISSIONS_HINT
    raise EngineError(f"cannot read the index in {folder}: {reason}", hint=hint) from error
