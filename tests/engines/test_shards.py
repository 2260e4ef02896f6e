"""An index in three shards does what one in one shard does, on both servers: the same hits, ties
and pages.
"""

import dataclasses
import random

import numpy as np
import pytest
from made import FINGERPRINT, WORDLESS, library, prepared, texts_of, unit_rows

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.server import ServerEngine
from esrag.filters import parse

SERVERS = ("opensearch", "elasticsearch")
pytestmark = [pytest.mark.live, pytest.mark.parametrize("name", SERVERS)]

VOCABULARY = [f"{stem}{n}" for n in range(30) for stem in ("lattice", "key", "ring", "noise")]
WEIGHTS = [1 / (rank + 1) for rank in range(len(VOCABULARY))]  # as frequent as words are (Zipf)


def collection():
    """200 chunks of different lengths in 50 documents."""
    rng = random.Random(7)
    return [
        prepared(
            f"d{n:02}",
            [" ".join(rng.choices(VOCABULARY, WEIGHTS, k=rng.randint(5, 39))) for _ in range(4)],
            metadata={"year": 2000 + n % 9, "folder": "abc"[n % 3]},
        )
        for n in range(50)
    ]


def questions(**options):
    """Questions for words that are rare and frequent."""
    rng = random.Random(8)
    for n in range(25):
        text = " ".join(rng.choices(VOCABULARY, k=rng.randint(2, 5)))
        yield SearchRequest(text, unit_rows(n, 1)[0], candidates=50, **options)


@pytest.fixture(scope="module")
def pairs(request):
    """By server, the collection in one shard and in three."""
    made = {}

    def pair(name):
        if name not in made:
            url = request.getfixturevalue(name)
            made[name] = [ServerEngine(EngineOptions(url, f"shards{n}", shards=n)) for n in (1, 3)]
            for engine in made[name]:
                with engine.writer(FINGERPRINT) as writer:
                    writer.replace(collection())
        return made[name]

    yield pair
    for engines in made.values():
        for engine in engines:
            engine.close()


@pytest.fixture
def one(pairs, name):
    """The collection in one shard."""
    return pairs(name)[0]


@pytest.fixture
def three(pairs, name):
    """The collection in three shards."""
    return pairs(name)[1]


def ids(result):
    return [hit.chunk.chunk_id for hit in result.hits]


def test_the_entries_are_spread(three):
    """Each of the three shards holds chunks, or the other tests would say nothing."""
    index = three._indexes.find_current()
    counts = three._connection.request("GET", f"/{index.name}/_stats/docs", level="shards")
    held = [
        shard["docs"]["count"]
        for copies in counts["indices"][index.name]["shards"].values()
        for shard in copies
    ]
    assert (3, 3) == (index.shards, len(held))
    assert min(held) > 40


@pytest.mark.parametrize("method", ["keyword", "vector"])
def test_a_leg_is_that_of_one_shard(one, three, method):
    """Words weigh what they weigh in the whole index, so hits, scores and ranks do not depend on
    the cut.
    """
    for request in questions(method=method, size=30):
        expected, found = one.search(request), three.search(request)
        assert ids(expected) == ids(found)
        assert [hit.score for hit in expected.hits] == pytest.approx(
            [hit.score for hit in found.hits], rel=1e-5
        )
        assert method == found.path


@pytest.mark.parametrize("fusion", ["rrf", "weighted"])
def test_fused_hits_are_those_of_one_shard(one, three, name, fusion):
    """OpenSearch fuses three shards by itself.

    Whoever fuses, the ten hits and what the legs say of them are alike.
    """
    paths = set()
    for request in questions(fusion=fusion):
        expected, found = one.search(request), three.search(request)
        paths.add(found.path)
        assert ids(expected) == ids(found)
        for hit, same in zip(expected.hits, found.hits, strict=True):
            assert (hit.keyword_rank, hit.vector_rank) == (same.keyword_rank, same.vector_rank)
            assert hit.score == pytest.approx(same.score, rel=1e-4)
    assert (f"{fusion}-native" if name == "opensearch" else f"{fusion}-client") in paths


@pytest.mark.parametrize(
    "condition", ["year>=2006", "folder=a", "doc_id=d0*", "page=2", "year!=2003"]
)
def test_a_filter_reaches_every_shard(one, three, condition):
    """What is kept, and what is found within it by either leg, is that of one shard."""
    filter_ = parse(condition)
    kept = [chunk.chunk_id for chunk in three.chunks(filter_)]
    assert [chunk.chunk_id for chunk in one.chunks(filter_)] == kept
    assert 0 < len(kept) < 200
    for method in ("keyword", "vector", "hybrid"):
        request = SearchRequest(
            "lattice0 key0", unit_rows(1, 1)[0], method=method, filter=filter_, size=20
        )
        assert ids(one.search(request)) == ids(three.search(request))
        assert set(ids(three.search(request))) <= set(kept)


def test_ties_go_by_chunk_id_over_all_shards(make, name):
    """Of many equal chunks the first by id are the hits, whichever shards they are in."""
    document = prepared("d", ["zebra runs"] * 300)
    document = dataclasses.replace(document, vectors=np.repeat(unit_rows(1, 1), 300, axis=0))
    engine = make(name, shards=3)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([document, prepared("e", texts_of(0, 9))])
    request = SearchRequest("zebra", method="keyword", size=10, candidates=20)
    assert [f"d::c{i:03}" for i in range(10)] == ids(engine.search(request))


@pytest.mark.parametrize("equals", [90, 900])
def test_equal_vectors_go_by_chunk_id_over_all_shards(make, name, equals):
    """Each shard gives as many as candidates: of fewer equal ones the first by id, of more some, in
    order.
    """
    document = prepared("d", [f"zebra {n}" for n in range(equals)])
    document = dataclasses.replace(document, vectors=np.repeat(unit_rows(1, 1), equals, axis=0))
    engine = make(name, shards=3)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([document, prepared("e", texts_of(0, 99))])
    for method in ("vector", "hybrid"):
        request = SearchRequest(
            "unheard", unit_rows(1, 1)[0], method=method, size=10, candidates=100
        )
        found = ids(engine.search(request))
        assert (10, sorted(found), {"d"}) == (
            len(found),
            found,
            {key.split(":")[0] for key in found},
        )
        if equals < request.candidates:
            assert [f"d::c{n:03}" for n in range(10)] == found


def test_replacing_and_removing(make, name):
    """Chunks that are no more are gone from every shard, known vectors come back from all, the
    generation grows.
    """
    engine, documents = make(name, shards=3), library()
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(documents)
        seen = [engine.generation()]
    texts = [text for document in documents for text in document.indexed_texts]
    assert set(texts) == set(engine.vectors_of([*texts, "never seen"]))
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d01", ["zebra"])])
        seen.append(engine.generation())
        writer.remove(["d00", "d02", "unknown"])
        seen.append(engine.generation())
    assert sorted(set(seen)) == seen
    assert ["d01", "d03", "d04", "d05"] == [document.doc_id for document in engine.documents()]
    expected = ["d01::c000", *(f"d{d:02}::c{c:03}" for d in (3, 4, 5) for c in range(4))]
    assert expected == [chunk.chunk_id for chunk in engine.chunks()]
    assert ["d01::c000"] == ids(engine.search(SearchRequest("zebra", method="keyword")))
    assert [] == list(engine.check())


def test_more_than_a_page(make, name):
    """Documents and chunks beyond a thousand come in order, each once."""
    engine = make(name, shards=3)
    with engine.writer(WORDLESS) as writer:
        writer.replace([prepared("long", ["word"] * 1100, vectors=False)])
        writer.replace([prepared(f"d{n:04}", ["word"], vectors=False) for n in range(1050)])
    names = [*(f"d{n:04}" for n in range(1050)), "long"]
    assert names == [document.doc_id for document in engine.documents()]
    expected = [(doc_id, n) for doc_id in names for n in range(1100 if doc_id == "long" else 1)]
    assert expected == [(chunk.doc_id, chunk.ordinal) for chunk in engine.chunks()]
    middle = next(chunk for chunk in engine.chunks(parse("doc_id=long")) if chunk.ordinal == 550)
    assert [549, 551] == [chunk.ordinal for chunk in engine.neighbours(middle, 1)]


def test_a_rebuild_is_cut_as_the_settings_say(make, name):
    """Shards are a setting of the index that is made: a rebuild can change them, and keeps what it
    is given.
    """
    engine = make(name, shards=3)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library(2))
    before, generation = list(engine.chunks()), engine.generation()
    for shards in (3, 2):
        with make(name, shards=shards).writer(FINGERPRINT, rebuild=True) as writer:
            writer.replace(library(2))
        assert shards == engine._indexes.find_current().shards
        assert before == list(engine.chunks())
        assert engine.generation() > generation
        generation = engine.generation()
    assert [] == list(engine.check())
