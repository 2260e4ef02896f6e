"""The Python API, used as a user would: the answers of the commands, from many threads, with named
errors.
"""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import esrag as package
from esrag.errors import IndexMissing, SettingsError, UsageError

QUESTION = "How many litres does the kettle hold?"


@pytest.fixture
def settings():
    """The hashing embedder, and an answer to everything."""
    return {"embedding": {"provider": "hashing", "model": "hashing"}, "answer.refusal": 0}


@pytest.fixture
def index(esrag, corpus, settings, monkeypatch):
    """An index of three documents, opened from Python."""
    monkeypatch.chdir(esrag.folder)
    with package.open("index", settings=settings) as opened:
        assert opened.ingest(corpus).added == 3
        yield opened


def test_an_answer_names_its_sources(index, corpus):
    """Text, citations and refusal are at hand."""
    answer = index.ask(QUESTION)
    assert isinstance(answer, package.AskResult)
    assert (answer.text, answer.refused, answer.reason) == (
        "The kettle holds 1.7 litres. [c1]",
        False,
        "",
    )
    assert [citation.source for citation in answer.citations] == [
        str(corpus / "kitchen" / "kettle.md")
    ]


def test_exports_are_what_the_commands_print(index, esrag):
    """Answers with all their parts, hits, and the report of an ingest."""
    engine = ("--engine", "index")
    parts = ("--show-evidence", "--show-prompt", "--explain")
    printed = esrag("ask", QUESTION, "--json", *engine, *parts).json
    exported = json.loads(
        json.dumps(index.ask(QUESTION).to_dict(evidence=True, prompt=True, explain=True))
    )
    assert printed.pop("kibana_url") == ""
    assert printed | {"took_ms": {}} == exported | {"took_ms": {}}
    assert printed["took_ms"].keys() == exported["took_ms"].keys()

    assert esrag("search", QUESTION, "--json", *engine).json == index.search(QUESTION).to_dict()
    again = index.ingest("docs").to_dict()
    assert esrag("ingest", "docs", "--json", *engine).json | {"took_ms": 0} == again | {
        "took_ms": 0
    }


def test_hits_are_a_sequence(index):
    """Counted, sliced and iterated; `k` limits them."""
    hits = index.search("kettle")
    assert [hit.chunk.chunk_id for hit in hits] == [
        hits[n].chunk.chunk_id for n in range(len(hits))
    ]
    assert len(index.search("kettle", k=1)) == len(hits[:1]) == 1


@pytest.mark.parametrize(
    "where", [{"folder": "kitchen"}, "folder=kitchen", ["folder=kitchen"], {"folder": ["kitchen"]}]
)
def test_a_filter_may_be_written_in_several_ways(index, where):
    """As fields, as conditions; only what passes is found."""
    assert {hit.chunk.doc_id for hit in index.search("cable dimmer litres", where=where)} == {
        "kettle",
        "toaster",
    }
    assert {chunk.doc_id for chunk in index.chunks(where=where)} == {"kettle", "toaster"}


@pytest.mark.parametrize(
    "where", [{"foldr": "kitchen"}, "folder", {"folder": []}, {"folder": {"a": 1}}]
)
def test_a_filter_that_cannot_be_meant_is_an_error(index, where):
    """With a name that can be caught."""
    with pytest.raises(package.EsragError):
        index.search("kettle", where=where)


def test_sentences_are_streamed(index):
    """Each as it passes; the whole answer is there at the end, and not before."""
    stream = index.stream(QUESTION)
    with pytest.raises(UsageError):
        _ = stream.result
    assert " ".join(stream) == stream.result.text == "The kettle holds 1.7 litres. [c1]"


def test_an_error_ends_a_stream(index):
    """It is raised where the sentences are read."""
    with pytest.raises(UsageError):
        list(index.stream(" "))


def test_many_threads_ask_while_one_ingests(index, corpus):
    """Every answer is one of the two that were true at some time, and the index is sound."""
    kettle = corpus / "kitchen" / "kettle.md"
    stop = threading.Event()

    def change():
        for number in range(6):
            kettle.write_text(f"# Kettle\n\nThe kettle holds {2 + number % 2} litres.\n")
            index.ingest(corpus)
        stop.set()

    def ask():
        texts = []
        while not stop.is_set():
            texts.append(index.ask(QUESTION).text)
        return texts

    with ThreadPoolExecutor(5) as pool:
        changing = pool.submit(change)
        asking = [pool.submit(ask) for _ in range(4)]
        changing.result()
        texts = {text for each in asking for text in each.result()}
    assert texts <= {f"The kettle holds {litres} litres. [c1]" for litres in ("1.7", "2", "3")}
    assert next(index.documents()).doc_id == "kettle"


def test_documents_are_removed(index, corpus):
    """By id, by source, by condition; those that are gone are returned."""
    assert [document.doc_id for document in index.remove("lamp")] == ["lamp"]
    assert [
        document.doc_id for document in index.remove(sources=[corpus / "kitchen" / "kettle.md"])
    ] == ["kettle"]
    assert [document.doc_id for document in index.remove(where={"folder": "kitchen"})] == [
        "toaster"
    ]
    assert list(index.documents()) == []
    with pytest.raises(UsageError):
        index.remove("lamp")


def test_drafts_are_verified(index):
    """With the index's own encoder."""
    assert index.verify("The lamp has 7 watts. [c1]", ["The lamp has 7 watts."]).supported


def test_settings_may_hold_a_secret(esrag, settings, monkeypatch):
    """Code may know a key; a file and a command line may not."""
    monkeypatch.chdir(esrag.folder)
    with package.open("index", settings=settings | {"generator.api_key": "k"}) as opened:
        assert opened.settings.generator.api_key.get_secret_value() == "k"
        assert "'k'" not in repr(opened.settings)


@pytest.mark.parametrize(
    "values", [{"engin.url": "x"}, {"retrieval": {"k": "many"}}, {"retrieval": 3}]
)
def test_a_wrong_setting_is_an_error(values):
    """Before anything is opened."""
    with pytest.raises(SettingsError):
        package.open("index", settings=values)


def test_no_index_is_an_error_with_a_hint(tmp_path, settings):
    """What a command would say."""
    with (
        package.open(tmp_path / "none", settings=settings) as opened,
        pytest.raises(IndexMissing) as caught,
    ):
        opened.ask(QUESTION)
    assert "esrag ingest" in caught.value.hint


def test_all_names_are_there_and_typed():
    """Each name of `__all__`, and none besides; the marker for type checkers ships."""
    assert dir(package) == sorted(package.__all__)
    assert all(getattr(package, name) for name in package.__all__)
    with pytest.raises(AttributeError):
        _ = package.nothing


def test_importing_loads_nothing_heavy():
    """No model, engine or web library, in a fresh interpreter."""
    heavy = {
        "numpy",
        "onnxruntime",
        "elasticsearch",
        "opensearchpy",
        "celery",
        "redis",
        "jinja2",
        "click",
        "pydantic",
    }
    code = f"import sys, esrag; print(sorted(set(sys.modules) & {heavy!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_nothing_is_printed(esrag, corpus, settings):
    """What a library's user did not ask for does not appear."""
    code = (
        f"import esrag; i = esrag.open('x', settings={settings!r}); i.ingest('docs'); "
        f"i.ask({QUESTION!r}); i.close()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=esrag.folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("", "")
