"""Progress: what is told of a file is so when it is told; a bar on a terminal, lines elsewhere."""

import re
from collections import Counter
from contextlib import contextmanager, nullcontext

import pytest
from fpdf import FPDF
from terminal import on_a_terminal

from esrag.context import open_context, open_engine
from esrag.ingesting import Silent, Task
from esrag.ingesting.batches import Ingestion, Target, fingerprint
from esrag.settings.layers import resolve

BROKEN = b"%PDF-1.7\nnothing follows"
COUNTED = re.compile(r"m(\d+)/(\d+|\?)\x1b")  # the bar's own column
PAGES = 400
HOSTILE = ("a\x1b]0;owned\x07\x1b[2J.txt", "b\x9b2J\r\n.txt", "[red]c.txt")


@pytest.fixture
def settings(tmp_path):
    """An index in a folder, with the hashing embedder."""
    keys = {
        "engine.url": str(tmp_path / "index"),
        "embedding.provider": "hashing",
        "embedding.model": "hashing",
    }
    return resolve(keys, environ={}).settings


@pytest.fixture
def tasks(tmp_path):
    """Files of many kinds: a table of more rows than are stored together, small ones, one that is
    broken.
    """
    contents = {f"small{n:02}.txt": f"Text {n}.\n".encode() * 3 for n in range(40)}
    contents["rows.jsonl"] = b"".join(
        b'{"id": "%d", "text": "Row %d."}\n' % (n, n) for n in range(300)
    )
    contents |= {"broken.pdf": BROKEN, "last.md": b"# Last\n\nThe lamp shines.\n"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    return [
        Task(source=str(tmp_path / name), doc_id=name, folder="", state="added")
        for name in contents
    ]


class Telling(Silent):
    """Progress that is watched by one function."""

    def __init__(self, step):
        self.step = step


def load(settings, tasks, step, writing=nullcontext):
    """Loads the files into a new index.

    `writing` is opened around each portion and gives the writer for it.
    """
    context = open_context(settings)
    made = fingerprint(settings, context.embedder)
    ingestion = Ingestion(settings, context.embedder)
    try:
        with context.engine.writer(made) as writer:
            target = Target(made, lambda: writing(writer), context.engine.vectors_of)
            return ingestion.load(tasks, target, Telling(step), lambda: None)
    finally:
        ingestion.close()
        context.engine.close()


def test_a_file_is_told_when_it_is_stored_and_once(settings, tasks):
    """Whoever reads the line finds all of the file in the index; another process does."""
    told = []

    def step(source, came):
        reader = open_engine(settings.engine)
        stored = Counter(document.source for document in reader.documents())
        reader.close()
        told.append((source, came, stored[source]))

    load(settings, tasks, step)
    came = {source.rpartition("/")[2]: (line, stored) for source, line, stored in told}

    assert len(told) == len(tasks) == len(came)
    assert came["rows.jsonl"] == ("added, 300 chunks", 300)
    assert came["broken.pdf"][0].startswith("failed: ")
    assert came.pop("broken.pdf")[1] == 0
    assert {stored for name, (_, stored) in came.items() if name != "rows.jsonl"} == {1}


class Refusing:
    """A writer that, as a server may, does not take some documents."""

    def __init__(self, writer):
        self.writer = writer

    def replace(self, documents):
        """Refuses a row and the last."""
        bad = {one.document.doc_id for one in documents} & {"rows.jsonl#7", "last.md"}
        self.writer.replace([one for one in documents if one.document.doc_id not in bad])
        return dict.fromkeys(bad, "is too long")


def test_what_the_engine_refuses_is_told_as_failed(settings, tasks):
    """Also where it is one of many documents of a file, in a portion that was stored long before
    the last.
    """
    told = {}
    result = load(settings, tasks, told.__setitem__, lambda writer: nullcontext(Refusing(writer)))
    told = {source.rpartition("/")[2]: came for source, came in told.items()}

    assert told["rows.jsonl"] == told["last.md"] == "failed: is too long"
    states = {outcome.source.rpartition("/")[2]: outcome.state for outcome in result.outcomes}
    assert states == {name: came.split(",")[0].split(":")[0] for name, came in told.items()}


@pytest.mark.parametrize(
    ("times", "came"), [(1, "added, 1 chunk"), (9, "failed: changes while it is read")]
)
def test_a_file_that_changes_is_told_once(settings, tasks, tmp_path, times, came):
    """When it was read once more and stored, or given up."""
    told, changes = [], []

    @contextmanager
    def writing(writer):
        if len(changes) < times:
            changes.append(1)
            with (tmp_path / "last.md").open("a") as file:
                file.write("It shines on.\n")
        yield writer

    load(
        settings,
        tasks,
        lambda source, line: told.append((source.rpartition("/")[2], line)),
        writing,
    )

    assert len(told) == len(tasks)
    assert dict(told)["last.md"].startswith(came)


def test_the_bar_has_a_known_total_and_ends_full(esrag, corpus):
    """With files that fail and files that hold nothing; the figures come under it."""
    (corpus / "broken.pdf").write_bytes(BROKEN)
    (corpus / "empty.txt").write_bytes(b"")
    code, shown = on_a_terminal(esrag, "ingest", "docs")
    steps = [(int(done), total) for done, total in COUNTED.findall(shown)]

    assert code == 1
    assert {total for _, total in steps} == {"4"}
    assert steps == sorted(steps)
    assert steps[-1] == (4, "4")
    bar, _, after = shown.rpartition("\x1b[?25h")  # the cursor is back
    assert "kettle.md" in bar or "toaster.txt" in bar or "lamp.html" in bar or "broken.pdf" in bar
    assert "3 added" in after
    assert "\x1b" not in after


def test_the_bar_shows_the_pages_of_a_large_file(esrag):
    """Before the first file is done."""
    pdf = FPDF()
    pdf.set_font("helvetica")
    for number in range(PAGES):
        pdf.add_page()
        pdf.multi_cell(0, 8, f"Page {number} tells of a kettle that holds {number} litres. " * 20)
    (esrag.folder / "docs").mkdir()
    pdf.output(str(esrag.folder / "docs" / "large.pdf"))
    code, shown = on_a_terminal(esrag, "ingest", "docs")

    before, _, _ = shown.partition("1 added")
    pages = [
        int(page.replace(",", ""))
        for page in re.findall(rf"large\.pdf  page ([\d,]+) of {PAGES}", before)
    ]
    assert code == 0
    assert pages
    assert pages == sorted(pages)


def test_a_name_does_not_act_on_the_terminal(esrag):
    """In the bar, in what is said of it after, and when it is moved: no sequence, no line end, no
    markup.
    """
    folder = esrag.folder / "docs"
    folder.mkdir()
    for number, name in enumerate(HOSTILE):
        (folder / name).write_text(f"Text {number}.")
        (folder / f"broken {name}.pdf").write_bytes(BROKEN)
    shown = "".join(
        on_a_terminal(esrag, *command)[1] for command in (["ingest", "docs"], ["index", "migrate"])
    )

    assert "[red]c.txt" in shown
    for sign in ("\x1b]", "\x07", "\x1b[2J", "\x9b"):
        assert sign not in shown
    own = re.sub(r"\x1b\[[\d;]*m|\x1b\[2K|\x1b\[1A|\x1b\[\?25[lh]|\r\n|\r", "", shown)  # of the bar
    assert own.isprintable()


def test_elsewhere_there_is_a_line_a_step_and_no_sequence(esrag, corpus):
    """For a file with a terrible name as well."""
    (corpus / HOSTILE[0]).write_text("Text.")
    ran = esrag("ingest", "docs")

    assert [line.partition(" ")[0] for line in ran.err.splitlines()] == [
        f"[{n}/4]" for n in (1, 2, 3, 4)
    ]
    assert all(line.isprintable() for line in ran.err.splitlines())
