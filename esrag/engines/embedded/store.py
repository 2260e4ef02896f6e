"""The index folder: its files, connections to its database, and what each failure means to the user."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from esrag.engines.checks import REBUILD_HINT, first_generation, require_same
from esrag.engines.embedded.immutable import REPLAY_HINT, connect_immutable, has_no_room, is_outdated, log_bytes
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing, IndexUnwritable
from esrag.records import Fingerprint

DATABASE = "index.sqlite3"
APPLICATION_ID = 1702064743
SCHEMA_VERSION = 1
_ROOM_HINT = "make room on the disk and run the same command again; what was stored stays"
_WRITABLE_HINT = "make it writable, or choose another folder with --engine"
_AGAIN_HINT = "try again in a moment"
_PERMISSIONS_HINT = "look at its permissions, and at those of the folders above it"
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR}
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
    """Which file the folder's database is now; None where there is none."""
    try:
        found = (folder / DATABASE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def open_reading(folder: Path) -> sqlite3.Connection:
    """A connection that cannot write. Raises: IndexMissing, IndexMismatch, EngineError."""
    _require_database(folder)
    with failures(folder):
        try:
            return _checked(_connect(folder, "mode=ro"), folder)
        except sqlite3.OperationalError as error:
            return _checked(connect_immutable(folder / DATABASE, error), folder)


def open_writing(folder: Path, fingerprint: Fingerprint, generation: int = 0) -> sqlite3.Connection:
    """A connection that may write; an empty folder gets the tables. Raises: IndexMismatch, IndexUnwritable."""
    if folder.exists() and not is_ours_by_names(folder):
        _refuse_foreign(folder)
    with failures(folder, writing=True):
        folder.mkdir(parents=True, exist_ok=True)
        connection = _connect(folder, "mode=rwc")
        try:
            if not _has_tables(connection):
                _create(connection, fingerprint, generation)
            _require_ours(connection, folder)
            require_same(state(connection).fingerprint, fingerprint)
            connection.execute("PRAGMA journal_mode = WAL")  # a write, so that a read-only disk is found out here
        except BaseException:
            connection.close()
            raise
    return connection


def state(connection: sqlite3.Connection) -> State:
    """What the index says of itself."""
    sql = "SELECT model, dimensions, chunker, generation, vector_file, vector_rows FROM state"
    model, dimensions, chunker, generation, vector_file, vector_rows = connection.execute(sql).fetchone()
    return State(Fingerprint(model, dimensions, chunker), generation, vector_file, vector_rows)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """All or nothing; for a reader, one snapshot."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):  # what was torn may look damaged
            _require_current(connection)
        raise
    _require_current(connection)


def _require_current(connection: sqlite3.Connection) -> None:
    if is_outdated(connection):
        raise IndexBusy("the index was written while it was read", hint=_AGAIN_HINT)


@contextmanager
def failures(folder: Path, *, writing: bool = False) -> Iterator[None]:
    """Turns what SQLite and the disk say into the errors of the contract."""
    try:
        yield
    except sqlite3.Error as error:
        _explain_sqlite(error, folder, writing=writing)
    except OSError as error:
        _explain_disk(error, folder, writing=writing)
    except UnicodeEncodeError as error:
        raise EngineError(f"text with a lone surrogate cannot be stored or searched: {error.reason}") from error


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
        with suppress(sqlite3.Error), closing(_connect(folder, "mode=ro")) as connection:
            _require_application(connection, folder)


def _connect(folder: Path, how: str) -> sqlite3.Connection:
    uri = f"{(folder / DATABASE).absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    # FULL: a compaction removes the old vector file after its commit, so that commit must survive a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _create(connection: sqlite3.Connection, fingerprint: Fingerprint, generation: int) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    schema = (files("esrag.mappings") / "embedded.sql").read_text(encoding="utf-8")
    connection.executescript(f"BEGIN IMMEDIATE;\n{schema}")
    sql = "INSERT INTO state VALUES (1, ?, ?, ?, ?, 'vectors-0.f32', 0)"
    first = first_generation(generation)
    connection.execute(sql, (fingerprint.model, fingerprint.dimensions, fingerprint.chunker, first))
    connection.execute("COMMIT")


def _checked(connection: sqlite3.Connection, folder: Path) -> sqlite3.Connection:
    """The connection, if what it reads is ours; else it is closed."""
    try:
        _require_ours(connection, folder)
    except BaseException:
        connection.close()
        raise
    return connection


def _has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None


def _require_database(folder: Path) -> None:
    if identity(folder):
        return
    if folder.is_file() or (folder.is_dir() and not is_ours_by_names(folder)):
        _refuse_foreign(folder)
    raise IndexMissing(f"there is no index in {folder}", hint="make one with: esrag ingest FOLDER")


def _require_ours(connection: sqlite3.Connection, folder: Path) -> None:
    if not _has_tables(connection):
        hint = "make it with: esrag ingest FOLDER"
        raise IndexMissing(f"the index in {folder} is empty: its making was cut short", hint=hint)
    _require_application(connection, folder)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        message = f"the index in {folder} was made by a newer esrag: version {version}, this one reads {SCHEMA_VERSION}"
        raise IndexMismatch(message, hint=f"upgrade esrag, or {REBUILD_HINT}")


def _require_application(connection: sqlite3.Connection, folder: Path) -> None:
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != APPLICATION_ID and _has_tables(connection):
        _refuse_foreign(folder)


def _refuse_foreign(folder: Path) -> NoReturn:
    hint = "choose another engine.url or engine.index"
    raise IndexMismatch(f"{folder} holds something that is not an index of esrag", hint=hint)


def _explain_sqlite(error: sqlite3.Error, folder: Path, *, writing: bool) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        raise IndexBusy(f"the index in {folder} is held by another program", hint=_AGAIN_HINT) from error
    if writing and code in _UNWRITABLE | {sqlite3.SQLITE_CANTOPEN}:
        hint = _ROOM_HINT if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR} else _WRITABLE_HINT
        raise IndexUnwritable(f"cannot write the index in {folder}: {error}", hint=hint) from error
    if code == sqlite3.SQLITE_CANTOPEN or has_no_room(error):
        hint = REPLAY_HINT if log_bytes(folder / DATABASE) else _PERMISSIONS_HINT
        raise EngineError(f"cannot read the index in {folder}: {error}", hint=hint) from error
    if code == sqlite3.SQLITE_CONSTRAINT:
        raise EngineError(f"two documents would share what must be their own: {error}") from error
    if code in _BROKEN:
        raise EngineError(f"the index in {folder} is damaged: {error}", hint=REBUILD_HINT) from error
    raise EngineError(f"the index in {folder} cannot be used: {error}", hint=REBUILD_HINT) from error


def _explain_disk(error: OSError, folder: Path, *, writing: bool) -> NoReturn:
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = "a file is in the place of a folder"
    if writing:
        hint = _ROOM_HINT if error.errno in _NO_SPACE else _WRITABLE_HINT
        raise IndexUnwritable(f"cannot write the index in {folder}: {reason}", hint=hint) from error
    hint = REBUILD_HINT if isinstance(error, FileNotFoundError) else _PERMISSIONS_HINT
    raise EngineError(f"cannot read the index in {folder}: {reason}", hint=hint) from error
