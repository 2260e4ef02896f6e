"""Stores of runs keep the same promises in a file, on OpenSearch and on Elasticsearch."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from esrag.engines import EngineOptions
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import Connection
from esrag.errors import EsragError, UsageError
from esrag.records import Fingerprint
from esrag.runs.server import ServerRuns
from esrag.runs.sqlite import SqliteRuns
from esrag.settings import RunsSettings

NOW = datetime.now(UTC)  # of all tests, which may take an hour
SERVERS = ["opensearch", "elasticsearch"]
everywhere = pytest.mark.parametrize(
    "place",
    ["sqlite", *(pytest.param(name, marks=pytest.mark.live) for name in SERVERS)],
    indirect=True,
)
on_servers = [
    pytest.mark.live,
    pytest.mark.parametrize("place", SERVERS, indirect=True),
]


@pytest.fixture
def place(request, tmp_path):
    """An empty place for runs: a file, or the address of a server."""
    if request.param == "sqlite":
        yield str(tmp_path / "folder" / "runs.sqlite3")
        return
    url = request.getfixturevalue(request.param)
    _remove(url)
    yield url
    _remove(url)


def _remove(url):
    connection = Connection(EngineOptions(url=url))
    for name in connection.get("/esrag-runs*") or ():
        connection.request("DELETE", f"/{name}")
    connection.close()


@pytest.fixture
def open_store(place):
    """Open the store there as one more program does."""
    opened = []

    def open_(keep="whole", **settings):
        kept = RunsSettings(keep=keep, **settings)
        opened.append(
            ServerRuns(Connection(EngineOptions(url=place)), "esrag", kept)
            if place.startswith("http")
            else SqliteRuns(Path(place), kept)
        )
        return opened[-1]

    yield open_
    for store in opened:
        store.close()


def record(run_id, *, minutes=0.0, text="a kettle"):
    """A record that is so many minutes old."""
    at = NOW - timedelta(minutes=minutes)
    return {
        "run_id": run_id,
        "at": at.isoformat(timespec="milliseconds"),
        "where": {},
        "answer": {
            "question": text,
            "refused": False,
            "reason": "",
            "routing": {"reason": text[:8]},
            **{
                name: [] for name in ("parts", "citations", "nearest", "summaries", "hits", "steps")
            },
        },
        "sentences": [],
    }


def ids(store):
    """The ids of the kept runs, as they are listed."""
    return [kept["run_id"] for kept, _ in store.runs()]


@everywhere
def test_runs_are_listed_shown_and_rated(open_store):
    """The newest first, each with what was said of it; another program sees the same."""
    store = open_store()
    assert ids(store) == []
    for run_id, minutes in (("a", 3), ("b", 2), ("c", 1)):
        store.add(record(run_id, minutes=minutes))
    first, second = store.rate("b", "bad", "late"), store.rate("b", "good", "")

    other = open_store()
    assert ids(other) == ["c", "b", "a"]
    assert other.run("b") == (record("b", minutes=2), (first, second))
    assert other.run("a") == (record("a", minutes=3), ())
    assert [feedback for _, feedback in other.runs()] == [(), (first, second), ()]


@everywhere
def test_many_runs_are_read_in_pages(open_store):
    """Every run comes once, in order, although a page holds fewer."""
    store = open_store()
    for number in range(120):
        store.add(record(f"{number:03}", minutes=number))
    assert ids(store) == [f"{number:03}" for number in range(120)]


@everywhere
def test_an_unknown_run_names_a_similar_one(open_store):
    """A hint tells what is kept, or how to keep runs."""
    store = open_store()
    for use in (store.run, lambda run_id: store.rate(run_id, "good", "")):
        with pytest.raises(UsageError, match="no run 'kettle-1' is kept") as raised:
            use("kettle-1")
        assert raised.value.hint == "set runs.keep to keep runs from now on"

    store.add(record("kettle-2"))
    with pytest.raises(UsageError) as raised:
        store.run("kettle-1")
    assert raised.value.hint == "did you mean kettle-2?"
    with pytest.raises(UsageError, match="at most 2000 characters"):
        store.rate("kettle-2", "good", "x" * 2001)


@everywhere
def test_what_is_too_old_is_removed_by_reading(open_store):
    """It is neither listed nor shown, its feedback goes too, and it does not come back."""
    store = open_store()
    store.add(record("old", minutes=3000))
    store.add(record("new"))
    store.rate("old", "bad", "")

    a_day = open_store(max_days=1)
    with pytest.raises(UsageError, match="no run 'old' is kept"):
        a_day.run("old")
    assert ids(a_day) == ["new"]
    assert ids(open_store()) == ["new"]


@everywhere
def test_too_much_is_removed_from_the_oldest_on(open_store):
    """The newest stay as long as they fit; a record that cannot fit is refused."""
    store = open_store()
    for number in range(5):
        store.add(record(str(number), minutes=9 - number, text="x" * 9000))
    store.rate("0", "good", "")
    store.rate("4", "bad", "")

    open_store(max_bytes=30_000).add(record("5", text="x" * 9000))
    assert ids(store) == ["5", "4", "3"]
    assert [feedback.verdict for _, found in store.runs() for feedback in found] == ["bad"]
    with pytest.raises(EsragError, match="at most 100 bytes"):
        open_store(max_bytes=100).add(record("6", text="x" * 9000))
    assert ids(store) == ["5", "4", "3"]


@everywhere
def test_runs_that_go_while_they_are_listed_are_passed_over(open_store):
    """Another program may keep one more, and remove the oldest for it."""
    store = open_store()
    for number in range(3):
        store.add(record(str(number), minutes=9 - number, text="x" * 9000))

    listed = store.runs()
    assert next(listed)[0]["run_id"] == "2"
    open_store(max_bytes=20_000).add(record("3", text="x" * 9000))
    assert {kept["run_id"] for kept, _ in listed} <= {"1", "0"}


@everywhere
def test_a_store_without_texts_keeps_none(open_store):
    """The words of the question are not in the record."""
    open_store().add(record("whole"))
    bare = open_store("without-texts")
    bare.add(record("bare"))
    assert bare.run("bare")[0]["answer"]["question"] == ""
    assert bare.run("whole")[0]["answer"]["question"] == "a kettle"


class TestOnServers:
    """The index of runs is esrag's own, with a mapping of its own."""

    pytestmark = on_servers

    def test_it_has_an_alias_and_a_strict_mapping(self, place, open_store):
        """A deleted index is made again with the mapping that it needs."""
        store = open_store()
        store.add(record("a"))
        _request(place, "DELETE", "/esrag-runs-1")
        assert ids(store) == []
        store.add(record("b"))
        ((name, made),) = _request(place, "GET", "/esrag-runs/_mapping").items()
        assert (name, made["mappings"]["dynamic"]) == ("esrag-runs-1", "strict")

    @pytest.mark.parametrize(
        ("meta", "said"),
        [({}, "not a store of runs"), ({"esrag_runs": {"schema": 2}}, "newer esrag")],
    )
    def test_a_foreign_or_newer_index_is_refused(self, place, open_store, meta, said):
        """It is neither read nor written."""
        _request(place, "PUT", "/esrag-runs", {"mappings": {"_meta": meta}})
        for use in (ids, lambda store: store.add(record("a"))):
            with pytest.raises(EsragError, match=said) as raised:
                use(open_store())
            assert "runs.url" in raised.value.hint

    def test_it_is_not_listed_as_an_index_of_documents(self, place, open_store):
        """`esrag index list` shows what was ingested."""
        open_store().add(record("a"))
        engine = ServerEngine(EngineOptions(url=place, index="beside-runs"))
        with engine.writer(Fingerprint("hashing", 64, "sections 200 0")):
            pass
        names = [index.name for index in engine.indexes()]
        engine.close()
        _request(place, "DELETE", "/beside-runs-000001")
        assert not [name for name in names if name.startswith("esrag-runs")]


def _request(url, method, path, body=None):
    """Send one request of another program."""
    connection = Connection(EngineOptions(url=url))
    try:
        return connection.request(method, path, body)
    finally:
        connection.close()
