"""Recall of the vector leg: how much of an exact search's result an approximate search finds."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np

from esrag.engines import Engine, SearchRequest, Vectors

MIN_RECALL = 0.9  # the threshold of doctor and check-recall
_BLOCK_ROWS = 4096
_SAME = 1e-5  # scores closer than this are tied, and either one counts as correct


@dataclass(frozen=True, slots=True)
class Recall:
    """Share of the `k` nearest chunks that were found: mean over all questions, and worst one."""

    k: int
    mean: float
    worst: float
    questions: int
    chunks: int


def recall(engine: Engine, questions: int, k: int, candidates: int) -> Recall | None:
    """Search for stored vectors and compare the hits with an exact scan of all vectors.

    The queries are the vectors of the chunks whose ids have the smallest hashes, so they are the
    same on every engine. `candidates` is the depth of the leg, as for any query. Every vector is
    read twice. Return None if there are no vectors. Raises: IndexMissing, EngineError.
    """
    asked = heapq.nsmallest(questions, engine.vectors(), key=lambda pair: lot(pair[0]))
    if not asked:
        return None

    sought = np.stack([vector for _, vector in asked])
    found = [find_nearest_ids(engine, vector, k, candidates) for vector in sought]
    best, scores, chunks = _compare(engine, sought, found, k)
    shares = _share_found(best, scores, min(k, chunks))
    mean, worst = round(sum(shares) / len(shares), 4), round(min(shares), 4)
    return Recall(k=k, mean=mean, worst=worst, questions=len(asked), chunks=chunks)


def lot(chunk_id: str) -> bytes:
    """Return the hash that selects a sample: the chunks with the smallest hashes."""
    return blake2b(chunk_id.encode()).digest()


def find_nearest_ids(engine: Engine, vector: Vectors, k: int, candidates: int = 100) -> list[str]:
    """Return the ids of the `k` nearest chunks that the vector leg finds, best first."""
    request = SearchRequest("", vector, method="vector", size=k, candidates=candidates)
    return [hit.chunk.chunk_id for hit in engine.search(request).hits]


def _compare(
    engine: Engine, sought: Vectors, found: Sequence[Sequence[str]], k: int
) -> tuple[Vectors, list[list[float]], int]:
    """Return each query's k best exact scores, the scores of what was found, and the vector count.

    The k best scores are in no particular order.
    """
    best = np.full((len(sought), k), -np.inf, dtype=np.float32)
    scores: list[list[float]] = [[] for _ in found]
    chunks = 0

    for ids, block in _blocks(engine.vectors()):
        exact = sought @ block.T
        best = np.partition(np.hstack([best, exact]), -k, axis=1)[:, -k:]
        columns = {chunk_id: column for column, chunk_id in enumerate(ids)}
        for row, wanted in enumerate(found):
            scores[row] += [
                float(exact[row, columns[chunk_id]]) for chunk_id in wanted if chunk_id in columns
            ]
        chunks += len(ids)

    return best, scores, chunks


def _share_found(best: Vectors, scores: Sequence[Sequence[float]], wanted: int) -> list[float]:
    """Return, for each query, the share of the `wanted` best that was found."""
    least = np.sort(best, axis=1)[:, -wanted] - _SAME
    return [
        sum(score >= low for score in row) / wanted for row, low in zip(scores, least, strict=True)
    ]


def _blocks(pairs: Iterator[tuple[str, Vectors]]) -> Iterator[tuple[list[str], Vectors]]:
    while block := list(islice(pairs, _BLOCK_ROWS)):
        yield [chunk_id for chunk_id, _ in block], np.stack([vector for _, vector in block])
