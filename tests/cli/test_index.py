"""`esrag index` as it is typed, on every engine."""

import uuid

import pytest

from esrag.cli.index import _aim
from esrag.settings import variable
from esrag.settings.layers import resolve

LIVE = [pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")]
ENGINES = pytest.mark.parametrize("name", ["embedded", *LIVE])
REAL = {"ESRAG_EMBEDDING__PROVIDER": "onnx", "ESRAG_EMBEDDING__MODEL": "all-MiniLM-L6-v2"}


@pytest.fixture
def where(name, request):
    """An empty index of the engine under test, as settings."""
    url = ".esrag" if name == "embedded" else request.getfixturevalue(name)
    return {"ESRAG_ENGINE__INDEX": f"i-{uuid.uuid4().hex[:8]}", "ESRAG_ENGINE__URL": url}


@pytest.fixture
def at(esrag, corpus, where):
    """Runs commands on it."""
    return lambda *arguments, **variables: esrag(*arguments, **{**where, **variables})


def listed(at, where):
    """The indexes of this test, and which is in use."""
    mine = where["ESRAG_ENGINE__INDEX"]
    return {
        line["name"]: line["in_use"]
        for line in at("index", "list", "--json").lines
        if mine in line["name"]
    }


@ENGINES
def test_an_index_is_made_once(at, name):
    """Empty, with the settings of now; a second time is wrong use; what is there can be shown."""
    assert at("index", "info").code == 2
    assert (at("index", "create").code, at("index", "create").code) == (0, 2)
    shown = at("index", "info", "--json").json
    assert (shown["documents"], shown["chunks"], shown["in_use"]) == (0, 0, True)
    assert at("ingest", "docs").code == 0
    assert at("index", "refresh").code == 0
    shown = at("index", "info").out
    assert "3 documents, 3 chunks" in shown
    assert "made with hashing 256, 256 dimensions; sections 200/0" in shown


@ENGINES
def test_a_copy_takes_the_place_and_the_former_comes_back(at, where, name):
    """Nothing is embedded, hits and documents stay the same, and the way back is printed."""
    at("ingest", "docs")
    before = at("search", "How large is the kettle?", "--json").json
    moved = at("index", "migrate")
    assert (moved.code, moved.out.splitlines()[0]) == (0, "3 documents, 3 chunks, 0 embedded")
    assert "keyword hits in common 1.0, chunks found by their own vector 1.0" in moved.out
    assert len(listed(at, where)) == 2
    assert at("search", "How large is the kettle?", "--json").json == before
    assert at("ingest", "docs", "--json").json["unchanged"] == 3
    former = moved.err.splitlines()[-1].rpartition(" ")[2]
    back = at("index", "swap", former)
    assert back.code == 0
    assert at("search", "How large is the kettle?", "--json").json == before
    spare = next(name for name, in_use in listed(at, where).items() if not in_use)
    assert at("index", "drop", spare, stdin="n\n").code == 130
    assert len(listed(at, where)) == 2
    assert at("index", "drop", spare, stdin="y\n").code == 0
    assert len(listed(at, where)) == 1


def test_a_copy_goes_where_it_is_sent(esrag, corpus):
    """Also if the place that it comes from is a flag."""
    assert esrag("ingest", "docs", "--engine", "old").code == 0

    moved = esrag("index", "migrate", "--set", "engine.url=old", "--to", "new")

    assert (moved.code, "now set engine.url to new" in moved.err) == (0, True)
    assert len(esrag("docs", "--json", "--engine", "new").lines) == 3


@ENGINES
def test_facts_stay_if_another_index_is_dropped(at, esrag, name):
    """Also if nothing was ingested beside them yet."""
    row = "question,answer,source_url\nHow old is it?,It is ten.,https://shop.example/age\n"
    (esrag.folder / "facts.csv").write_text(row)
    assert at("facts", "import", "facts.csv").code == 0
    other = f"other-{uuid.uuid4().hex[:8]}"
    assert at("index", "create", "--index", other).code == 0
    (used,) = (one for one in at("index", "list", "--json").lines if other in one["name"])

    dropped = at("index", "drop", used["name"], "--yes")

    assert (dropped.code, dropped.out) == (0, f"removed {used['name']}\n")
    assert "It is ten." in at("facts", "list").out


@ENGINES
def test_what_was_ingested_into_a_dropped_index_is_not_missed(at, where, name):
    """The ledger forgets what it held: in the next index of this name there is what was ingested
    since.
    """
    at("ingest", "docs")
    (used,) = listed(at, where)
    assert at("index", "drop", used, "--yes").code == 0
    assert at("jobs", "list").out == ""
    assert at("ingest", "docs/lamp.html", "--json").json["added"] == 1
    assert at("doctor").code == 0
    assert at("jobs", "show", "--json").json["files"] == 1


@ENGINES
@pytest.mark.weights
def test_another_model(at, name, real_model):
    """The texts are embedded anew from what is stored; then that model must be set to ask."""
    at("ingest", "docs")
    provider = {"ESRAG_EMBEDDING__PROVIDER": "onnx"}
    moved = at("index", "migrate", "--model", "all-MiniLM-L6-v2", "--json", **provider)
    assert (moved.code, moved.json["embedded"], moved.json["found_again"]) == (0, 3, 1.0)
    assert at("index", "info", "--json").json["fingerprint"]["dimensions"] == 384
    assert at("ask", "How large is the kettle?").code == 2
    assert "1.7 litres" in at("ask", "How large is the kettle?", **REAL).out
    assert at("ingest", "docs", "--json", **REAL).json["unchanged"] == 3


@pytest.mark.weights
def test_what_a_move_embeds_is_kept(esrag, corpus, real_model):
    """In the cache: a second move to the same model encodes nothing, and fills the same index."""
    esrag("ingest", "docs")
    kept = {"ESRAG_EMBEDDING__PROVIDER": "onnx", "ESRAG_CACHE__URL": str(esrag.folder / "cache.db")}
    to = ("index", "migrate", "--model", "all-MiniLM-L6-v2", "--json", "--to")
    assert [esrag(*to, folder, **kept).json["embedded"] for folder in ("one", "two")] == [3, 0]
    assert esrag("cache", "stats", "--json", **kept).json["vectors"] == 3


@pytest.mark.live
@pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])
def test_from_a_folder_to_a_server_and_back(at, esrag, where, name, tmp_path):
    """What was ingested alone is served by a cluster without reading a file again, and the other
    way.
    """
    alone = {**where, "ESRAG_ENGINE__URL": ".esrag"}
    esrag("ingest", "docs", **alone)
    moved = esrag("index", "migrate", "--to", where["ESRAG_ENGINE__URL"], "--json", **alone)
    assert (moved.code, moved.json["documents"], moved.json["embedded"]) == (0, 3, 0)
    asked = ["ask", "How large is the kettle?", "--json"]
    assert at(*asked).json["answer"] == esrag(*asked, **alone).json["answer"]
    assert at("docs", "--json").out == esrag("docs", "--json", **alone).out
    assert at("chunks", "--json").out == esrag("chunks", "--json", **alone).out
    home = tmp_path / "home"
    assert at("index", "migrate", "--to", home).code == 0
    assert (
        esrag("chunks", "--json", **{**alone, "ESRAG_ENGINE__URL": str(home)}).out
        == at("chunks", "--json").out
    )


@ENGINES
def test_recall(at, name):
    """Three chunks are all found; an index without a model has no recall."""
    at("ingest", "docs")
    measured = at("index", "check-recall", "--k", "2", "--json").json
    assert measured == {
        "schema": "esrag.recall/1", "k": 2, "mean": 1.0, "worst": 1.0, "questions": 3, "chunks": 3,
    }  # fmt: skip
    wordless = {"ESRAG_EMBEDDING__MODEL": "none"}
    at("ingest", "docs", "--rebuild", **wordless)
    assert at("index", "check-recall", **wordless).code == 2


@ENGINES
@pytest.mark.parametrize("wrong", ["*", "_all", "../docs", "not-there"])
def test_wrong_names(at, name, wrong):
    """One line, and everything stays."""
    at("ingest", "docs")
    for command in ("swap", "drop"):
        ran = at("index", command, wrong, *(["--yes"] if command == "drop" else []))
        assert ran.code == 2
        assert ran.err.startswith("error: ")
        assert len(ran.err.splitlines()) == 2
    assert at("index", "info", "--json").json["documents"] == 3


def test_what_cannot_be_moved(esrag, corpus):
    """Nothing to move, and a place that cannot be written: one line, and no half of an index is
    left.
    """
    assert esrag("index", "migrate").code == 2
    esrag("ingest", "docs")
    (esrag.folder / "file").write_text("in the way")
    ran = esrag("index", "migrate", "--to", "file")
    assert (ran.code, ran.err.splitlines()[-2][:7]) == (1, "error: ")
    ran = esrag("index", "migrate", "--model", "none")
    assert (ran.code, ran.err.splitlines()[-2]) == (
        2,
        "error: without a model there is nothing to embed",
    )
    assert len(esrag("index", "list").out.splitlines()) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["migrate", "--set", "chunking.size=120"],
            "keeps its chunks: they are sections 200/0, the settings ask for",
        ),
        (["migrate", "--set", "chunking.strategy=sentence"], "keeps its chunks"),
        (
            ["migrate", "--set", "loading.max_bytes=5"],
            "--set loading.max_bytes would have no effect",
        ),
        (
            ["migrate", "--set", "embedding.model=none"],
            "--set embedding.model would have no effect",
        ),
        (
            ["migrate", "--model", "hashing", "--set", "embedding.model=none"],
            "--set embedding.model would have",
        ),
        (
            ["swap", "esrag-000001", "--set", "chunking.size=120"],
            "--set chunking.size would have no effect",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_setting_that_a_copy_cannot_have_is_refused(esrag, corpus, arguments, said):
    """One line, what to do, exit 2; no copy is made.

    As a variable too, and an ingest refuses it as well.
    """
    esrag("ingest", "docs")
    ran = esrag("index", *arguments)
    error, hint = ran.err.splitlines()[-2:]
    assert (ran.code, ran.out, said in error) == (2, "", True)
    assert "esrag ingest FOLDER... --rebuild" in hint
    assert [line["name"] for line in esrag("index", "list", "--json").lines] == ["esrag"]
    if "chunking.size=120" in arguments:
        other = {"ESRAG_CHUNKING__SIZE": "120"}
        assert (esrag("ingest", "docs", **other).code, esrag("index", "migrate", **other).code) == (
            2,
            2,
        )


def test_what_lets_us_into_one_server_is_not_shown_to_another():
    """A user or key goes along from a folder to a server, and between two servers never."""
    values = {
        "engine.password": "s3cret",
        "engine.username": "me",
        "engine.api_key": "k3y",
        "engine.ca_file": "ca.pem",
    }
    environ = {variable(key): value for key, value in values.items()}
    folder, here, there = (
        resolve({"engine.url": url}, environ).settings for url in ("f", "https://a", "https://b")
    )
    assert _aim(folder, here) == here
    assert _aim(here, here) == here
    kept = _aim(here, there).engine
    assert (kept.url, kept.username, kept.ca_file) == ("https://b", "", "")
    assert [secret.get_secret_value() for secret in (kept.password, kept.api_key)] == ["", ""]
