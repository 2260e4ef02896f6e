"""The search servers of the tests are real: they index, find, survive a crash and end."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ports import free_port

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
ENGINES = ["elasticsearch", "opensearch"]
VECTORS = {"north": [0.0, 1.0, 0.0], "east": [1.0, 0.0, 0.0], "up": [0.0, 0.0, 1.0]}
VECTOR_FIELDS = {
    "elasticsearch": {
        "type": "dense_vector",
        "dims": 3,
        "similarity": "cosine",
        "index_options": {"type": "hnsw"},
    },
    "opensearch": {
        "type": "knn_vector",
        "dimension": 3,
        "space_type": "cosinesimil",
        "method": {"name": "hnsw", "engine": "lucene"},
    },
}
SPLIT = {"type": "word_delimiter_graph", "preserve_original": True, "split_on_numerics": False}
ANALYSIS = {
    "filter": {
        "split": SPLIT,
        "trim_marks": {"type": "pattern_replace", "pattern": "^[(]+|[),]+$", "replacement": ""},
    },
    "analyzer": {
        "technical": {
            "type": "custom",
            "tokenizer": "whitespace",
            "filter": ["trim_marks", "split", "flatten_graph", "lowercase"],
        }
    },
}


def by_path(name):
    """A module of this folder, which is no package."""
    specification = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


servers = by_path("servers")


def started(engine, data, **options):
    """A server on a folder; where none can be had, the test is skipped, or fails in CI."""
    try:
        return servers.start(engine, port=free_port(), data=data, **options)
    except servers.Unavailable as reason:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(str(reason))


@pytest.fixture(scope="module", params=ENGINES)
def server(request, tmp_path_factory):
    """One server of each engine for the tests that leave it running."""
    # A space in the path.
    server = started(request.param, tmp_path_factory.mktemp("data of") / request.param)
    yield server
    server.stop()


def answer(server, method, path, body=None):
    """The body of an answer that must not be an error."""
    status, found = server.request(method, path, body)
    assert status in {200, 201}, found
    return found


def fill(server, index):
    """An index with three directions, searchable at once."""
    is_opensearch = server.engine == "opensearch"
    fields = {"name": {"type": "keyword"}, "text": {"type": "text", "analyzer": "english"}}
    settings = {"number_of_replicas": 0, "analysis": ANALYSIS} | (
        {"index.knn": True} if is_opensearch else {}
    )
    properties = fields | {"vector": VECTOR_FIELDS[server.engine]}
    answer(
        server, "PUT", f"/{index}", {"settings": settings, "mappings": {"properties": properties}}
    )
    lines = []
    for name, vector in VECTORS.items():
        lines += [
            {"index": {"_id": name}},
            {"name": name, "text": f"pointing {name}wards", "vector": vector},
        ]
    assert not answer(server, "POST", f"/{index}/_bulk?refresh=true", lines)["errors"]


def nearest(server, index, vector):
    """The ids of the two documents nearest to a vector, best first."""
    if server.engine == "opensearch":
        body = {"query": {"knn": {"vector": {"vector": vector, "k": 2}}}}
    else:
        body = {"knn": {"field": "vector", "query_vector": vector, "k": 2, "num_candidates": 10}}
    return ids(answer(server, "POST", f"/{index}/_search", {"size": 2} | body))


def ids(found):
    """The ids of the hits, best first."""
    return [hit["_id"] for hit in found["hits"]["hits"]]


def test_a_server_says_what_it_is(server):
    """GET / names the version, and the log and the pid are in the folder."""
    version = answer(server, "GET", "/")["version"]
    assert version["number"] == {"elasticsearch": "9.5.3", "opensearch": "3.6.0"}[server.engine]
    assert int((server.data / "server.pid").read_text()) == server.pid
    assert "started" in (server.data / "server.log").read_text()


def test_starting_twice_finds_the_same_server(server):
    """A second start on the folder changes nothing; on another port it is refused."""
    assert servers.start(server.engine, port=server.port, data=server.data) == server
    with pytest.raises(
        RuntimeError, match=f"is served by {server.engine} on port {server.port} already"
    ):
        servers.start(server.engine, port=free_port(), data=server.data)


def test_a_taken_port_is_refused(server, tmp_path):
    """A server does not start on another's port."""
    with pytest.raises(RuntimeError, match=f"something else answers on port {server.port} already"):
        servers.start(server.engine, port=server.port, data=tmp_path)


def test_a_vector_finds_its_neighbours(server):
    """kNN gives the nearest two, best first, and the english analyser finds another
    form of a word.
    """
    fill(server, "directions")
    assert nearest(server, "directions", [0.4, 0.9, 0.0]) == ["north", "east"]
    found = answer(server, "POST", "/directions/_search", {"query": {"match": {"text": "points"}}})
    assert sorted(ids(found)) == sorted(VECTORS)


def test_technical_words_are_split_alike(server):
    """Both engines cut a technical word into the same tokens."""
    answer(server, "PUT", "/technical", {"settings": {"analysis": ANALYSIS}})
    body = {"analyzer": "technical", "text": "(ML-KEM.KeyGen), C++ FIPS203"}
    tokens = [
        token["token"] for token in answer(server, "POST", "/technical/_analyze", body)["tokens"]
    ]
    assert tokens == ["ml-kem.keygen", "ml", "kem", "key", "gen", "c++", "c", "fips203"]


def test_delete_by_query_deletes_what_it_finds(server):
    """Only what matches goes; a document changed since the last refresh is a conflict."""
    fill(server, "deleting")
    east = {"query": {"term": {"name": "east"}}}
    assert answer(server, "POST", "/deleting/_delete_by_query?refresh=true", east)["deleted"] == 1
    assert answer(server, "GET", "/deleting/_count")["count"] == 2
    answer(server, "PUT", "/deleting/_doc/north", {"name": "north"})
    everything = {"query": {"match_all": {}}}
    assert server.request("POST", "/deleting/_delete_by_query", everything)[0] == 409
    again = answer(server, "POST", "/deleting/_delete_by_query?conflicts=proceed", everything)
    assert again["version_conflicts"] + again["deleted"] == again["total"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_data_survive_a_crash(engine, tmp_path):
    """After kill -9 the same folder brings back what was acknowledged."""
    server = started(engine, tmp_path)
    try:
        fill(server, "directions")
        server.kill()
        assert servers.running(tmp_path) is None
        server = servers.start(engine, port=server.port, data=tmp_path)
        assert nearest(server, "directions", [0.9, 0.0, 0.4]) == ["east", "up"]
    finally:
        server.stop()
    assert servers.running(tmp_path) is None


def test_elasticsearch_with_users_asks_who_is_there(tmp_path):
    """With a password: 401 without it; with it, API keys and indices can be made."""
    server = started("elasticsearch", tmp_path, password="correct horse")
    try:
        stranger = servers.running(tmp_path)
        assert stranger.request("GET", "/")[0] == 401
        rights = {"reader": {"indices": [{"names": ["directions"], "privileges": ["read"]}]}}
        key = answer(
            server, "POST", "/_security/api_key", {"name": "reader", "role_descriptors": rights}
        )
        assert key["encoded"]
        fill(server, "directions")
        assert nearest(server, "directions", [0.0, 0.9, 0.4]) == ["north", "up"]
    finally:
        server.stop()


def test_the_command_line_starts_and_stops(tmp_path):
    """`start` prints the URL of a server with the settings given, `stop` ends it.

    A second `stop` is harmless.
    """
    started("opensearch", tmp_path).stop()
    command = [sys.executable, HERE / "servers.py"]
    port = free_port()
    words = ["start", "opensearch", "--port", str(port), "--data", tmp_path, "node.attr.zone=north"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    server = servers.running(tmp_path)
    assert done.stdout == f"http://127.0.0.1:{port}\n" == f"{server.url}\n"
    node = next(iter(answer(server, "GET", "/_nodes/_local")["nodes"].values()))
    assert node["attributes"]["zone"] == "north"
    for _ in range(2):
        subprocess.run([*command, "stop", "--data", tmp_path], check=True)
    assert servers.running(tmp_path) is None


def test_a_server_that_cannot_start_says_why(tmp_path):
    """A setting the server refuses ends the start with the server's own words."""
    started("opensearch", tmp_path).stop()
    with pytest.raises(RuntimeError, match=r"unknown setting \[no\.such\.setting\]"):
        servers.start("opensearch", port=free_port(), data=tmp_path, settings=["no.such.setting=1"])
    assert servers.running(tmp_path) is None


def test_without_a_jdk_the_reason_is_told(tmp_path):
    """An old JDK or none at all is Unavailable."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "javac").touch()
    (tmp_path / "release").write_text('IMPLEMENTOR="nobody"\nJAVA_VERSION="17.0.19"\n')
    with pytest.raises(servers.Unavailable, match="no JDK 21 or newer"):
        servers.find_jdk([tmp_path, tmp_path / "missing"])
    (tmp_path / "release").write_text('JAVA_VERSION="21"\n')
    assert servers.find_jdk([tmp_path]) == tmp_path


@pytest.mark.parametrize("engine", ENGINES)
def test_without_maven_nothing_is_left_behind(engine, tmp_path, monkeypatch):
    """A first start that fails names Maven and leaves no part of a server."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(servers.Unavailable, match="no mvn"):
        servers.install(engine, Path("/usr"))
    assert [path.name for path in (tmp_path / "esrag-servers").iterdir()] == [".lock"]
