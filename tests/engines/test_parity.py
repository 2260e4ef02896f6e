"""The same question on every engine and path: the same hits in the same order; the same filter, the same chunks."""

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import DIMENSIONS, FINGERPRINT, prepared, unit_rows

from esrag.engines import SearchRequest
from esrag.engines.server.searching import Search
from esrag.filters import And, Not, Or, Prefix, Range, Terms

pytestmark = pytest.mark.live

SERVERS = ("opensearch", "elasticsearch")
VOCABULARY = [f"{stem}{n}" for n in range(40) for stem in ("lattice", "key", "ring", "noise", "cipher", "sample")]
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


def questions(count):
    rng = random.Random(6)
    for n in range(count):
        yield SearchRequest(" ".join(rng.choices(VOCABULARY, k=rng.randint(2, 6))), unit_rows(n, 1)[0], candidates=50)


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


def test_both_paths_of_a_server_give_the_same_ten(engines):
    """OpenSearch fuses by itself, and what it gives is what esrag makes of the two legs."""
    engine = engines["opensearch"]
    for request in questions(40):
        native = engine.search(request)
        client = Search("opensearch", FINGERPRINT, request).client(engine._connection, engine._index().name)
        assert ("rrf-native", "rrf-client") == (native.path, client.path)
        assert ids(native) == ids(client)
        assert [(h.keyword_rank, h.vector_rank) for h in native.hits] == [
            (h.keyword_rank, h.vector_rank) for h in client.hits
        ]
        assert [h.score for h in native.hits] == pytest.approx([h.score for h in client.hits], abs=1e-8)


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid"])
def test_every_engine_gives_nearly_the_same_ten(engines, method):
    """Servers agree wholly. SQLite weighs frequent words less (its BM25 has another inverse document frequency)."""
    shared, asked = 0, 0
    for request in questions(40):
        found = {name: ids(engine.search(replace(request, method=method))) for name, engine in engines.items()}
        assert found["opensearch"] == found["elasticsearch"]
        shared += len(set(found["embedded"]) & set(found["opensearch"]))
        asked += len(found["embedded"])
    assert shared >= (asked if method == "vector" else 0.9 * asked)


VALUES = st.sampled_from(
    [2020, 2021, 2021.5, -3, 0, 1.5, 10**15, True, False, "2020", "true", "n/a", "a", "a/b", "", "é 1:t:2", "c", "d001"]
)
FIELDS = st.sampled_from(["year", "draft", "folder", "size", "note", "a:b", "doc_id", "kind", "page", "keywords", "no"])
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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None)
@given(FILTERS)
def test_a_filter_means_the_same_everywhere(engines, filter_):
    """Any filter keeps the same chunks on every engine, and no hit of either leg lies outside it."""
    kept = {name: {chunk.chunk_id for chunk in engine.chunks(filter_)} for name, engine in engines.items()}
    assert kept["embedded"] == kept["opensearch"] == kept["elasticsearch"]
    for name in SERVERS:
        request = SearchRequest("key0 ring1 lattice2", unit_rows(3, 1, DIMENSIONS)[0], filter=filter_, size=50)
        assert set(ids(engines[name].search(request))) <= kept[name]
