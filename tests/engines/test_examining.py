"""What doctor says of a server: each part in order, short of something, and not told.

And of a folder.
"""

import copy
import socket
import time

import apsw
import pytest
from made import FINGERPRINT
from scripted import Answer, recorded

from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine, diagnostics
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import RetryPolicy
from esrag.engines.server.mapping import index_body

NAME = "library-000001"
GIB = 2**30
TOTAL = 100 * GIB
WATERMARK = "cluster.routing.allocation.disk.watermark"
SETTINGS = {
    "cluster.routing.allocation.disk.threshold_enabled": "true",
    f"{WATERMARK}.low": "85%",
    f"{WATERMARK}.high": "90%",
    f"{WATERMARK}.flood_stage": "95%",
    "cluster.max_shards_per_node": "1000",
}
# A second try comes too late for the test, and an answer that does not come is known soon.
ONCE = RetryPolicy(request_waits_s=(3600,), timeout_s=0.3)
PARTS = ["version", "health", "licence", "disk", "heap", "shards", "mapping"]


@pytest.fixture
def serve(start_scripted):
    """Starts servers on which all is well."""

    def start(product="elasticsearch", number=None):
        server = start_scripted(product, number)
        server.answer("library", index_of(product))
        server.answer("health", recorded("basic_health"))
        server.answer(NAME, recorded("basic_health"))
        server.answer("_license", recorded("basic_license"))
        server.answer("plugins", plugins("opensearch-knn", "opensearch-neural-search"))
        server.answer("settings", settings())
        server.answer("fs,jvm", nodes())
        server.answer("_msearch", found)
        return server

    return start


@pytest.fixture
def server(serve):
    """An Elasticsearch on which all is well."""
    return serve()


def index_of(product="elasticsearch", options=None, change=lambda index: None, **of_settings):
    """The index as the server describes it, but for a change."""
    body = copy.deepcopy(index_body(product, FINGERPRINT, options or EngineOptions()))
    body["settings"]["index"] |= {"number_of_shards": "1", "number_of_replicas": "0"} | of_settings
    change(body)
    return Answer({NAME: body})


def health(**other):
    """A recorded health, but for these."""
    answer = recorded("basic_health")
    return Answer(answer.body | other, 200, answer.headers)


def licence(name, **other):
    """A recorded licence, but for these."""
    answer = recorded(name)
    return Answer({"license": answer.body["license"] | other}, 200, answer.headers)


def in_days(days):
    """That time, as licences write it."""
    return int((time.time() + days * 86_400) * 1000)


def settings(**other):
    """The cluster's settings, some of them set."""
    return Answer({"persistent": other, "transient": {}, "defaults": SETTINGS})


def node(free=50 * GIB, heap=40, name="one", roles=("data", "ingest"), total=TOTAL, **of_data):
    """One node's statistics."""
    room = {"total_in_bytes": total, "available_in_bytes": free}
    memory = {"mem": {"heap_used_percent": heap}}
    return {
        "name": name,
        "roles": list(roles),
        "fs": {"total": room, "data": [room | of_data]},
        "jvm": memory,
    }


def nodes(*several):
    """The statistics of these nodes."""
    return Answer({"nodes": {str(number): one for number, one in enumerate(several or [node()])}})


def plugins(*names):
    """One node with these plugins."""
    return Answer({"nodes": {"a": {"plugins": [{"name": name} for name in names]}}})


def found(request):
    """Every leg finds nothing, and the server fuses whatever it is asked to fuse."""
    nothing = {"_shards": {"failed": 0}, "timed_out": False, "hits": {"hits": []}, "status": 200}
    return Answer({"responses": [nothing] * (len(request.lines) // 2)})


def findings(url, **options):
    """All that is found."""
    engine = ServerEngine(EngineOptions(url, "library", **options), ONCE)
    try:
        return list(engine.examine())
    finally:
        engine.close()


def worse(server):
    """What is not in order."""
    return [finding for finding in findings(server.url) if finding.level != "ok"]


def the_one(server, level):
    """The only thing that is not in order; it has an advice."""
    (finding,) = worse(server)
    assert (level, True) == (finding.level, bool(finding.advice))
    return finding


def said(server, part):
    """The one finding that speaks of something."""
    (finding,) = (finding for finding in findings(server.url) if part in finding.what)
    return finding


# In order


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
def test_a_server_in_order_gets_a_line_a_part(serve, product):
    """Version, health, licence, disk, heap, shards and mapping, each ok and without advice.

    Each is asked but once.
    """
    server = serve(product)
    found = findings(server.url)
    assert ["ok"] * len(PARTS) == [finding.level for finding in found]
    assert not any(finding.advice for finding in found)
    asked = [
        request.path for request in server.requests if request.what not in {"library", "_msearch"}
    ]
    assert sorted(set(asked)) == sorted(asked)


def test_without_an_index_the_server_is_looked_at(server):
    """Before the first ingest the cluster's health counts, and of the licence what usually follows
    from it.
    """
    server.answer("library", recorded("basic_alias_missing"))
    found = findings(server.url)
    assert ["ok"] * (len(PARTS) - 1) == [finding.level for finding in found]
    assert "the cluster is green" in [finding.what for finding in found]
    assert "basic licence: esrag fuses (rrf-client)" in [finding.what for finding in found]
    assert [] == server.asked("_msearch")


# Version and licence


@pytest.mark.parametrize(
    ("number", "level"), [("8.19.1", "ok"), ("9.5.3", "ok"), ("10.0.0", "warning")]
)
def test_a_client_older_than_the_server_is_told(serve, number, level):
    """A newer client speaks the server's own media types; an older one is to be upgraded."""
    finding = said(serve(number=number), "client elasticsearch 9.")
    assert (level, number in finding.what) == (finding.level, True)
    assert ("pip install --upgrade elasticsearch" if level == "warning" else "") == finding.advice


def test_the_path_is_tried_whatever_the_licence_says(server):
    """A server that lacks the retriever under a trial does not fuse, and one that has it on basic
    does.
    """
    assert "basic licence: the server fuses (rrf-native)" == said(server, "licence").what
    server.answer("_license", licence("trial_license", expiry_date_in_millis=in_days(20.5)))
    server.answer("_msearch", recorded("core_rrf_in_msearch"))
    assert "trial licence, 20 days left: esrag fuses (rrf-client)" == said(server, "licence").what


def test_what_follows_from_a_trial_before_there_is_an_index(server):
    """A trial and an enterprise licence let the server fuse, basic and platinum do not."""
    server.answer("library", recorded("basic_alias_missing"))
    for kind, path in {
        "trial": "native",
        "enterprise": "native",
        "platinum": "client",
        "basic": "client",
    }.items():
        server.answer(
            "_license", licence("trial_license", type=kind, expiry_date_in_millis=in_days(300))
        )
        assert path == said(server, "licence").what.rpartition("-")[2].rstrip(")")


@pytest.mark.parametrize(
    ("days", "left"), [(3.5, "3 days"), (1.5, "1 day"), (0.5, "0 days"), (6.9, "6 days")]
)
def test_a_trial_about_to_end(server, days, left):
    """In its last week the days are counted, and what comes then."""
    server.answer("_license", licence("trial_license", expiry_date_in_millis=in_days(days)))
    finding = the_one(server, "warning")
    assert f"trial licence, {left} left: the server fuses" in finding.what
    assert "rrf-client" in finding.advice


def test_a_licence_that_has_expired(server):
    """It says so, with the path that is left."""
    server.answer(
        "_license", licence("trial_license", status="expired", expiry_date_in_millis=in_days(-2))
    )
    server.answer("_msearch", recorded("basic_rrf_in_msearch"))
    finding = the_one(server, "warning")
    assert "the trial licence is expired: esrag fuses (rrf-client)" == finding.what
    assert "start_basic" in finding.advice


@pytest.mark.parametrize(
    ("answer", "path"), [(found, "rrf-native"), (recorded("basic_rrf_in_msearch"), "rrf-client")]
)
def test_a_key_that_may_not_see_the_licence(server, answer, path):
    """The path is found by trying, though neither licence nor health are told."""
    server.answer("_license", recorded("security_403_license"))
    server.answer(NAME, recorded("security_403_cluster_health"))
    server.answer("_msearch", answer)
    licence, health = (said(server, f"{part} could not be asked") for part in ("licence", "health"))
    assert path in licence.what
    assert {("warning", True)} == {
        (finding.level, "monitor" in finding.advice) for finding in (licence, health)
    }


def test_a_key_that_may_not_search_leaves_the_path_open(server):
    """What cannot be tried is not claimed."""
    server.answer("_license", recorded("security_403_license"))
    server.answer("_msearch", recorded("security_403_search"))
    assert "with the first question" in said(server, "licence").what


@pytest.mark.parametrize(
    ("number", "shards", "plugin", "expected"),
    [
        ("3.6.0", "3", "neural-search", "the server fuses (rrf-native)"),
        ("2.19.2", "1", "opensearch-neural-search", "the server fuses (rrf-native)"),
        (
            "2.19.2",
            "3",
            "neural-search",
            "esrag fuses (rrf-client), since this version ranks each of 3 shards by itself",
        ),
        (
            "3.6.0",
            "1",
            "other",
            "esrag fuses (rrf-client), since the neural-search plugin is not on every node",
        ),
    ],
)
def test_opensearch_says_why_it_does_not_fuse(serve, number, shards, plugin, expected):
    """Its version with several shards, or a plugin that is missing."""
    server = serve("opensearch", number)
    server.answer("library", index_of("opensearch", number_of_shards=shards))
    server.answer("plugins", plugins("opensearch-knn", plugin))
    if plugin == "other":
        unknown = {"type": "parsing_exception", "reason": "unknown query [hybrid]"}
        server.answer(
            "_msearch", Answer({"error": {"root_cause": [unknown], **unknown}, "status": 400}, 400)
        )
    assert (("ok", f"Apache-2.0: {expected}")) == ((f := said(server, "Apache")).level, f.what)


def test_opensearch_without_vectors(serve):
    """Without the k-NN plugin on every node nothing works."""
    server = serve("opensearch")
    both = [{"plugins": [{"name": "opensearch-knn"}, {"name": "neural-search"}]}, {"plugins": []}]
    server.answer("plugins", Answer({"nodes": dict(zip("ab", both, strict=True))}))
    server.answer("library", recorded("basic_alias_missing"))
    assert "k-NN plugin is not on every node" in the_one(server, "error").what
    assert "rrf-client" in said(server, "Apache").what


# Health


def test_yellow_on_one_node_is_a_replica_without_a_place(server):
    """The reason is told, and the request that ends it."""
    server.answer("library", index_of(number_of_replicas="1"))
    server.answer(NAME, health(status="yellow", unassigned_shards=1))
    finding = the_one(server, "warning")
    assert (
        f"the index {NAME} is yellow: 1 replica of each shard, and no second node to hold it"
        == finding.what
    )
    assert f'PUT /{NAME}/_settings {{"index.number_of_replicas": 0}}' in finding.advice


def test_yellow_for_another_reason(server):
    """How many copies are not in place, and where to ask."""
    server.answer(
        NAME,
        health(status="yellow", number_of_data_nodes=3, unassigned_shards=1, initializing_shards=1),
    )
    finding = the_one(server, "warning")
    assert "yellow: 2 copies of shards not in place" in finding.what
    assert "allocation/explain" in finding.advice


def test_red_is_an_error_and_nothing_is_tried_on_it(server):
    """A question to a red index would wait a minute."""
    server.answer(NAME, health(status="red"))
    assert (
        f"the index {NAME} is red: some of its data cannot be read" == the_one(server, "error").what
    )
    assert [] == server.asked("_msearch")


def test_a_red_index_is_checked_no_further(server):
    """The check says that it is red, in the same words, and reads nothing."""
    server.answer(NAME, health(status="red"))
    engine = ServerEngine(EngineOptions(server.url, "library"), ONCE)
    assert [the_one(server, "error").what] == list(engine.check())
    engine.close()


# Disk


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    ("free", "level", "word"),
    [
        (15.1, "ok", ""),
        (14.9, "warning", "low"),
        (9.9, "error", "high"),
        (4.9, "error", "flood-stage"),
    ],
)
def test_a_disk_below_a_watermark(serve, product, free, level, word):
    """The watermark is named, with what the server does there; the fullest node counts."""
    server = serve(product)
    server.answer(
        "fs,jvm", nodes(node(), node(free * GIB, name="two"), node(free * GIB + 1, name="three"))
    )
    finding = said(server, "GiB free")
    assert (level, bool(word)) == (finding.level, bool(finding.advice))
    assert f"{free:.1f} GiB free on the node two" in finding.what
    assert f"{word} watermark" in finding.what or not word


@pytest.mark.parametrize(
    ("large_gib", "small_gib", "level", "told"),
    [
        (1400, 1, "error", "small"),  # flood stage on the small one, low on the large one
        (400, 14, "error", "large"),  # the other way round
        (1400, 14, "warning", "large"),  # low on both: 0.91 and 0.93 of what must stay free
        (1400, 13, "warning", "small"),
        (3000, 16, "ok", "small"),
    ],
)
def test_disks_of_different_sizes(server, large_gib, small_gib, level, told):
    """What the server does on a node comes first, then the share of its low watermark.

    Never the bytes.
    """
    large = node(large_gib * GIB, name="large", total=10_240 * GIB)
    server.answer("fs,jvm", nodes(large, node(small_gib * GIB, name="small")))
    finding = said(server, "GiB free")
    assert level == finding.level
    assert f"GiB free on the node {told}" in finding.what


@pytest.mark.parametrize("low", ["0.6", "60%", "40gb", "40GB"])
def test_watermarks_are_ratios_percentages_or_sizes(server, low):
    """What is set comes before the defaults.

    What Elasticsearch says of a disk of its own before both.
    """
    server.answer("settings", settings(**{f"{WATERMARK}.low": low}))
    server.answer("fs,jvm", nodes(node(40.1 * GIB)))
    assert [] == worse(server)
    server.answer("fs,jvm", nodes(node(39.9 * GIB)))
    assert "low watermark of 40.0" in the_one(server, "warning").what
    server.answer("fs,jvm", nodes(node(39.9 * GIB, low_watermark_free_space_in_bytes=30 * GIB)))
    assert [] == worse(server)


def test_watermarks_that_are_off(server):
    """Then a full disk is the free room alone."""
    server.answer(
        "settings", settings(**{"cluster.routing.allocation.disk.threshold_enabled": "false"})
    )
    server.answer("fs,jvm", nodes(node(GIB)))
    assert ("ok", True) == (
        (f := said(server, "GiB free")).level,
        f.what.endswith("watermarks are off"),
    )


def test_only_nodes_with_data_count(server):
    """A full disk of a node without shards, or with frozen ones, is none of the index's."""
    others = [node(1, 99, name=role, roles=[role]) for role in ("master", "data_frozen", "ml")]
    server.answer("fs,jvm", nodes(*others, node(roles=["data_hot"])))
    assert [] == worse(server)


@pytest.mark.parametrize(
    ("block", "first"), [("read_only_allow_delete", "make room"), ("write", "PUT")]
)
def test_a_block_on_the_index(server, block, first):
    """It is named, with the request that lifts it."""
    server.answer("library", index_of(blocks={block: "true", "metadata": "false"}))
    finding = the_one(server, "error")
    assert f"the index {NAME} has the block {block}" == finding.what
    assert finding.advice.startswith(first)
    assert f'{{"index.blocks.{block}": null}}' in finding.advice


# Heap and shards


@pytest.mark.parametrize(
    ("used", "level"), [(84, "ok"), (85, "warning"), (94, "warning"), (95, "error")]
)
def test_the_heap(server, used, level):
    """From 85 per cent a warning, from 95 an error; the fullest node counts."""
    server.answer("fs,jvm", nodes(node(heap=used, name="two"), node()))
    finding = said(server, "heap")
    assert (level, f"{used} % of the heap used on the node two") == (finding.level, finding.what)


@pytest.mark.parametrize(("active", "level"), [(1000, "ok"), (1790, "warning"), (2000, "warning")])
def test_the_limit_of_shards(server, active, level):
    """From nine tenths of what two nodes may hold, those without a place counted as well."""
    server.answer("library", index_of(number_of_replicas="1", number_of_shards="3"))
    server.answer(
        "health", health(number_of_data_nodes=2, active_shards=active, unassigned_shards=10)
    )
    finding = said(server, "of at most 2,000 shards")
    assert level == finding.level
    assert finding.what.startswith(f"{active + 10:,} of")
    assert finding.what.endswith("of the index 3 shards with 1 replica")


def test_no_replica_on_several_nodes(server):
    """One node that is lost would take data along."""
    server.answer("health", health(number_of_data_nodes=3))
    finding = the_one(server, "warning")
    assert "no replica on 3 nodes" in finding.what
    assert f'PUT /{NAME}/_settings {{"index.number_of_replicas": 1}}' == finding.advice


# Mapping


def drifted(index):
    """Six fields in other ways than esrag's, and one more."""
    fields = index["mappings"]["properties"]
    fields["text"]["analyzer"] = "standard"
    fields["year"]["type"] = "long"
    fields["embedding"]["index_options"] = {"type": "flat"}
    for name in ("acl", "kind", "folder"):
        del fields[name]
    fields["note"] = {"type": "text"}


def test_a_mapping_that_drifted(server):
    """What differs, is missing or was added is named, five at most."""
    server.answer("library", index_of(change=drifted))
    finding = the_one(server, "error")
    assert (
        f"the mapping of {NAME} is not esrag's in acl, embedding, folder, kind, text and 2 more"
        == finding.what
    )
    assert "run: esrag ingest --rebuild" == finding.advice


def test_a_mapping_with_a_field_more(server):
    """Nothing is lost by it, so it is a warning."""
    server.answer(
        "library",
        index_of(
            change=lambda index: index["mappings"]["properties"].update(note={"type": "text"})
        ),
    )
    assert the_one(server, "warning").what.endswith("in note")


def test_a_mapping_that_is_no_longer_strict(server):
    """Then anything can get in."""
    server.answer(
        "library", index_of(change=lambda index: index["mappings"].update(dynamic="true"))
    )
    assert the_one(server, "error").what.endswith("in dynamic")


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
def test_vectors_kept_in_another_way_are_no_drift(serve, product):
    """Settings of the graph are for new indexes; what this one was made with stays."""
    server = serve(product)
    options = EngineOptions(
        similarity="dot_product", quantisation="int8", hnsw_m=32, hnsw_ef_construction=50
    )
    server.answer("library", index_of(product, options))
    assert [] == worse(server)


def test_what_the_server_adds_to_a_field_is_its_own_affair(server):
    """Defaults it shows and numbers it writes as words are no drift."""

    def shown(index):
        index["mappings"]["properties"]["embedding"] |= {"index": True}
        index["mappings"]["properties"]["year"]["ignore_malformed"] = "true"

    server.answer("library", index_of(change=shown))
    assert [] == worse(server)


def test_an_index_of_another_program_has_no_mapping_to_compare(server):
    """That it is not ours the check of the index says."""
    server.answer("library", index_of(change=lambda index: index["mappings"].pop("_meta")))
    assert [] == [finding for finding in findings(server.url) if "mapping" in finding.what]


# Not told


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": "no handler found for uri [/x] and method [GET]"}, 400),
        Answer({"error": {"type": "x", "reason": "is not there"}, "status": 404}, 404),
        Answer({"error": {"type": "unavailable", "reason": "is busy"}, "status": 503}, 503),
        recorded("security_403_license"),
        Answer(b"<html>", 200, {"content-type": "text/html"}),
        Answer({"unexpected": []}),
        Answer({"nodes": {}, "license": {}, "defaults": {}}),
    ],
    ids=["no-handler", "404", "503", "403", "html", "other", "hollow"],
)
def test_what_cannot_be_asked_is_a_warning(serve, product, answer):
    """A server without these addresses, or with other answers, gets a line a part."""
    server = serve(product)
    for what in ("health", NAME, "_license", "plugins", "settings", "fs,jvm"):
        server.answer(what, answer)
    found = findings(server.url)
    assert {"ok", "warning"} == {finding.level for finding in found}
    unknown = [finding.what for finding in found if "could not be asked" in finding.what]
    assert {"health", "the disk", "the heap", "shards"} <= {
        what.partition(" could")[0] for what in unknown
    }
    assert ["ok", "ok"] == [found[0].level, found[-1].level]


@pytest.mark.parametrize("fault", ["hang", "reset"])
def test_a_part_that_does_not_answer_ends_the_look(server, fault):
    """One warning with the reason, and the other parts are not waited for."""
    server.answer("fs,jvm", Answer(fault=fault))
    finding = findings(server.url)[-1]
    assert "warning" == finding.level
    assert finding.what.startswith(f"the disk could not be asked: cannot reach {server.url}")
    assert 1 == len(server.asked("fs,jvm"))


def test_nothing_listens():
    """A server that is down is one error, said at once, with what to do."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        started = time.monotonic()
        (finding,) = findings(url)
    assert time.monotonic() - started < 10
    assert ("error", True) == (finding.level, f"cannot reach {url}" in finding.what)
    assert "engine.url" in finding.advice


def test_a_wrong_password(server):
    """It is one error with what to set, and nothing more is asked."""
    server.answer("root", recorded("security_401_wrong_password"))
    (finding,) = findings(server.url, username="elastic", password="wrong")
    assert ("error", True) == (
        finding.level,
        "unable to authenticate user [elastic]" in finding.what,
    )
    assert "engine.password" in finding.advice
    assert 1 == len(server.requests)


def test_settings_that_no_client_takes():
    """They are one error as well."""
    (finding,) = findings("http://[::1")
    assert "error" == finding.level


# A folder


def test_a_folder_stands_on_sqlite_and_a_disk(tmp_path):
    """Both are looked at, also before the folder exists."""
    engine = EmbeddedEngine(EngineOptions(str(tmp_path / "not" / "there")))
    sqlite, disk = engine.examine()
    assert f"SQLite {apsw.sqlite_lib_version()} with full-text search" == sqlite.what
    assert disk.what.endswith(f"GiB free at {tmp_path}")
    engine.close()


def test_a_disk_with_little_room(tmp_path, monkeypatch):
    """Below the least that an ingest may need it is a warning."""
    monkeypatch.setattr(diagnostics, "MIN_FREE_BYTES", 2**62)
    _, disk = diagnostics.examine(tmp_path)
    assert ("warning", "make room before a large ingest") == (disk.level, disk.advice)
