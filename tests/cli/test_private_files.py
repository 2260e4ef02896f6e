"""What is stored holds the text of private documents: nobody else may read it, write it or hold its
lock.
"""

import os
import stat
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

UMASK = "import os, sys; os.umask(int(sys.argv[1], 8)); os.execv(sys.argv[2], sys.argv[2:])"
AS_NOBODY = """
import fcntl, os, sys
os.setgroups([]), os.setgid(65534), os.setuid(65534)
for path in sys.argv[1:]:
    try:
        fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
        print(path)
    except PermissionError:
        pass
"""
ELSEWHERE = {
    "ESRAG_LEDGER__URL": "state/jobs.sqlite3",
    "ESRAG_CACHE__URL": "state/deep/cache.sqlite3",
}


def modes(*folders):
    """The permissions of all that lies in these folders, and theirs."""
    paths = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {path: stat.S_IMODE(path.stat().st_mode) for path in paths}


def with_umask(esrag, mask):
    """The command line under a umask."""
    return replace(esrag, prefix=(sys.executable, "-c", UMASK, mask))


def use(esrag):
    """All that writes files: an ingest, an answer that is kept, a copy, a rebuild."""
    for command in (
        ["ingest", "docs"], ["ask", "How many litres does the kettle hold?"], ["index", "migrate"],
        ["ingest", "docs", "--rebuild"], ["jobs", "list"],
    ):  # fmt: skip
        assert esrag(*command, **ELSEWHERE).code == 0, command


@pytest.mark.parametrize(
    ("mask", "folder", "file"),
    [("000", 0o700, 0o600), ("022", 0o700, 0o600), ("277", 0o500, 0o400)],
)
def test_what_is_stored_is_for_its_user_alone(esrag, corpus, mask, folder, file):
    """Whatever the umask allows.

    A stricter one narrows it further (as root, who may write all the same).
    """
    if mask == "277" and os.geteuid():
        pytest.skip("only root can write what nobody may write")
    use(with_umask(esrag, mask))
    found = modes(esrag.folder / ".esrag", esrag.folder / "state")
    names = {path.name for path in found}
    assert {
        "index.sqlite3",
        "vectors-0.f32",
        ".esrag.lock",
        "jobs.sqlite3",
        "cache.sqlite3",
    } <= names
    assert {
        path: mode for path, mode in found.items() if mode != (folder if path.is_dir() else file)
    } == {}


def test_a_folder_that_was_there_keeps_its_permissions(esrag, corpus):
    """Also an open one: what is made in it is private all the same."""
    for name in (".esrag", "state"):
        (esrag.folder / name).mkdir()
        (esrag.folder / name).chmod(0o755)
    use(with_umask(esrag, "022"))
    found = modes(esrag.folder / ".esrag", esrag.folder / "state")
    assert {path.name for path, mode in found.items() if mode & 0o077} == {".esrag", "state"}
    assert "other users" not in esrag("doctor", **ELSEWHERE).out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_can_neither_read_nor_lock(esrag, corpus):
    """In a folder that all may enter, so that only the permissions of the files stand
    in the way.
    """
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        assert with_umask(esrag, "000")("ingest", "docs", "--engine", place).code == 0
        files = [path for path in Path(place).rglob("*") if path.is_file()]
        assert f"{place}/.esrag.lock" in map(str, files)
        command = ["/usr/bin/env", "python3", "-c", AS_NOBODY, *files]
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_doctor_says_what_is_wider_and_how_to_mend_it(esrag, corpus):
    """As an older version left it; the command in its advice ends the warning."""
    use(esrag)
    (esrag.folder / ".esrag" / "esrag" / "index.sqlite3").chmod(0o644)
    (esrag.folder / ".esrag" / ".esrag.lock").chmod(0o644)
    (esrag.folder / "state" / "deep" / "cache.sqlite3").chmod(0o640)
    (esrag.folder / ".esrag" / "runs.sqlite3").touch(0o644)
    (esrag.folder / "state" / "deep" / "cache.sqlite3.notes").touch(0o644)  # not esrag's
    doctor = esrag("doctor", "--json", **ELSEWHERE)
    (said,) = (line for line in doctor.lines if "other users" in line["what"])
    assert (doctor.code, said["level"]) == (0, "warning")
    command = said["advice"].removeprefix("run: ")
    assert command == (
        "chmod -R go-rwx .esrag/esrag .esrag/.esrag.lock .esrag/runs.sqlite3 "
        "state/deep/cache.sqlite3"
    )
    subprocess.run(command, shell=True, cwd=esrag.folder, check=True)
    assert "other users" not in esrag("doctor", **ELSEWHERE).out
