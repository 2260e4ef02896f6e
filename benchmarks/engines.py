"""SciFact on every engine: nDCG@10 of each leg and of both, the path taken, the time of a question.

`python benchmarks/engines.py DATA [URL …]`: DATA holds `scifact/` (BEIR); a URL is Elasticsearch's
or OpenSearch's. The collection is ingested once, into the embedded engine, and copied from there
with its vectors.
"""

import argparse
import csv
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures

from esrag.cli.progress import LineProgress
from esrag.context import Context, open_context, open_engine
from esrag.ingesting.migration import move
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.retrieving.legs import query_vector, search_legs
from esrag.settings import Settings
from esrag.settings.layers import resolve

METHODS = ("keyword", "vector", "hybrid", "weighted")  # the last is hybrid too, fused by scores
DEPTH = 100
Firsts = dict[str, list[list[str]]]


def main() -> None:
    """Prints one Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("urls", nargs="*")
    arguments = parser.parse_args()
    folder = arguments.data / "scifact"
    with tempfile.TemporaryDirectory() as name:
        work = Work(_settings(f"{name}/index"))
        ingest(IngestRequest([str(folder / "corpus.jsonl")]), work, LineProgress())
        first = work.context
        print("| engine | method | path | nDCG@10 | first ten as embedded | p50 ms |")
        print("| --- | --- | --- | --- | --- | --- |")
        expected = _measure("embedded", first, folder, {})
        for url in arguments.urls:
            _measure(url, _copy(first, url), folder, expected)


def _settings(url: str, method: str = "hybrid") -> Settings:
    fused = {"retrieval.method": "hybrid", "retrieval.fusion": method}
    legs = fused if method == "weighted" else {"retrieval.method": method}
    wanted = {
        "engine.url": url,
        "engine.index": "scifact",
        "retrieval.k": DEPTH,
        "retrieval.candidates": 200,
    }
    return resolve(wanted | legs).settings


def _stages(url: str) -> Context:
    return open_context(_settings(url))


def _copy(source: Context, url: str) -> Context:
    """Documents, chunks and vectors of one engine in another."""
    target = _stages(url)
    at = _settings(url).engine
    move(
        source.engine,
        target.engine,
        lambda name: open_engine(at.model_copy(update={"index": name})),
        None,
        LineProgress(),
    )
    return target


def _measure(name: str, context: Context, folder: Path, expected: Firsts) -> Firsts:
    """A row for each method; gives the first ten chunks of every question, by method."""
    judged, questions = _test_split(folder)
    firsts: Firsts = {}
    for method in METHODS:
        settings = _settings(".", method).retrieval
        run, took_ms, firsts[method], path = [], [], [], ""
        for number, text in questions.items():
            encoded_ms, _ = _timed(query_vector, text, context.embedder)
            whole_ms, result = _timed(search_legs, text, context.engine, context.embedder, settings)
            took_ms.append(whole_ms - encoded_ms * (method != "keyword"))
            firsts[method].append([hit.chunk.chunk_id for hit in result.hits[:10]])
            documents = dict.fromkeys(hit.chunk.doc_id.partition("#")[2] for hit in result.hits)
            run += [
                ir_measures.ScoredDoc(number, d, float(DEPTH - n)) for n, d in enumerate(documents)
            ]
            path = result.path
        found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], judged, run)[
            ir_measures.nDCG @ 10
        ]
        same = f"{_shared(firsts[method], expected[method]):.1%}" if expected else ""
        print(
            f"| {name} | {method} | {path} | {found:.4f} | {same} | "
            f"{statistics.median(took_ms):.1f} |",
            flush=True,
        )
    return firsts


def _test_split(folder: Path) -> tuple[list[ir_measures.Qrel], dict[str, str]]:
    """The judgements, and the judged questions by id."""
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    judged = [
        ir_measures.Qrel(row["query-id"], row["corpus-id"], int(row["score"])) for row in rows
    ]
    wanted = {judgement.query_id for judgement in judged}
    questions = map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    return judged, {
        question["_id"]: question["text"] for question in questions if question["_id"] in wanted
    }


def _timed(call: Callable[..., Any], *arguments: object) -> tuple[float, Any]:
    """Milliseconds a call took, and what it gave."""
    started = time.perf_counter()
    given = call(*arguments)
    return 1000 * (time.perf_counter() - started), given


def _shared(one: list[list[str]], other: list[list[str]]) -> float:
    """The share of first ten hits that two engines have in common."""
    return sum(len(set(a) & set(b)) for a, b in zip(one, other, strict=True)) / sum(map(len, other))


if __name__ == "__main__":
    main()
