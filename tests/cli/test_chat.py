"""`esrag chat` in a pipe and on a terminal."""

import os
import pty
import subprocess

import pytest


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus."""
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_each_line_of_a_pipe_is_a_question_that_may_lean_on_those_before(kitchen):
    """Answers on stdout; what was really asked on stderr."""
    lines = "How many litres does the kettle hold?\n\nAnd how many watts?\n/sources\n/explain\n/new\nHow many watts?\n"
    ran = kitchen("chat", stdin=lines)

    assert ran.code == 0
    assert "1.7 litres" in ran.out
    assert "asked: And how many watts? (" in ran.err
    assert "kettle" in ran.err.split("asked: And how many watts? (")[1].splitlines()[0]
    assert ran.err.count("asked: ") == 1  # after /new nothing is remembered
    assert "Evidence for extractive" in ran.out
    assert "path: " in ran.out


def test_an_error_ends_the_question_and_not_the_conversation(kitchen):
    """Unknown commands, /sources before any question, a question that is too long."""
    ran = kitchen("chat", "--json", stdin=f"/what is this\n/sources\n{'x' * 200_000}\nHow many litres?\n/quit\nnever\n")

    assert ran.code == 0
    assert [line["schema"] for line in ran.lines] == ["esrag.answer/1"]
    assert [line.split(";")[0] for line in ran.err.splitlines() if line.startswith("error: ")][:2] == [
        "error: there is no command '/what'",
        "error: nothing was asked yet",
    ]


def test_what_it_lacks_is_said_before_the_first_question(kitchen):
    """A missing key is no surprise in the middle."""
    ran = kitchen("chat", "--set", "generator.name=openai", "--set", "generator.model=m", stdin="Why?\n")

    assert (ran.code, ran.out) == (2, "")
    assert "ESRAG_GENERATOR__API_KEY" in ran.err


def test_a_terminal_is_asked(kitchen):
    """A prompt on stderr, and the end of the input ends it."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        kitchen.command("chat"),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=kitchen.folder,
        env=kitchen.environment(),
    )
    os.close(theirs)
    os.write(ours, b"How many litres does the kettle hold?\n/quit\n")
    out, err = running.communicate(timeout=60)
    os.close(ours)

    assert (running.returncode, b"1.7 litres" in out) == (0, True)
    assert err.startswith(b"/sources")
    assert err.endswith(b"> > ")
