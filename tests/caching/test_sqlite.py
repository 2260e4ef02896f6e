"""The cache in a file: other people's files, damage, locks, and many processes."""

import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from esrag.caching.sqlite import SqliteCache
from esrag.errors import EsragError


def used(path):
    """Every way to use it; gives the seconds that took."""
    with closing(SqliteCache(path, 60)) as cache:
        started = time.monotonic()
        assert cache.get_many(["e:1"]) == {}
        cache.set_many({"e:1": b"x"}, 60)
        token = cache.lock("a:1", 60)
        assert token
        cache.unlock("a:1", token)
        return time.monotonic() - started


def database(path, script):
    """A database of another program."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE entries (key, value, until)",
        "CREATE TABLE notes (text); PRAGMA application_id = 7",
    ],
)
def test_another_programs_database_is_left_alone(tmp_path, script, caplog):
    """Nothing is read from it or written to it; one line says why, and `clear` refuses."""
    path = tmp_path / "notes.db"
    database(path, script)
    before = path.read_bytes()

    used(path)

    assert len(caplog.messages) == 1
    assert "not a cache of esrag" in caplog.messages[0]
    with (
        closing(SqliteCache(path, 60)) as cache,
        pytest.raises(EsragError, match="not a cache of esrag"),
    ):
        cache.clear()
    assert path.read_bytes() == before


def test_what_is_no_database_is_a_miss(tmp_path, caplog):
    """A text file, and a folder."""
    (tmp_path / "text").write_text("not a database, and long enough to be taken for none" * 20)
    for name in ("text", "."):
        caplog.clear()
        used(tmp_path / name)
        assert len(caplog.messages) == 1


@pytest.mark.faults
def test_a_damaged_cache_is_a_miss(tmp_path, caplog):
    """Its pages are overwritten by something else (case 27)."""
    path = tmp_path / "cache.db"
    with closing(SqliteCache(path, 60)) as cache:
        cache.set_many({f"e:{number}": bytes(500) for number in range(100)}, 60)
    damaged = bytearray(path.read_bytes())
    damaged[4096:] = b"\x55" * (len(damaged) - 4096)
    path.write_bytes(damaged)

    with closing(SqliteCache(path, 60)) as cache:
        assert cache.get_many(["e:1"]) == {}
    assert len(caplog.messages) == 1


def test_a_file_that_is_locked_costs_half_a_second_once(tmp_path, caplog):
    """Another process holds it and does not let go."""
    path = tmp_path / "cache.db"
    with closing(SqliteCache(path, 60)) as cache:
        cache.set_many({"a:1": b"x"}, 60)
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert used(path) < 0.5
    assert len(caplog.messages) == 1


def test_what_is_overdue_is_removed_with_the_first_write(tmp_path):
    """So that the file does not grow for ever."""
    path, now = tmp_path / "cache.db", [1000.0]
    with closing(SqliteCache(path, 60, clock=lambda: now[0])) as cache:
        cache.set_many({"e:old": b"x"}, 10)
    now[0] += 20
    with closing(SqliteCache(path, 60, clock=lambda: now[0])) as cache:
        assert cache.get_many(["e:old"]) == {}
        cache.set_many({"e:new": b"x"}, 10)
        cache.close()

    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT key FROM entries").fetchall() == [("e:new",)]


WRITES = """
import sys
from pathlib import Path
from esrag.caching.sqlite import SqliteCache
cache = SqliteCache(Path(sys.argv[1]), 60)
print("ready", flush=True)
sys.stdin.read()
for number in range(50):
    cache.set_many({f"e:{sys.argv[2]}-{number}": b"x"}, 60)
"""


def test_many_processes_make_and_fill_one_file(tmp_path):
    """All at the same moment, and nothing that one kept is lost."""
    path = tmp_path / "new" / "cache.db"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITES, path, str(i)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for i in range(6)
    ]
    assert [process.stdout.readline() for process in processes] == [b"ready\n"] * 6
    for process in processes:
        process.stdin.close()
    said = [process.stderr.read() for process in processes]
    for process in processes:
        process.wait(30)
        process.stdout.close()
        process.stderr.close()

    assert said == [b""] * 6
    with closing(SqliteCache(path, 60)) as cache:
        assert cache.usage().vectors == 300
