"""Disks as they are: mounted to be read alone, too small for what is to be written, and full to the
last byte.

Each is mounted where only the command that is run sees it, so that nothing is left to be cleared
away. For machines that allow no mounts, test_bad_input.py has the same with permissions and with a
limit on the size of files.
"""

import os
import subprocess
from dataclasses import replace

import pytest

pytestmark = pytest.mark.slow

READ_ONLY = """
set -e
rm -rf copy && cp -r .esrag copy
mount -t tmpfs tmpfs .esrag && cp -r copy/. .esrag
mount --options-mode ignore -o remount,ro .esrag
exec "$@"
"""
RUN = """
set -e
step=0
esrag() {
    c=0
    "$0" "$@" >"$step.out" 2>"$step.err" || c=$?
    echo $c >"$step.code"
    step=$((step + 1))
}
mkdir .esrag
"""
TOO_SMALL = """
mount -t tmpfs -o size=1500k tmpfs .esrag
esrag ingest docs
esrag doctor
mount --options-mode ignore -o remount,size=64m .esrag
esrag ingest docs
esrag doctor
esrag docs --json
esrag chunks --json
"""
FULL = """
mount -t tmpfs -o size=8m tmpfs .esrag
esrag ingest docs
rm -f .esrag/*-shm .esrag/*-wal .esrag/esrag/*-shm .esrag/esrag/*-wal
dd if=/dev/zero of=.esrag/filler bs=4k 2>dd.err || true
esrag ask "Where does lamp 3.4 hang?"
esrag doctor
esrag jobs list
esrag ingest docs
rm .esrag/filler
esrag ingest docs
"""
FILES = 20
READING = (
    ("ask", (
        "How many litres does the kettle hold?"
    ), "--json"), ("docs", "--json"), ("chunks", "--json"),
    ("jobs", "list", "--json"), ("ingest", "docs", "--dry-run"),
)  # fmt: skip


@pytest.fixture(scope="session")
def private(tmp_path_factory):
    """What is put before a command that mounts something for itself alone."""
    command = ("unshare", "--mount", *(("--map-root-user",) if os.geteuid() else ()))
    folder = tmp_path_factory.mktemp("mounted")
    try:
        subprocess.run(
            [*command, "mount", "-t", "tmpfs", "tmpfs", folder],
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError as error:
        pytest.skip(f"no {error.filename} here")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"mounts are not allowed here: {error.stderr.strip()}")
    return command


@pytest.fixture
def lamps(esrag):
    """A folder of files whose index takes more than a megabyte."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    for number in range(FILES):
        lines = (
            f"Lamp {number}.{line} hangs over table {line * number} and is lit at dusk."
            for line in range(300)
        )
        (folder / f"lamp{number:02}.txt").write_text("\n\n".join(lines))
    return folder


def run(script, esrag, private):
    """What each command of the script printed, and its exit code."""
    command = [*private, "sh", "-c", RUN + script, *esrag.command()]
    subprocess.run(command, cwd=esrag.folder, env=esrag.environment(), timeout=120, check=True)
    steps = range(len(list(esrag.folder.glob("*.code"))))
    texts = (
        [(esrag.folder / f"{step}.{kind}").read_text() for kind in ("code", "out", "err")]
        for step in steps
    )
    return [(int(code), out, err) for code, out, err in texts]


def require_no_room(code, out, err):
    """One line and a hint beside the steps, no report, and exit 1."""
    error, hint = (line for line in err.splitlines() if not line.startswith("["))
    assert (code, out) == (1, "")
    assert error.startswith(
        ("error: cannot write the index in .esrag/esrag: ", "error: cannot use the ledger .esrag/")
    )
    assert hint.startswith("hint: make room on the disk and run the ")


def test_an_index_on_a_read_only_disk_is_read_as_ever(esrag, corpus, private):
    """Asking, listing, jobs and doctor print what they print elsewhere.

    Writing is one line and a hint.
    """
    assert esrag("ingest", "docs").code == 0
    there = replace(esrag, prefix=(*private, "sh", "-c", READ_ONLY, "sh"))
    assert [there(*command) for command in READING] == [esrag(*command) for command in READING]
    doctor = there("doctor", "--json")
    assert (doctor.code, {finding["level"] for finding in doctor.lines}) == (0, {"ok"})
    shown = there("jobs", "show", "--json")
    assert (shown.code, shown.json["state"]) == (0, "done")

    (corpus / "more.txt").write_text("More of it.\n")
    assert "more.txt" in there("ingest", "docs", "--dry-run").out
    ran = there("ingest", "docs")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.splitlines() == [
        "error: cannot write the index in .esrag/esrag: Read-only file system",
        "hint: make it writable, or set engine.url to another folder",
    ]


def test_what_fits_on_a_disk_is_kept_and_with_room_the_rest_comes_in(esrag, lamps, private):
    """One line, a hint and exit 1.

    The index is sound then, and in the end equal to one made without a stop.
    """
    full, sound, done, still_sound, docs, chunks = run(TOO_SMALL, esrag, private)

    require_no_room(*full)
    assert (sound[0], "index is sound" in sound[1]) == (0, True)
    added, unchanged = (
        int(done[1].split(f" {word}")[0].split()[-1]) for word in ("added", "unchanged")
    )
    assert (done[0], added + unchanged, 0 < unchanged < FILES) == (0, FILES, True)
    assert f"index is sound: {FILES} documents" in still_sound[1]
    assert esrag("ingest", "docs", "--engine", "fresh").code == 0
    assert [docs[1], chunks[1]] == [
        esrag(name, "--json", "--engine", "fresh").out for name in ("docs", "chunks")
    ]


def test_on_a_full_disk_all_is_read_and_writing_says_so(esrag, lamps, private):
    """Also where SQLite has no room for the files it wants beside a database: nothing is taken for
    damaged.
    """
    made, asked, doctor, jobs, refused, again = run(FULL, esrag, private)

    assert (made[0], asked[0], doctor[0], jobs[0], again[0]) == (0, 0, 0, 0, 0)
    assert "hangs over table 12" in asked[1]
    assert f"index is sound: {FILES} documents" in doctor[1]
    assert f"{FILES} of {FILES} files" in jobs[1]
    require_no_room(*refused)
    assert f"{FILES} unchanged" in again[1]
