"""`esrag chunks` with the id of a document or a chunk."""

import pytest


@pytest.fixture
def kitchen(esrag, corpus):
    """The command line over the ingested corpus, a file of rows with it."""
    (corpus / "rows.csv").write_text("id,text\na,A row of walnut.\nb,A row of oak.\n")
    assert esrag("ingest", "docs").code == 0
    return esrag


def test_every_id_that_search_prints_is_a_chunk(kitchen):
    """And that chunk alone comes; a document's id gives all of its chunks."""
    hits = kitchen("search", "walnut kettle lamp slots", "--json").json["hits"]
    assert {hit["doc_id"] for hit in hits} >= {"kettle", "lamp", "toaster", "rows#a"}
    for hit in hits:
        (chunk,) = kitchen("chunks", hit["chunk_id"], "--json").lines
        assert (chunk["chunk_id"], chunk["text"]) == (hit["chunk_id"], hit["text"])
        assert chunk in kitchen("chunks", hit["doc_id"], "--json").lines


def test_a_condition_narrows_what_an_id_names(kitchen):
    """Nothing is left: that is no error. An unknown id is one, with a condition or without."""
    assert "1.7 litres" in kitchen("chunks", "kettle", "--where", "page=1").out
    ran = kitchen("chunks", "kettle", "--where", "page=9")
    assert (ran.code, ran.out) == (0, "")
    for narrowed in ([], ["--where", "page=1"]):
        ran = kitchen("chunks", "nope", *narrowed)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(
            "error: the index has no document or chunk 'nope'\nhint: esrag docs"
        )


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("ketle", "kettle"),
        ("Kettle", "kettle"),
        ("kettle::p0001::c009", "kettle::p0001::c001"),
        ("kettle::p0001", "kettle::p0001::c001"),
        ("ketle::p0001::c001", "kettle"),
        ("rows#A::p0001::c001", "rows#a"),
    ],
)
def test_an_unknown_id_is_answered_with_the_nearest(kitchen, typed, suggested):
    """A chunk of that document where there is one, else a document."""
    ran = kitchen("chunks", typed)

    assert (ran.code, ran.out) == (2, "")
    assert f"hint: did you mean {suggested}" in ran.err
