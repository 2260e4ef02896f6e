"""The same question on every engine and path: the same hits in the same order.

The same filter, the same chunks.
"""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import DIMENSIONS, FINGERPRINT, prepared, unit_rows

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.hits import fuse_legs
from esrag.engines.server import ServerEngine
from esrag.engines.server.searching import Search
from esrag.filters import And, Not, Or, Prefix, Range, Terms

pytestmark = pytest.mark.live

SERVERS = ("opensearch", "elasticsearch")
FUSIONS = [
    ("rrf", 0.5),
    ("rrf", 0.3),
    ("rrf", 1.0),
    ("weighted", 0.3),
    ("weighted", 0.77),
    ("weighted", 0.0),
]
VOCABULARY = [
    f"{stem}{n}"
    for n in range(40)
    for stem in ("lattice", "key", "ring", "noise", "cipher", "sample")
]
WEIGHTS = [1 / (rank + 1) for rank in range(len(VOCABULARY))]  # as frequent as words are (Zipf)
METADATA = [
    {"year": 2020, "draft": True, "folder": "a", "size": 1.5},
    {"year": "2020", "draft": False, "folder": "a/b", "size": -3},
    {"year": 2021.5, "draft": "true", "folder": "", "size": 10**15},
    {"year": "n/a", "note": "é 1:t:2", "a:b": "c", "size": 0},
]


def collection():
    """300 chunks of different lengths, so that hardly two score the same."""
    rng = random.Random(5)
    return [
        prepared(
            f"d{n:03}",
            [" ".join(rng.choices(VOCABULARY, WEIGHTS, k=rng.randint(5, 39))) for _ in range(5)],
            metadata=METADATA[n % 4],
        )
        for n in range(60)
    ]


def questions(count, **options):
    rng = random.Random(6)
    for n in range(count):
        text = " ".join(rng.choices(VOCABULARY, k=rng.randint(2, 6)))
        yield SearchRequest(text, unit_rows(n, 1)[0], candidates=50, **options)


@pytest.fixture(scope="module")
def engines(make_engine):
    """The collection on every engine, by name."""
    made = {name: make_engine(name) for name in ("embedded", *SERVERS)}
    for engine in made.values():
        with engine.writer(FINGERPRINT) as writer:
            writer.replace(collection())
    return made


def ids(result):
    return [hit.chunk.chunk_id for hit in result.hits]


@pytest.fixture(scope="module")
def sharded(opensearch):
    """The collection on an OpenSearch, in three shards."""
    engine = ServerEngine(EngineOptions(opensearch, "sharded", shards=3))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(collection())
    yield engine
    engine.close()


def asked(engine, request):
    """A question as it is put to a server, and the index."""
    index = engine._indexes.find_current()
    return Search(engine._connection.server, FINGERPRINT, request, index.vectors), index.name


@pytest.mark.parametrize(("fusion", "weight"), FUSIONS)
def test_both_paths_of_a_server_give_the_same_ten(engines, fusion, weight):
    """OpenSearch fuses by itself, and what it gives is what esrag makes of the two legs."""
    engine = engines["opensearch"]
    for request in questions(40, fusion=fusion, vector_weight=weight):
        native = engine.search(request)
        question, index = asked(engine, request)
        client = question.client(engine._connection, index)
        assert (f"{fusion}-native", f"{fusion}-client") == (native.path, client.path)
        assert native.hits == client.hits


@pytest.mark.parametrize(("fusion", "weight"), FUSIONS)
def test_both_paths_give_the_same_ten_over_shards(sharded, fusion, weight):
    """OpenSearch reads each shard as deep as the whole index is to be read.

    What is given is the same all the same.
    """
    native = 0
    for request in questions(15, fusion=fusion, vector_weight=weight):
        question, index = asked(sharded, request)
        found = sharded.search(request)
        assert found.hits == question.client(sharded._connection, index).hits
        native += found.path == f"{fusion}-native"
    assert native >= 5


@pytest.mark.parametrize(("fusion", "weight"), FUSIONS)
def test_the_scores_of_a_server_are_ours(engines, fusion, weight):
    """OpenSearch has the same formulas: what it gives its hits is what the two legs give them, to
    32-bit floats.

    But for this: it lifts the last hit of a leg to 0.001, and not those that lie between 0 and
    that.
    """
    engine = engines["opensearch"]
    for request in questions(15, fusion=fusion, vector_weight=weight):
        question, index = asked(engine, replace(request, size=50))
        hits = engine._connection.request(
            "POST", f"/{index}/_search", question._build_opensearch()
        )["hits"]["hits"]
        given = {hit["_source"]["chunk_id"]: hit["_score"] for hit in hits if hit["_score"]}
        # Its weights of ranks add up to 1, ours to 2.
        scale = 1.0 if fusion == "weighted" or weight == 0.5 else 0.5
        legs = {}
        for leg in question.legs:
            found = engine.search(replace(request, method=leg, size=request.candidates)).hits
            legs[leg] = {hit.chunk.chunk_id: hit.score for hit in found}
        ours, _ = fuse_legs(replace(request, size=99), legs)
        assert len(given) >= 10
        expected = {key: scale * ours[key] for key in given}
        assert given == pytest.approx(expected, abs=1e-8 if fusion == "rrf" else 0.001)
        assert max(given.values()) == pytest.approx(max(expected.values()), abs=1e-5)


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid", "weighted"])
def test_every_engine_gives_nearly_the_same_ten(engines, method):
    """Servers agree wholly.

    SQLite weighs frequent words less (its BM25 has another inverse document frequency).
    """
    shared, asked = 0, 0
    of_method = (
        {"method": method} if method != "weighted" else {"fusion": "weighted", "vector_weight": 0.4}
    )
    for request in questions(40):
        found = {
            name: ids(engine.search(replace(request, **of_method)))
            for name, engine in engines.items()
        }
        assert found["opensearch"] == found["elasticsearch"]
        shared += len(set(found["embedded"]) & set(found["opensearch"]))
        asked += len(found["embedded"])
    assert shared >= (asked if method == "vector" else 0.9 * asked)


VALUES = st.sampled_from(
    [
        2020,
        2021,
        2021.5,
        -3,
        0,
        1.5,
        10**15,
        True,
        False,
        "2020",
        "true",
        "n/a",
        "a",
        "a/b",
        "",
        "é 1:t:2",
        "c",
        "d001",
    ]
)
FIELDS = st.sampled_from(
    ["year", "draft", "folder", "size", "note", "a:b", "doc_id", "kind", "page", "keywords", "no"]
)
LEAVES = st.one_of(
    st.builds(Terms, FIELDS, st.lists(VALUES, min_size=1, max_size=3).map(tuple)),
    st.builds(Prefix, FIELDS, st.sampled_from(["", "2", "20", "a", "t", "d00", "é"])),
    st.builds(Range, FIELDS, VALUES | st.none(), VALUES | st.none(), st.booleans(), st.booleans()),
)
FILTERS = st.recursive(
    LEAVES,
    lambda parts: (
        st.lists(parts, max_size=3).map(lambda p: And(tuple(p)))
        | st.lists(parts, max_size=3).map(lambda p: Or(tuple(p)))
        | parts.map(Not)
    ),
    max_leaves=6,
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None
)
@given(FILTERS)
def test_a_filter_means_the_same_everywhere(engines, filter_):
    """Any filter keeps the same chunks on every engine, and no hit of either leg lies
    outside it.
    """
    kept = {
        name: {chunk.chunk_id for chunk in engine.chunks(filter_)}
        for name, engine in engines.items()
    }
    assert kept["embedded"] == kept["opensearch"] == kept["elasticsearch"]
    for name in SERVERS:
        request = SearchRequest(
            "key0 ring1 lattice2", unit_rows(3, 1, DIMENSIONS)[0], filter=filter_, size=50
        )
        assert set(ids(engines[name].search(request))) <= kept[name]
