"""Summaries: made by an ingest, searched before the passages, and never out of step for long."""

import json
from dataclasses import replace

import pytest
from made_up_models import answering, service

__all__ = ["answering", "service"]


def summaries(esrag):
    """Return the stored summaries by document."""
    ran = esrag("chunks", "--json", "--set", "engine.index=esrag-summaries")
    return {chunk["doc_id"]: chunk["text"] for chunk in ran.lines} if ran.code == 0 else {}


def search(esrag, question, *options, **variables):
    return esrag("search", question, "--json", *options, **variables).json


def test_an_ingest_sums_up_what_changed(shop, texts):
    """With the documents' own sentences; those of other documents are not touched."""
    assert shop("ingest", "docs").code == 0
    assert summaries(shop) == {name: about for name, (about, _) in texts.items()}

    changed = shop.folder / "docs" / "lamp.md"
    changed.write_text(changed.read_text().replace("desk", "bench"))
    (shop.folder / "docs" / "saw.md").unlink()
    ran = shop("ingest", "docs")
    assert "summing up 1 document" in ran.err
    assert "bench" in summaries(shop)["lamp"]
    assert set(summaries(shop)) == {"kettle", "lamp"}
    assert "summing up" not in shop("ingest", "docs").err


def test_a_removed_document_leaves_no_summary(shop):
    shop("ingest", "docs")
    assert shop("remove", "kettle").code == 0
    assert set(summaries(shop)) == {"lamp", "saw"}


def test_sections_are_summed_up_too(shop):
    """If they have several passages, under the path of their headings."""
    text = "\n\n".join(f"Oak number {n} is sawn into {n} planks for a shelf." for n in range(40))
    (shop.folder / "docs" / "long.md").write_text(
        f"# Long\n\n## Oak\n\n{text}\n\n## Elm\n\nNone.\n"
    )
    small = {"ESRAG_CHUNKING__SIZE": "60", "ESRAG_CHUNKING__OVERLAP": "0"}
    shop("ingest", "docs", ESRAG_SUMMARIES__OF="sections", **small)
    ran = shop("chunks", "--json", "--set", "engine.index=esrag-summaries")
    assert [it["section"] for it in ran.lines if it["doc_id"] == "long"] == ["", "Long > Oak"]


def test_passages_come_from_the_documents_with_the_nearest_summaries(shop):
    shop("ingest", "docs")
    found = search(shop, "What boils water for tea and coffee?")
    assert found["scope"] == "the 1 document with the nearest summaries"
    assert [hit["doc_id"] for hit in found["summaries"]] == ["kettle"]
    assert {hit["doc_id"] for hit in found["hits"]} == {"kettle"}
    assert found["notes"] == []

    explained = shop("ask", "What boils water for tea and coffee?", "--explain").out
    assert "summary 1: kettle: score 0." in explained
    flat = search(shop, "What boils water for tea and coffee?", ESRAG_SUMMARIES__SEARCH="false")
    assert (flat["scope"], flat["summaries"]) == ("", [])
    assert len({hit["doc_id"] for hit in flat["hits"]}) > 1


@pytest.mark.parametrize(
    ("setting", "note"),
    [
        ("min_score=0.99", "no summary is close enough to the question; searched in all documents"),
        (
            "min_chunk_score=0.99",
            "nothing found in the 1 document with the nearest summaries; searched in all documents",
        ),
    ],
)
def test_without_a_close_one_all_documents_are_searched(shop, setting, note):
    shop("ingest", "docs")
    found = search(shop, "What boils water for tea?", "--set", f"summaries.{setting}")
    assert found["notes"] == [note]
    assert found["scope"] == ""
    assert len({hit["doc_id"] for hit in found["hits"]}) > 1


def test_hits_of_one_document_can_be_limited(shop):
    shop("ingest", "docs")
    limit = {"ESRAG_SUMMARIES__CHUNKS_PER_DOCUMENT": "1", "ESRAG_SUMMARIES__TOP_K": "2"}
    found = search(shop, "What boils water and lights a desk?", **limit)
    names = [hit["doc_id"] for hit in found["hits"]]
    assert sorted(names) == ["kettle", "lamp"]


def test_nothing_widens_past_a_filter(shop):
    """Nor is the summary of a document seen that the filter leaves out."""
    shop("ingest", "docs")
    found = search(shop, "What boils water for tea?", "--where", "doc_id!=kettle")
    assert "kettle" not in json.dumps([found["summaries"], found["hits"], found["scope"]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("index", "drop", "esrag-summaries", "--yes"), "there are no summaries yet"),
        (("index", "create", "--set", "engine.index=esrag-summaries"), "there are no summaries"),
    ],
)
def test_summaries_that_are_missing(shop, change, words):
    """The search goes flat and says so, doctor names them, and the next ingest makes them."""
    shop("ingest", "docs")
    shop("index", "drop", "esrag-summaries", "--yes")
    if change[1] != "drop":
        shop(*change, "--set", "embedding.model=none")
        words = "the summaries cannot be used"

    assert words in search(shop, "What boils water?")["notes"][0]
    assert "summar" in shop("doctor").out
    assert shop("ingest", "docs").code == 0
    assert len(summaries(shop)) == 3
    assert search(shop, "What boils water?")["notes"] == []


def test_without_a_model_summaries_are_found_by_their_words(shop):
    words = {"ESRAG_EMBEDDING__MODEL": "none"}
    assert shop("ingest", "docs", **words).code == 0
    found = search(shop, "What boils water for tea?", **words)
    assert [hit["doc_id"] for hit in found["summaries"]] == ["kettle"]


def test_switched_off_they_are_removed(shop):
    """So that nothing stays of a document that is gone later."""
    shop("ingest", "docs")
    shop("ingest", "docs", ESRAG_SUMMARIES__OF="nothing")
    assert summaries(shop) == {}


def test_a_new_summary_makes_cached_answers_stale(shop, tmp_path):
    cached = {"ESRAG_CACHE__URL": str(tmp_path / "cache.db")}
    shop("ingest", "docs", **cached)
    ask = ("ask", "What boils water for tea?", "--json")
    assert [shop(*ask, **cached).json["cached"] for _ in range(2)] == [False, True]
    shop("ingest", "docs", ESRAG_SUMMARIES__SENTENCES="1", **cached)
    assert shop(*ask, **cached).json["cached"] is False


class TestAsOne:
    """An index and its summaries and facts go together."""

    @pytest.fixture
    def whole(self, shop):
        (shop.folder / "facts.csv").write_text(
            "question,answer,source_url\nHow old is the shop?,It is 30 years old.,https://e.org/\n"
        )
        shop("ingest", "docs")
        assert shop("facts", "import", "facts.csv").code == 0
        return shop

    def names(self, esrag, *options):
        ran = esrag("index", "list", "--json", *options)
        return {one["name"]: one["documents"] for one in ran.lines}

    def test_a_drop_takes_all(self, whole):
        ran = whole("index", "drop", "esrag", "--yes")
        assert "removed esrag-facts\nremoved esrag-summaries" in ran.out
        assert self.names(whole) == {}

    def test_a_move_takes_all(self, whole):
        assert whole("index", "migrate", "--to", "other").code == 0
        there = ("--engine", "other")
        assert self.names(whole, *there) == {"esrag": 3, "esrag-facts": 1, "esrag-summaries": 3}
        assert search(whole, "What boils water?", *there)["notes"] == []
        asked = whole("ask", "How old is the shop?", "--json", *there).json
        assert (asked["route"], asked["answer"]) == ("facts", "It is 30 years old. [c1]")
        assert "without an up-to-date summary" not in whole("doctor", *there).out

    def test_another_model_embeds_the_summaries_again(self, whole):
        model = ("--model", "hashing-2")
        assert whole("index", "migrate", *model).code == 0
        new = {"ESRAG_EMBEDDING__MODEL": "hashing-2"}
        assert search(whole, "What boils water?", **new)["notes"] == []

    def test_a_swap_is_summed_up(self, whole):
        """What the index in use holds now, and no more."""
        former = whole("index", "migrate", "--json").json["former"]
        whole("remove", "kettle")
        assert set(summaries(whole)) == {"lamp", "saw"}
        assert whole("index", "swap", former).code == 0
        assert set(summaries(whole)) == {"kettle", "lamp", "saw"}


class TestByAModel:
    """A language model may write the summaries; whatever it does, each document has one."""

    @pytest.fixture
    def written(self, shop, service):
        model = {
            "ESRAG_SUMMARIES__WRITER": "model",
            "ESRAG_MODELS__DEFAULT__MODEL": "made-up",
            "ESRAG_MODELS__DEFAULT__URL": f"{service.url}/v1",
            "ESRAG_MODELS__DEFAULT__API_KEY": service.key,
        }
        service.said = ["A kitchen thing."]
        return replace(shop, variables=shop.variables | model)

    def test_it_writes_them(self, written, service):
        assert written("ingest", "docs").code == 0
        assert set(summaries(written).values()) == {"A kitchen thing."}
        sent = service.asked[0][2]["messages"][-1]["content"]
        assert "| The kettle boils water" in sent

    def test_an_essay_is_no_longer_than_its_document(self, written, service):
        service.said = ["A kitchen thing is a thing. " * 1000]
        written("ingest", "docs")
        assert all(len(text) <= 120 for text in summaries(written).values())

    def test_if_it_fails_the_sentences_of_the_documents_serve(
        self, written, service, answering, texts
    ):
        """Until it answers: the next ingest asks it again."""
        service.script = [answering(400, {"error": {"message": "too long"}})]
        ran = written("ingest", "docs")
        assert ran.code == 0
        assert "in the documents' own sentences" in ran.err
        assert summaries(written)["kettle"] == texts["kettle"][0]
        written("ingest", "docs")
        assert set(summaries(written).values()) == {"A kitchen thing."}

    def test_without_one_nothing_is_ingested(self, shop):
        ran = shop("ingest", "docs", ESRAG_SUMMARIES__WRITER="model")
        assert ran.code != 0
        assert "models.default" in ran.err
        assert shop("docs", "--json").code != 0
