"""The ledger in one SQLite file, for programs of one machine."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, NoReturn

import apsw

from esrag.engines.embedded.databases import (
    REPLAY_HINT,
    ImmutableConnection,
    connect,
    connect_immutable,
    has_checksums,
    has_tables,
    has_wrong_checksum,
    log_bytes,
    result,
    use_checksums,
    value,
)
from esrag.errors import LedgerError
from esrag.ledger.store import NEW, SCHEMA_VERSION, SUMS, Query, Row, Total
from esrag.private import make_folder

APPLICATION_ID = 1702063207  # 0x65736c67, "eslg": says that a SQLite file is ours
_WAIT_S = 30  # for another program's write; one takes milliseconds
_COLUMNS = f"key, kind, job_id, state, due_ms, queued_ms, {', '.join(SUMS)}, version"
_SCHEMA = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
CREATE TABLE entries (
    key       TEXT    PRIMARY KEY,
    kind      TEXT    NOT NULL,
    job_id    TEXT    NOT NULL,
    state     TEXT    NOT NULL,
    due_ms    INTEGER NOT NULL,
    queued_ms INTEGER NOT NULL,
    {" ".join(f"{name} INTEGER NOT NULL," for name in SUMS)}
    version   INTEGER NOT NULL,
    body      TEXT    NOT NULL  -- last: what is before it is read without it
);
CREATE INDEX by_state ON entries (kind, state, job_id, key);
CREATE INDEX by_job ON entries (kind, job_id, key);
"""
_HINT = "look at its folder's permissions, or set ledger.url to a file that can be written"
_ROOM_HINT = "make room on the disk and run the command again; what was written stays"
_AGAIN_HINT = "try again in a moment"
_DAMAGED_HINT = "it is damaged: move it away, and run esrag ingest again"
_HINTS: Mapping[int, str] = {
    apsw.SQLITE_FULL: _ROOM_HINT,
    apsw.SQLITE_IOERR: _ROOM_HINT,
    apsw.SQLITE_BUSY: f"another program has been writing it: {_AGAIN_HINT}",
    apsw.SQLITE_CORRUPT: _DAMAGED_HINT,
}


class SqliteStore:
    """Rows in a file. The threads of a process share one connection, one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = RLock()
        self._connection: apsw.Connection | None = None
        self._file: tuple[int, int] | None = None

    def get(self, keys: Sequence[str], *, bodies: bool = True) -> Sequence[Row]:
        """Return the rows of these keys; see `Store.get`."""
        where = f"key IN ({_marks(keys)})"
        return self._rows(where, keys, bodies=bodies)

    def write(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Write rows in one transaction; see `Store.write`."""
        if not rows:
            return []
        with self._use(writing=True) as opened:
            connection = opened or self._create()
            # What a user was told of a job survives a power cut, and with it all batches that were
            # written before.
            sync = "FULL" if any(row.kind == "job" for row in rows) else "NORMAL"
            connection.execute(f"PRAGMA synchronous = {sync}")
            with _transaction(connection):
                return [_is_written(connection, row) for row in rows]

    def remove(self, keys: Sequence[str]) -> None:
        """Remove rows; see `Store.remove`."""
        with self._use(writing=True) as connection:
            if connection:
                with _transaction(connection):
                    connection.executemany("DELETE FROM entries WHERE key = ?", zip(keys))

    def find(self, query: Query, after: str, limit: int) -> Sequence[Row]:
        """Return the first rows by key; see `Store.find`."""
        terms = list(_conditions(query, after))
        where = " AND ".join(term for term, _ in terms)
        values = [value for _, some in terms for value in some]
        return self._rows(f"{where} ORDER BY key LIMIT ?", [*values, limit], bodies=query.bodies)

    def totals(self, job_id: str) -> Mapping[str, Total]:
        """Return the batches of a job by state; see `Store.totals`."""
        sums = ", ".join(f"sum({name})" for name in SUMS)
        sql = f"SELECT state, count(*), min(due_ms), {sums} FROM entries"  # noqa: S608 -- constants
        with self._use() as connection:
            if not connection:
                return {}
            rows = connection.execute(
                f"{sql} WHERE kind = 'batch' AND job_id = ? GROUP BY state", [job_id]
            )
            return {
                state: Total(count, due_ms, tuple(rest)) for state, count, due_ms, *rest in rows
            }

    def close(self) -> None:
        """Close the file; see `Store.close`."""
        with self._turn:
            if self._connection:
                self._connection.close()
            self._connection = self._file = None

    def _rows(self, where: str, values: Sequence[str | int], *, bodies: bool) -> Sequence[Row]:
        sql = f"SELECT {_COLUMNS}, {'body' if bodies else repr('')} FROM entries WHERE {where}"  # noqa: S608 -- constants
        with self._use() as connection:
            return (
                [_row(values) for values in connection.execute(sql, values)] if connection else []
            )

    @contextmanager
    def _use(self, *, writing: bool = False) -> Iterator[apsw.Connection | None]:
        """Yield the connection to one thread at a time; None without a ledger.

        A failure is raised as one line.
        """
        with self._turn, self._failures():
            file = _identity(self._path)
            # It was removed, or another has its place.
            if file != self._file or self._is_of_no_use(writing=writing):
                self.close()
            if file and not self._connection:
                self._open("rw", writing=writing)
            try:
                yield self._connection
            except apsw.Error:  # what was torn may look damaged
                self._require_current()
                raise
            self._require_current()

    def _create(self) -> apsw.Connection:
        """Return a new ledger; another program may be creating it as well."""
        make_folder(self._path.parent)
        self._open("rwc", writing=True)
        if not self._connection:
            raise AssertionError("opened or raised")
        return self._connection

    def _require_current(self) -> None:
        if self._is_of_no_use():
            raise LedgerError(
                f"the ledger {self._path} was written while it was read", hint=_AGAIN_HINT
            )

    def _is_of_no_use(self, *, writing: bool = False) -> bool:
        """Return whether the connection misses later writes, or cannot write what it has to."""
        connection = self._connection
        return isinstance(connection, ImmutableConnection) and (
            writing or not connection.is_current()
        )

    def _open(self, mode: str, *, writing: bool) -> None:
        """Open the file, only for reading if nothing can be written; refuse any other file."""
        try:
            connection = self._check(self._connect(mode))
        except apsw.Error as error:
            if writing:
                raise
            connection = self._check(connect_immutable(self._path, error))
        self._connection, self._file = connection, _identity(self._path)

    def _connect(self, mode: str) -> apsw.Connection:
        """Return a connection to the file; an empty file gets the tables.

        SQLite learns whether pages carry checksums when it opens the file. If the file was empty
        then, because another process was creating the ledger, it is opened again.
        """
        connection = connect(self._path, mode)
        try:
            if has_tables(connection) and has_checksums(connection):
                return connection
            if not has_tables(connection):
                _make(connection)
        except BaseException:
            connection.close()
            raise

        connection.close()
        return connect(self._path, mode)

    def _check(self, connection: apsw.Connection) -> apsw.Connection:
        """Return the connection, if it is to a ledger."""
        try:
            self._require_ours(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_ours(self, connection: apsw.Connection) -> None:
        if value(connection, "PRAGMA application_id") != APPLICATION_ID:
            self._refuse_foreign()
        version = value(connection, "PRAGMA user_version")
        if version > SCHEMA_VERSION:
            hint = "upgrade esrag, or set ledger.url to another file"
            came = f"the ledger {self._path} was made by a newer esrag: version {version}"
            raise LedgerError(f"{came}, this one reads {SCHEMA_VERSION}", hint=hint)
        if not has_checksums(connection):
            hint = (
                "it is damaged or an older esrag made it: move it away, and run esrag ingest again"
            )
            raise LedgerError(f"the pages of the ledger {self._path} carry no checksums", hint=hint)

    def _refuse_foreign(self) -> NoReturn:
        raise LedgerError(
            f"{self._path} is not a ledger of esrag", hint="set ledger.url to another file"
        )

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except apsw.Error as error:
            if result(error) == apsw.SQLITE_NOTADB:
                self._refuse_foreign()
            raise self._error(error, self._choose_hint(error)) from error
        except (OSError, ValueError) as error:
            # A path with a null byte, a name that is not Unicode.
            said = getattr(error, "strerror", None) or error
            raise self._error(said, _HINT) from error
        except (LookupError, TypeError, OverflowError) as error:
            raise self._error(f"{type(error).__name__}: {error}", _DAMAGED_HINT) from error

    def _error(self, said: object, hint: str) -> LedgerError:
        return LedgerError(f"cannot use the ledger {self._path}: {said}", hint=hint)

    def _choose_hint(self, error: apsw.Error) -> str:
        code = result(error)
        if code == apsw.SQLITE_CANTOPEN and log_bytes(self._path):
            return REPLAY_HINT
        return _DAMAGED_HINT if has_wrong_checksum(error) else _HINTS.get(code, _HINT)


def _conditions(query: Query, after: str) -> Iterator[tuple[str, Sequence[str | int]]]:
    """Yield the conditions of a query, each with its values."""
    yield "kind = ?", [query.kind]
    yield "key > ?", [after]
    if query.job_id:
        yield "job_id = ?", [query.job_id]
    if query.states:
        yield f"state IN ({_marks(query.states)})", sorted(query.states)
    if query.due_ms is not None:
        yield "due_ms <= ?", [query.due_ms]
    if query.queued_ms is not None:
        yield "queued_ms BETWEEN ? AND ?", query.queued_ms


def _is_written(connection: apsw.Connection, row: Row) -> bool:
    """Return whether the row was as it had been read, and is now as wanted."""
    values = (row.kind, row.job_id, row.state, row.due_ms, row.queued_ms, *row.sums, row.body)
    if row.version == NEW:
        sql = f"INSERT OR IGNORE INTO entries VALUES (?, {_marks(values[:-1])}, 1, ?)"  # noqa: S608 -- marks
        connection.execute(sql, (row.key, *values))
        return connection.changes() == 1

    names = ("kind", "job_id", "state", "due_ms", "queued_ms", *SUMS, "body")
    changes = ", ".join(f"{name} = ?" for name in names)
    sql = f"UPDATE entries SET {changes}, version = version + 1 WHERE key = ? AND version = ?"  # noqa: S608 -- constants
    connection.execute(sql, (*values, row.key, *row.version))
    return connection.changes() == 1


def _row(values: Sequence[Any]) -> Row:
    key, kind, job_id, state, due_ms, queued_ms, *sums, version, body = values
    return Row(
        key=key,
        kind=kind,
        job_id=job_id,
        state=state,
        due_ms=due_ms,
        queued_ms=queued_ms,
        sums=tuple(sums),
        body=body,
        version=(version,),
    )


def _marks(values: object) -> str:
    return ", ".join("?" * len(values))  # type: ignore[arg-type]


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file; None without a file."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _make(connection: apsw.Connection) -> None:
    """Create the tables in an empty file, unless another program was quicker."""
    use_checksums(connection)
    _keep_a_log(connection)
    with _transaction(connection):
        if not has_tables(connection):
            connection.execute(_SCHEMA).fetchall()


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run the block in one transaction, which is rolled back on an error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(apsw.Error):
                connection.execute("ROLLBACK")
        raise


def _keep_a_log(connection: apsw.Connection) -> None:
    """Let readers and a writer work at once.

    This is tried for a while, since SQLite does not wait here for another process.
    """
    until = time.monotonic() + _WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.Error as error:
            if result(error) != apsw.SQLITE_BUSY or time.monotonic() > until:
                raise
        else:
            return
        time.sleep(0.01)
