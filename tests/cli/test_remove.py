"""`esrag remove`: what was named leaves the index, and nothing else.

A later ingest may bring it back.
"""

import json
import os
import pty
import shutil
import subprocess
from contextlib import closing
from dataclasses import replace

import pytest
from bounded import limited

from esrag.engines import Prepared
from esrag.jobs.removing import Removal, find_documents
from esrag.jobs.work import Work
from esrag.records import Fingerprint, StoredDocument
from esrag.settings import Settings

QUESTION = "How many litres does the kettle hold?"


@pytest.fixture
def filled(esrag, corpus):
    """The corpus and a table of three rows in an index."""
    rows = (
        {"id": name, "text": f"The {name} is made of steel."} for name in ("fork", "knife", "spoon")
    )
    (corpus / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert esrag("ingest", "docs").code == 0
    return corpus


def ids(esrag):
    """The documents in the index."""
    return [document["doc_id"] for document in esrag("docs", "--json").lines]


def test_many_documents_are_found_at_once(tmp_path):
    """Each id is looked up, not looked for among all of them."""
    made = Fingerprint("", 0, "rows")
    stored = StoredDocument("", "/rows.csv", "0", "0", "csv", "", 1, 0, 0, {})
    ids = [f"rows#{number:05}" for number in range(20_000)]
    settings = Settings(engine={"url": str(tmp_path)}, embedding={"model": "none"})

    with closing(Work(settings)) as work:
        engine = work.engine("esrag")
        with engine.writer(made) as writer:
            writer.replace([Prepared(replace(stored, doc_id=it), (), (), None) for it in ids])
        with limited(4):
            documents, _ = find_documents(Removal(doc_ids=ids), work)
    assert [document.doc_id for document in documents] == ids


ALL = ["kettle", "lamp", "rows#fork", "rows#knife", "rows#spoon", "toaster"]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        (["rows#knife", "lamp"], {"rows#knife", "lamp"}),
        (["--source", "docs/kitchen"], {"kettle", "toaster"}),
        (
            ["--source", "docs/rows.jsonl", "--source", "docs/lamp.html"],
            {"rows#fork", "rows#knife", "rows#spoon", "lamp"},
        ),
        (["--source", "./"], set(ALL)),
        (["--where", "folder=kitchen", "--where", "kind!=plain"], {"kettle"}),
        (["--where", "doc_id=rows*"], {"rows#fork", "rows#knife", "rows#spoon"}),
    ],
)
def test_what_is_named_leaves_the_index(esrag, arguments, gone):
    """A dry run says the same and does nothing; the index and the ledger agree.

    The next ingest adds it again.
    """
    dry = esrag("remove", *arguments, "--dry-run", "--json")
    assert (dry.code, ids(esrag)) == (0, ALL)

    ran = esrag("remove", *arguments, "--json")
    assert (ran.code, ran.json) == (0, dry.json)
    assert set(ran.json["doc_ids"]) == gone
    assert ran.json["documents"] == len(gone) <= ran.json["chunks"]
    assert "adds it again" in ran.err
    assert ids(esrag) == [doc_id for doc_id in ALL if doc_id not in gone]
    assert esrag("doctor").code == 0

    assert esrag("ingest", "docs").code == 0
    assert ids(esrag) == ALL
    assert esrag("doctor").code == 0


WRONG = [
    ([], "exactly one of"),
    (["kettle", "--source", "docs"], "exactly one of"),
    (["ketle"], "did you mean kettle?"),
    (["kettle", "nothing"], "no document 'nothing'"),
    (["--source", "doc"], "no source"),
    (["--source", ""], "an empty name"),
    (["kettle", "--index", ""], "engine.index"),
    (["kettle", "--engine", ""], "engine.url"),
    (["--where", "kind!=pdf", "--where", "section=Size"], "section is a field of a passage"),
    (["--where", "colour=red"], "colour"),
]


@pytest.mark.usefixtures("filled")
def test_a_name_that_the_index_does_not_have_removes_nothing(esrag):
    """Exit code 2 and a line that helps; not even the names beside it are removed."""
    for arguments, words in WRONG:
        ran = esrag("remove", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert words in ran.err

    assert ids(esrag) == ALL


def test_without_an_index_there_is_nothing_to_remove(esrag):
    """Exit code 2, and no index is made."""
    assert esrag("remove", "kettle").code == 2
    assert not (esrag.folder / ".esrag").exists()


def test_a_folder_that_vanished_is_removed_by_its_name(esrag, filled):
    """An ingest of it says how; nothing of it is answered afterwards, from a cache neither."""
    cached = {"ESRAG_CACHE__URL": "cache.db"}
    first, second = (esrag("ask", QUESTION, "--json", **cached).json for _ in range(2))
    assert (first["refused"], second["refused"], second["cached"]) == (False, False, True)
    shutil.rmtree(filled / "kitchen")
    ran = esrag("ingest", "docs/kitchen")
    assert ran.code == 1
    advice = (
        "docs/kitchen: no such file or folder; to remove its 2 documents: "
        "esrag remove --source docs/kitchen"
    )
    assert f"failed: {advice}\n" in ran.err

    ran = esrag("remove", "--source", "docs/kitchen")
    assert (ran.code, ran.out, ran.err) == (0, "removed 2 documents, 2 chunks\n", "")
    assert ids(esrag) == ["lamp", "rows#fork", "rows#knife", "rows#spoon"]
    assert "1.7 litres" not in esrag("ask", QUESTION, "--json", **cached).out
    assert esrag("ingest", "docs/kitchen").err.endswith("no such file or folder\n")
    assert esrag("doctor").code == 0


def test_an_empty_folder_may_be_an_unmounted_disk(esrag, filled):
    """Its documents stay until they are removed by its name, or its files are back."""
    folder = filled / "kitchen"
    held = {path: path.read_bytes() for path in folder.iterdir()}
    for path in held:
        path.unlink()
    ran = esrag("ingest", "docs/kitchen")
    assert ran.code == 1
    assert "the folder is empty (is its disk mounted?); to remove its 2 documents" in ran.err
    assert "0 removed" in ran.out

    for path, data in held.items():
        path.write_bytes(data)
    assert "2 unchanged" in esrag("ingest", "docs/kitchen").out


def test_rows_of_a_table_that_vanished(esrag, filled):
    """One of three is removed by hand: nobody misses it, and the others stay."""
    (filled / "rows.jsonl").unlink()
    assert esrag("remove", "rows#knife").code == 0

    assert ids(esrag) == [doc_id for doc_id in ALL if doc_id != "rows#knife"]
    assert esrag("doctor").code == 0


def test_settings_of_another_index_do_not_matter(esrag, filled):
    """Nothing is embedded or cut."""
    ran = esrag("remove", "lamp", ESRAG_CHUNKING__SIZE="50", ESRAG_EMBEDDING__MODEL="none")

    assert (ran.code, "lamp" in ids(esrag)) == (0, False)


@pytest.mark.parametrize(("typed", "code", "left"), [(b"y\n", 0, 5), (b"n\n", 130, 6), (b"", 0, 5)])
def test_a_terminal_is_asked(esrag, filled, typed, code, left):
    """Elsewhere, and with --yes, it is not."""
    terminal, slave = pty.openpty()
    command = esrag.command("remove", "lamp", *([] if typed else ["--yes"]))
    os.write(terminal, typed)
    done = subprocess.run(
        command,
        cwd=esrag.folder,
        env=esrag.environment(),
        stdin=slave,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(slave)
    os.close(terminal)

    assert done.returncode == code
    assert ("Remove 1 document, 1 chunk (lamp)?" in done.stderr) == bool(typed)
    assert len(ids(esrag)) == left
