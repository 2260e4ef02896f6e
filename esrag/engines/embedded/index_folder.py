"""The index folder: its files, its database connections, and the errors users see."""

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
from esrag.engines.embedded.filter_sql import has_term
from esrag.engines.preconditions import REBUILD_HINT, choose_first_generation, require_same
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing, IndexUnwritable
from esrag.private import make_folder
from esrag.records import Fingerprint

DATABASE = "index.sqlite3"
APPLICATION_ID = 1702064743
SCHEMA_VERSION = 4
_ROOM_HINT = "make room on the disk and run the same command again; what was stored stays"
_WRITABLE_HINT = "make it writable, or set engine.url to another folder"
AGAIN_HINT = "try again in a moment"
_PERMISSIONS_HINT = "look at its permissions, and at those of the folders above it"
_UNWRITABLE = {
    apsw.SQLITE_READONLY,
    apsw.SQLITE_FULL,
    apsw.SQLITE_PERM,
    apsw.SQLITE_IOERR,
    apsw.SQLITE_CANTOPEN,
}
_BROKEN = {apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB, apsw.SQLITE_ERROR, apsw.SQLITE_IOERR}
# Python exceptions raised by reading a value that is missing or of the wrong type.
_UNREADABLE = (LookupError, TypeError, ValueError, OverflowError, struct.error)
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class State:
    """The only row of the table `state`."""

    fingerprint: Fingerprint
    generation: int
    vector_file: str
    vector_rows: int


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of an index.

    The hidden paths cannot collide with another index, since no index name starts with a dot.
    """

    url: Path
    name: str

    @property
    def folder(self) -> Path:
        """Return the folder of the index."""
        return self.url / self.name

    @property
    def new(self) -> Path:
        """Return the folder into which a rebuild writes."""
        return self.url / f".{self.name}.new"

    @property
    def old(self) -> Path:
        """Return the folder of the former index while the new one replaces it."""
        return self.url / f".{self.name}.old"

    @property
    def lock(self) -> Path:
        """Return the file that locks out other writers."""
        return self.url / f".{self.name}.lock"

    @property
    def unfinished(self) -> Path:
        """Return the marker file of an index that is being filled to replace another."""
        return self.folder / f"{DATABASE}-unfinished"

    def set_aside(self, other: str) -> Path:
        """Return where the index waits during an exchange of names with index `other`.

        The path contains capitals, which no index name has.
        """
        return self.url / f".{self.name}.FOR.{other}"

    def iter_interrupted_swaps(self) -> Iterator[tuple[Path, Path]]:
        """Yield what a killed swap left: where the former index waits, and its final place."""
        for path in filter(is_ours_by_names, self.url.glob(f".{self.name}.FOR.*")):
            yield path, self.url / path.name.partition(".FOR.")[2]

    def find_current(self) -> Path:
        """Return the folder to read: the index, or the former one if a swap was interrupted."""
        if self.folder.exists():
            return self.folder
        waiting = (
            path
            for path in (self.old, *(path for path, _ in self.iter_interrupted_swaps()))
            if path.exists()
        )
        return next(waiting, self.folder)


def identity(folder: Path) -> tuple[int, int] | None:
    """Return the device and inode of the folder's database, or None without a database."""
    try:
        found = (folder / DATABASE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def open_reading(folder: Path) -> apsw.Connection:
    """Open a read-only connection. Raises: IndexMissing, IndexMismatch, EngineError."""
    _require_database(folder)
    with failures(folder):
        try:
            return _check(_connect(folder, "ro"), folder)
        except apsw.Error as error:
            connection = connect_immutable(folder / DATABASE, error)
            _add_functions(connection)
            return _check(connection, folder)


def open_current(places: Places) -> tuple[apsw.Connection, tuple[int, int] | None]:
    """Open a read-only connection to the index in use, and return it with the index's identity.

    If another index takes the place meanwhile, that one is opened: the files of two would be read
    as one, since SQLite opens a database and its log one after the other, by their paths.

    Raises: as `open_reading`.
    """
    while True:
        folder = places.find_current()
        found = identity(folder)
        try:
            connection = open_reading(folder)
        except EngineError:
            if _is_still_there(places, folder, found):
                raise
            continue
        if _is_still_there(places, folder, found):
            return connection, found
        connection.close()


def _is_still_there(places: Places, folder: Path, found: tuple[int, int] | None) -> bool:
    """Return whether the index in use is the one that was found, and in the same folder."""
    return places.find_current() == folder and identity(folder) == found


def open_writing(folder: Path, fingerprint: Fingerprint, generation: int = 0) -> apsw.Connection:
    """Open a read-write connection, creating the tables in an empty folder.

    Raises: IndexMismatch, IndexUnwritable.
    """
    if folder.exists() and not is_ours_by_names(folder):
        _refuse_foreign(folder)
    with failures(folder, writing=True):
        make_folder(folder)
        connection = _connect(folder, "rwc")
        try:
            _prepare(connection, folder, fingerprint, generation)
        except BaseException:
            connection.close()
            raise
    return connection


def state(connection: apsw.Connection) -> State:
    """Return the row of the table `state`."""
    sql = "SELECT model, dimensions, chunker, generation, vector_file, vector_rows FROM state"
    model, dimensions, chunker, generation, vector_file, vector_rows = next(connection.execute(sql))
    return State(
        fingerprint=Fingerprint(model, dimensions, chunker),
        generation=generation,
        vector_file=vector_file,
        vector_rows=vector_rows,
    )


@contextmanager
def transaction(connection: apsw.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """Run statements atomically; a reader sees one snapshot."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if isinstance(error, apsw.Error):  # a torn read may look like damage
            _require_current(connection)
        raise
    _require_current(connection)


@contextmanager
def read_once(places: Places) -> Iterator[apsw.Connection]:
    """Open a read-only connection to one state of the index in use, over a single transaction.

    Raises: IndexMissing, IndexMismatch, EngineError.
    """
    with (
        failures(places.folder),
        closing(open_current(places)[0]) as connection,
        transaction(connection),
    ):
        yield connection


def _require_current(connection: apsw.Connection) -> None:
    if is_outdated(connection):
        raise IndexBusy("the index was written while it was read", hint=AGAIN_HINT)


@contextmanager
def failures(folder: Path, *, writing: bool = False) -> Iterator[None]:
    """Translate errors of SQLite and the disk into the errors of the contract."""
    try:
        yield
    except apsw.Error as error:
        _explain_sqlite(error, folder, writing=writing)
    except OSError as error:
        _explain_disk(error, folder, writing=writing)
    except UnicodeEncodeError as error:
        raise EngineError(
            f"text with a lone surrogate cannot be stored or searched: {error.reason}"
        ) from error
    except _UNREADABLE as error:
        raise damage_error(folder, f"{type(error).__name__}: {error}") from error


def damage_error(place: Path, what: str) -> EngineError:
    """Return the error for an index whose files have changed since they were written."""
    return EngineError(
        f"the index in {place} is damaged: {' '.join(what.split())}", hint=REBUILD_HINT
    )


def is_ours_by_names(folder: Path) -> bool:
    """Return whether the folder contains only files that an index may contain."""
    try:
        paths = list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    return all(path.name.startswith((DATABASE, "vectors-")) and path.is_file() for path in paths)


def require_replaceable(folder: Path) -> None:
    """Raise IndexMismatch if a rebuild must not replace the folder: another program owns it."""
    if folder.exists() and not is_ours_by_names(folder):
        _refuse_foreign(folder)
    if identity(folder):
        # A broken database cannot tell its application id. With our file names in our place, it is
        # what a rebuild is meant to replace.
        with suppress(apsw.Error), closing(_connect(folder, "ro")) as connection:
            _require_application(connection, folder)


def _connect(folder: Path, mode: str) -> apsw.Connection:
    connection = connect(folder / DATABASE, mode)
    # FULL: a compaction removes the old vector file after its commit, so the commit must survive a
    # power failure.
    connection.execute("PRAGMA synchronous = FULL")
    _add_functions(connection)
    return connection


def _add_functions(connection: apsw.Connection) -> None:
    """Let conditions call what SQL cannot say."""
    connection.create_scalar_function("has_term", has_term, 2, deterministic=True)


def _create(connection: apsw.Connection, fingerprint: Fingerprint, generation: int) -> None:
    use_checksums(connection)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    schema = (files("esrag.mappings") / "embedded.sql").read_text(encoding="utf-8")
    connection.execute(f"BEGIN IMMEDIATE;\n{schema}").fetchall()
    sql = "INSERT INTO state VALUES (1, ?, ?, ?, ?, 'vectors-0.f32', 0)"
    first = choose_first_generation(generation)
    connection.execute(sql, (fingerprint.model, fingerprint.dimensions, fingerprint.chunker, first))
    connection.execute("COMMIT")


def _check(connection: apsw.Connection, folder: Path) -> apsw.Connection:
    """Return the connection if it reads an index of ours; otherwise close it and raise."""
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
    raise IndexMissing(f"no index in {folder}", hint="create one with: esrag ingest FOLDER")


def _require_ours(connection: apsw.Connection, folder: Path) -> None:
    if not has_tables(connection):
        _require_new(folder)
        message = f"the index in {folder} is empty: its creation was interrupted"
        raise IndexMissing(message, hint="create it with: esrag ingest FOLDER")

    _require_application(connection, folder)
    _require_version(value(connection, "PRAGMA user_version"), folder)
    if not has_checksums(connection):
        raise damage_error(folder, "its pages carry no checksums")


def _require_version(version: int, folder: Path) -> None:
    if version == SCHEMA_VERSION:
        return

    is_newer = version > SCHEMA_VERSION
    message = (
        f"the index in {folder} was made by {'a newer' if is_newer else 'an older'} esrag: "
        f"version {version}, this one reads {SCHEMA_VERSION}"
    )
    hint = f"upgrade esrag, or {REBUILD_HINT}" if is_newer else REBUILD_HINT
    raise IndexMismatch(message, hint=hint)


def _prepare(
    connection: apsw.Connection, folder: Path, fingerprint: Fingerprint, generation: int
) -> None:
    """Create the tables if they are missing; check what is there, and that it can be written."""
    if not has_tables(connection):
        _require_new(folder)
        _create(connection, fingerprint, generation)
    _require_ours(connection, folder)
    require_same(state(connection).fingerprint, fingerprint)
    # A write, so that a read-only disk is detected here.
    connection.execute("PRAGMA journal_mode = WAL")


def _require_new(folder: Path) -> None:
    """Raise EngineError if a database without tables had some once, as leftover vectors show."""
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
        raise IndexBusy(
            f"the index in {folder} is held by another program", hint=AGAIN_HINT
        ) from error
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
    raise EngineError(
        f"the index in {folder} cannot be used: {error}", hint=REBUILD_HINT
    ) from error


def _explain_disk(error: OSError, folder: Path, *, writing: bool) -> NoReturn:
    reason = error.strerror or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        reason = "expected a folder, found a file"
    if writing:
        hint = _ROOM_HINT if error.errno in _NO_SPACE else _WRITABLE_HINT
        raise IndexUnwritable(f"cannot write the index in {folder}: {reason}", hint=hint) from error
    hint = REBUILD_HINT if isinstance(error, FileNotFoundError) else _PERMISSIONS_HINT
    raise EngineError(f"cannot read the index in {folder}: {reason}", hint=hint) from error
