"""Bad input as a user meets it: a line that says what, where and what to do; the rest goes on.

Nothing is lost.
"""

import io
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import docx
import pytest
from fpdf import FPDF

from esrag.engines.embedded.databases import connect
from esrag.text import format_count

GOOD = "# Kettle\n\nThe kettle holds 1.7 litres.\n"
MIB = 2**20
FILES = 20
RUN_AS = "import ctypes, os, resource, sys\n{}\nos.execv(sys.argv[1], sys.argv[1:])"
# Of root: to read and write everything.
DROP = "[ctypes.CDLL(None).prctl(24, right, 0, 0, 0) for right in (1, 2)]"


@pytest.fixture
def docs(esrag):
    """A folder with one good file."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    (folder / "good.md").write_text(GOOD)
    return folder


@pytest.fixture
def without_rights(esrag):
    """The command line of a user to whom the permissions of files apply, root or not."""
    return (
        replace(esrag, prefix=(sys.executable, "-c", RUN_AS.format(DROP)))
        if os.geteuid() == 0
        else esrag
    )


def pdf(*pages, password=""):
    """A PDF with a line of text on each page."""
    made = FPDF()
    made.set_font("Helvetica", size=11)
    if password:
        made.set_encryption(owner_password=password, user_password=password)
    for text in pages:
        made.add_page()
        made.cell(0, 8, text)
    return bytes(made.output())


def nested_docx():
    """A Word document with a table in a table's cell."""
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "outer"
    inner = cell.add_table(1, 1)
    inner.cell(0, 0).text = "inner walnut"
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def bomb():
    """600 MiB of white space in a Word document of 600 KiB."""
    file = io.BytesIO()
    whole = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with whole as archive, archive.open("word/document.xml", "w") as member:
        for _ in range(600):
            member.write(b" " * MIB)
    return file.getvalue()


def add_texts(folder):
    """Files that take a second or two to ingest."""
    for number in range(FILES):
        lines = (
            f"Lamp {number}.{line} hangs over table {line * number} and is lit at dusk."
            for line in range(300)
        )
        (folder / f"lamp{number:02}.txt").write_text("\n\n".join(lines))


def lines_of(ran):
    """What the report says of each file that is not in, by file name."""
    reports = [line for line in ran.err.splitlines() if line.startswith(("failed: ", "skipped: "))]
    split = (line.split(": ", 2) for line in reports)
    return {Path(source).name: f"{kind}: {reason}" for kind, source, reason in split}


def stored(esrag):
    """The ids of the documents."""
    return {document["doc_id"] for document in esrag("docs", "--json").lines}


def require_sound(esrag, documents):
    """The index has no damage and holds so many documents."""
    ran = esrag("doctor")
    assert (ran.code, f"index is sound: {format_count(documents, 'document')}" in ran.out) == (
        0,
        True,
    ), ran.out


BAD = {
    "empty.txt": (b"", "skipped: is empty"),
    "blank.txt": (b" \n\t\n", "failed: holds no text"),
    "nul.txt": (bytes(4096), "failed: is named .txt, but is neither that nor text"),
    "noise.md": (bytes(range(256)) * 20, "failed: is named .md, but is neither"),
    "photo.png": (
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
        "skipped: is of no supported format; esrag plugins",
    ),
    "photo.pdf": (
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
        "failed: is named .pdf, but is neither",
    ),
    "encrypted.pdf": (pdf("secret", password="x"), "failed: is encrypted: needs a password"),
    "truncated.pdf": (pdf("one", "two")[:300], "failed: is not a whole PDF"),
    "scanned.pdf": (pdf("", ""), "failed: has no text on its 2 pages (scanned?): run OCR first"),
    "truncated.docx": (nested_docx()[:3000], "failed: is not a whole zip archive"),
}


def test_files_that_cannot_be_read_have_a_line_each_and_the_good_one_is_in(esrag, docs):
    """What came and what to do; failed files are exit 1, and only the good file is stored."""
    bad = BAD | {"bomb.docx": (bomb(), "failed: unpacks to 600 MiB")}
    for name, (data, _) in bad.items():
        (docs / name).write_bytes(data)
    ran = esrag("ingest", "docs")

    assert ran.code == 1
    assert "1 added" in ran.out
    said = lines_of(ran)
    assert set(said) == set(bad)
    for name, (_, words) in bad.items():
        assert said[name].startswith(words)
    require_sound(esrag, 1)


def test_odd_files_that_hold_text_are_read(esrag, docs):
    """A wrong encoding, a NUL or two, right-to-left text, a name that lies, a table in a table."""
    odd = {
        "latin.txt": ("Die Höhe des Leuchtturms beträgt fünf Meter.\n".encode("latin-1"), "Höhe"),
        "wide.txt": ("Sixteen bits of slate.\n".encode("utf-16"), "slate"),
        "stray.txt": (b"A stray \x00 byte " + b"in a long line of words, " * 20, "A stray  byte"),
        "hebrew.txt": ("גובה המגדלור שלושים מטר.\n".encode(), "המגדלור"),
        "lie.pdf": (b"Plain words that call themselves a PDF.\n", "call themselves"),
        "lie.txt": (pdf("Pages that call themselves plain."), "Pages that call"),
        "nested.docx": (nested_docx(), "inner walnut"),
    }
    for name, (data, _) in odd.items():
        (docs / name).write_bytes(data)
    ran = esrag("ingest", "docs", "--json")

    assert (ran.code, ran.json["added"], ran.json["skipped"]) == (0, 8, [])
    found = " ".join(chunk["text"] for chunk in esrag("chunks", "--json").lines)
    assert [words for _, words in odd.values() if words not in found] == []
    assert esrag("search", "המגדלור", "--json").json["hits"][0]["keyword_rank"] == 1


def test_missing_paths_and_what_is_no_file_are_named(esrag, docs):
    """Each has its line, the good file is in; an empty name is not the folder we stand in."""
    os.mkfifo(docs / "pipe.txt")
    (docs / "dead.txt").symlink_to(docs / "nowhere")
    (docs / "round.txt").symlink_to(docs / "round.txt")
    (docs / "loop").symlink_to(docs)
    listener = socket.socket(socket.AF_UNIX)
    (esrag.folder / "beside.txt").write_text("Not to be taken.")
    long = "x" * 300
    with listener:
        listener.bind(os.path.relpath(docs / "plug"))
        ran = esrag("ingest", "docs", "missing", "no*.txt", "", long, "/dev/zero", "docs/good.md/x")

    assert ran.code == 1
    said = lines_of(ran)
    assert "pipe.txt" in said
    assert "named pipe" in said["pipe.txt"]
    assert "socket" in said["plug"]
    assert said["dead.txt"] == "failed: is a link that leads nowhere"
    assert "symbolic links" in said["round.txt"]
    assert said["missing"] == said["x"] == "failed: no such file or folder"
    assert said["no*.txt"] == "failed: matches no file"
    assert "too long" in said[long]
    assert "device" in said["zero"]
    assert "empty name" in ran.err
    require_sound(esrag, 1)


def test_an_empty_folder_is_nothing_to_do(esrag):
    """Exit 0, and no index is broken by it."""
    (esrag.folder / "none").mkdir()
    ran = esrag("ingest", "none", "--json")

    assert (ran.code, ran.json["added"], ran.json["skipped"]) == (0, 0, [])
    require_sound(esrag, 0)


def test_what_may_not_be_read_is_named_and_what_is_stored_of_it_stays(without_rights, docs):
    """A file and a folder without rights, before and after they were ingested, by
    whatever option.
    """
    esrag = without_rights
    (docs / "secret.txt").write_text("The cellar key hangs behind the clock.")
    (docs / "locked").mkdir()
    (docs / "locked" / "plan.txt").write_text("The plan lies under the stairs.")
    assert esrag("ingest", "docs").code == 0
    (docs / "secret.txt").chmod(0)
    (docs / "locked").chmod(0)
    (docs / "new.txt").write_text("A newcomer.")
    try:
        for arguments in (
            ["docs"],
            ["docs", "--include", "*.md"],
            ["docs/locked/plan.txt", "docs/good.md"],
        ):
            ran = esrag("ingest", *arguments)
            assert (ran.code, "Permission denied" in ran.err, "0 removed" in ran.out) == (
                1,
                True,
                True,
            )
        assert (
            lines_of(esrag("ingest", "docs"))["secret.txt"]
            == "failed: cannot be read: Permission denied"
        )
    finally:
        (docs / "locked").chmod(0o755)
    require_sound(esrag, 4)


def test_hostile_names_are_names(esrag, docs):
    """Line ends, escapes, options, globs, bytes in no encoding, nothing at all: each is a document
    with a name.
    """
    names = [
        "new\nline.md",
        "esc\x1b[31m.md",
        "-dash.md",
        "[1].md",
        "a*?.md",
        " .md",
        "\x01.md",
        "#.md",
        "y" * 250,
    ]
    for name in [*names, os.fsdecode(b"\xff\xfe.md")]:
        (docs / name).write_text(f"Words of {len(name)}.")
    ran = esrag("ingest", "docs")

    assert ran.code == 0
    assert "11 added" in ran.out
    assert "\x1b" not in ran.err
    assert len(ran.err.splitlines()) == 11
    ids = stored(esrag)
    assert len(ids) == 11
    assert {"[1]", "a*?", "-dash", "new_line"} <= ids
    assert all(doc_id.strip() and doc_id.isprintable() for doc_id in ids)
    assert "3 unchanged" in esrag("ingest", "--", "docs/[1].md", "docs/a*?.md", "docs/-dash.md").out


def test_a_name_in_no_encoding_is_not_taken_for_a_vanished_file(esrag, docs):
    """Left out by --include it stays, a rebuild takes it along, and when it is deleted it goes."""
    path = docs / os.fsdecode(b"\xff\xfe.md")
    path.write_text("Bytes of a name.")
    assert "2 added" in esrag("ingest", "docs").out

    assert "0 removed" in esrag("ingest", "docs", "--include", "good*").out
    assert "2 added" in esrag("ingest", "--rebuild").out
    path.unlink()
    assert "1 removed" in esrag("ingest", "docs").out


def test_a_documents_own_metadata_cannot_stand_for_ours(esrag, docs):
    """Front matter and columns named like our fields can be filtered by under a name of
    their own.
    """
    (docs / "claims.md").write_text(
        "---\nfolder: vault\nkind: pdf\ndoc_id: good\nsource: /etc\n---\nA claim of walnut."
    )
    (docs / "rows.csv").write_text(
        "id,folder,kind,doc_id,source,text,page\n1,vault,pdf,good,/etc,A row of walnut.,7\n"
    )
    (docs / "sub").mkdir()
    (docs / "sub" / "note.md").write_text("A note.")
    assert esrag("ingest", "docs").code == 0

    def found(condition):
        return {
            hit["doc_id"]
            for hit in esrag("search", "walnut", "--where", condition, "--json").json["hits"]
        }

    for condition in ("folder=vault", "kind=pdf"):
        assert esrag("search", "walnut", "--where", condition).err.startswith(
            f"error: no passage has {condition}\n"
        )
    assert found("kind_=pdf") == {"claims", "rows#1"}
    assert found("doc_id=good") == {"good"}


def test_a_file_that_grows_is_left_for_the_next_run(esrag, docs):
    """Half of a file that is being written is never stored; when it is finished it is."""
    log, done = docs / "log.txt", threading.Event()
    # Reading it should take longer than the writer may be kept waiting.
    log.write_text("a" * 60_000_000)
    changes = "failed: changes while it is read: run ingest again when it is written"

    def write():
        with log.open("a") as file:
            while not done.is_set():
                file.write("a")
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(10):  # on a busy machine the file may be read while the writer waits
            ran = esrag("ingest", "docs")
            assert ran.code == 1
            if lines_of(ran)["log.txt"] == changes:
                break
    finally:
        done.set()
        writer.join()
    assert lines_of(ran) == {"log.txt": changes}
    log.write_text("The log is finished.")
    assert esrag("ingest", "docs").code == 0
    require_sound(esrag, 2)


def test_a_text_of_200_mb_is_refused_unread(esrag, docs):
    """A line that names the limit, with less memory for the parser than the file would take."""
    with (docs / "large.txt").open("wb") as file:
        file.truncate(200 * MIB)
    ran = esrag("ingest", "docs", ESRAG_LOADING__MEMORY_BYTES=str(200 * MIB))

    assert ran.code == 1
    assert (
        "has 209715200 bytes, loading.max_bytes allows 134217728: split it"
        in lines_of(ran)["large.txt"]
    )
    require_sound(esrag, 1)


@pytest.mark.parametrize("kind", ["notes", "database", "file"])
def test_another_programs_folder_is_refused_and_left_alone(esrag, docs, kind):
    """Neither written nor replaced nor read, whatever the command."""
    place = esrag.folder / ".esrag" / "esrag"
    place.parent.mkdir()
    if kind == "file":
        place.write_text("mine")
    else:
        place.mkdir()
    if kind == "notes":
        (place / "notes.md").write_text("mine")
    if kind == "database":
        with sqlite3.connect(place / "index.sqlite3") as connection:
            connection.execute("CREATE TABLE mine (x)")
        connection.close()
    kept = {path: path.read_bytes() for path in place.parent.rglob("*") if path.is_file()}

    for arguments in (["ingest", "docs"], ["ingest", "docs", "--rebuild"], ["ask", "kettle"]):
        ran = esrag(*arguments)
        assert (ran.code, ran.out) == (2, "")
        assert "holds something that is not an index of esrag" in ran.err
        assert "hint: choose another" in ran.err
    assert {path: path.read_bytes() for path in kept} == kept


def newer(folder):
    connection = connect(folder / "index.sqlite3", "rw")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def older(folder):
    connection = connect(folder / "index.sqlite3", "rw")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


DAMAGE = {
    "newer": (newer, 2, "newer esrag"),
    "older": (older, 2, "older esrag"),
    "cut short": (lambda folder: os.truncate(folder / "index.sqlite3", 9000), 1, "damaged"),
    "no database": (
        lambda folder: (folder / "index.sqlite3").write_bytes(b"\x01" * 9000),
        1,
        "damaged",
    ),
    "no vectors": (lambda folder: (folder / "vectors-0.f32").unlink(), 1, "cannot read the index"),
    "no tables": (
        lambda folder: (folder / "index.sqlite3").write_bytes(b""),
        1,
        "index.sqlite3 is empty",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_an_index_that_cannot_be_used_says_so_and_what_it_says_mends_it(esrag, docs, kind):
    """A newer version's, a damaged and a half-written one: the command in the hint
    makes it whole.
    """
    damage, code, words = DAMAGE[kind]
    assert esrag("ingest", "docs").code == 0
    damage(esrag.folder / ".esrag" / "esrag")
    ran = esrag("ask", "How much does the kettle hold?")

    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    rebuild = ["--rebuild"] if "--rebuild" in ran.err else []
    assert rebuild or "esrag ingest FOLDER" in ran.err
    assert esrag("ingest", "docs", *rebuild).code == 0
    require_sound(esrag, 1)


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--json",)])
def test_an_ingest_of_unchanged_files_names_damage_to_what_it_keeps(esrag, docs, options):
    """One flipped bit in the stored text of a file that did not change."""
    (docs / "other.md").write_text("The pump is red.\n")
    assert esrag("ingest", "docs").code == 0
    path = esrag.folder / ".esrag" / "esrag" / "index.sqlite3"
    stored = bytearray(path.read_bytes())
    stored[stored.index(b"holds 1.7 litres") + 6] ^= 1
    path.write_bytes(stored)

    ran = esrag("ingest", "docs", *options)
    assert (ran.code, "unchanged" in ran.out) == (1, False)
    assert "the index in .esrag/esrag is damaged: the checksum of a page is wrong" in ran.err
    assert "hint: ingest every folder again with --rebuild" in ran.err
    assert esrag("ingest", "docs", "--rebuild").code == 0
    require_sound(esrag, 2)


def test_a_damaged_index_is_not_replaced_by_an_empty_one(esrag, docs):
    """A rebuild that names nothing cannot know what was in it."""
    assert esrag("ingest", "docs").code == 0
    DAMAGE["no database"][0](esrag.folder / ".esrag" / "esrag")
    ran = esrag("ingest", "--rebuild")

    assert (ran.code, ran.out) == (1, "")
    assert "every folder" in ran.err


def test_a_read_only_index_is_searched_and_not_written(without_rights, docs):
    """Reading works where nothing may be written; writing says what to do.

    No rights at all say so too.
    """
    esrag = without_rights
    assert esrag("ingest", "docs").code == 0
    index = esrag.folder / ".esrag"
    for path in [*index.rglob("*"), index]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    (docs / "more.txt").write_text("More.")
    try:
        assert "1.7 litres" in esrag("ask", "How many litres does the kettle hold?").out
        assert {level.split()[0] for level in esrag("doctor").out.splitlines()} == {"ok"}
        assert "1 of 1 file" in esrag("jobs", "list").out
        assert "files: 1 added" in esrag("jobs", "show").out
        assert "more.txt" in esrag("ingest", "docs", "--dry-run").out
        for arguments in (["docs"], ["docs", "--rebuild"]):
            ran = esrag("ingest", *arguments)
            assert (ran.code, ran.out) == (1, "")
            assert "cannot write the index in .esrag/esrag" in ran.err
            assert "hint: make it writable, or set engine.url to another folder" in ran.err
        index.chmod(0)
        for arguments in (["ask", "kettle"], ["ingest", "docs", "--dry-run"]):
            ran = esrag(*arguments)
            assert (ran.code, "hint: look at its permissions" in ran.err) == (1, True)
    finally:
        for path in (index, *index.rglob("*")):
            path.chmod(0o755)
    require_sound(esrag, 1)


def test_a_full_disk_keeps_what_was_stored_and_the_same_command_goes_on(esrag, docs):
    """No room in an ingest: one line, exit 1, a sound index.

    With room the rest comes in, as if there had been room.
    """
    assert esrag("ingest", "docs").code == 0
    add_texts(docs)
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))"
    full = replace(esrag, prefix=(sys.executable, "-c", RUN_AS.format(limit)))
    ran = full("ingest", "docs")

    assert ran.code == 1
    assert "error: cannot write the index in .esrag/esrag" in ran.err
    assert (
        "hint: make room on the disk and run the same command again; what was stored stays"
        in ran.err
    )
    assert "index is sound" in esrag("doctor").out
    assert esrag("ingest", "docs").code == 0
    require_sound(esrag, FILES + 1)
    assert esrag("ingest", "docs", "--engine", "fresh").code == 0
    for name in ("docs", "chunks"):
        assert esrag(name, "--json").out == esrag(name, "--json", "--engine", "fresh").out


def heeding_ctrl_c():
    """As a command that was typed: a shell's background jobs, and what they start, ignore the
    signal.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)]
)
def test_an_interrupted_ingest_says_so_and_the_next_run_goes_on(esrag, docs, sent, code):
    """Ctrl-C is one line and exit 130; a kill leaves a sound index too; no worker is
    left behind.
    """
    add_texts(docs)
    running = subprocess.Popen(
        esrag.command("ingest", "docs"),
        cwd=esrag.folder,
        env=esrag.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeding_ctrl_c,  # noqa: PLW1509 -- one thread; a suite in the background ignores Ctrl-C
    )
    while not running.stderr.readline().startswith("[2/"):
        assert running.poll() is None
    running.send_signal(sent)
    out, err = running.communicate(timeout=30)

    assert (running.returncode, out) == (code, "")
    assert "Traceback" not in err
    rest = [line for line in err.splitlines() if line and not line.startswith("[")]
    expected = ["interrupted; stored documents stay, and the same command continues from there"]
    assert rest == (expected if sent == signal.SIGINT else [])
    assert esrag("doctor").code == 0
    assert esrag("ingest", "docs").code == 0
    require_sound(esrag, FILES + 1)


def test_of_two_ingests_at_once_one_waits_or_says_so(esrag, docs):
    """Exit 4 for who does not want to wait; who waits does the rest."""
    add_texts(docs)
    command = esrag.command("ingest", "docs", "--json")
    options = {
        "cwd": esrag.folder,
        "env": esrag.environment(),
        "stdout": subprocess.PIPE,
        "text": True,
    }
    first = subprocess.Popen(command, stderr=subprocess.PIPE, **options)
    assert first.stderr.readline().startswith("[1/")
    # The machine may be quick: it is to be at work until the other was refused.
    first.send_signal(signal.SIGSTOP)
    refused = esrag("ingest", "docs", "--set", "engine.lock_wait_s=0.1")
    second = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    first.send_signal(signal.SIGCONT)
    out, _ = first.communicate(timeout=60)
    waited, _ = second.communicate(timeout=60)

    assert (refused.code, refused.out) == (4, "")
    assert "another program has been writing" in refused.err
    assert "hint: wait for it to end" in refused.err
    assert (first.returncode, json.loads(out)["added"]) == (0, FILES + 1)
    assert (second.returncode, json.loads(waited)["unchanged"]) == (0, FILES + 1)


FULL = "error: standard output: No space left on device; the work itself is done\n"


@pytest.mark.parametrize(
    ("redirections", "code", "words"),
    [(">&-", 0, ""), ("<&- >&- 2>&-", 0, ""), (">/dev/full", 1, FULL)],
)
def test_closed_and_full_streams_are_no_bugs(esrag, docs, redirections, code, words):
    """Whoever closes stdout wants no output; output that cannot be written is one line."""
    command = f'"$0" ingest docs {redirections}'
    done = subprocess.run(
        ["sh", "-c", command, esrag.command()[-1]],
        cwd=esrag.folder,
        env=esrag.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == code
    assert done.stdout == ""
    assert [line for line in done.stderr.splitlines(keepends=True) if line[0] != "["] == (
        [words] if words else []
    )
    require_sound(esrag, 1)


def test_an_index_within_the_folder_is_not_ingested(esrag, docs):
    """`esrag ingest .` around its own index finds the documents and nothing else, also where it is
    not hidden.
    """
    for count in ("1 added", "1 unchanged"):
        ran = esrag("ingest", ".", "--engine", "visible")
        assert (ran.code, ran.out.count(count), lines_of(ran)) == (0, 1, {})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a: [", "is not YAML"),
        (b"\xff\xfe\x00", "cannot read the settings file"),
        (b"- k\n", "holds a list"),
        (b"engine: 5\n", "is a section"),
        (b"engine: {ulr: x}\n", "did you mean engine.url"),
        (b'engine: {url: "a\\0b"}\n', "engine.url"),
        (b"engine: {url: 'ftp://me:password@host'}\n", "must be a folder"),
        (b"answer: {neighbours: 99999999999999999999}\n", "less than or equal to 100"),
        (b"loading: {timeout_s: .inf}\n", "less than or equal to 86400"),
    ],
)
def test_a_settings_file_that_makes_no_sense_is_one_line(esrag, text, words):
    """Exit 2, what and where; no secret is printed."""
    (esrag.folder / "esrag.yaml").write_bytes(text)
    ran = esrag("docs")

    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
    assert ran.err.startswith("error: ")
    assert len(ran.err.splitlines()) <= 2
    assert "password" not in ran.err


def test_a_misspelt_variable_is_an_error(esrag):
    """It would be a setting that is silently not set."""
    ran = esrag("docs", ESRAG_RETRIEVAL_K="5")

    assert ran.code == 2
    assert "did you mean retrieval.k" in ran.err


def test_odd_questions_and_conditions_are_data(esrag, docs):
    """Bytes in no encoding, great values, a condition mistyped, a document that is not there."""
    assert esrag("ingest", "docs").code == 0

    assert (
        "1.7 litres"
        in esrag("ask", "How many litres does the kettle hold? \udcff\udcfe", "--json").json[
            "answer"
        ]
    )
    assert esrag("search", "kettle \udcff", "--json").json["hits"]
    for condition in ("doc_id=" + "x" * 100_000, "page>=" + "9" * 18):
        assert esrag("search", "kettle", "--where", condition, "--json").json["hits"] == []
    for condition in ("a=" + "x" * 100_000, "page>=" + "9" * 30):
        ran = esrag("search", "kettle", "--where", condition)
        assert (ran.code, len(ran.err) < 300) == (2, True)
    ran = esrag("search", "kettle", "--where", "year=>2024")
    assert (ran.code, "hint: write it as" in ran.err) == (2, True)
    ran = esrag("chunks", "kettel")
    assert (ran.code, "hint: esrag docs" in ran.err) == (2, True)
