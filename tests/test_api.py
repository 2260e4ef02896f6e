"""The Python API, used as a user would: the answers of the commands, from many threads, with named
errors.
"""

import json
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import pytest
from made_up_models import service, stream

import esrag as package
from esrag import errors
from esrag.errors import IndexMissing, SettingsError, UsageError

__all__ = ["service"]

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
    for command, found in (("docs", index.documents()), ("chunks", index.chunks())):
        assert esrag(command, "--json", *engine).lines == [each.to_dict() for each in found]
    draft = {"draft": "It boils. [c1] It sings.", "passages": ["It boils."]}
    verdict = index.verify(**draft).to_dict()
    assert esrag("verify", "-", "--json", *engine, stdin=json.dumps(draft)).json == verdict
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


@pytest.mark.parametrize("method", ["ask", "search", "route"])
def test_a_question_without_a_word_is_an_error(index, method):
    """Also if it has characters that nobody sees."""
    with pytest.raises(UsageError, match="the question is empty"):
        getattr(index, method)("\u200b ?")


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
    with package.open("index", settings=settings | {"models.default.api_key": "k"}) as opened:
        assert opened.settings.models.default.api_key.get_secret_value() == "k"
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
    assert package.__version__ == version("esrag")
    assert (package.open.__name__, package.verify.__name__) == ("open", "verify")
    with pytest.raises(AttributeError):
        _ = package.nothing


def test_errors_and_types_of_the_signatures_have_names():
    """What a docstring says is raised, and what an annotation names, can be imported."""
    api = (package.open, package.verify, package.Index, package.AnswerStream)
    public = [
        member
        for one in api
        for name, member in ([("", one)] if not isinstance(one, type) else vars(one).items())
        if name[:1] != "_" and callable(member)
    ]
    raised = {
        error
        for member in public
        for error in re.findall(r"\b[A-Z]\w+\b", (member.__doc__ or "").partition("Raises:")[2])
        if hasattr(errors, error)
    }
    assert {"UsageError", "IndexMissing"} <= raised <= set(package.__all__)
    named = {"Settings", "Where", "Passage", "Progress", "SearchResult", "Signals", "Usage"}
    assert named <= set(package.__all__)


@pytest.mark.parametrize("as_list", [False, True])
def test_one_text_may_stand_for_a_list_of_one(index, corpus, as_list):
    """A glob of an ingest and a source of a removal are not split into characters."""

    def some(text):
        return [text] if as_list else text

    index.remove("kettle", "lamp", "toaster")
    report = index.ingest(corpus, include=some("*.md"))
    assert (report.added, [document.doc_id for document in index.documents()]) == (1, ["kettle"])
    assert index.ingest(corpus, exclude=some("*.html")).added == 1
    removed = index.remove(sources=some(str(corpus / "kitchen" / "kettle.md")))
    assert [document.doc_id for document in removed] == ["kettle"]


def test_an_argument_of_another_type_is_one_line(index, settings):
    """With what was expected and what was found, and without a flag of the command line."""
    calls = {
        "question as text, found NoneType": lambda: index.ask(None),
        "question as text, found int": lambda: index.search(3),
        "filter, found '5'": lambda: index.ask(QUESTION, where=5),
        "filter, found '[5]'": lambda: index.search(QUESTION, where=[5]),
        "function of a sentence, found int": lambda: index.ask(QUESTION, on_sentence=3),
        "question as text, found list": lambda: list(index.stream([QUESTION])),
        "a number of hits as k, found bool": lambda: index.search(QUESTION, k=True),
        "a number of hits as k, found str": lambda: index.search(QUESTION, k="3"),
        "a path to ingest, found list": lambda: index.ingest(["docs"]),
        "a glob as include, found int": lambda: index.ingest("docs", include=3),
        "the id of a document as text, found list": lambda: index.remove(["lamp"]),
        "ids, sources or a condition": index.remove,
        "a draft as text, found NoneType": lambda: index.verify(None, ["a text"]),
        "a list of passages, found str": lambda: package.verify("It boils. [c1]", "It boils."),
        "passage 1 to be a text": lambda: index.verify("It boils. [c1]", [3]),
        "a folder or an address, found int": lambda: package.open(3),
        "a mapping of settings, found list": lambda: package.open(settings=[1]),
        "the name or the folder of a preset, found int": lambda: package.open(preset=3),
    }
    for expected, call in calls.items():
        with pytest.raises(UsageError, match=re.escape(expected)) as raised:
            call()
        assert "\n" not in raised.value.line
        assert "--" not in raised.value.line


def test_a_number_of_hits_that_cannot_be_is_named_as_a_setting(index):
    """The line says that it came from code."""
    with pytest.raises(SettingsError, match=re.escape("retrieval.k (from code)")):
        index.search(QUESTION, k=0)


def test_a_preset_may_be_a_path(esrag, corpus, settings, monkeypatch):
    """A folder with an esrag.yaml."""
    monkeypatch.chdir(esrag.folder)
    preset = esrag.folder / "mine"
    preset.mkdir()
    (preset / "esrag.yaml").write_text("retrieval: {k: 7}\n")
    with package.open("index", preset=preset, settings=settings) as opened:
        assert opened.settings.retrieval.k == 7


def test_the_settings_file_is_no_document(esrag, corpus, settings, monkeypatch):
    """The one that was read at the moment of opening, also from another folder later."""
    (corpus / "esrag.yaml").write_text("retrieval: {k: 3}\n")
    monkeypatch.chdir(corpus)
    with package.open("index", settings=settings) as opened:
        monkeypatch.chdir(esrag.folder)
        assert opened.ingest("docs", exclude=["index"]).added == 3


def test_paths_are_those_of_the_moment_of_opening(esrag, corpus, settings, monkeypatch):
    """A program that changes its folder goes on with the same index, ledger, cache and runs."""
    monkeypatch.chdir(esrag.folder)
    files = {name: f"files/{name.partition('.')[0]}.db" for name in ("cache.url", "runs.url")}
    more = settings | files | {"ledger.url": "files/ledger.db", "runs.keep": "whole"}
    elsewhere = esrag.folder / "elsewhere"
    elsewhere.mkdir()

    with package.open("index", settings=more) as opened:
        monkeypatch.chdir(elsewhere)
        opened.ingest(corpus)
        assert not opened.ask(QUESTION).refused
    assert list(elsewhere.iterdir()) == []
    made = {path.name for path in (esrag.folder / "files").iterdir()}
    assert {"cache.db", "ledger.db", "runs.db"} <= made


def test_a_stream_that_is_left_early_waits_for_nothing(
    esrag, corpus, settings, service, monkeypatch
):
    """The reader goes on while the model writes; then the thread ends and keeps nothing."""
    monkeypatch.chdir(esrag.folder)
    is_left = threading.Event()
    holds = "The kettle holds 1.7 litres. [c1]"

    def write(events):
        yield from events[:-5]
        assert is_left.wait(60)
        yield from events[-5:]

    service.said = [holds, " It", " weighs", " 900 grams. [c1]"]
    service.script = [lambda handler, honest: stream(handler, write(honest))]
    model = {"model": "made-up", "api_key": service.key, "url": f"{service.url}/v1"}
    more = {"generator.name": "model", "models.default": model, "runs.keep": "whole"}

    with package.open("index", settings=settings | more) as opened:
        opened.ingest(corpus)
        sentences = opened.stream(QUESTION)
        for sentence in sentences:
            assert sentence == holds
            break
        (thread,) = [each for each in threading.enumerate() if each.name == "esrag-stream"]
        is_left.set()
        thread.join(60)
        assert not thread.is_alive()
        with pytest.raises(UsageError, match="not complete"):
            _ = sentences.result
    assert not (esrag.folder / "index" / "runs.sqlite3").exists()


def test_a_closed_index_says_so(index):
    """Every use is one error with a hint; closing it again does nothing."""
    index.close()
    index.close()
    for use in (
        lambda: index.ask(QUESTION),
        lambda: index.search(QUESTION),
        lambda: index.ingest("docs"),
        lambda: index.remove("lamp"),
        lambda: index.verify("It boils. [c1]", ["It boils."]),
        lambda: list(index.stream(QUESTION)),
        index.documents,
        index.chunks,
    ):
        with pytest.raises(package.EsragError, match="the index was closed") as raised:
            use()
        assert "esrag.open" in raised.value.hint


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
