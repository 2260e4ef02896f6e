"""Settings and index of a folder are found from the folders below it, as git finds a repository."""

import os

import pytest

from esrag.settings.layers import FOUND, resolve
from esrag.settings.project import project_folder


@pytest.fixture
def below(tmp_path):
    """A folder with a settings file, and one below it."""
    (tmp_path / "esrag.yaml").write_text(
        "retrieval: {k: 3}\ncache: {url: cache.db}\nengine: {ca_file: ca.pem}\nembedding: {model: "
        "models/mine}\n"
        "ledger: {url: ../ledger.sqlite3}\ngenerator: {templates: prompts}\n"
    )
    (tmp_path / "models" / "mine").mkdir(parents=True)
    (tmp_path / "docs" / "kitchen").mkdir(parents=True)
    return tmp_path / "docs" / "kitchen"


def test_a_subfolder_uses_the_index_and_settings_above_it_and_says_so(esrag, corpus):
    """The same question has the same answer; the remark is on stderr and not there with --json."""
    (esrag.folder / "esrag.yaml").write_text("retrieval: {k: 1}\n")
    esrag("ingest", "docs")
    below = type(esrag)(corpus / "kitchen", esrag.variables)

    ran = below("search", "kettle")
    assert (ran.code, ran.out.count("kettle::p0001")) == (0, 1)
    assert (
        f"using {esrag.folder / 'esrag.yaml'} and {esrag.folder / '.esrag'}" in ran.err.splitlines()
    )
    assert esrag("search", "kettle").err == ""
    quiet = below("search", "kettle", "--json")
    assert (quiet.code, quiet.err) == (0, "")
    assert not (corpus / "kitchen" / ".esrag").exists()

    finding = (
        f"ok       settings from {esrag.folder / 'esrag.yaml'}, index in {esrag.folder / '.esrag'}"
    )
    assert finding in below("doctor").out.splitlines()
    shown = below("config", "show", "--origin").out
    assert f"  k: 1  # {esrag.folder / 'esrag.yaml'}\n" in shown
    assert f"  url: {esrag.folder / '.esrag'}  # {FOUND}\n" in shown


def documents(esrag):
    """The files of the stored documents, below the folder."""
    sources = [line["source"] for line in esrag("docs", "--json").lines]
    return sorted(source.removeprefix(f"{esrag.folder}/") for source in sources)


def test_settings_files_in_use_are_no_documents(esrag):
    """The project's own, that of the environment, a named one and that of a preset; another file of
    settings is a document, and so is one that is named itself.
    """
    (esrag.folder / "mine").mkdir()
    for name in ("esrag.yaml", "esrag.prod.yaml", "other.yaml", "mine/esrag.yaml"):
        (esrag.folder / name).write_text("retrieval: {k: 3}\n")
    (esrag.folder / "a.md").write_text("The lamp has 7 watts.\n")

    first = esrag("ingest", ".")
    assert (first.code, "left out" in first.err) == (0, False)
    assert documents(esrag) == ["a.md", "esrag.prod.yaml", "mine/esrag.yaml", "other.yaml"]

    ran = esrag("ingest", ".", "--set", "preset=mine", ESRAG_ENVIRONMENT="prod")
    assert "writes there itself; what was stored of 2 files before is removed" in ran.err
    assert documents(esrag) == ["a.md", "other.yaml"]

    esrag("ingest", ".", "--rebuild", ESRAG_CONFIG=str(esrag.folder / "other.yaml"))
    assert documents(esrag) == ["a.md", "esrag.prod.yaml", "mine/esrag.yaml"]
    assert esrag("ingest", "esrag.yaml").code == 0
    assert "esrag.yaml" in documents(esrag)


def test_the_settings_file_above_a_folder_is_no_document(esrag, corpus):
    """A command in a folder below that names the folder above."""
    (esrag.folder / "esrag.yaml").write_text("retrieval: {k: 3}\n")
    below = type(esrag)(corpus / "kitchen", esrag.variables)
    assert below("ingest", "../..").code == 0
    assert "esrag.yaml" not in documents(esrag)


def test_paths_in_a_file_start_at_its_folder(below):
    """Wherever the command runs, and also for a file that ESRAG_CONFIG names."""
    project = below.parents[1]
    named = resolve({}, {"ESRAG_CONFIG": str(project / "esrag.yaml")}, below).settings
    assert (named.cache.url, named.engine.ca_file) == (
        str(project / "cache.db"),
        str(project / "ca.pem"),
    )
    assert (named.embedding.model, named.generator.templates) == (
        str(project / "models" / "mine"),
        str(project / "prompts"),
    )
    assert named.ledger.url == str(project / ".." / "ledger.sqlite3")
    assert named.engine.url == str(project / ".esrag")


def test_the_nearest_folder_counts(below):
    """An index nearer than the settings file is a project of its own."""
    assert project_folder(below) == below.parents[1]
    (below.parent / ".esrag").mkdir()
    assert project_folder(below) == below.parent
    (below / "esrag.yaml").write_text("")
    assert project_folder(below) == below


def test_a_folder_that_others_may_write_to_ends_the_search(below):
    """What somebody put into it, as into /tmp, is not found from below."""
    below.parents[1].chmod(0o777)
    assert project_folder(below) == below
    below.parents[1].chmod(0o755)
    below.parent.chmod(0o777)
    assert project_folder(below) == below


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_ends_the_search(below):
    """And so does one that the command runs in."""
    for folder in (below.parents[1], below.parent, below):
        os.chown(folder, 12345, 12345)
        assert project_folder(below) == below
        os.chown(folder, 0, 0)


def test_home_is_the_last_folder(below, monkeypatch):
    """Above it nothing is looked for; it itself may hold a file."""
    monkeypatch.setenv("HOME", str(below.parents[1]))
    assert project_folder(below) == below.parents[1]
    monkeypatch.setenv("HOME", str(below.parent))
    assert project_folder(below) == below


def test_a_folder_that_was_removed_is_no_error(below, monkeypatch):
    """There is nothing above it to look at."""
    monkeypatch.chdir(below)
    below.rmdir()
    assert resolve({}, {}).settings.engine.url == ".esrag"
