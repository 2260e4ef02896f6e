"""Output that cannot be written: work goes on to its end, a command that only prints ends at once,
both say so.
"""

import os
import pty
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def broken_pipe():
    """The end of a pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    yield write
    os.close(write)


@contextmanager
def full_disk():
    """A file on a disk without room."""
    with Path("/dev/full").open("w") as file:
        yield file.fileno()


@contextmanager
def dead_terminal():
    """A terminal whose window was closed."""
    terminal, slave = pty.openpty()
    os.close(terminal)
    yield slave
    os.close(slave)


def run(esrag, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options):
    """A command with other streams; its exit code, -13 for SIGPIPE, and what it printed."""
    done = subprocess.run(
        esrag.command(*arguments),
        cwd=esrag.folder,
        env=esrag.environment(),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        text=True,
        timeout=120,
        check=False,
        **options,
    )
    return done.returncode, done.stdout or "", done.stderr or ""


def assert_stored(esrag, documents=3):
    """All documents are there, by one job that did each batch once and saw nothing fail."""
    assert len(esrag("docs", "--json").lines) == documents
    (job,) = esrag("jobs", "list", "--json").lines
    assert (job["state"], job["added"], job["failed"]) == ("done", documents, 0)
    assert esrag("doctor").code == 0


def test_an_ingest_whose_reader_has_gone_stores_everything(esrag, corpus):
    """`esrag ingest docs 2>&1 | true`, with a report and with JSON.

    It ends by SIGPIPE as other tools do.
    """
    with broken_pipe() as pipe:
        code, *_ = run(esrag, "ingest", "docs", stdout=pipe, stderr=pipe)

    assert code == -signal.SIGPIPE
    assert_stored(esrag)


def test_an_ingest_with_failures_says_so_also_to_nobody(esrag, corpus):
    """Its own exit code comes first."""
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing follows")
    with broken_pipe() as pipe:
        code, *_ = run(esrag, "ingest", "docs", "--json", stdout=pipe, stderr=pipe)

    assert code == 1
    assert len(esrag("docs", "--json").lines) == 3


@pytest.mark.parametrize("dead", [broken_pipe, full_disk, dead_terminal])
def test_without_stderr_there_is_still_a_report(esrag, corpus, dead):
    """Progress is lost and nothing else."""
    with dead() as stream:
        code, out, _ = run(esrag, "ingest", "docs", stderr=stream)

    assert (code, out.splitlines()[0][:7]) == (0, "3 added")
    assert_stored(esrag)


def test_a_report_that_finds_no_room_is_a_failure_after_the_work(esrag, corpus):
    """Exit code 1, and the line says that the work is done."""
    with full_disk() as stream:
        code, _, err = run(esrag, "ingest", "docs", stdout=stream)

    assert code == 1
    assert (
        err.splitlines()[-1]
        == "error: standard output: No space left on device; the work itself is done"
    )
    assert_stored(esrag)


def test_an_ingest_outlives_its_terminal(esrag, corpus):
    """With `nohup`: the bar is drawn nowhere. SIGHUP itself ends it, as it ends any program."""

    def ignore_hangup():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with dead_terminal() as terminal:
        run(esrag, "ingest", "docs", stdout=terminal, stderr=terminal, preexec_fn=ignore_hangup)

    assert_stored(esrag)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed_are_no_error(esrag, corpus, closed):
    """Nothing was to be seen, and no file takes their place."""
    words = " ".join(map(str, esrag.command("ingest", "docs")))
    done = subprocess.run(
        f"{words} {closed}", shell=True, cwd=esrag.folder, env=esrag.environment(), check=False
    )

    assert done.returncode == 0
    assert_stored(esrag)


@pytest.mark.parametrize(
    "command", [["chunks", "--json"], ["jobs", "list"], ["ask", "How large?"], ["chat"]]
)
def test_what_only_prints_ends_with_its_reader(esrag, corpus, command):
    """By SIGPIPE and without a word, as `cat` does; on a full disk it is one line."""
    esrag("ingest", "docs")
    questions = esrag.folder / "questions.txt"
    questions.write_text("How many litres does the kettle hold?\n" * 1000)

    for dead, expected in ((broken_pipe, -signal.SIGPIPE), (full_disk, 1)):
        with dead() as stream, questions.open() as asked:
            done = subprocess.run(
                esrag.command(*command),
                cwd=esrag.folder,
                env=esrag.environment(),
                stdin=asked,
                stdout=stream,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == expected
        assert ("error: no space left on device: standard output" in done.stderr) == (
            dead is full_disk
        )
        assert "Traceback" not in done.stderr


def test_a_sign_that_the_terminal_cannot_show_fails_nothing(esrag, corpus):
    """Where the encoding of the terminal lacks it, it is spelled out."""
    (corpus / "lamp \u2713.txt").write_text("It is 12 metres wide.\n")
    ran = esrag("ingest", "docs", PYTHONIOENCODING="latin-1:strict")

    assert (ran.code, ran.out[:7]) == (0, "4 added")
    assert r"lamp \u2713  (plain" in esrag("docs", PYTHONIOENCODING="latin-1:strict").out
