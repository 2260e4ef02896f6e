"""What an index is made of: pure bodies first, then what real servers make of them."""

from dataclasses import asdict, fields, replace
from fnmatch import fnmatch
from typing import get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made import DIMENSIONS, FINGERPRINT, WORDLESS, library, prepared, texts_of, unit_rows
from scripted import Answer

from esrag.engines import EngineOptions, Quantisation, SearchRequest, Similarity
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import Product, Refused
from esrag.engines.server.mapping import (
    VectorField,
    fingerprint_of,
    index_body,
    meta,
    template_body,
    template_name,
    vector_field_of,
)
from esrag.errors import SettingsError
from esrag.records import Fingerprint
from esrag.settings import EngineSettings

PRODUCTS, SIMILARITIES, QUANTISATIONS = map(get_args, (Product, Similarity, Quantisation))
OTHER = VectorField(similarity="l2_norm", quantisation="int8", hnsw_m=32, hnsw_ef_construction=200)
WIDE = Fingerprint("random", 64, "none")


def embedding(product, fingerprint=FINGERPRINT, **options):
    """The vector field of a new index."""
    return index_body(product, fingerprint, EngineOptions(**options))["mappings"]["properties"].get(
        "embedding"
    )


# Settings


def test_every_option_is_a_setting():
    """The engines' options are the settings of `engine`, with the same values allowed and the same
    defaults.
    """
    known = EngineSettings.model_fields
    assert [field.name for field in fields(EngineOptions)] == list(known)
    for field in fields(EngineOptions):
        if field.name not in {"password", "api_key"}:
            assert field.default == known[field.name].default
            assert get_args(field.type) == (
                get_args(known[field.name].annotation) if get_args(field.type) else ()
            )


# Bodies


def test_elasticsearch_vectors():
    """HNSW as it is said, unquantised unless it is asked for."""
    assert embedding("elasticsearch") == {
        "type": "dense_vector", "dims": 8, "similarity": "cosine",
        "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100},
    }  # fmt: skip
    assert embedding("elasticsearch", **asdict(OTHER)) == {
        "type": "dense_vector", "dims": 8, "similarity": "l2_norm",
        "index_options": {"type": "int8_hnsw", "m": 32, "ef_construction": 200},
    }  # fmt: skip


def test_opensearch_vectors():
    """The Lucene engine, for the others need native code; its quantisation is an encoder."""
    assert embedding("opensearch") == {
        "type": "knn_vector", "dimension": 8, "space_type": "cosinesimil",
        "method": {"name": "hnsw", "engine": "lucene", "parameters": {"m": 16, (
            "ef_construction"
        ): 100}},
    }  # fmt: skip
    encoder = {"name": "sq", "parameters": {"bits": 7}}
    assert embedding("opensearch", **asdict(OTHER)) == {
        "type": "knn_vector", "dimension": 8, "space_type": "l2",
        "method": {
            "name": "hnsw", "engine": "lucene", "parameters": {"m": 32, (
                "ef_construction"
            ): 200, "encoder": encoder},
        },
    }  # fmt: skip


@pytest.mark.parametrize("product", PRODUCTS)
def test_shards_replicas_and_fingerprint(product):
    """They are in the body as they were asked for; without a model there is no vector field."""
    body = index_body(product, WORDLESS, EngineOptions(shards=3, replicas=2))
    assert (3, 2) == (
        body["settings"]["index"]["number_of_shards"],
        body["settings"]["index"]["number_of_replicas"],
    )
    assert {"schema": 4, "model": "none", "dimensions": 0, "chunker": "none"} == body["mappings"][
        "_meta"
    ]["esrag"]
    assert embedding(product, WORDLESS) is None


def test_both_servers_have_the_same_fields():
    """The two files differ in the type of what can hold any key, and in the switch that OpenSearch
    wants.
    """
    bodies = [index_body(product, WORDLESS, EngineOptions()) for product in PRODUCTS]
    types = [body["mappings"]["properties"].pop("metadata")["type"] for body in bodies]
    knn = [body["settings"]["index"].pop("knn", None) for body in bodies]
    assert dict(zip(PRODUCTS, types, strict=True)) == {
        "elasticsearch": "flattened",
        "opensearch": "flat_object",
    }
    assert dict(zip(PRODUCTS, knn, strict=True)) == {"elasticsearch": None, "opensearch": True}
    assert bodies[0] == bodies[1]
    assert "strict" == bodies[0]["mappings"]["dynamic"]


VECTORS = st.builds(
    VectorField,
    st.sampled_from(SIMILARITIES), st.sampled_from(QUANTISATIONS), st.integers(2, 512),
    st.integers(1, 3200),
)  # fmt: skip


@given(st.sampled_from(PRODUCTS), st.integers(0, 4096), VECTORS)
def test_an_index_says_how_it_was_made(product, dimensions, vectors):
    """What a body is made with is read from it again, for everything that the server can keep."""
    assume(vectors.quantisation in {"none", "int8"} or product == "elasticsearch")
    assume(vectors.quantisation != "int4" or dimensions % 2 == 0)
    assume(vectors.quantisation != "bbq" or dimensions >= 64)
    made = Fingerprint("m", dimensions, "c")
    mappings = index_body(product, made, EngineOptions(**asdict(vectors)))["mappings"]
    assert made == fingerprint_of(mappings, "i")
    assert vector_field_of(mappings) == (vectors if dimensions else None)


@pytest.mark.parametrize(
    ("product", "dimensions", "quantisation", "said"),
    [
        ("opensearch", 384, "int4", "opensearch takes none or int8"),
        ("opensearch", 384, "bbq", "opensearch takes none or int8"),
        ("elasticsearch", 383, "int4", "even number of dimensions, the model has 383"),
        ("elasticsearch", 63, "bbq", "needs 64 dimensions, the model has 63"),
    ],
)
def test_vectors_that_cannot_be_shrunk_so(product, dimensions, quantisation, said):
    """The message and its hint hold what came and what is allowed."""
    with pytest.raises(SettingsError) as caught:
        embedding(product, Fingerprint("m", dimensions, "c"), quantisation=quantisation)
    assert said in f"{caught.value} {caught.value.hint}"


def test_the_space_of_an_older_opensearch():
    """Where the server says it within the method, it is found there."""
    field = embedding("opensearch", similarity="dot_product")
    field["method"]["space_type"] = field.pop("space_type")
    assert "dot_product" == vector_field_of({"properties": {"embedding": field}}).similarity


SCORES = {  # what the servers' manuals say a cosine of unit vectors becomes
    ("elasticsearch", "cosine"): lambda c: (1 + c) / 2,
    ("elasticsearch", "dot_product"): lambda c: (1 + c) / 2,
    ("elasticsearch", "l2_norm"): lambda c: 1 / (1 + (2 - 2 * c)),
    ("opensearch", "cosine"): lambda c: (1 + c) / 2,
    ("opensearch", "dot_product"): lambda c: 1 + c if c >= 0 else 1 / (1 - c),
    ("opensearch", "l2_norm"): lambda c: 1 / (1 + (2 - 2 * c)),
}


@given(st.sampled_from(list(SCORES)), st.floats(-1, 1))
def test_a_score_is_a_cosine_again(where, cosine):
    """Every server's score for every similarity gives back the cosine."""
    product, similarity = where
    assert VectorField(similarity).cosine(product, SCORES[where](cosine)) == pytest.approx(
        cosine, abs=1e-9
    )


def test_only_quantised_vectors_are_compared_again():
    """A question says so in the server's own words."""
    assert (
        {}
        == VectorField().build_rescoring("elasticsearch")
        == VectorField().build_rescoring("opensearch")
    )
    assert {"rescore_vector": {"oversample": 3}} == VectorField(
        quantisation="int4"
    ).build_rescoring("elasticsearch")
    assert {"rescore": {"oversample_factor": 2}} == VectorField(
        quantisation="int8"
    ).build_rescoring("opensearch")


ALIASES = st.from_regex(r"[a0][a0-]{0,5}", fullmatch=True)


@given(ALIASES, ALIASES, st.integers(1, 99_999))
def test_no_two_templates_are_equally_close(one, other, number):
    """An index of an alias matches its template, and where it matches another as well, one of them
    goes first.
    """
    assume(one != other)
    templates = [template_body(alias, {}) for alias in (one, other)]
    matches = [
        fnmatch(f"{one}-{number:06}", pattern) for t in templates for pattern in t["index_patterns"]
    ]
    assert matches[0]
    assert not matches[1] or templates[0]["priority"] != templates[1]["priority"]
    assert all(t["priority"] >= 200 for t in templates)


# A server that says no


@pytest.fixture
def scripted(start_scripted):
    """A server that makes any index."""
    server = start_scripted()
    described = {
        "settings": {"index": {"number_of_shards": "1"}},
        "mappings": {"_meta": {"esrag": meta(FINGERPRINT)}},
    }
    server.answer(
        "library", Answer({"error": "no such index"}, 404), Answer({"library-000001": described})
    )
    server.answer("library-000001", Answer({}))
    server.answer("state", Answer({}))
    return server


def denied(status, reason):
    """A refusal."""
    return Answer(
        {"error": {"type": "security_exception", "reason": reason}, "status": status}, status
    )


def made_on(server):
    """What was asked of the server about the index itself when it was to be made."""
    engine = ServerEngine(EngineOptions(server.url, "library"))
    try:
        engine._indexes.make(FINGERPRINT)
    finally:
        engine.close()
    return server.asked("library-000001")


def test_a_key_that_may_not_manage_templates(scripted):
    """The index is made all the same."""
    scripted.answer(template_name("library"), denied(403, "unauthorized for API key"))
    assert ["PUT"] == [request.method for request in made_on(scripted)]


def test_a_template_that_is_refused(scripted):
    """Any other refusal is an error, before an index is made."""
    scripted.answer(
        template_name("library"), denied(400, "matching patterns from existing templates")
    )
    with pytest.raises(Refused, match="matching patterns"):
        made_on(scripted)
    assert [] == scripted.asked("library-000001")


# Real servers

live = pytest.mark.live
on_servers = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=live) for name in ("opensearch", "elasticsearch")]
)


@on_servers
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_similarities_rank_and_score_alike(make, name, similarity):
    """Whatever an index compares by, hits have the cosines, also for a reader whose settings say
    otherwise.
    """
    with make(name, similarity=similarity).writer(FINGERPRINT) as writer:
        writer.replace(library())
    query = unit_rows(99, 1, DIMENSIONS)[0]
    every = {
        c.chunk_id: float(v @ query)
        for p in library()
        for c, v in zip(p.chunks, p.vectors, strict=True)
    }
    assert min(every.values()) < 0
    expected = sorted(every, key=every.get, reverse=True)
    found = make(name).search(SearchRequest("", query, method="vector", size=24)).hits
    assert expected == [hit.chunk.chunk_id for hit in found]
    assert [every[key] for key in expected] == pytest.approx([hit.score for hit in found], abs=1e-6)


KINDS = [("opensearch", "int8"), *(("elasticsearch", kind) for kind in ("int8", "int4", "bbq"))]


@live
@pytest.mark.parametrize(("name", "quantisation"), KINDS)
def test_quantised_vectors_find_and_score_as_whole_ones(make, name, quantisation):
    """The best of 800 are the best, and their scores are the cosines."""
    document = replace(prepared("d", texts_of(0, 800)), vectors=unit_rows(1, 800, 64))
    engine = make(name, quantisation=quantisation)
    with engine.writer(WIDE) as writer:
        writer.replace([document])
    for query in unit_rows(2, 10, 64):
        cosines = document.vectors @ query
        best = np.argsort(-cosines)[:10]
        found = engine.search(SearchRequest("", query, method="vector")).hits
        assert [document.chunks[n].chunk_id for n in best] == [hit.chunk.chunk_id for hit in found]
        assert cosines[best].tolist() == pytest.approx([hit.score for hit in found], abs=1e-6)


@live
def test_a_quantisation_that_is_refused_makes_no_index(make):
    """It is said before anything is sent."""
    engine = make("opensearch", quantisation="bbq")
    with pytest.raises(SettingsError, match="bbq"), engine.writer(FINGERPRINT):
        pass
    assert not engine.exists()


@on_servers
def test_a_late_entry_meets_a_strict_index(make, name):
    """After an index was dropped, an entry that comes too late makes no index of guessed types, nor
    bars the next.
    """
    engine = make(name, shards=2)
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library(1))
    index = engine._indexes.find_current()
    engine._connection.request("DELETE", f"/{index.name}")
    with pytest.raises(Refused) as caught:
        engine._connection.request(
            "PUT", f"/{index.name}/_doc/late", {"entry": "chunk", "surprise": 1}
        )
    assert "strict_dynamic_mapping_exception" == caught.value.kind
    late = engine._indexes.resolve(index.name)
    assert (FINGERPRINT, 2, index.vectors) == (late.made, late.shards, late.vectors)
    assert not engine.exists()
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(library(1))
    assert ["d00"] == [document.doc_id for document in engine.documents()]


@on_servers
def test_a_new_model_meets_no_former_template(make, name):
    """A rebuild without vectors has no vector field left over from the former index's template."""
    engine = make(name)
    for fingerprint in (FINGERPRINT, WORDLESS, WIDE):
        with engine.writer(fingerprint, rebuild=True):
            pass
        described = engine._indexes.describe(engine._indexes.find_current().name)
        ((_, body),) = described.items()
        assert bool(fingerprint.dimensions) == ("embedding" in body["mappings"]["properties"])
        assert fingerprint == engine.fingerprint()
