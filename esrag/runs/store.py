"""Kept runs and the feedback on them, in a SQLite file."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from esrag.errors import EsragError, SettingsError, UsageError
from esrag.private import make_file, make_folder
from esrag.runs import Feedback, Verdict, remove_texts
from esrag.settings import RunsSettings, Settings, is_address
from esrag.text import closest

FILE = "runs.sqlite3"
APPLICATION_ID = 1702065010
MAX_NOTE_CHARACTERS = 2000
_BUSY_S = 5.0
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS runs (run_id TEXT PRIMARY KEY, at TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS feedback (
    run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE, at TEXT NOT NULL, verdict TEXT NOT NULL, note TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS feedback_run ON feedback (run_id);
PRAGMA application_id = {APPLICATION_ID};
COMMIT;
"""
_REMOVE_BEYOND = """
DELETE FROM runs WHERE run_id IN (
    SELECT run_id FROM (
        SELECT run_id, sum(length(CAST(record AS BLOB))) OVER (ORDER BY at DESC, run_id DESC) AS total FROM runs
    ) WHERE total > ?
)
"""


def open_runs(settings: Settings) -> "RunStore":
    """Return the store of the settings: a file that is named, else one in the folder of the index.

    Raises: SettingsError for an address, or an index on a server without `runs.url`.
    """
    url = settings.runs.url
    if "://" in url:
        raise SettingsError(
            "runs.url must be a file, got an address", hint="name a file, such as runs.sqlite3"
        )
    if not url and is_address(settings.engine.url):
        hint = "set runs.url to a file; runs are not kept on a search server"
        raise SettingsError("runs need a file, and the index is on a server", hint=hint)
    return RunStore(Path(url) if url else Path(settings.engine.url) / FILE, settings.runs)


class RunStore:
    """Runs by id; the oldest are removed if there are too many bytes, or if they are too old."""

    def __init__(self, path: Path, settings: RunsSettings) -> None:
        self._path, self._settings = path, settings

    def add(self, record: dict[str, Any]) -> None:
        """Keep a record, with or without its texts, as `runs.keep` says. Raises: EsragError."""
        kept = record if self._settings.keep == "whole" else remove_texts(record)
        text = json.dumps(kept, ensure_ascii=False, allow_nan=False)
        with self._connected() as connection, connection:
            connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?)", (kept["run_id"], kept["at"], text)
            )
            self._remove_old(connection)

    def runs(self) -> Iterator[tuple[dict[str, Any], tuple[Feedback, ...]]]:
        """Yield each record with its feedback, the newest first. Raises: EsragError."""
        if not self._path.exists():
            return
        with self._connected() as connection:
            ids = [
                run_id
                for (run_id,) in connection.execute(
                    "SELECT run_id FROM runs ORDER BY at DESC, run_id DESC"
                )
            ]
            for run_id in ids:
                yield self._found(connection, run_id)

    def run(self, run_id: str) -> tuple[dict[str, Any], tuple[Feedback, ...]]:
        """Return a record and its feedback. Raises: UsageError for an unknown id, EsragError."""
        self._require_file(run_id)
        with self._connected() as connection:
            return self._found(connection, run_id)

    def rate(self, run_id: str, verdict: Verdict, note: str) -> Feedback:
        """Record a reader's verdict on a run.

        Raises: UsageError for an unknown id or a long note, EsragError.
        """
        if len(note) > MAX_NOTE_CHARACTERS:
            raise UsageError(
                f"expected a note of at most {MAX_NOTE_CHARACTERS} characters, found {len(note)}"
            )
        self._require_file(run_id)

        feedback = Feedback(
            run_id, verdict, note, datetime.now(UTC).isoformat(timespec="milliseconds")
        )
        with self._connected() as connection, connection:
            self._found(connection, run_id)
            row = (feedback.run_id, feedback.at, feedback.verdict, feedback.note)
            connection.execute("INSERT INTO feedback VALUES (?, ?, ?, ?)", row)
        return feedback

    def _require_file(self, run_id: str) -> None:
        if not self._path.exists():
            raise UsageError(
                f"no run {run_id!r} is kept", hint="set runs.keep to keep runs from now on"
            )

    def _found(
        self, connection: sqlite3.Connection, run_id: str
    ) -> tuple[dict[str, Any], tuple[Feedback, ...]]:
        row = connection.execute("SELECT record FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if row is None:
            alike = closest(
                run_id, [known for (known,) in connection.execute("SELECT run_id FROM runs")]
            )
            hint = f"did you mean {alike[0]}?" if alike else "esrag runs list shows what is kept"
            raise UsageError(f"no run {run_id!r} is kept", hint=hint)

        sql = "SELECT run_id, verdict, note, at FROM feedback WHERE run_id = ? ORDER BY at, rowid"
        return json.loads(row[0]), tuple(
            Feedback(*values) for values in connection.execute(sql, (run_id,))
        )

    def _remove_old(self, connection: sqlite3.Connection) -> None:
        oldest = datetime.now(UTC) - timedelta(days=self._settings.max_days)
        connection.execute(
            "DELETE FROM runs WHERE at < ?", (oldest.isoformat(timespec="milliseconds"),)
        )
        sizes = (
            "SELECT run_id, sum(length(CAST(record AS BLOB))) OVER (ORDER BY at DESC, run_id DESC) "
            "AS total FROM runs"
        )
        sql = f"DELETE FROM runs WHERE run_id IN (SELECT run_id FROM ({sizes}) WHERE total > ?)"  # noqa: S608 -- constants
        connection.execute(sql, (self._settings.max_bytes,))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            make_folder(self._path.parent)
            make_file(self._path)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as connection:
                if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    connection.executescript(_SCHEMA)
                if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                    raise sqlite3.DatabaseError("it is not a file of runs")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute(
                    "PRAGMA secure_delete = ON"
                )  # a removed question leaves no trace
                yield connection
        except (sqlite3.Error, OSError, ValueError, KeyError) as error:
            hint = "look at runs.url; a damaged file may be removed"
            raise EsragError(
                f"the runs in {self._path} cannot be used: {error}", hint=hint
            ) from error
