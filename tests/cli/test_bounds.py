"""What is read of a pipe, and how long a folder may take, have bounds."""

import os
import subprocess
import threading
from contextlib import suppress

import pytest


def endless(esrag, *arguments, piece=b"a"):
    """Runs a command whose stdin never ends; what it was given, in bytes, and what it printed."""
    given = 0

    def feed(pipe):
        nonlocal given
        with suppress(BrokenPipeError):  # nobody reads any more
            while True:
                given += os.write(pipe, piece * 65_536)

    reads, writes = os.pipe()
    command, place = esrag.command(*arguments), {"cwd": esrag.folder, "env": esrag.environment()}
    with subprocess.Popen(
        command, **place, stdin=reads, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        os.close(reads)
        feeding = threading.Thread(target=feed, args=[writes])
        feeding.start()
        said, _ = process.communicate()
        feeding.join()
        os.close(writes)
    return given, process.returncode, said


@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize("piece", [b"a", b" ", b"\xcc\x81"], ids=["letters", "blanks", "marks"])
def test_a_question_without_an_end_is_refused_after_its_beginning(esrag, command, piece):
    """The rest is not read."""
    (esrag.folder / "a.txt").write_text("The lamp has 7 watts.")
    esrag("ingest", "a.txt")
    given, code, said = endless(esrag, command, "-", piece=piece)
    assert code == 2
    assert "the question has more than 10,000 characters" in said
    assert given < 2**21


def test_a_line_without_an_end_is_one_long_question_of_a_chat(esrag):
    """It is refused, and the next one answered."""
    (esrag.folder / "a.txt").write_text("The lamp has 7 watts.")
    esrag("ingest", "a.txt")
    ran = esrag("chat", stdin="a" * 2_000_000 + "\nHow many watts has the lamp?\n")
    assert "the question has more than 10,000 characters" in ran.err
    assert "7 watts" in ran.out
    assert ran.err.count("error:") == 1


def test_a_long_path_of_a_list_is_one_path(esrag):
    """Its rest is not taken for the next."""
    (esrag.folder / "a.txt").write_text("The lamp has 7 watts.")
    ran = esrag("ingest", "-", "--json", stdin="a" * 1_000_000 + "\na.txt\n")
    assert ran.json["added"] == 1
    assert ran.json["failed"] == 1


def test_a_folder_has_a_time_budget_and_the_same_command_goes_on(esrag):
    """What the budget does not reach is named, nothing that is stored is lost, and another folder
    has its own.
    """
    one, other = esrag.folder / "one", esrag.folder / "other"
    for folder in (one, other):
        folder.mkdir()
        for n in range(4):
            (folder / f"{folder.name}{n}.txt").write_text(
                f"Lamp {n} of {folder.name} has {n} watts."
            )
    (one / "one2.txt").write_text("Lamp 2 had 9 watts.")
    esrag("ingest", "one/one2.txt")
    (one / "one2.txt").write_text("Lamp 2 has 2 watts.")

    report = esrag("ingest", "one", "other", "--json", "--set", "loading.budget_s=0.000001").json

    late = [skip for skip in report["skipped"] if "budget_s" in skip["reason"]]
    assert report["failed"] == len(late)
    assert len(late) >= 4, (
        "a file or two of each folder are handed to the parser before the first is done"
    )
    assert {skip["source"].rsplit("/", 2)[1] for skip in late} == {"one", "other"}
    assert all("was not read: the files of" in skip["reason"] for skip in late)
    stored = {document["doc_id"] for document in esrag("docs", "--json").lines}
    assert {"one0", "other0", "one2"} <= stored
    again = esrag("ingest", "one", "other", "--json").json
    assert again["failed"] == 0
    assert again["added"] + again["changed"] == len(late)
    assert len(esrag("docs", "--json").lines) == 8
