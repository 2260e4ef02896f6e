"""Floors on SciFact (BEIR, test split: 300 questions) through the command line and the pipeline.

The order is deterministic, so a floor is fair. Of the 5,183 abstracts, all that a question needs
are searched and every third of the others, as encoding takes most of the time;
`benchmarks/ranking.py` ranks all. The collection is not part of the repository: BEIR_DATA names the
folder that holds `scifact/`.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest

from esrag.context import open_context
from esrag.retrieving.legs import search_legs
from esrag.settings.layers import resolve

FLOORS = {"vector": 0.750, "keyword": 0.765, "hybrid": 0.795}
DEPTH = 100

pytestmark = [pytest.mark.quality, pytest.mark.timeout(1800)]


def scifact():
    """The collection's folder; its absence skips, and fails where everything has to run."""
    folder = Path(os.environ.get("BEIR_DATA", "")) / "scifact"
    if not (folder / "corpus.jsonl").exists():
        reason = "BEIR_DATA names no folder with scifact/ in it"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return folder


def abstracts():
    """The lines of the abstracts to search, in order."""
    judged = {judgement.doc_id for judgement in judgements()}
    lines = (scifact() / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    is_judged = [json.loads(line)["_id"] in judged for line in lines]
    return [line for at, line in enumerate(lines) if is_judged[at] or at % 3 == 0]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The abstracts ingested by the command line with the default settings; gives the folder."""
    corpus = tmp_path_factory.mktemp("abstracts") / "corpus.jsonl"
    corpus.write_text("\n".join(abstracts()), encoding="utf-8")
    folder = tmp_path_factory.mktemp("scifact")
    command = [
        Path(sys.executable).with_name("esrag"),
        "ingest",
        str(corpus),
        "--engine",
        str(folder),
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["failed"] == 0
    return folder


@pytest.mark.parametrize("method", FLOORS)
def test_each_leg_and_the_hybrid_keep_their_floor(index, method, record_property):
    """nDCG@10 over documents, a document counting with its best chunk."""
    settings = resolve(
        {
            "engine.url": str(index),
            "retrieval.method": method,
            "retrieval.k": DEPTH,
            "retrieval.candidates": 200,
        }
    ).settings
    context = open_context(settings)
    questions = [
        json.loads(line)
        for line in (scifact() / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    judged = list(judgements())
    wanted = {judgement.query_id for judgement in judged}

    run = [
        ir_measures.ScoredDoc(question["_id"], doc_id, float(DEPTH - rank))
        for question in questions
        if question["_id"] in wanted
        for rank, doc_id in enumerate(
            documents(
                search_legs(question["text"], context.engine, context.embedder, settings.retrieval)
            )
        )
    ]
    found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judged, run)[ir_measures.nDCG @ 10]

    record_property("ndcg@10", round(found, 4))
    assert round(found, 4) >= FLOORS[method]


def documents(result):
    """Document ids of a result, best first, each once."""
    return list(dict.fromkeys(hit.chunk.doc_id.partition("#")[2] for hit in result.hits))


def judgements():
    """The test split's judgements."""
    with (scifact() / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            yield ir_measures.Qrel(row["query-id"], row["corpus-id"], int(row["score"]))
