"""`esrag chat` in a pipe and on a terminal."""

import json
import os
import pty
import subprocess
import time
from pathlib import Path

import pytest
from made_up_models import answering, service

__all__ = ["answering", "service"]


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus."""
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_each_line_of_a_pipe_is_a_question_that_may_lean_on_those_before(kitchen):
    """Answers on stdout; what was really asked on stderr."""
    lines = (
        "How many litres does the kettle hold?\n\nAnd how many "
        "watts?\n/sources\n/explain\n/new\nHow many watts?\n"
    )
    ran = kitchen("chat", stdin=lines)

    assert ran.code == 0
    assert "1.7 litres" in ran.out
    assert "asked: And how many watts? (" in ran.err
    assert "kettle" in ran.err.split("asked: And how many watts? (")[1].splitlines()[0]
    assert ran.err.count("asked: ") == 1  # after /new nothing is remembered
    assert "Evidence for extractive" in ran.out
    assert "path: " in ran.out


def test_small_talk_is_neither_rewritten_nor_leant_on(kitchen):
    """The subject is that of the question before it."""
    lines = "How many litres does the kettle hold?\nThanks!\nAnd how many watts?\n"
    ran = kitchen("chat", "--json", stdin=lines)

    assert [line["route"] for line in ran.lines] == ["documents", "direct", "documents"]
    assert ran.lines[1]["question"] == "Thanks!"
    assert "kettle" in ran.lines[2]["question"]


def test_a_follow_up_leans_on_the_answer(kitchen):
    """A document that was asked for by name is the subject."""
    ran = kitchen("chat", "--json", stdin="How many pages does act-7.md have?\nWhat is it about?\n")

    assert ran.lines[1]["question"] == "What is act-7.md about?"


def test_an_error_ends_the_question_and_not_the_conversation(kitchen):
    """Unknown commands, /sources before any question, a question that is too long: with --json an
    object for each.
    """
    ran = kitchen(
        "chat",
        "--json",
        stdin=f"/what is this\n/sources\n{'x' * 200_000}\nHow many litres?\n/quit\nnever\n",
    )

    assert ran.code == 2
    *failed, answer = ran.lines
    assert [line["question"][:9] for line in failed] == ["/what is ", "/sources", "xxxxxxxxx"]
    assert {(line["schema"], line["exit_code"]) for line in failed} == {("esrag.error/1", 2)}
    assert (failed[0]["error"], failed[1]["hint"]) == ("unknown command '/what'", "type a question")
    assert answer["schema"] == "esrag.answer/1"
    assert [line.split(";")[0] for line in ran.err.splitlines() if line.startswith("error: ")][
        :2
    ] == [
        "error: unknown command '/what'",
        "error: no question has been asked yet",
    ]


def test_the_first_error_is_the_exit_code(kitchen, service, answering):
    """A model that fails once, and then does not; what failed is no part of the history."""
    service.script = [answering(400, {"error": {"message": "too much"}})]
    model = {
        "generator.name": "model",
        "models.default.model": "made-up",
        "models.default.url": f"{service.url}/v1",
    }
    options = [word for name, value in model.items() for word in ("--set", f"{name}={value}")]
    ran = kitchen(
        "chat",
        "--json",
        *options,
        stdin="How many litres?\n/sources\nHow many litres does the kettle hold?\n",
    )

    assert ran.code == 4
    assert [line.get("exit_code") for line in ran.lines] == [4, 2, None]
    assert ran.lines[0]["error"].endswith("answered 400: too much")
    assert ran.lines[2]["answer"] == "The kettle holds 1.7 litres. [c1]"
    assert "asked: " not in ran.err


def test_every_line_is_json_where_that_is_asked_for(kitchen):
    """What a command shows is the last answer again, with its evidence or how it came about."""
    ran = kitchen(
        "chat", "--json", stdin="How many litres does the kettle hold?\n/sources\n/explain\n"
    )

    answer, sources, explained = ran.lines
    assert sources == answer | {"evidence": sources["evidence"]}
    assert explained["hits"]
    assert {name: explained[name] for name in answer if name != "took_ms"} | {
        "took_ms": {}
    } == answer


def test_json_shows_what_was_typed(kitchen):
    """Beside the words that it was asked in, with /sources too.

    The last answer's, where a later question fails.
    """
    typed = "And how many watts?"
    stdin = f"How many litres does the kettle hold?\n{typed}\n{'x' * 200_000}\n/sources\n"
    first, second, failed, sources = kitchen("chat", "--json", stdin=stdin).lines

    assert first["typed"] == first["question"] == "How many litres does the kettle hold?"
    assert second["question"].startswith(f"{typed} (")
    assert (second["typed"], sources["typed"]) == (typed, typed)
    assert "typed" not in failed


def test_a_refusal_is_no_error(kitchen):
    """It is the answer."""
    ran = kitchen("chat", stdin="Who won the 2018 World Cup?\n", ESRAG_ANSWER__REFUSAL="1")

    assert (ran.code, ran.out.strip()) == (0, "not found in provided docs")


@pytest.mark.parametrize("command", [("chat", "--json"), ("ask", "-", "--json")])
def test_bytes_that_are_no_text_are_no_bug(kitchen, command):
    """A pipe may hold anything; what is no text counts for nothing."""
    done = subprocess.run(
        kitchen.command(*command),
        cwd=kitchen.folder,
        # Strict, as Python is where a language is set.
        env=kitchen.environment(PYTHONIOENCODING="utf-8"),
        input=b"How many \xff litres?\n\x00\x1b[2J\n",
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"this is a bug" not in done.stderr
    assert json.loads(done.stdout.splitlines()[0])["question"].startswith("How many  litres?")


def test_what_it_lacks_is_said_before_the_first_question(kitchen):
    """A missing key is no surprise in the middle."""
    ran = kitchen(
        "chat", "--set", "generator.name=model", "--set", "models.default.model=m", stdin="Why?\n"
    )

    assert (ran.code, ran.out) == (2, "")
    assert "ESRAG_MODELS__DEFAULT__API_KEY" in ran.err


@pytest.mark.parametrize("end", [b"/quit", b"quit", b"exit"])
def test_a_terminal_is_asked(kitchen, end):
    """A prompt on stderr, and a command ends it; in a pipe, "quit" is a question."""
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
    os.write(ours, b"How many litres does the kettle hold?\n" + end + b"\n")
    out, err = running.communicate(timeout=60)
    os.close(ours)

    assert (running.returncode, b"1.7 litres" in out) == (0, True)
    assert err.startswith(b"/sources")
    assert err.endswith(b"> > ")


def wait_until_it_sleeps(pid):
    """Returns once a process reads: Python notices no signal just before it does."""
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R":
        time.sleep(0.01)


def talk(esrag, script):
    """What `esrag chat` shows on a terminal of its own, as it is typed at, and its exit code.

    `script` are pairs of what is waited for and a function that gives what is typed then.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(esrag.folder)
        command = [str(word) for word in esrag.command("chat")]
        os.execve(command[0], command, esrag.environment())
    shown, answered = b"", 0
    try:
        for awaited, typed in script:
            while (found := shown.find(awaited, answered)) < 0:
                shown += os.read(terminal, 4096)
            answered = found + len(awaited)
            wait_until_it_sleeps(pid)
            os.write(terminal, typed())
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # it has ended
        pass
    finally:
        os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


CTRL_C, CTRL_D = b"\x03", b"\x04"


def test_control_c_drops_the_line_and_only_twice_in_a_row_ends_the_chat(kitchen):
    """What was typed is not asked; a question in between begins the count again."""
    question = b"How many litres does the kettle hold?\n"
    script = [
        (b"> ", lambda: b"Who won the" + CTRL_C),
        (b"press Ctrl-C again or Ctrl-D to end the chat\r\n> ", lambda: question),
        (b"1.7 litres", lambda: b""),
        (b"\r\n> ", lambda: CTRL_C),
        (b"to end the chat\r\n> ", lambda: CTRL_C),
    ]
    shown, code = talk(kitchen, script)

    assert code == 0
    assert shown.rstrip().endswith("chat ended")
    assert "not found" not in shown
    assert "ingest" not in shown


def hanging(service):
    """Waits until the model was asked."""
    end = time.monotonic() + 60
    while not service.asked:
        assert time.monotonic() < end
        time.sleep(0.05)
    return CTRL_C


def test_control_c_cancels_an_answer_and_not_the_chat(kitchen, service, answering):
    """One whose model takes long; the next question is answered, and Ctrl-D ends the
    chat as ever.
    """
    kitchen.variables.update(
        {
            "ESRAG_GENERATOR__NAME": "model",
            "ESRAG_MODELS__DEFAULT__MODEL": "made-up",
            "ESRAG_MODELS__DEFAULT__URL": f"{service.url}/v1",
            "ESRAG_MODELS__DEFAULT__API_KEY": service.key,
        }
    )
    service.script.append(answering.hang())
    question = b"How many litres does the kettle hold?\n"
    script = [
        (b"> ", lambda: question),
        (b"kettle hold?", lambda: hanging(service)),
        (b"answer cancelled; press Ctrl-D to end the chat\r\n> ", lambda: question),
        (b"1.7 litres", lambda: b""),
        (b"\r\n> ", lambda: CTRL_D),
    ]
    shown, code = talk(kitchen, script)

    assert (code, len(service.asked)) == (0, 2)
    assert shown.count("1.7 litres") >= 1
    assert "error" not in shown
