"""The parse worker: limits, crashes, files that change, and its protocol."""

import hashlib
import os
import signal
import socket
import threading
import time
from pathlib import Path

import psutil
import pytest

from esrag.errors import ParsingError, UnsupportedFormat
from esrag.loading.isolated import Parser
from esrag.loading.reading import read
from esrag.loading.serialising import document_fields, document_from
from esrag.loading.sources import source_of
from esrag.settings import LoadingSettings

GIB = 2**30


@pytest.fixture(scope="module")
def parser():
    with Parser(
        LoadingSettings(
            timeout_s=30, memory_bytes=2 * GIB, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as made:
        yield made


def parse(parser, path, doc_id):
    """One file's documents, or its error raised."""
    (outcome,) = parser.parse([(source_of(path), doc_id)])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def workers() -> set[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    alive = (child for child in children if child.status() != psutil.STATUS_ZOMBIE)
    return {child for child in alive if "esrag.workers.parse" in child.cmdline()}


def slow_file(folder):
    """A file that takes seconds to parse."""
    path = folder / "slow.html"
    path.write_text(
        "<html><body>"
        + "<p>A paragraph <b>of</b> a page.</p><table><tr><td>1</td></tr></table>" * 150_000
    )
    return path


def test_the_worker_gives_what_the_loader_gives(parser, samples, load, tmp_path):
    """Documents, skipped parts and the hash cross the pipe unchanged, for every format."""
    for name, data in samples.values():
        path = tmp_path / name
        path.write_bytes(data)
        parsed = parse(parser, path, "d")
        assert (parsed.documents, parsed.skipped) == load(name, data, 50_000_000)
        assert parsed.sha256 == hashlib.sha256(data).hexdigest()


def test_documents_survive_json(load_one):
    """Any character, an id with a lone surrogate and every span come back."""
    document = load_one("a.md", "# Ω 𝔹\n\n| a | b |\n|---|---|\n| \u2028 | مرحبا |\n")
    assert document_from(document_fields(document)) == document


@pytest.fixture
def corpus(tmp_path):
    """A file of 20,000 documents."""
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(f'{{"_id": {n}, "text": "row {n}"}}\n' for n in range(20_000)))
    return path


def test_many_rows_stream_through(parser, corpus, tmp_path):
    """A corpus of 20,000 lines is 20,000 documents, whether they are taken or not.

    The next file's are its own.
    """
    note = tmp_path / "note.txt"
    note.write_text("words")
    taken = parser.parse([(str(corpus), "c"), (str(corpus), "u"), (str(note), "n")])
    first = next(taken)
    ids = [document.doc_id for document in first.documents]
    untaken, last = taken

    assert (first.count, len(ids), ids[0], ids[-1]) == (20_000, 20_000, "c#0", "c#19999")
    assert untaken.count == 20_000
    assert [document.text for document in last.documents] == ["words"]


def test_a_worker_that_dies_among_many_documents_costs_one_source(corpus, tmp_path):
    """The documents that are missing are an error, not the end; the next source gets a
    new worker.
    """
    note = tmp_path / "note.txt"
    note.write_text("words")
    others = workers()
    with Parser(
        LoadingSettings(
            timeout_s=30, memory_bytes=2 * GIB, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as parser:
        outcomes = parser.parse([(str(corpus), "c"), (str(note), "n")])
        documents = iter(next(outcomes).documents)
        assert next(documents).doc_id == "c#0"
        (worker,) = workers() - others
        worker.kill()
        with pytest.raises(ParsingError, match="killed the parser"):
            list(documents)
        assert next(outcomes).documents[0].text == "words"


def test_of_many_parts_that_are_left_out_the_first_are_named(parser, tmp_path):
    """A report of a million broken lines is nobody's; they are counted."""
    path = tmp_path / "broken.jsonl"
    path.write_text('{"text": "row"}\n' + "broken\n" * 5_000)
    parsed = parse(parser, path, "d")
    assert (len(parsed.skipped), parsed.skipped[0].where) == (1001, "line 2")
    assert parsed.skipped[-1].where == "4000 more parts"


def test_errors_keep_their_kind_message_and_hint(parser, tmp_path):
    """What the worker raises is raised here."""
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(UnsupportedFormat, match="no supported format") as caught:
        parse(parser, path, "d")
    assert "esrag plugins" in caught.value.hint


def test_names_in_no_encoding_are_parsed(parser, tmp_path):
    """A path of undecodable bytes reaches the worker."""
    path = tmp_path / os.fsdecode(b"\xff.txt")
    path.write_text("words")
    assert parse(parser, path, "d").documents[0].text == "words"


def test_files_that_are_no_files_do_not_hang(parser, tmp_path):
    """A named pipe, a socket, a device, a folder and a missing file each have their line."""
    os.mkfifo(tmp_path / "pipe.txt")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    cases = {
        "pipe.txt": "named pipe",
        "s": "socket",
        "/dev/zero": "device",
        ".": "folder",
        "no": "No such file",
    }
    for name, message in cases.items():
        with pytest.raises(ParsingError, match=message):
            parse(parser, tmp_path / name, "d")
    listener.close()


def test_large_files_are_refused_before_they_are_read(tmp_path):
    """A sparse file of a terabyte costs nothing and names the setting."""
    path = tmp_path / "large.txt"
    path.touch()
    os.truncate(path, 2**40)
    with pytest.raises(
        ParsingError, match=r"has 1099511627776 bytes, loading\.max_bytes allows 1000"
    ):
        read(str(path), 1000)


@pytest.fixture
def meddled(monkeypatch, tmp_path):
    """A file that really grows whenever it is looked at, for as many looks as asked for."""

    def made(looks: int):
        path = tmp_path / "log.txt"
        path.write_text("old")
        left = iter(range(looks))
        fstat = os.fstat

        def changing(descriptor: int) -> os.stat_result:
            seen = fstat(descriptor)
            if next(left, None) is not None:
                path.write_text(path.read_text() + " and more")
            return seen

        monkeypatch.setattr(os, "fstat", changing)
        return str(path)

    return made


def test_a_file_that_keeps_growing_is_left_for_the_next_time(meddled):
    """Bytes of a file that is being written are never taken for the whole."""
    with pytest.raises(ParsingError, match="changes while it is read: run ingest again"):
        read(meddled(10**6), 10**12)


def test_a_file_that_stops_growing_is_read(meddled):
    """A change between two looks is read again, and then taken."""
    assert read(meddled(1), 100) == b"old and more"


def test_a_source_that_takes_too_long_is_ended_and_the_next_one_works(tmp_path):
    """The time limit ends the worker; another one parses what follows."""
    note = tmp_path / "note.txt"
    note.write_text("words")
    with Parser(
        LoadingSettings(
            timeout_s=0.7, memory_bytes=2 * GIB, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as parser:
        start = time.monotonic()
        with pytest.raises(ParsingError, match=r"took longer than 0\.7 s"):
            parse(parser, slow_file(tmp_path), "d")
        assert time.monotonic() - start < 5
        assert parse(parser, note, "d").documents[0].text == "words"


def test_a_source_that_needs_too_much_memory_is_refused_and_the_next_one_works(tmp_path):
    """The memory limit ends in one line, whether Python or a native library meets it."""
    note = tmp_path / "note.txt"
    note.write_text("words")
    with Parser(
        LoadingSettings(
            timeout_s=30, memory_bytes=250_000_000, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as parser:
        with pytest.raises(ParsingError, match="memory"):
            parse(parser, slow_file(tmp_path), "d")
        assert parse(parser, note, "d").documents[0].text == "words"


def test_a_worker_that_is_killed_costs_one_source(tmp_path):
    """A crash in the middle is that source's error; the next gets a new worker."""
    note = tmp_path / "note.txt"
    note.write_text("words")
    others = workers()
    with Parser(
        LoadingSettings(
            timeout_s=30, memory_bytes=2 * GIB, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as parser:
        parse(parser, note, "d")
        (worker,) = workers() - others
        killer = threading.Timer(0.3, worker.send_signal, [signal.SIGSEGV])
        killer.start()
        with pytest.raises(ParsingError, match="killed the parser"):
            parse(parser, slow_file(tmp_path), "d")
        assert parse(parser, note, "d").documents[0].text == "words"
    assert workers() == others


def test_what_is_parsed_ahead_waits_for_a_slow_reader(tmp_path):
    """The time limit is for parsing: an answer that nobody takes for longer, larger than a pipe
    holds, is kept.
    """
    sources = [(str(tmp_path / f"{n}.txt"), f"d{n}") for n in range(3)]
    for source, doc_id in sources:
        Path(source).write_text(f"{doc_id} " * 100_000)
    with Parser(
        LoadingSettings(
            timeout_s=1.0, memory_bytes=2 * GIB, max_bytes=50_000_000, max_characters=50_000_000
        )
    ) as parser:
        seen = []
        for outcome in parser.parse(sources):
            time.sleep(1.5)
            seen += [document.doc_id for document in outcome.documents]
    assert seen == ["d0", "d1", "d2"]


def test_an_answer_that_is_not_wanted_any_more_is_nobody_elses(tmp_path):
    """Left in the middle, the worker ends with what it parsed ahead.

    The next source gets its own documents.
    """
    for name in "abc":
        (tmp_path / name).write_text(name)
    with Parser(
        LoadingSettings(timeout_s=30, memory_bytes=2 * GIB, max_bytes=1000, max_characters=1000)
    ) as parser:
        outcomes = parser.parse([(str(tmp_path / "a"), "a"), (str(tmp_path / "b"), "b")])
        assert next(outcomes).documents[0].text == "a"
        outcomes.close()
        assert parse(parser, tmp_path / "c", "c").documents[0].text == "c"


def test_the_worker_is_out_of_reach_of_ctrl_c_and_of_the_folder_we_stand_in(tmp_path, monkeypatch):
    """Signals of the terminal do not reach it, and a json.py beside the documents is
    not imported.
    """
    (tmp_path / "json.py").write_text("raise SystemExit")
    (tmp_path / "note.txt").write_text("words")
    monkeypatch.chdir(tmp_path)
    others = workers()
    with Parser(
        LoadingSettings(timeout_s=30, memory_bytes=2 * GIB, max_bytes=1000, max_characters=1000)
    ) as parser:
        assert parse(parser, tmp_path / "note.txt", "d").documents[0].text == "words"
        (worker,) = workers() - others
        assert os.getsid(worker.pid) == worker.pid
