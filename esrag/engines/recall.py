"""Recall of the vector leg: what a search finds of what an exact one would."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice

import numpy as np

from esrag.engines import Engine, SearchRequest, Vectors

MIN_RECALL = 0.9  # what doctor and check-recall take for sound
_BLOCK_ROWS = 4096
_SAME = 1e-5  # scores that are nearer than this are a tie, of which any is right


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the `k` nearest chunks that was found: over all questions, and for the worst of them."""

    k: int
    mean: float
    worst: float
    questions: int
    chunks: int


def recall(engine: Engine, questions: int, k: int, candidates: int) -> Recall | None:
    """Search for stored vectors and compare with exact dot products; None without vectors.

    Asked are the chunks whose ids have the smallest hashes, on every engine the same. `candidates` is how deep the leg
    is read, as for any question. Every vector is read twice. Raises: IndexMissing, EngineError.
    """
    asked = heapq.nsmallest(questions, engine.vectors(), key=lambda pair: lot(pair[0]))
    if not asked:
        return None

    sought = np.stack([vector for _, vector in asked])
    found = [nearest(engine, vector, k, candidates) for vector in sought]
    best, scores, chunks = _compared(engine, sought, found, k)
    wanted = min(k, chunks)
    least = np.sort(best, axis=1)[:, -wanted] - _SAME
    shares = [sum(score >= low for score in row) / wanted for row, low in zip(scores, least, strict=True)]
    return Recall(k, round(sum(shares) / len(shares), 4), round(min(shares), 4), len(asked), chunks)


def lot(chunk_id: str) -> bytes:
    """Chooses a sample, the same on every engine: of the chunks those with the smallest."""
    return blake2b(chunk_id.encode()).digest()


def nearest(engine: Engine, vector: Vectors, k: int, candidates: int = 100) -> list[str]:
    """The ids of the `k` nearest chunks that the vector leg finds, best first."""
    request = SearchRequest("", vector, method="vector", size=k, candidates=candidates)
    return [hit.chunk.chunk_id for hit in engine.search(request).hits]


def _compared(
    engine: Engine, sought: Vectors, found: Sequence[Sequence[str]], k: int
) -> tuple[Vectors, list[list[float]], int]:
    """The k best scores of each question in any order, the scores of what was found, and how many vectors there are."""
    best = np.full((len(sought), k), -np.inf, dtype=np.float32)
    scores: list[list[float]] = [[] for _ in found]
    chunks = 0

    for ids, block in _blocks(engine.vectors()):
        exact = sought @ block.T
        best = np.partition(np.hstack([best, exact]), -k, axis=1)[:, -k:]
        columns = {chunk_id: column for column, chunk_id in enumerate(ids)}
        for row, wanted in enumerate(found):
            scores[row] += [float(exact[row, columns[chunk_id]]) for chunk_id in wanted if chunk_id in columns]
        chunks += len(ids)

    return best, scores, chunks


def _blocks(pairs: Iterator[tuple[str, Vectors]]) -> Iterator[tuple[list[str], Vectors]]:
    while block := list(islice(pairs, _BLOCK_ROWS)):
        yield [chunk_id for chunk_id, _ in block], np.stack([vector for _, vector in block])
