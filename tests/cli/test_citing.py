"""What stands behind a sentence is named where a reader sees it: title, section, page and file."""

import json
import os
import pty
import subprocess

import pytest

PAGE = "<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"


@pytest.fixture
def people(esrag, tmp_path):
    """The command line over a page about a person, in which she is "she"."""
    folder = esrag.folder / "docs"
    folder.mkdir(exist_ok=True)
    text = (
        "Maria Tolle is a diver. She was born in Carrick in 1981 and holds the island's "
        "record of 62 metres."
    )
    (folder / "tolle é.html").write_text(
        PAGE.format(title="Maria Tolle", text=text), encoding="utf-8"
    )
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_a_citation_names_title_and_file(people):
    """In words, and in JSON with the whole path."""
    question = "Where was Maria Tolle born?"
    said = people("ask", question).out
    assert "\n\n[c1] Maria Tolle, page 1: docs/tolle é.html\n\nconfidence: " in said

    (citation,) = people("ask", question, "--json").json["citations"]
    assert (citation["title"], citation["section"]) == ("Maria Tolle", "Maria Tolle")
    assert citation["source"] == str(people.folder / "docs" / "tolle é.html")


def test_a_citation_names_the_section_of_its_sentence(esrag):
    """Of several short ones in the same chunk."""
    folder = esrag.folder / "docs"
    folder.mkdir(exist_ok=True)
    text = "# Lease\n\n## Rent\n\nIt is 900 euros.\n\n## Pets\n\nA tenant may keep one cat.\n"
    (folder / "lease.md").write_text(text, encoding="utf-8")
    assert esrag("ingest", "docs").code == 0

    said = esrag("ask", "May a tenant keep a cat?").out
    assert said.startswith("A tenant may keep one cat. [c1]\n\n[c1] Lease > Pets, page 1: ")


def test_a_sentence_without_its_subject_has_the_title_beside_it(people):
    """For a reader; the text of the answer in JSON is the document's."""
    question = "Where was she born, and what record does she hold?"
    assert (
        "62 metres. [c1] (Maria Tolle)\n"
        in people("ask", question, "--set", "answer.refusal=0").out
    )
    streamed = people("ask", question, "--set", "answer.refusal=0", "--stream").out
    assert "62 metres. [c1] (Maria Tolle)\n" in streamed
    assert streamed.count("62 metres") == 1
    assert "(" not in people("ask", question, "--set", "answer.refusal=0", "--json").json["answer"]


def test_a_row_is_named_with_its_file(esrag):
    """A file of many documents, of which the row is cited."""
    folder = esrag.folder / "docs"
    folder.mkdir(exist_ok=True)
    rows = [
        {"_id": "lamp-7", "title": "Lamp 7", "text": "Lamp seven burns 4 litres of oil a night."}
    ]
    (folder / "lamps.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert esrag("ingest", "docs").code == 0
    said = esrag("ask", "How much oil does lamp seven burn a night?").out
    assert "[c1] Lamp 7, page 1: docs/lamps.jsonl#lamp-7\n" in said


def in_a_terminal(esrag, *arguments, **variables):
    """What the command writes to a terminal."""
    ours, theirs = pty.openpty()
    environment = {**esrag.environment(), "TERM": "xterm-256color", **variables}
    ran = subprocess.Popen(
        esrag.command(*arguments),
        cwd=esrag.folder,
        env=environment,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert ran.wait(60) == 0
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_gets_a_link_to_the_page(people):
    """By OSC 8, with the path quoted.

    A terminal without them, and one that wants no colour, get plain text.
    """
    question = "Where was Maria Tolle born?"
    address = f"file://{people.folder}/docs/tolle%20%C3%A9.html#page=1"
    linked = in_a_terminal(people, "ask", question)
    assert f"page 1: \x1b]8;;{address}\x1b\\docs/tolle é.html\x1b]8;;\x1b\\\n" in linked

    plain = "[c1] Maria Tolle, page 1: docs/tolle é.html\n"
    assert plain in in_a_terminal(people, "ask", question, TERM="dumb")
    assert plain in in_a_terminal(people, "ask", question, NO_COLOR="1")


def test_a_hostile_name_and_title_do_not_reach_the_terminal(esrag):
    """Escape sequences in a file name or a title are neither shown nor part of a link."""
    folder = esrag.folder / "docs"
    folder.mkdir(exist_ok=True)
    name = "a\x1b]8;;http:evil\x1b\\\n.txt"
    (folder / name).write_text("The tower of Carrick is 17 metres high.\n", encoding="utf-8")
    assert esrag("ingest", "docs").code == 0
    said = in_a_terminal(esrag, "ask", "How high is the tower of Carrick?")
    (link,) = [line for line in said.split("\n") if line.startswith("[c1]")]
    assert link.count("\x1b") == 4  # those of one link
    assert "\x1b]8;;http" not in link
