"""Kept runs and the feedback on them, in a SQLite file."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from esrag.errors import EsragError, UsageError
from esrag.private import make_file, make_folder
from esrag.runs import Feedback, Verdict
from esrag.runs.store import Record, find_oldest, rate_now, run_id_error, serialise
from esrag.settings import RunsSettings
from esrag.text import drop_unshowable

APPLICATION_ID = 1702065010
_BUSY_S = 5.0
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, at TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS feedback (
    run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    at TEXT NOT NULL, verdict TEXT NOT NULL, note TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS feedback_run ON feedback (run_id);
PRAGMA application_id = {APPLICATION_ID};
COMMIT;
"""
_REMOVE_BEYOND = """
DELETE FROM runs WHERE run_id IN (
    SELECT run_id FROM (
        SELECT run_id, sum(length(CAST(record AS BLOB)))
            OVER (ORDER BY at DESC, run_id DESC) AS total FROM runs
    ) WHERE total > ?
)
"""


class SqliteRuns:
    """Runs in one file, which only its user can read; see `RunStore`."""

    def __init__(self, path: Path, settings: RunsSettings) -> None:
        self._path, self._settings = path, settings

    def add(self, record: Record) -> None:
        """Keep a record; see `RunStore.add`."""
        text = serialise(record, self._settings)
        with self._connect() as connection, connection:
            row = (record["run_id"], record["at"], text)
            connection.execute("INSERT INTO runs VALUES (?, ?, ?)", row)
            self._remove_expired(connection)
            connection.execute(_REMOVE_BEYOND, (self._settings.max_bytes,))

    def runs(self) -> Iterator[tuple[Record, tuple[Feedback, ...]]]:
        """Yield the records; see `RunStore.runs`."""
        if not self._path.exists():
            return
        with self._connect() as connection:
            self._expire(connection)
            for run_id in self._ids(connection):
                with suppress(UsageError):  # another program may have removed it by now
                    yield self._find(connection, run_id)

    def run(self, run_id: str) -> tuple[Record, tuple[Feedback, ...]]:
        """Return a record; see `RunStore.run`."""
        self._require_file(run_id)
        with self._connect() as connection:
            self._expire(connection)
            return self._find(connection, run_id)

    def rate(self, run_id: str, verdict: Verdict, note: str) -> Feedback:
        """Keep what a reader says; see `RunStore.rate`."""
        feedback = rate_now(run_id, verdict, note)
        self._require_file(run_id)

        with self._connect() as connection, connection:
            self._find(connection, run_id)
            row = (feedback.run_id, feedback.at, feedback.verdict, feedback.note)
            connection.execute("INSERT INTO feedback VALUES (?, ?, ?, ?)", row)
        return feedback

    def close(self) -> None:
        """Do nothing: each use opens the file and closes it."""

    def _require_file(self, run_id: str) -> None:
        if not self._path.exists():
            raise run_id_error(run_id, [])

    def _ids(self, connection: sqlite3.Connection) -> list[str]:
        """Return the ids of the runs that are not too old, the newest first."""
        sql = "SELECT run_id FROM runs WHERE at >= ? ORDER BY at DESC, run_id DESC"
        return [run_id for (run_id,) in connection.execute(sql, (find_oldest(self._settings),))]

    def _find(
        self, connection: sqlite3.Connection, run_id: str
    ) -> tuple[Record, tuple[Feedback, ...]]:
        run_id = drop_unshowable(run_id)  # SQLite takes no bytes that are not Unicode
        sql = "SELECT record FROM runs WHERE run_id = ? AND at >= ?"
        row = connection.execute(sql, (run_id, find_oldest(self._settings))).fetchone()
        if row is None:
            raise run_id_error(run_id, self._ids(connection))

        sql = "SELECT run_id, verdict, note, at FROM feedback WHERE run_id = ? ORDER BY at, rowid"
        rows = connection.execute(sql, (run_id,))
        return json.loads(row[0]), tuple(Feedback(*values) for values in rows)

    def _expire(self, connection: sqlite3.Connection) -> None:
        """Remove what is too old, unless another user's file may only be read."""
        oldest = (find_oldest(self._settings),)
        if connection.execute("SELECT 1 FROM runs WHERE at < ? LIMIT 1", oldest).fetchone():
            with suppress(sqlite3.OperationalError), connection:
                self._remove_expired(connection)

    def _remove_expired(self, connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM runs WHERE at < ?", (find_oldest(self._settings),))

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            make_folder(self._path.parent)
            make_file(self._path)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection:
                _prepare(connection)
                yield connection
        except (sqlite3.Error, OSError, ValueError, KeyError) as error:
            hint = "look at runs.url; a damaged file may be removed"
            raise EsragError(
                f"the runs in {self._path} cannot be used: {error}", hint=hint
            ) from error


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the tables in an empty file. Raises: DatabaseError for another program's file."""
    if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        connection.executescript(_SCHEMA)
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise sqlite3.DatabaseError("it is not a file of runs")

    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA secure_delete = ON")  # a removed question leaves no trace
