"""Rerankers: what each adds to the fused order.

`python benchmarks/ranking.py DATA [--sets scifact …] [--questions 300]`

DATA holds collections in the form of BEIR (`corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`). Each
is ingested with the default settings; every question of a sample is retrieved once, 100 hits deep,
and its hits go to every chain. Measured is nDCG@10, a document counting with its best chunk. Chains
are chosen on the even questions and reported on the odd ones: the difference to the fused order,
and how often chance alone would give as much (paired randomisation, 10,000 draws), with Holm's
correction over all chains and collections. What a chain costs is measured by `asking.py`.
"""

import argparse
import csv
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import numpy.typing as npt
from answers import lines

from esrag.context import open_rerankers
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.records import Hit
from esrag.reranking.chain import Limits, rerank
from esrag.retrieving.legs import search_legs
from esrag.settings import Settings
from esrag.settings.layers import resolve

SETS = ("scifact", "squad-v2-dev", "clapnq-dev", "hotpotqa-100", "musique-100")
FUSED = "rrf"
CHAINS = (
    "exact-tokens",
    "lexical",
    "scale,quality",
    "round-robin",
    "late-interaction@20",
    "late-interaction@50",
    "lexical,late-interaction@50",
    "mmr@20",
)
HITS, CUT, DRAWS = 100, 10, 10_000

Scores = npt.NDArray[np.float64]


class Remembering:
    """An encoder that reads a text once a question, however many chains compare its tokens."""

    def __init__(self, embedder: Any) -> None:
        self._embedder, self._read = embedder, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def token_vectors(self, texts: Sequence[str]) -> list[Any]:
        """As the encoder's own."""
        missing = [*dict.fromkeys(text for text in texts if text not in self._read)]
        self._read |= zip(missing, self._embedder.token_vectors(missing), strict=True)
        return [self._read[text] for text in texts]

    def forget(self) -> None:
        """Before the next question."""
        self._read.clear()


def main() -> None:
    """Prints a table of nDCG@10 a half, and one of the differences on the odd half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--chains", nargs="*", default=CHAINS)
    arguments = parser.parse_args()
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.sets:
            measured[name] = _measured(arguments, name, Path(folder) / name)
            print(f"{name}: {len(next(iter(measured[name].values())))} questions", flush=True)
    _table("even (to choose by)", {name: _half(values, 0) for name, values in measured.items()})
    odd = {name: _half(values, 1) for name, values in measured.items()}
    _table("odd (to report)", odd)
    _differences(odd)


def _measured(arguments: argparse.Namespace, name: str, index: Path) -> dict[str, Scores]:
    """nDCG@10 by order and question."""
    flags = {"engine.url": str(index), "retrieval.k": HITS, "retrieval.candidates": 2 * HITS}
    orders = (FUSED, "weighted", *arguments.chains)
    settings = {order: resolve(flags | _flags(order), environ={}).settings for order in orders}
    work = Work(settings[FUSED])
    ingest(IngestRequest([str(arguments.data / name / "corpus.jsonl")]), work, Silent())
    judged = _judgements(arguments.data / name)
    asked = [row for row in lines(arguments.data / name / "queries.jsonl") if row["_id"] in judged]
    random.Random(1).shuffle(asked)  # noqa: S311 -- a sample
    runs: dict[str, list[ir_measures.ScoredDoc]] = {order: [] for order in orders}
    encoder = Remembering(work.context.embedder)
    chains = {order: open_rerankers(settings[order], encoder) for order in orders}
    for row in asked[: arguments.questions]:
        encoder.forget()
        found = {way: _hits(row["text"], settings[way], work) for way in (FUSED, "weighted")}
        for order in orders:
            limits = Limits(settings[order].rerank.depth)
            hits = found.get(order) or rerank(row["text"], found[FUSED], chains[order], limits).hits
            runs[order] += _documents(row["_id"], hits)
    qrels = [it for row in asked[: arguments.questions] for it in judged[row["_id"]]]
    return {order: _by_question(qrels, run) for order, run in runs.items()}


def _flags(order: str) -> dict[str, object]:
    if order in (FUSED, "weighted"):
        return {"retrieval.fusion": order}
    chain, _, depth = order.partition("@")
    return {"rerank.chain": chain, "rerank.depth": int(depth or 50)}


def _hits(question: str, settings: Settings, work: Work) -> Sequence[Hit]:
    return search_legs(
        question, work.context.engine, work.context.embedder, settings.retrieval
    ).hits


def _documents(question_id: str, hits: Sequence[Hit]) -> Iterator[ir_measures.ScoredDoc]:
    """Each document once, at its best chunk's place."""
    for rank, doc_id in enumerate(
        dict.fromkeys(hit.chunk.doc_id.partition("#")[2] for hit in hits)
    ):
        yield ir_measures.ScoredDoc(question_id, doc_id, float(HITS - rank))


def _by_question(qrels: Sequence[ir_measures.Qrel], run: Sequence[ir_measures.ScoredDoc]) -> Scores:
    found = {
        it.query_id: it.value for it in ir_measures.iter_calc([ir_measures.nDCG @ CUT], qrels, run)
    }
    return np.array([found.get(name, 0.0) for name in dict.fromkeys(it.query_id for it in qrels)])


def _judgements(folder: Path) -> Mapping[str, list[ir_measures.Qrel]]:
    judged = defaultdict(list)
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            judged[row["query-id"]].append(
                ir_measures.Qrel(row["query-id"], row["corpus-id"], int(row["score"]))
            )
    return judged


def _half(values: Mapping[str, Scores], rest: int) -> dict[str, Scores]:
    return {order: scores[rest::2] for order, scores in values.items()}


def _table(title: str, measured: Mapping[str, Mapping[str, Scores]]) -> None:
    print(f"\n| nDCG@10, {title} | {' | '.join(measured)} |\n| --- |{' --- |' * len(measured)}")
    for order in next(iter(measured.values())):
        print(
            f"| {order} | "
            f"{' | '.join(f'{values[order].mean():.3f}' for values in measured.values())} |"
        )


def _differences(measured: Mapping[str, Mapping[str, Scores]]) -> None:
    """Each order against the fused one, the most certain first.

    Holm: the n-th smallest times how many are left.
    """
    tests = []
    for name, values in measured.items():
        for order in values:
            if order != FUSED:
                difference = values[order] - values[FUSED]
                tests.append((_chance(difference), name, order, difference.mean()))
    print(
        "\n| collection | order | difference | p | p after Holm |\n| --- | --- | --- | --- | --- |"
    )
    least = 0.0
    for n, (p, name, order, difference) in enumerate(sorted(tests)):
        least = max(least, min(1.0, p * (len(tests) - n)))
        print(f"| {name} | {order} | {difference:+.3f} | {p:.4f} | {least:.3f} |")


def _chance(differences: Scores) -> float:
    """How often signs drawn by lot give a mean as far from zero."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], size=(DRAWS, len(differences)))
    return float(
        (1 + (abs(signs @ differences) >= abs(differences.sum()) - 1e-12).sum()) / (1 + DRAWS)
    )


if __name__ == "__main__":
    main()
