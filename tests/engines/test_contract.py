"""What every registered engine must do."""

import dataclasses
import random
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import DIMENSIONS, FINGERPRINT, WORDLESS, content, library, prepared, texts_of, unit_rows

from esrag.engines import SearchRequest
from esrag.engines.fusion import combine_weighted, ranking, rrf
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing, UsageError
from esrag.filters import And, Match, Not, Or, Prefix, Range, Terms, parse
from esrag.records import Fingerprint
from esrag.text.defined import definition_token

LIVE = [pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")]
pytestmark = pytest.mark.parametrize("name", ["embedded", *LIVE])

QUERY = unit_rows(99, 1)[0]


@pytest.fixture
def full(make, name):
    """An engine over the small library."""
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library())
    return engine


def ids(result):
    return [hit.chunk.chunk_id for hit in result.hits]


def test_a_missing_index_says_so(make, name):
    """Before the first writing nothing can be read, no vector is known, and nothing is made by
    trying.
    """
    engine = make(name)
    assert {} == engine.vectors_of(["kem"])
    assert not engine.exists()
    for use in (
        engine.fingerprint,
        engine.generation,
        engine.check,
        lambda: list(engine.documents()),
    ):
        with pytest.raises(IndexMissing) as caught:
            use()
        assert "esrag ingest" in caught.value.hint
    with pytest.raises(IndexMissing):
        engine.search(SearchRequest("kem"))
    assert not engine.exists()


def test_what_is_stored_comes_back(full):
    """Records come back equal, documents by id and chunks by document and position."""
    documents, chunks = content(full)
    assert [p.document for p in library()] == documents
    assert [c for p in library() for c in p.chunks] == chunks
    assert full.exists()
    assert full.fingerprint() == FINGERPRINT
    assert [] == list(full.check())


def test_close_twice_and_use_again(full):
    """Closing is safe to repeat, and the next use opens again."""
    full.close()
    full.close()
    assert 6 == len(list(full.documents()))


def test_replacing_by_the_same_changes_nothing(full, name):
    """The same documents stored again give the same content and the same hits."""
    before, hits = content(full), full.search(SearchRequest("lattice key", QUERY))
    with full.writer(FINGERPRINT) as writer:
        writer.replace(library())
    assert before == content(full)
    again = full.search(SearchRequest("lattice key", QUERY))
    assert ids(hits) == ids(again)
    # A server's statistics count what was deleted until it merges.
    assert hits == again or name != "embedded"
    assert [] == list(full.check())


def test_replacing_leaves_nothing_of_the_old(full):
    """A replaced document is found by its new words only, also when another source takes over its
    id.
    """
    with full.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d00", ["zebra"], source="/elsewhere.md")])
    assert ["d00::c000"] == [c.chunk_id for c in full.chunks(Terms("doc_id", ("d00",)))]
    assert ["d00::c000"] == ids(full.search(SearchRequest("zebra", method="keyword")))
    assert "/elsewhere.md" == next(iter(full.documents())).source
    assert [] == list(full.check())


def test_removing(full):
    """Removed documents are gone from both legs; unknown ids are ignored and change nothing."""
    with full.writer(FINGERPRINT) as writer:
        writer.remove(["d01", "d03", "unknown", "d01"])
    generation = full.generation()
    with full.writer(FINGERPRINT) as writer:
        writer.remove(["unknown", "' OR 1=1 --"])
    assert ["d00", "d02", "d04", "d05"] == [d.doc_id for d in full.documents()]
    found = full.search(SearchRequest("lattice key hash", QUERY, size=100)).hits
    assert {"d00", "d02", "d04", "d05"} == {hit.chunk.doc_id for hit in found}
    assert generation == full.generation()
    assert [] == list(full.check())


def test_removing_what_was_read_from_other_bytes(full):
    """Of each source what is not of its hash goes, what the same writer stored included.

    Of "" all of it goes.
    """
    quoted = '/a "b" \\u00e9 é.csv'
    first = [
        with_source("e00", quoted, "1"),
        with_source("e01", quoted, "1"),
        with_source("e02", "/other", "1"),
    ]
    with full.writer(FINGERPRINT) as writer:
        writer.replace(first)
        writer.replace([with_source("e01", quoted, "2")])
        writer.remove_former({quoted: "2", "/unknown": "1"})
    generation = full.generation()
    with full.writer(FINGERPRINT) as writer:
        writer.remove_former({quoted: "2", "/unknown": ""})
    left = [document.doc_id for document in full.documents() if document.doc_id.startswith("e")]

    assert left == ["e01", "e02"]
    assert generation == full.generation()
    assert [] == list(full.check())

    with full.writer(FINGERPRINT) as writer:
        writer.remove_former({quoted: "", "/other": ""})
    assert not any(document.doc_id.startswith("e") for document in full.documents())


def with_source(doc_id, source, sha256):
    """A document read from a source's bytes of that hash."""
    made = prepared(doc_id, ["zebra"])
    return dataclasses.replace(
        made, document=dataclasses.replace(made.document, source=source, source_sha256=sha256)
    )


def test_a_failed_call_stores_nothing(full):
    """One document that does not fit keeps out all that came with it."""
    before, generation = content(full), full.generation()
    good, bad = prepared("d90", ["zebra"]), prepared("d91", ["yak"])
    same_chunk = dataclasses.replace(bad, chunks=good.chunks)
    narrow = dataclasses.replace(bad, vectors=unit_rows(0, 1, DIMENSIONS - 1))
    broken = dataclasses.replace(bad, vectors=np.full((1, DIMENSIONS), np.nan, np.float32))
    without = dataclasses.replace(bad, vectors=None)
    with full.writer(FINGERPRINT) as writer:
        for wrong in (same_chunk, narrow, broken, without):
            with pytest.raises(EngineError):
                writer.replace([good, wrong])
    assert before == content(full)
    assert generation == full.generation()
    assert [] == list(full.check())


def test_an_exception_while_writing_keeps_what_was_committed(make, name):
    """Each call is a commit of its own."""
    engine = make(name)
    with pytest.raises(ZeroDivisionError), engine.writer(FINGERPRINT) as writer:  # noqa: PT012 -- what is tested
        writer.replace([prepared("d1", ["zebra"])])
        raise ZeroDivisionError
    assert ["d1"] == [d.doc_id for d in engine.documents()]
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d2", ["yak"])])
    assert [] == list(engine.check())


def test_the_generation_grows_with_every_change(full):
    """Replacing and removing each give a greater number."""
    seen = [full.generation()]
    with full.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d00", ["zebra"])])
        seen.append(full.generation())
        writer.remove(["d00"])
        seen.append(full.generation())
    assert sorted(set(seen)) == seen


def test_sound_chunks_are_verified(full):
    """Those of stored sources, and of sources that are not stored."""
    sources = [document.source for document in full.documents()]
    full.verify_chunks([*sources, "never seen"])
    full.verify_chunks([])


def test_known_vectors(full):
    """The vectors of indexed texts come back by text; other texts are left out."""
    document = library()[2]
    known = full.vectors_of([*document.indexed_texts, "never seen"])
    assert set(document.indexed_texts) == set(known)
    for text, vector in zip(document.indexed_texts, document.vectors, strict=True):
        assert np.array_equal(vector, known[text])


def test_vector_leg_is_exact(full):
    """The vector leg gives the cosines, in order, with ranks from 1."""
    every = {
        c.chunk_id: float(v @ QUERY)
        for p in library()
        for c, v in zip(p.chunks, p.vectors, strict=True)
    }
    result = full.search(SearchRequest("", QUERY, method="vector", size=7))
    assert "vector" == result.path
    assert ranking(every)[:7] == ids(result)
    assert [every[key] for key in ids(result)] == pytest.approx(
        [h.vector_score for h in result.hits], abs=1e-6
    )
    assert [1, 2, 3, 4, 5, 6, 7] == [h.vector_rank for h in result.hits]
    assert all(h.score == h.vector_score and h.keyword_rank is None for h in result.hits)


def test_keyword_leg(full):
    """The keyword leg finds by stem and by part of a compound, with positive falling scores and
    ranks from 1.
    """
    with full.writer(FINGERPRINT) as writer:
        writer.replace(
            [
                prepared(
                    "x", ["ML-KEM.KeyGen makes the keys", "zebras run", "nothing here", "or there"]
                )
            ]
        )
    assert "x::c000" == ids(full.search(SearchRequest("KeyGen", method="keyword")))[0]
    assert ["x::c001"] == ids(full.search(SearchRequest("Zebra", method="keyword")))
    result = full.search(SearchRequest("lattice key", QUERY, method="keyword", size=100))
    scores = [h.keyword_score for h in result.hits]
    assert "keyword" == result.path
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)
    assert list(range(1, len(scores) + 1)) == [h.keyword_rank for h in result.hits]


def test_a_definition_is_found_among_the_passages_that_use_its_term(full):
    """A token of a definition finds the passage that has it; no text can contain the token."""
    token = definition_token("proxies")
    texts = ["The proxy is asked.", f"The {token} is asked.", "A proxy is a program that asks."]
    with full.writer(FINGERPRINT) as writer:
        writer.replace([prepared("x", texts)])

    alone = SearchRequest("", also=(token,), method="keyword")
    assert ["x::c002"] == ids(full.search(alone))
    assert "x::c002" == ids(full.search(dataclasses.replace(alone, text="proxy")))[0]


@pytest.mark.parametrize("fusion", ["rrf", "weighted"])
def test_fusion(full, fusion):
    """Hybrid hits are the fusion of the two legs, each read `candidates` deep."""
    legs = []
    for method in ("keyword", "vector"):
        leg = full.search(SearchRequest("lattice key", QUERY, method=method, size=9, candidates=9))
        legs.append({h.chunk.chunk_id: h.score for h in leg.hits})
    request = SearchRequest(
        "lattice key",
        QUERY,
        size=5,
        candidates=9,
        fusion=fusion,
        rank_constant=7,
        vector_weight=0.3,
    )
    result = full.search(request)
    expected = rrf(legs, 7, [1.4, 0.6]) if fusion == "rrf" else combine_weighted(legs, [0.7, 0.3])
    assert list(expected)[:5] == ids(result)
    assert list(expected.values())[:5] == pytest.approx([h.score for h in result.hits], abs=1e-8)
    assert result.path.startswith(fusion)


def test_ties_go_by_chunk_id_also_at_the_cut(make, name):
    """Of many equal chunks the first by id are the hits, whatever order they were stored in."""
    texts, vector = ["zebra runs"] * 400, unit_rows(1, 1)
    document = dataclasses.replace(prepared("d", texts), vectors=np.repeat(vector, 400, axis=0))
    order = random.Random(0).sample(range(400), 400)
    shuffled = dataclasses.replace(document, chunks=tuple(document.chunks[i] for i in order))
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([shuffled, prepared("e", texts_of(0, 9))])
    # A walk over a graph meets neighbours that are equally near in an order of its own.
    for method in ("keyword", "vector", "hybrid") if name == "embedded" else ("keyword",):
        request = SearchRequest("zebra", vector[0], method=method, size=10, candidates=20)
        assert [f"d::c{i:03}" for i in range(10)] == ids(engine.search(request)), method


@pytest.mark.parametrize("equals", [40, 400])
def test_equal_vectors_go_by_chunk_id(make, name, equals):
    """While they are fewer than candidates, by id also at the cut.

    Of more a graph gives some, and those in order.
    """
    vector = unit_rows(1, 1)
    texts = [f"zebra {n}" for n in range(equals)]
    document = dataclasses.replace(prepared("d", texts), vectors=np.repeat(vector, equals, axis=0))
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([document, *(prepared(f"e{n}", texts_of(n, 20)) for n in range(10))])
    for method in ("vector", "hybrid"):
        request = SearchRequest("unheard", vector[0], method=method, size=10, candidates=100)
        found = ids(engine.search(request))
        assert (10, sorted(found), {"d"}) == (
            len(found),
            found,
            {key.split(":")[0] for key in found},
        )
        if equals < request.candidates or name == "embedded":
            assert [f"d::c{n:03}" for n in range(10)] == found


def test_many_make_the_index_at_once(make, name):
    """It is made once, and each of those who did not make it writes to that of the one who did."""
    engines, together = [make(name) for _ in range(4)], threading.Barrier(4)

    def fill(number):
        together.wait()
        with engines[number].writer(FINGERPRINT) as writer:
            writer.replace([prepared(f"d{number}", ["zebra"])])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(fill, range(4)))
    assert ["d0", "d1", "d2", "d3"] == [document.doc_id for document in engines[0].documents()]
    assert [] == list(engines[0].check())
    assert 1 == len([one for one in engines[0].indexes() if one.in_use])


def test_the_order_of_storing_does_not_show(make, name):
    """Many indexes, each stored in another order and in other calls, give the same hits
    and scores.
    """
    questions = [
        SearchRequest("lattice key", QUERY, size=15),
        SearchRequest("hash", QUERY, fusion="weighted"),
    ]
    expected = None
    for seed in range(100 if name == "embedded" else 5):
        rng, engine = random.Random(seed), make(name, f"s{seed}")
        documents = rng.sample(library(4, 5), 4)
        cut = rng.randrange(5)
        with engine.writer(FINGERPRINT) as writer:
            writer.replace(documents[:cut])
            writer.replace(documents[cut:])
        found = [engine.search(question) for question in questions]
        engine.close()
        expected = expected or found
        assert expected == found


def test_without_a_model(make, name):
    """An index without vectors is searched by words, and the path says so.

    Asking for vectors is an error.
    """
    engine = make(name)
    with engine.writer(WORDLESS) as writer:
        writer.replace([prepared("d", ["zebra", "yak"], vectors=False)])
    assert {} == engine.vectors_of(["zebra"])
    for vector in (None, QUERY):
        result = engine.search(SearchRequest("zebra", vector))
        assert ("keyword", ["d::c000"]) == (result.path, ids(result))
    with pytest.raises(EngineError):
        engine.search(SearchRequest("zebra", QUERY, method="vector"))
    assert [] == list(engine.check())


def test_a_hybrid_question_without_a_vector_is_a_keyword_search(full):
    """No vector, no vector leg."""
    assert "keyword" == full.search(SearchRequest("key")).path


def test_a_vector_of_the_wrong_width(full):
    """Width and NaN of the question's vector are looked at."""
    for vector in (unit_rows(0, 1, 5)[0], np.full(DIMENSIONS, np.nan, np.float32)):
        with pytest.raises(EngineError, match=f"expects {DIMENSIONS}"):
            full.search(SearchRequest("key", vector))


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid"])
def test_a_question_for_another_model(full, method):
    """Whoever asks may say which model the index must be of: any other is named and refused,
    whatever the method.
    """
    question = SearchRequest("lattice key", QUERY, method=method)
    assert full.search(question) == full.search(dataclasses.replace(question, model="random"))
    with pytest.raises(
        IndexMismatch, match=r"made with random, the settings ask for other"
    ) as caught:
        full.search(dataclasses.replace(question, model="other"))
    assert "esrag ingest --rebuild" in caught.value.hint


def test_another_fingerprint_is_refused(full):
    """Writing with another model or chunker names both and what to do, and changes nothing."""
    before = content(full)
    for other in (
        Fingerprint("other", DIMENSIONS, "none"),
        Fingerprint("random", 9, "none"),
        WORDLESS,
    ):
        with (
            pytest.raises(IndexMismatch, match=r"random.*other|random") as caught,
            full.writer(other),
        ):
            pass
        assert "--rebuild" in caught.value.hint
    assert before == content(full)


def test_rebuild_takes_the_place_of_the_old(full, make, name):
    """Until a rebuild ends readers see the old index.

    Then both old and new readers see the new one.
    """
    generation = full.generation()
    with full.writer(WORDLESS, rebuild=True) as writer:
        writer.replace([prepared("new", ["zebra"], vectors=False)])
        assert 6 == len(list(full.documents()))
    for engine in (full, make(name)):
        assert ["new"] == [d.doc_id for d in engine.documents()]
        assert engine.fingerprint() == WORDLESS
        assert engine.generation() > generation
        assert [] == list(engine.check())


def test_a_failed_rebuild_keeps_the_old(full):
    """An exception leaves the former index as it was."""
    before = content(full)
    with pytest.raises(ZeroDivisionError), full.writer(WORDLESS, rebuild=True) as writer:  # noqa: PT012 -- what is tested
        writer.replace([prepared("new", ["zebra"], vectors=False)])
        raise ZeroDivisionError
    assert before == content(full)
    assert full.fingerprint() == FINGERPRINT


def test_neighbours(full):
    """The chunks around a chunk in its own document, in order, without itself.

    None for an unknown one.
    """
    chunks = library()[1].chunks
    assert [chunks[0], chunks[2]] == list(full.neighbours(chunks[1], 1))
    assert [chunks[1], chunks[2], chunks[3]] == list(full.neighbours(chunks[0], 9))
    assert [] == list(full.neighbours(chunks[0], 0))
    assert [] == list(full.neighbours(dataclasses.replace(chunks[0], doc_id="unknown"), 3))


@pytest.mark.parametrize(
    ("condition", "documents"),
    [
        ("doc_id=d01,d02", {"d01", "d02"}),
        ("source=/library/d03*", {"d03"}),
        ("kind!=markdown", set()),
        ("year>=2024", {"d04", "d05"}),
        ("year<2021", {"d00"}),
        ("year=2022", {"d02"}),
        ("draft=true", {"d00", "d02", "d04"}),
        ("folder=a", {"d00", "d02", "d04"}),
        ("missing!=x", {f"d0{i}" for i in range(6)}),
        ("missing=x", set()),
        ("title=Title d05", {"d05"}),
    ],
)
def test_filters_reach_both_legs(full, condition, documents):
    """A filtered search has no hit outside the filter, in either leg, and ranks count within it."""
    everything = " ".join(
        dict.fromkeys(" ".join(t for p in library() for t in p.indexed_texts).split())
    )
    for method in ("keyword", "vector", "hybrid"):
        found = full.search(
            SearchRequest(everything, QUERY, method=method, filter=parse(condition), size=100)
        ).hits
        assert documents == {hit.chunk.doc_id for hit in found}, method
        ranks = [hit.keyword_rank for hit in found if hit.keyword_rank]
        assert sorted(ranks) == list(range(1, len(ranks) + 1))


def test_filters_on_chunks(full):
    """Pages overlap, keywords match any, sections by their start, ids exactly."""

    def found(filter_):
        return sum(1 for _ in full.chunks(filter_))

    assert 12 == found(parse("page=2"))  # chunks on pages 1–2 and 2–3
    assert 6 == found(parse("page<=1")) == found(parse("page<1.5"))
    assert 0 == found(And((parse("page>5"), parse("page>=5"))))
    assert 24 == found(parse("keywords=ML-KEM"))
    assert 6 == found(parse("keywords=K3,K9"))
    assert 6 == found(parse("section=Part > 2"))
    assert 24 == found(parse("section=Part*"))
    assert 1 == found(Terms("chunk_id", ("d02::c001",)))
    assert 24 == found(And(()))
    assert 0 == found(Or(()))


def test_words_of_a_field(make, name):
    """Words are compared by their stems, in any order, in passages and in other fields."""
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([
            prepared("one", ["The Smiths asked for beams."], metadata={"client": "Smith & Sons"}),
            prepared("two", ["A beam of 225 mm"], metadata={"client": "Blacksmith", "job": 225}),
        ])  # fmt: skip

    def found(field, words):
        return [chunk.doc_id for chunk in engine.chunks(Match(field, words))]

    assert ["one"] == found("client", "sons SMITH") == found("text", "beam smith")
    assert ["one", "two"] == found("text", "the beams") == found("title", "title")
    for field, words in (("client", "the"), ("job", "225"), ("page", "1"), ("text", '" OR "')):
        assert [] == found(field, words)


def test_a_filter_beyond_reason(full):
    """A filter of thousands of parts, wide or deep, is refused in one line."""
    deep = Terms("a", ("b",))
    for _ in range(5000):
        deep = Not(deep)
    for filter_ in (Or((Terms("a", ("b",)),) * 5000), deep):
        with pytest.raises(UsageError):
            full.search(SearchRequest("key", filter=filter_))


HOSTILE = [
    "", " ", '"', "'", '""" OR *', (
        "NEAR(a b)"
    ), "a NOT b", "terms:key", "key*", "^key", "{a}:b", "key AND", "(", "-key",
    (
        "'; DROP TABLE chunks; --"
    ), "\x00", "\ud800key", "key " * 25_000, " ".join(f"w{i}" for i in range(20_000)),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_questions(full, text):
    """Operators, quotes and 100,000 characters are words or nothing, never syntax."""
    full.search(SearchRequest(text, QUERY))
    assert 6 == len(list(full.documents()))


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None
)
@given(
    st.text(),
    st.sampled_from(["doc_id", "year", "page", "keywords", 'a"b', "a.b", "$", "\x00"]),
    st.text() | st.integers() | st.floats() | st.booleans(),
)
def test_any_question_and_filter(full, text, field, value):
    """Whatever is asked gives hits or no hits."""
    for filter_ in (
        None,
        Terms(field, (value,)),
        Range(field, value, None),
        Prefix(field, str(value)),
        Match(field, str(value)),
        Match("text", str(value)),
    ):
        hits = full.search(SearchRequest(text, QUERY, filter=filter_)).hits
        assert len({hit.chunk.chunk_id for hit in hits}) == len(hits)


def test_hostile_data_is_data(make, name):
    """Ids, keys and values that look like syntax are stored and filtered by like any others."""
    evil = "x'\"; DROP TABLE chunks; -- $.[0] {a} *%_"
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(
            [prepared(evil, [evil], metadata={evil: evil, 'k"': 1, "a.b": "c"}, source=evil)]
        )
        writer.replace([prepared("plain", ["plain"], metadata={"a": "c"})])
    for filter_ in (
        Terms(evil, (evil,)),
        Prefix(evil, evil[:9]),
        Match(evil, evil[:9]),
        Terms('k"', (1,)),
        Terms("a.b", ("c",)),
    ):
        assert [evil] == [c.doc_id for c in engine.chunks(filter_)]
    with engine.writer(FINGERPRINT) as writer:
        writer.remove([evil])
    assert ["plain"] == [d.doc_id for d in engine.documents()]
    assert [] == list(engine.check())


def test_a_long_value_is_stored(make, name):
    """Metadata longer than a server's terms comes back whole and is found by its beginning."""
    long = "word " * 8000
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        document = prepared(
            "d",
            ["zebra"],
            metadata={"abstract": long, "folder": long},
            chunk_metadata={"abstract": long},
        )
        assert {} == writer.replace([document])
    assert [document.document] == list(engine.documents())
    for condition in (None, Prefix("abstract", "word word"), Prefix("folder", "word")):
        assert list(document.chunks) == list(engine.chunks(condition))
    assert list(document.chunks) == [
        hit.chunk for hit in engine.search(SearchRequest("zebra")).hits
    ]


KILLED = """
import os, sys
sys.path.insert(0, sys.argv[1])
from made import FINGERPRINT, prepared
from esrag import plugins
from esrag.engines import EngineOptions
engine = plugins.load("engines", sys.argv[2])(EngineOptions(*sys.argv[3:]))
with engine.writer(FINGERPRINT) as writer:
    writer.replace([prepared("d1", ["zebra"])])
    os._exit(9)
"""


def test_what_a_killed_writer_stored_is_there_for_the_next(make, name):
    """Also where it was the first to fill the index.

    The next writer need not wait, and the generation tells.
    """
    engine = make(name)
    kind = name if name == "embedded" else "server"
    where = (engine._options.url, engine._options.index)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, Path(__file__).parent, kind, *where], check=False, timeout=60
    )
    assert 9 == done.returncode
    with engine.writer(FINGERPRINT) as writer:
        assert ["d1"] == [document.doc_id for document in engine.documents()]
        assert engine.generation() > 0
        writer.replace([prepared("d2", ["yak"])])
    assert ["d1", "d2"] == [document.doc_id for document in engine.documents()]
    assert [] == list(engine.check())


BEFORE_ITS_END = """
import esrag.engines.embedded.writing, esrag.engines.server.writing
esrag.engines.embedded.writing.EmbeddedWriter.finish = lambda self: os._exit(9)
esrag.engines.server.writing.ServerWriter._show = lambda self: os._exit(9)
"""


def test_what_a_killed_writer_changed_has_a_generation_of_its_own(make, name):
    """Else an answer that was kept from before would be given for as long as nothing
    else changes.
    """
    engine = make(name)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d1", ["gnu"])])
    before = engine.generation()
    kind = name if name == "embedded" else "server"
    where = (engine._options.url, engine._options.index)
    script = KILLED.replace("with plugins", BEFORE_ITS_END + "with plugins")
    done = subprocess.run(
        [sys.executable, "-c", script, Path(__file__).parent, kind, *where], check=False, timeout=60
    )
    assert 9 == done.returncode
    with engine.writer(FINGERPRINT):
        pass
    assert engine.generation() > before
    assert ["zebra"] == [chunk.text for chunk in engine.chunks()]


def test_a_second_writer_waits_then_gives_up(make, name):
    """While one writes, another raises IndexBusy once its patience ends, and gets its turn when the
    first is done.
    """
    first, hasty, patient = make(name), make(name, lock_wait_s=0.05), make(name, lock_wait_s=20)
    with first.writer(FINGERPRINT) as writer:
        writer.replace([prepared("d1", ["zebra"])])
        with pytest.raises(IndexBusy), hasty.writer(FINGERPRINT):
            pass
        waiting = threading.Thread(target=write_one, args=(patient, "d2"))
        waiting.start()
        writer.replace([prepared("d3", ["yak"])])
    waiting.join(20)
    assert ["d1", "d2", "d3"] == [d.doc_id for d in first.documents()]


def write_one(engine, doc_id):
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared(doc_id, ["gnu"])])


def test_many_readers_while_one_writes(make, name):
    """Each call of a reader sees a state that was committed: documents that are replaced together
    stay alike.
    """
    engine, shared, wrong, done = make(name), make(name), [], threading.Event()

    def batch(n):
        return [
            prepared(f"d{i}", [f"same word{n}"] * (1 + n % 3), seed=n, revision=str(n))
            for i in range(8)
        ]

    def read(reader):
        while not done.is_set():
            if len({d.revision for d in reader.documents()}) != 1:
                wrong.append("documents")
            if name != "embedded":  # a server may refresh between the two legs of a question
                continue
            found = reader.search(SearchRequest("same", QUERY, size=100)).hits
            if len({h.chunk.text for h in found}) != 1 or len(found) % 8:
                wrong.append("hits")

    with engine.writer(FINGERPRINT) as writer:
        writer.replace(batch(0))
    with engine.writer(FINGERPRINT) as writer:
        readers = [threading.Thread(target=read, args=(r,)) for r in (shared, shared, make(name))]
        for reader in readers:
            reader.start()
        for n in range(1, 30):
            writer.replace(batch(n))
    with engine.writer(FINGERPRINT) as writer:  # after a compaction
        writer.replace(batch(30))
    done.set()
    for reader in readers:
        reader.join(20)
    assert [] == wrong
    assert [] == list(engine.check())


def test_many_ask_for_known_vectors_while_one_writes(full, make, name):
    """What stays in the index is known at any time, and with its own vector, whatever comes and
    goes around it.
    """
    kept, wrong, done = library()[5], [], threading.Event()

    def ask(reader):
        while not done.is_set():
            known = reader.vectors_of(kept.indexed_texts)
            same = map(np.array_equal, kept.vectors, map(known.get, kept.indexed_texts))
            wrong.extend(index for index, equal in enumerate(same) if not equal)

    asking = [threading.Thread(target=ask, args=(reader,)) for reader in (full, full, make(name))]
    for thread in asking:
        thread.start()
    for n in range(10):  # each ends with a compaction, which gives the vectors another file
        with full.writer(FINGERPRINT) as writer:
            writer.replace([prepared("d00", texts_of(100 + n, 40), seed=n)])
            writer.remove(["d00"])
    done.set()
    for thread in asking:
        thread.join(20)
    assert [] == wrong


def other(make, name, engine):
    """A second index beside a full one: one document, another model; its name."""
    beside = engine.create(WORDLESS)
    with make(name, index=beside).writer(WORDLESS) as writer:
        writer.replace([prepared("new", ["zebra"], vectors=False)])
    return beside


def test_vectors_come_in_the_order_of_the_chunks(full, make, name):
    """Each chunk's id with the vector that was stored; an index without a model has none."""
    stored = {c.chunk_id: v for p in library() for c, v in zip(p.chunks, p.vectors, strict=True)}
    found = list(full.vectors())
    assert [chunk.chunk_id for chunk in full.chunks()] == [chunk_id for chunk_id, _ in found]
    assert all(np.array_equal(stored[chunk_id], vector) for chunk_id, vector in found)
    wordless = make(name, "wordless")
    with wordless.writer(WORDLESS) as writer:
        writer.replace([prepared("d", ["zebra"], vectors=False)])
    assert [] == list(wordless.vectors())


def test_indexes_are_listed_with_what_is_in_them(full, make, name):
    """Name, which one is in use, what it was made with, documents, chunks and bytes.

    Another program's are left out.
    """
    beside = other(make, name, full)
    listed = {index.name: index for index in full.indexes() if index.in_use or index.name == beside}
    assert full.info() in listed.values()
    (used,) = (index for index in listed.values() if index.in_use)
    assert (FINGERPRINT, 6, 24) == (used.fingerprint, used.documents, used.chunks)
    assert (WORDLESS, 1, 1) == (
        listed[beside].fingerprint,
        listed[beside].documents,
        listed[beside].chunks,
    )
    assert all(index.size_bytes > 0 for index in listed.values())


def test_a_swap_can_be_taken_back(full, make, name):
    """The other index is in use at once, also for who had it open.

    The former one comes back by the name returned.
    """
    before, generation = content(full), full.generation()
    reader, beside = make(name), other(make, name, full)
    assert before == content(reader)
    former = full.swap(beside)
    for engine in (full, reader, make(name)):
        assert ["new"] == [document.doc_id for document in engine.documents()]
        assert engine.fingerprint() == WORDLESS
    assert full.generation() > generation
    generation = full.generation()
    full.swap(former)
    assert before == content(full) == content(reader)
    assert full.generation() > generation
    assert [] == list(full.check())


def test_a_swap_where_nothing_is_in_use(make, name):
    """The first index of a name may come by a swap."""
    engine = make(name)
    beside = other(make, name, engine)
    assert not engine.exists()
    assert "" == engine.swap(beside)
    assert ["new"] == [document.doc_id for document in engine.documents()]


def test_a_dropped_index_is_gone_and_the_others_stay(full, make, name):
    """The one in use can be dropped as well: then there is none, and the next writer makes one."""
    beside = other(make, name, full)
    full.drop(beside)
    assert beside not in {index.name for index in full.indexes()}
    assert 6 == len(list(full.documents()))
    full.drop(next(index.name for index in full.indexes() if index.in_use))
    assert not full.exists()
    with full.writer(FINGERPRINT) as writer:
        writer.replace(library()[:2])
    assert 2 == len(list(full.documents()))


@pytest.mark.parametrize(
    "wrong", ["*", "_all", "../x", "a,b", "", ".hidden", "t*", "a/b", "A", "é", "a\n"]
)
def test_what_is_no_name_is_refused(full, name, wrong):
    """A pattern, a path or a list of names is never looked for."""
    for use in (full.swap, full.drop):
        with pytest.raises(UsageError):
            use(wrong)
    assert 6 == len(list(full.documents()))


def test_an_index_that_is_not_there_or_in_use_cannot_be_swapped_in(full, name):
    """Each is said in one line, and nothing changes."""
    used = next(index.name for index in full.indexes() if index.in_use)
    with pytest.raises(IndexMissing):
        full.swap("not-there")
    with pytest.raises(IndexMissing):
        full.drop("not-there")
    with pytest.raises(UsageError):
        full.swap(used)
    with pytest.raises(IndexBusy):
        full.swap(full.create(FINGERPRINT), since=full.generation() - 1)
    assert 6 == len(list(full.documents()))


def test_who_writes_is_waited_for(full, make, name):
    """A swap or a drop under a writer's hands would lose what it writes."""
    beside = other(make, name, full)
    used = next(index.name for index in full.indexes() if index.in_use)
    hasty = make(name, lock_wait_s=0.1)
    with full.writer(FINGERPRINT):
        for use in (
            lambda: hasty.swap(beside),
            lambda: hasty.drop(used),
            lambda: hasty.create(WORDLESS),
        ):
            with pytest.raises(IndexBusy):
                use()
    with make(name, index=beside).writer(WORDLESS):
        for use in (lambda: hasty.swap(beside), lambda: hasty.drop(beside)):
            with pytest.raises(IndexBusy):
                use()
    assert 6 == len(list(full.documents()))
    hasty.swap(beside)
    assert ["new"] == [document.doc_id for document in full.documents()]


def test_who_waited_while_another_index_came_in_writes_to_that(full, make, name):
    """A writer that waits for a swap or a rebuild never writes to the index that was in
    use before.
    """
    waiting, done = make(name), []

    def write():
        with waiting.writer(FINGERPRINT) as writer:
            writer.replace([prepared("late", ["zebra"])])
        done.append(True)

    with full.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace(library()[:2])
        thread = threading.Thread(target=write)
        thread.start()
        time.sleep(1)
        assert not done
    thread.join(60)
    assert done
    assert ["d00", "d01", "late"] == [document.doc_id for document in full.documents()]
    assert 1 == sum(index.in_use for index in full.indexes())


def test_a_refresh_lets_everything_be_found(full, name):
    """It changes nothing where everything is found already, and needs an index."""
    before = content(full)
    full.refresh()
    assert before == content(full)


def test_terms_are_counted(full):
    """Those that are asked for, and those that are spelt alike; what occurs nowhere is left out."""
    texts = [text for document in library() for text in document.indexed_texts]
    held = {word: sum(word in text.split() for text in texts) for word in ("matrix", "secret")}

    assert full.count_terms(["matrix", "secret", "nowhere", "matrix"]) == held
    assert full.count_terms([], like=["matirx"]) == {"matrix": held["matrix"]}
    assert full.count_terms(["secret"], like=["maatrixx", "natrix", "nowhere"]) == held
    assert full.count_terms([]) == full.count_terms([], like=["zebra"]) == {}
