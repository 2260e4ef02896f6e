"""`--rerank` and `--budget` as they are typed."""

import re

import pytest
from made_up_models import bert_folder

__all__ = ["bert_folder"]

QUESTION = "How large is the kettle?"


def test_the_order_follows_the_chain(esrag, corpus):
    """What was added is shown beside each hit, and the answer is made of that order."""
    esrag("ingest", "docs")
    plain = esrag("search", QUESTION, "--json").json
    assert all(hit["added"] == {} for hit in plain["hits"])
    ran = esrag("search", QUESTION, "--rerank", "lexical,exact-tokens", "--json").json
    assert all(set(hit["added"]) == {"lexical", "exact-tokens"} for hit in ran["hits"])
    assert sorted(hit["chunk_id"] for hit in ran["hits"]) == sorted(
        hit["chunk_id"] for hit in plain["hits"]
    )
    assert [hit["score"] for hit in ran["hits"]] == sorted(
        (hit["score"] for hit in ran["hits"]), reverse=True
    )
    fused = {hit["chunk_id"]: hit["score"] for hit in plain["hits"]}
    assert {hit["chunk_id"]: hit["fused_score"] for hit in [*plain["hits"], *ran["hits"]]} == fused
    for hit in ran["hits"]:
        assert hit["score"] == pytest.approx(
            hit["fused_score"] + sum(hit["added"].values()), abs=2e-6
        )
    explained = esrag("search", QUESTION, "--explain", ESRAG_RERANK__CHAIN="[lexical]").out
    assert re.search(
        r"c001: score 0\.\d{6} \(fused 0\.\d{6}\), keyword #1 .*, lexical \+0", explained
    )
    assert "fused" not in esrag("search", QUESTION, "--explain").out
    assert "1.7 litres" in esrag("ask", QUESTION, "--rerank", "lexical").out


def test_more_hits_are_reranked_than_come_back(esrag, corpus):
    """The one that holds the word comes first, although the fusion had it last and one is asked
    for.
    """
    esrag("ingest", "docs")
    question = "toaster slots and cable of the K-17"
    (esrag.folder / "docs" / "note.txt").write_text(
        "K-17 is a number. Nothing else is said here, in many other words.\n"
    )
    esrag("ingest", "docs")
    fused = [
        hit["doc_id"]
        for hit in esrag("search", question, "--json", "--method", "vector").json["hits"]
    ]
    assert fused[0] == "toaster"
    one = ("--json", "--method", "vector", "--k", "1", "--rerank", "exact-tokens")
    assert [hit["doc_id"] for hit in esrag("search", question, *one).json["hits"]] == ["note"]
    shallow = esrag("search", question, *one, ESRAG_RERANK__DEPTH="1").json["hits"]
    assert [hit["doc_id"] for hit in shallow] == ["toaster"]


def test_who_asks_nothing_needs_no_reranker(esrag, corpus):
    """A key for reranking is not missed by an ingest, nor by what only lists."""
    chain = {"ESRAG_RERANK__CHAIN": "[cohere]"}
    assert esrag("ingest", "docs", **chain).code == 0
    assert (esrag("docs", **chain).code, esrag("chunks", **chain).code) == (0, 0)
    assert esrag("ask", QUESTION, **chain).code == 2
    ran = esrag("doctor", **chain)
    assert (ran.code, "error    the reranker 'cohere' needs a key" in ran.out) == (1, True)
    assert (
        "ok       reranks: lexical, mmr"
        in esrag("doctor", ESRAG_RERANK__CHAIN="[lexical, mmr]").out
    )


def test_a_reranker_that_fails_is_said(esrag, corpus):
    """On stderr for a reader, among the notes for a program; the answer comes all the same."""
    esrag("ingest", "docs")
    away = {
        "ESRAG_RERANK__API_KEY": "a-key",
        "ESRAG_RERANK__URL": "http://127.0.0.1:1",
        "ESRAG_RERANK__CHAIN": "[cohere]",
    }
    ran = esrag("ask", QUESTION, "--budget", "1.5s", **away)
    assert (ran.code, "1.7 litres" in ran.out) == (0, True)
    assert "cohere was left out: http://127.0.0.1:1 did not answer" in ran.err
    told = esrag("ask", QUESTION, "--json", **away).json
    assert [note.partition(":")[0] for note in told["notes"]] == ["cohere was left out"]
    assert esrag("search", QUESTION, "--json", **away).json["notes"]


def test_a_reranker_without_time_is_said(esrag, corpus, bert_folder):
    """Nobody opens a model within a millisecond: the order stays, and the note says so.

    With time there is none.
    """
    assert esrag("ingest", "docs").code == 0
    model = {
        "ESRAG_RERANK__CHAIN": "[cross-encoder]",
        "ESRAG_RERANK__MODEL": str(bert_folder(labels=1)),
    }
    late = esrag("search", QUESTION, "--budget", "1ms", "--json", **model).json
    assert late["notes"] == ["cross-encoder was left out: no time was left"]
    assert late["hits"] == esrag("search", QUESTION, "--json").json["hits"]
    ran = esrag("search", QUESTION, "--budget", "600s", "--json", **model).json
    assert ran["notes"] == []
    assert all(set(hit["added"]) == {"cross-encoder"} for hit in ran["hits"])


def test_wrong_use(esrag, corpus):
    """An unknown name, a time that is none, a bonus that is none: one line and a hint, exit 2."""
    esrag("ingest", "docs")
    wrong = (
        ("--rerank", "magic"), ("--rerank", "mmr", "--budget", "soon"), ("--rerank", "cohere"),
        ("--rerank", "mmr", "--budget", "0.001ms"),
        ("--rerank", "quality", "--set", "rerank.authority=gov"),
        ("--rerank", "quality", "--set", "rerank.completeness={long: 0.1}"),
        ("--rerank", "late-interaction"),
    )  # fmt: skip
    for options in wrong:
        ran = esrag("search", QUESTION, *options)
        assert (ran.code, len(ran.err.splitlines())) == (2, 2), (options, ran.err)
