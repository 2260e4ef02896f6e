"""The ledger in a file: what lies in its place, disks that are full, processes that are killed or
race.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import apsw
import pytest
from ledgers import MADE, a_job, opened

from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.embedded.databases import connect, connect_immutable
from esrag.errors import LedgerError, SettingsError
from esrag.ledger.ledger import Ledger
from esrag.ledger.opening import open_ledger
from esrag.ledger.sqlite import SqliteStore, _identity
from esrag.settings import EngineSettings, LedgerSettings, Settings

LEDGERS = Path(__file__).with_name("ledgers.py")
# No permission stops root.
NOT_ROOT = "os.getuid() or (os.setgroups([]), os.setgid(65534), os.setuid(65534))"
LOOK = "print(ledger.job('job').state, len(list(ledger.jobs())), ledger.problems(), flush=True)"
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}


def at(path):
    """A ledger in a file, as one program opens it."""
    return Ledger(SqliteStore(Path(path)), 60, 2)


def refused(path):
    """What is said of a file when it is read and when it is written."""
    said = []
    for use in (lambda ledger: list(ledger.jobs()), lambda ledger: ledger.open(a_job(), [])):
        with pytest.raises(LedgerError) as raised:
            use(at(path))
        assert raised.value.hint
        assert "\n" not in str(raised.value)
        said.append(str(raised.value))
    return said


def ran(before, what, url):
    """What another process says that does it under a limit; imports come before."""
    return subprocess.run(
        program_of(before, what, url), capture_output=True, text=True, check=True
    ).stdout


def program_of(before, what, url):
    """The words of such a process."""
    program = (
        "import os, resource, sys; sys.path.insert(0, sys.argv[1]); from ledgers import *\n"
        "from esrag.engines.embedded import databases\n"
        "from esrag.errors import LedgerError\n"
        "databases._register()\n"
        f"ledger = Ledger(open_store(sys.argv[2]), 60, 2); {before}\n"
        f"try: {what}\n"
        "except LedgerError as error: print(error, error.hint, sep='|')"
    )
    return [sys.executable, "-c", program, LEDGERS.parent, url]


def test_reading_makes_nothing(place, ledger):
    """A ledger that is not there is made by the first write, with its folder."""
    assert list(ledger.jobs()) == []
    assert not Path(place.url).parent.exists()
    opened(ledger, 1)
    assert Path(place.url).is_file()


@pytest.mark.parametrize("content", [b"# A text\n" * 200, b"xy"])
def test_another_programs_file_is_refused(tmp_path, content):
    """A file that is no database is left as it is."""
    path = tmp_path / "notes.md"
    path.write_bytes(content)
    assert {said.partition(" is ")[2] for said in refused(path)} == {"not a ledger of esrag"}
    assert path.read_bytes() == content


def test_another_programs_database_is_refused(tmp_path):
    """A database of other tables, and an index of ours, are no ledgers."""
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (x)")
    connection.close()
    assert all("is not a ledger of esrag" in said for said in refused(path))


def test_a_newer_ledger_is_refused(place, ledger):
    """What a later version wrote is neither read nor written."""
    opened(ledger, 1)
    ledger.close()
    connection = connect(Path(place.url), "rw")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    assert all(
        "made by a newer esrag: version 2, this one reads 1" in said for said in refused(place.url)
    )


def test_a_ledger_without_checksums_is_refused(place, ledger):
    """An older version's, or one whose header was damaged; the hint says what to do."""
    opened(ledger, 1)
    ledger.close()
    header = bytearray(Path(place.url).read_bytes())
    header[20] = 0
    Path(place.url).write_bytes(header)
    assert all("carry no checksums" in said for said in refused(place.url))


def test_an_empty_file_becomes_a_ledger(tmp_path):
    """What was cut short while it was made is made whole."""
    path = tmp_path / "ledger.sqlite3"
    path.touch()
    assert list(at(path).jobs()) == []
    assert opened(at(path), 1).state == "open"


@pytest.mark.parametrize(
    "place", ["/proc/ledger.sqlite3", "/proc/x/ledger.sqlite3", "/dev/null/x", "/etc/hostname/x"]
)
def test_where_nothing_can_be_written_is_one_line(place):
    """A folder that takes no file, or is none, is an error with a hint."""
    with pytest.raises(LedgerError, match="cannot use the ledger") as raised:
        opened(at(place), 1)
    assert "permissions" in raised.value.hint


def test_a_folder_in_its_place_or_a_name_that_is_none_is_one_line(tmp_path):
    """Both are errors for who reads as well."""
    assert all("cannot use the ledger" in said for said in [*refused(tmp_path), *refused("a\0b")])


@pytest.fixture
def open_file():
    """A ledger of one job in a folder that another user can reach; closed, and all may read it."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    ledger = at(folder / "ledger.sqlite3")
    opened(ledger, 1)
    ledger.close()
    yield folder / "ledger.sqlite3"
    permit(folder, 0o755, 0o644)
    shutil.rmtree(folder)


def permit(folder, to_folder, to_files):
    """Sets the permissions of a folder and of all in it."""
    for path in (folder, *folder.iterdir()):
        path.chmod(to_folder if path.is_dir() else to_files)


def test_who_may_not_write_it_reads_it_and_is_told_so(open_file):
    """In a folder that is read-only to the user all is read, and writing is an error of
    one line.
    """
    permit(open_file.parent, 0o555, 0o444)
    read, written = ran(NOT_ROOT, f"{LOOK}; ledger.cancel('job', '')", open_file).splitlines()
    assert read == "open 1 []"
    assert written.startswith(
        f"cannot use the ledger {open_file}: attempt to write a readonly database|look at its"
    )
    assert [path.name for path in open_file.parent.iterdir()] == [open_file.name]
    assert at(open_file).job("job").state == "open"


def test_what_a_killed_program_left_in_the_log_is_read_or_missed_aloud(open_file):
    """A log that was not brought in is read as well.

    Where that cannot be, nothing older is shown instead.
    """
    killed = program_of("", "ledger.cancel('job', ''); os.kill(os.getpid(), 9)", open_file)
    assert subprocess.run(killed, check=False).returncode == -signal.SIGKILL
    permit(open_file.parent, 0o555, 0o444)
    assert ran(NOT_ROOT, LOOK, open_file) == "cancelled 1 []\n"
    permit(open_file.parent, 0o755, 0o444)
    open_file.with_name(f"{open_file.name}-shm").unlink()
    permit(open_file.parent, 0o555, 0o444)
    said = ran(NOT_ROOT, LOOK, open_file)
    assert said.startswith(
        f"cannot use the ledger {open_file}: unable to open database file|changes wait in its log"
    )
    assert len(said.splitlines()) == 1
    permit(open_file.parent, 0o755, 0o644)
    assert at(open_file).job("job").state == "cancelled"


def test_who_may_not_write_it_sees_what_others_write(open_file):
    """Also where nobody had it open when it was opened for reading."""
    permit(open_file.parent, 0o555, 0o444)
    reader = subprocess.Popen(
        program_of(NOT_ROOT, f"{LOOK}; input(); {LOOK}; input(); {LOOK}", open_file), **PIPES
    )
    assert reader.stdout.readline() == "open 1 []\n"
    permit(open_file.parent, 0o755, 0o644)
    writer = at(open_file)
    writer.cancel("job", "")
    permit(open_file.parent, 0o555, 0o444)
    reader.stdin.write("\n")
    reader.stdin.flush()
    assert reader.stdout.readline() == "cancelled 1 []\n"
    permit(open_file.parent, 0o755, 0o644)
    writer.reopen("job")
    writer.close()
    permit(open_file.parent, 0o555, 0o444)
    assert reader.communicate("\n", timeout=30)[0] == "open 1 []\n"


def test_a_full_disk_is_one_line_and_loses_nothing(place, ledger):
    """What does not fit is refused with a hint, and what was written before is there."""
    opened(ledger, 1)
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
    said = ran(limit, "opened(ledger, *[50] * 1000, name='large', key='large')", place.url)
    assert "cannot use the ledger" in said
    assert "make room on the disk" in said
    assert (ledger.job("job").state, ledger.job("large").state) == ("open", "recording")
    assert ledger.problems() == []
    assert {batch.job_id for batch in ledger.list_due(9)} == {"job"}


def test_killed_while_it_is_recorded(place, ledger):
    """Of a job whose recording was cut short no batch is ever offered or claimed.

    The same ingest takes over.
    """
    killed = subprocess.Popen([sys.executable, LEDGERS, "open", place.url], stdout=subprocess.PIPE)
    assert killed.stdout.readline() == b"some are written\n"
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    assert ledger.job("job").state == "recording"
    assert len(list(ledger.batches("job"))) >= 300
    assert ledger.list_due(9) == ledger.list_due(9, "job") == []
    assert ledger.claim("job-000001", "me") is None
    assert opened(ledger, 1, name="again", created_ms=2).state == "open"
    assert ledger.job("job").state == "cancelled"
    with pytest.raises(LedgerError, match="not recorded to its end"):
        ledger.reopen("job")
    assert (ledger.problems(), ledger.prune(2**50), len(list(ledger.jobs()))) == ([], 1, 1)


def test_many_processes_make_it_at_once(place, ledger):
    """Whoever comes first makes the tables; everyone's job is in it."""
    command = [sys.executable, LEDGERS, "write", place.url]
    writers = [subprocess.Popen([*command, f"job{number}"], **PIPES) for number in range(4)]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0] * 4
    assert len(ledger.list_due(9)) == 4
    assert ledger.problems() == []


def test_threads_share_one(ledger):
    """One thread may renew a claim while another works: no change is lost."""
    opened(ledger, *[1] * 20)
    claims = [ledger.claim(f"job-{number:06}", "me") for number in range(1, 21)]
    kept = []
    threads = [
        threading.Thread(target=lambda: kept.extend(map(ledger.renew, claims))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kept == [True] * 80


def test_a_ledger_that_was_removed_is_not_written_to(place, ledger):
    """Who has it open sees that it is gone, and makes another."""
    opened(ledger, 1)
    for path in Path(place.url).parent.iterdir():
        path.unlink()
    assert list(ledger.jobs()) == []
    opened(ledger, 1, name="new")
    assert [job.job_id for job in place().jobs()] == ["new"]


def test_in_the_folder_of_an_index_it_is_none(tmp_path):
    """The file and what SQLite keeps beside it are no indexes, nor in the way of one."""
    settings = Settings(engine=EngineSettings(url=str(tmp_path)))
    ledger, engine = open_ledger(settings), EmbeddedEngine(EngineOptions(str(tmp_path)))
    opened(ledger, 1)
    with engine.writer(MADE):
        assert [path.name for path in sorted(tmp_path.glob("ledger*"))] == [
            "ledger.sqlite3", "ledger.sqlite3-shm", "ledger.sqlite3-wal",
        ]  # fmt: skip
    assert [index.name for index in engine.indexes()] == ["esrag"]
    engine.close()
    ledger.close()


def test_the_settings_name_the_file(tmp_path):
    """`ledger.url` comes before the folder of the index, and is no address."""
    named = LedgerSettings(url=str(tmp_path / "own" / "file"))
    ledger = open_ledger(Settings(engine=EngineSettings(url=str(tmp_path)), ledger=named))
    opened(ledger, 1)
    ledger.close()
    assert (tmp_path / "own" / "file").is_file()
    with pytest.raises(SettingsError, match=r"must be a file, got an address: redis://…$"):
        open_ledger(Settings(ledger=LedgerSettings(url="redis://user:secret@host")))


def test_ten_thousand_batches_are_quick(place, ledger):
    """Recording, counting, taking one and ending it.

    The limits are ten times what a quiet machine needs.
    """
    started = time.perf_counter()
    opened(ledger, *[1] * 10_000)
    recorded = time.perf_counter()
    assert ledger.counts("job").files["pending"] == 10_000
    counted = time.perf_counter()
    for _ in range(100):
        (batch,) = ledger.list_due(1, "job")
        ledger.give_up(ledger.claim(batch.batch_id, "me"), "")
    worked = time.perf_counter()
    assert recorded - started < 6
    assert counted - recorded < 0.2
    assert worked - counted < 1


def test_what_looks_damaged_while_it_is_written_is_not(tmp_path):
    """Read without SQLite's own files beside it, pages of two states do not fit together: it is to
    be read again.
    """
    file = tmp_path / "ledger.sqlite3"
    ledger = at(file)
    ledger.open(a_job(), [])
    ledger.close()  # its log is in the file then
    cannot = apsw.CantOpenError("unable to open database file")
    cannot.result = apsw.SQLITE_CANTOPEN
    store = SqliteStore(file)
    store._connection, store._file = connect_immutable(file, cannot), _identity(file)

    def read():
        os.utime(file, ns=(1, 1))
        raise apsw.CorruptError("database disk image is malformed")

    with pytest.raises(LedgerError, match="written while it was read"), store._use():
        read()
    store.close()
