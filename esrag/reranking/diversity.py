"""Rerankers for diversity: by turns between sources, or by how much a hit adds to the former ones.

Both change places and not scores: the hit that comes first gets the highest score there is, and so
on.
"""

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from esrag.chunking.cut import text_to_index
from esrag.embedding import check_vectors, measure_products
from esrag.errors import SettingsError
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, by

_DOCUMENT = "doc_id"


class RoundRobin:
    """Takes turns between sources, best hit first; `rerank.group_by` is the key of a source."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        self._group_by = options.group_by

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return additions that put the first hits of all sources first, then the second ones."""
        seen: Counter[str] = Counter()
        turns = []
        for hit in hits:
            source = self._source(hit)
            turns.append(seen[source])
            seen[source] += 1
        return by("round-robin", _move(hits, sorted(range(len(hits)), key=lambda n: (turns[n], n))))

    def _source(self, hit: Hit) -> str:
        """Return the value in the hit's metadata, else its document.

        A document may have a `doc_id` of its own in its metadata. A key that esrag uses, such
        as `source`, is stored as `source_`.
        """
        chunk, key = hit.chunk, self._group_by
        if key == _DOCUMENT:
            return chunk.doc_id
        value = chunk.metadata.get(key, chunk.metadata.get(f"{key}_"))
        return chunk.doc_id if value is None else str(value)


class MaximalMarginalRelevance:
    """Prefers hits near the question and unlike earlier ones (Carbonell & Goldstein, SIGIR 1998).

    The next hit is the one with the highest λ·(cosine with the question) − (1−λ)·(highest cosine
    with an earlier hit). λ is `rerank.relevance`; 1 counts only the question.
    """

    cost: ClassVar[Cost] = "hit"

    def __init__(self, options: RerankOptions) -> None:
        if options.embedder is None:
            raise SettingsError(
                "the reranker 'mmr' needs a model", hint="set embedding.model, or leave it out"
            )
        self._embedder, self._relevance = options.embedder, options.relevance

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- measured
        """Return additions that put the hits in that order; encode question and hits."""
        encoder, texts = (self._embedder, [text_to_index(hit.chunk) for hit in hits])
        asked = check_vectors(encoder.embed([question], "query"), 1, encoder.dimensions)[0]
        rows = check_vectors(encoder.embed(texts), len(texts), encoder.dimensions)
        relevance = np.vecdot(rows, asked).astype(np.float64)
        alike = measure_products(rows, rows).astype(np.float64)
        order: list[int] = []
        left = list(range(len(hits)))

        while left:
            nearest = alike[np.ix_(left, order)].max(axis=1) if order else np.zeros(len(left))
            value = (self._relevance * relevance[left] - (1 - self._relevance) * nearest).round(6)
            order.append(left.pop(int(value.argmax())))  # of equals the one that came first

        return by("mmr", _move(hits, order))


def _move(hits: Sequence[Hit], order: Sequence[int]) -> list[float]:
    """Return additions that put the hits in the given order.

    Equal scores then differ by very little.
    """
    scores = sorted((hit.score for hit in hits), reverse=True)
    added = [0.0] * len(hits)
    for place, number in enumerate(order):
        added[number] = scores[place] - 1e-9 * place - hits[number].score
    return added
