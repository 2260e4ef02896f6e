"""Links that lead outside the folder that was named, and files that are to be ignored."""

import json
import os
import subprocess

import pytest

from esrag.errors import ParsingError
from esrag.loading.reading import read


@pytest.fixture
def outside(esrag, corpus):
    """A folder beside the documents, and links to it among them: to a file, to a folder, and one
    inside.
    """
    folder = esrag.folder / "private"
    folder.mkdir()
    for number in range(3):
        (folder / f"account-{number}.txt").write_text(
            f"The password of account {number} is hunter{number}."
        )
    (corpus / "link.txt").symlink_to(folder / "account-0.txt")
    (corpus / "kitchen" / "linked").symlink_to(folder)
    (corpus / "a-lamp.html").symlink_to(corpus / "lamp.html")
    return folder


def sources(esrag):
    return {
        os.path.relpath(document["source"], esrag.folder)
        for document in esrag("docs", "--json").lines
    }


OWN = {"docs/kitchen/kettle.md", "docs/kitchen/toaster.txt", "docs/lamp.html"}


def test_links_that_lead_outside_are_skipped_with_one_line(esrag, corpus, outside):
    """By folder, by glob, in a dry run: what is elsewhere is not read, and the report
    says so once.
    """
    for argument in ("docs", "docs/**/*"):
        for options in (("--dry-run",), ()):
            ran = esrag("ingest", argument, *options)
            lines = [line for line in ran.err.splitlines() if "--follow-links" in line]
            assert (ran.code, len(lines)) == (0, 1), ran.err
            assert "2 paths left out because links are not followed" in lines[0]
    assert sources(esrag) == OWN
    assert "hunter" not in " ".join(chunk["text"] for chunk in esrag("chunks", "--json").lines)


def test_links_are_followed_where_that_is_asked_for(esrag, corpus, outside):
    """By the option and by the setting.

    What came in that way goes with the next ingest without, and that is said.
    """
    assert esrag("ingest", "docs", "--follow-links", "--json").json["added"] == 6
    assert (
        esrag("ingest", "docs", "--set", "loading.follow_links=true", "--json").json["unchanged"]
        == 6
    )

    kept = esrag("ingest", "docs", "--keep-missing", "--json").json
    assert (kept["removed"], kept["unchanged"]) == (0, 3)
    planned = esrag("ingest", "docs", "--dry-run", "--json").json
    ran = esrag("ingest", "docs", "--json").json
    assert (planned["removed"], ran["removed"], ran["unchanged"], ran["failed"]) == (3, 3, 3, 0)
    assert "what was stored of 3 files before is removed" in ran["skipped"][0]["reason"]
    assert sources(esrag) == OWN
    assert esrag("doctor").code == 0


def test_a_link_that_is_named_is_followed(esrag, corpus, outside):
    """A file and a folder; that one names them is what the option is for elsewhere."""
    assert esrag("ingest", "docs/link.txt", "docs/kitchen/linked", "--json").json["added"] == 3


def test_a_link_put_in_the_place_of_a_file_is_not_read(tmp_path):
    """Between listing and reading: of the file itself, or of a folder above it."""
    docs, secret = tmp_path / "docs", tmp_path / "secret"
    for folder in (docs / "sub", secret):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(folder.name)
    listed, root = str(docs / "sub" / "a.txt"), str(docs)
    assert read(listed, 100, root) == b"sub"

    (docs / "sub").rename(docs / "former")
    (docs / "sub").symlink_to(secret)
    with pytest.raises(ParsingError, match="leads outside"):
        read(listed, 100, root)
    (docs / "sub").unlink()
    (docs / "sub").symlink_to(docs / "former")
    assert read(listed, 100, root) == b"sub"


def test_a_job_holds_its_reader_to_the_folder(esrag, corpus):
    """What a worker is handed says where the file must be."""
    from esrag.ingesting.planning import plan
    from esrag.loading.files import list_files

    planned = plan(list_files([str(corpus)]), {})
    assert {task.root for task in planned.tasks} == {str(corpus.resolve())}


def test_ignored_files_are_left_out_and_counted(esrag, corpus):
    """In a repository by .gitignore, anywhere by .esragignore.

    Ingested earlier they go, and --no-ignore has them.
    """
    subprocess.run(["git", "init", "-q", esrag.folder], check=True)
    assert esrag("ingest", "docs", "--json").json["added"] == 3
    (esrag.folder / ".gitignore").write_text("*.txt\n*.html\n")
    (corpus / ".esragignore").write_text("!lamp.html\n")

    dry = esrag("ingest", "docs", "--dry-run")
    ran = esrag("ingest", "docs")
    for done in (dry, ran):
        lines = [line for line in done.err.splitlines() if "--no-ignore" in line]
        assert len(lines) == 1
        assert "1 path left out" in lines[0]
        assert "what was stored of 1 file before is removed" in lines[0]
    assert sources(esrag) == OWN - {"docs/kitchen/toaster.txt"}
    assert esrag("ingest", "docs/kitchen/toaster.txt", "--json").json["added"] == 1
    for option in (("--no-ignore",), ("--set", "loading.ignore_files=false")):
        assert esrag("ingest", "docs", *option, "--json").json["unchanged"] == 3


def test_index_ledger_and_cache_in_the_folder_are_no_documents(esrag, corpus):
    """Whatever they are called, and however often the folder is ingested."""
    where = {
        "ESRAG_ENGINE__URL": "docs/store",
        "ESRAG_LEDGER__URL": "docs/ledger.txt",
        "ESRAG_CACHE__URL": "docs/cache.md",
    }
    for _ in range(3):
        ran = esrag("ingest", "docs", "--json", **where)
        assert (ran.code, ran.json["skipped"]) == (0, []), ran.out
        assert len(esrag("docs", "--json", **where).lines) == 3
    assert (
        json.loads(esrag("ask", "How much does the kettle hold?", "--json", **where).out)["refused"]
        is False
    )
    assert esrag("ingest", "docs", "--json", **where).json["unchanged"] == 3
