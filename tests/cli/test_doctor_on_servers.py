"""`esrag doctor` with the index on a real Elasticsearch or OpenSearch."""

import json
import re
import time
import uuid

import pytest

pytestmark = pytest.mark.live

ENGINES = pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
VERSIONS = {
    "opensearch": (
        r"opensearch 3\.\d+\.\d+ at http://127\.0\.0\.1:\d+, client opensearch-py \d+\.\d+\.\d+"
    ),
    "elasticsearch": (
        r"elasticsearch 9\.\d+\.\d+ at http://127\.0\.0\.1:\d+, client elasticsearch 9\.\d+\.\d+"
    ),
}
LICENCES = {
    "opensearch": r"Apache-2\.0: the server fuses \(rrf-native\)",
    "elasticsearch": r"basic licence: esrag fuses \(rrf-client\)",
}
DISK = r"\d+\.\d GiB free on the node tests; its watermarks are off"
HEAP = r"\d+ % of the heap used on the node tests"
SHARDS = r"\d+ of at most 1,000 shards in the cluster"

RECALL = r"recall@10 of the vector leg over \d+ stored vectors: 1\.00"


def matched(findings, patterns):
    """Whether the findings are these, in order, all of them ok."""
    assert ["ok"] * len(patterns) == [finding["level"] for finding in findings], findings
    wrong = [
        (p, f["what"])
        for p, f in zip(patterns, findings, strict=True)
        if not re.fullmatch(p, f["what"])
    ]
    assert [] == wrong


@ENGINES
def test_before_and_after_an_ingest(esrag, corpus, engine, request):
    """Each part gets its line: first of the server alone, then of the index with its health,
    mapping and content.
    """
    index = f"d-{uuid.uuid4().hex[:12]}"
    where = {"ESRAG_ENGINE__URL": request.getfixturevalue(engine), "ESRAG_ENGINE__INDEX": index}
    used, model = "no settings file, index in http.*", "encoder works: hashing .*"
    before = esrag("doctor", "--json", **where)
    *server, last = before.lines
    matched(
        server,
        [
            used,
            model,
            VERSIONS[engine],
            "the cluster is (green|yellow)",
            LICENCES[engine],
            DISK,
            HEAP,
            SHARDS,
        ],
    )
    assert (0, "nothing has been ingested yet", "warning") == (
        before.code,
        last["what"],
        last["level"],
    )

    assert 0 == esrag("ingest", "docs", **where).code
    after = esrag("doctor", "--json", **where)
    assert 0 == after.code
    green, mapping = (
        f"the index {index}-000001 is green",
        f"the mapping of {index}-000001 is esrag's",
    )
    shards = f"{SHARDS}, of the index 1 shard with 0 replicas"
    sound = "index is sound: 3 documents, made with hashing .*"
    server = [VERSIONS[engine], green, LICENCES[engine], DISK, HEAP, shards]
    matched(after.lines, [used, model, *server, mapping, sound, RECALL])


@ENGINES
def test_what_is_wrong_with_an_index(esrag, corpus, engine, start_server, tmp_path):
    """A replica without a place, a block and a field more are each told with what to do, and end
    when it is done.
    """
    server = start_server(engine, tmp_path / "server")
    where = {"ESRAG_ENGINE__URL": server.url}

    def wrong():
        ran = esrag("doctor", "--json", **where)
        return ran.code, {
            f["what"]: (f["level"], f["advice"]) for f in ran.lines if f["level"] != "ok"
        }

    def advised(request):
        method, path, body = re.fullmatch(r".*?(PUT) (\S+) (\{.*\}).*", request).groups()
        return server.request(method, path, json.loads(body))[0]

    try:
        assert 0 == esrag("ingest", "docs", **where).code
        changes = {"index": {"number_of_replicas": 1, "blocks": {"read_only_allow_delete": True}}}
        field = {"properties": {"note": {"type": "keyword"}}}
        assert 200 == server.request("PUT", "/esrag-000001/_mapping", field)[0]
        assert 200 == server.request("PUT", "/esrag-000001/_settings", changes)[0]
        code, found = wrong()
        yellow, block = (
            next(what for what in found if word in what) for word in ("yellow", "block")
        )
        assert "no second node" in yellow
        assert (1, "error", "warning") == (code, found[block][0], found[yellow][0])
        assert ("warning", "run: esrag ingest --rebuild") == found[
            "the mapping of esrag-000001 is not esrag's in note"
        ]
        assert [200, 200] == [advised(found[what][1]) for what in (block, yellow)]
        assert 0 == esrag("ingest", "docs", "--rebuild", **where).code
        assert (0, {}) == wrong()
    finally:
        server.stop()


@ENGINES
def test_a_server_that_is_down(esrag, engine, start_server, tmp_path):
    """After kill -9: one error with what to do, exit code 4, and no waiting."""
    server = start_server(engine, tmp_path / "server")
    server.kill()
    started = time.monotonic()
    ran = esrag("doctor", "--json", ESRAG_ENGINE__URL=server.url)
    assert time.monotonic() - started < 20
    _, model, error = ran.lines
    assert (4, "ok", "error") == (ran.code, model["level"], error["level"])
    assert f"cannot reach {server.url}" in error["what"]
    assert "is the server running" in error["advice"]


def test_who_may_not_look(esrag, corpus, start_server, tmp_path):
    """A wrong password is one error.

    A key for the index alone gets a warning for what it may not see, and the path.
    """
    import servers

    server = start_server("elasticsearch", tmp_path / "server", password="correct horse")
    try:
        where = {"ESRAG_ENGINE__URL": server.url, "ESRAG_ENGINE__USERNAME": "elastic"}
        ran = esrag("doctor", "--json", **where, ESRAG_ENGINE__PASSWORD="wrong")
        *_, error = ran.lines
        assert (1, "error") == (ran.code, error["level"])
        assert "unable to authenticate user [elastic]" in error["what"]
        assert "engine.password" in error["advice"]

        assert 0 == esrag("ingest", "docs", **where, ESRAG_ENGINE__PASSWORD="correct horse").code
        assert 0 == esrag("doctor", **where, ESRAG_ENGINE__PASSWORD="correct horse").code
        rights = {
            "reader": {
                "indices": [{"names": ["esrag*"], "privileges": ["read", "view_index_metadata"]}]
            }
        }
        _, key = server.request(
            "POST", "/_security/api_key", {"name": "reader", "role_descriptors": rights}
        )
        narrow = esrag(
            "doctor", "--json", ESRAG_ENGINE__URL=server.url, ESRAG_ENGINE__API_KEY=key["encoded"]
        )
        assert 0 == narrow.code
        unknown = [
            finding["what"] for finding in narrow.lines if "could not be asked" in finding["what"]
        ]
        assert ["health", "the licence", "the disk", "the heap", "shards"] == [
            w.partition(" could")[0] for w in unknown
        ]
        assert unknown[1].endswith("esrag fuses (rrf-client)")
        assert "index is sound: 3 documents" in narrow.out
    finally:
        servers.stop(server.data)
