"""Every command as a shell runs it: a new process, which imports what the command needs."""

import json

import pytest

from esrag.cli.main import COMMANDS

QUESTION = "How many litres does the kettle hold?"
DRAFT = {"draft": "The lamp has 7 watts. [c1]", "passages": ["The lamp has 7 watts."]}
RUNS = {  # command → its arguments, its exit code, words of what it prints
    "ingest": (("docs",), 0, "3 unchanged"),
    "remove": (("lamp", "--yes"), 0, "1 document"),
    "jobs": (("list",), 0, "3 files"),
    "worker": ((), 2, "queue.url"),
    "ask": ((QUESTION,), 0, "The kettle holds 1.7 litres. [c1]"),
    "chat": ((), 0, "The kettle holds 1.7 litres. [c1]"),
    "search": (("kettle",), 0, "kettle::p0001::c001"),
    "runs": (("list",), 0, QUESTION),
    "replay": (("a.json",), 0, "nothing differs"),
    "diff": (("a.json", "a.json"), 0, "nothing differs"),
    "feedback": (("RUN", "good"), 0, "good"),
    "compare": ((QUESTION,), 0, "hybrid: answered"),
    "calibrate": (("none.jsonl",), 2, "none.jsonl"),
    "facts": (("list",), 0, "no facts"),
    "route": ((QUESTION,), 0, "documents"),
    "docs": ((), 0, "lamp"),
    "chunks": (("lamp",), 0, "The lamp takes an E27 bulb"),
    "index": (("info",), 0, "hashing"),
    "cache": (("stats",), 2, "cache.url is empty"),
    "init": (("cited-specs",), 0, "esrag.yaml"),
    "config": (("show",), 0, "provider: hashing"),
    "models": (("list",), 0, "all-MiniLM-L6-v2"),
    "verify": (("draft.json",), 0, "supported"),
    "plugins": ((), 0, "cross-encoder"),
    "doctor": ((), 0, "index"),
    "kibana": (("install",), 2, "kibana.url is not set"),
}


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over three documents, with a draft and the run of a question."""
    (esrag.folder / "draft.json").write_text(json.dumps(DRAFT))
    assert esrag("ingest", "docs").code == 0
    assert esrag("ask", QUESTION, "--save", "a.json").code == 0
    return esrag


def test_every_command_is_among_them():
    """A new command needs a run here."""
    assert list(RUNS) == list(COMMANDS)


@pytest.mark.parametrize("command", RUNS)
def test_a_command_in_a_process_of_its_own(kitchen, command):
    """It exits and prints as it should."""
    arguments, code, words = RUNS[command]
    kept = {"ESRAG_RUNS__KEEP": "whole"}
    run_id = kitchen("ask", QUESTION, "--json", **kept).json["run_id"]
    arguments = [run_id if word == "RUN" else word for word in arguments]

    ran = kitchen.in_new_process(command, *arguments, stdin=f"{QUESTION}\n", **kept)

    assert (ran.code, words in ran.out + ran.err) == (code, True), ran
