"""Turn the two legs into hits, the same way on every engine: one ranking with ranks per leg."""

from collections.abc import Mapping
from itertools import islice
from typing import Literal

from esrag.engines import SearchRequest
from esrag.engines.fusion import combine_weighted, rrf
from esrag.records import Chunk, Hit

Leg = Literal["keyword", "vector"]
# The legs that were searched: scores by chunk id, best first.
Legs = Mapping[Leg, Mapping[str, float]]


def fuse_legs(request: SearchRequest, legs: Legs) -> tuple[dict[str, float], str]:
    """Return the best `request.size` ids with their scores, best first, and the path.

    A single leg is taken as it is. With `vector_weight` 0.5 the ranks count as in plain reciprocal
    rank fusion, because each share is doubled to 1.
    """
    path, scores = _fuse(request, legs)
    return dict(islice(scores.items(), request.size)), path


def _fuse(request: SearchRequest, legs: Legs) -> tuple[str, Mapping[str, float]]:
    if len(legs) == 1:
        [(leg, scores)] = legs.items()
        return leg, scores

    both = [legs["keyword"], legs["vector"]]
    shares = [1 - request.vector_weight, request.vector_weight]
    if request.fusion == "rrf":
        doubled = [2 * share for share in shares]
        return "rrf-client", rrf(both, request.rank_constant, doubled)
    return "weighted-client", combine_weighted(both, shares)


def hits(scores: Mapping[str, float], chunks: Mapping[str, Chunk], legs: Legs) -> tuple[Hit, ...]:
    """Return the chunks in order as hits, with fused scores and with ranks and scores per leg."""
    keyword, vector = legs.get("keyword", {}), legs.get("vector", {})
    keyword_ranks, vector_ranks = _rank(keyword), _rank(vector)
    return tuple(
        Hit(
            chunk=chunks[key],
            score=score,
            keyword_rank=keyword_ranks.get(key),
            vector_rank=vector_ranks.get(key),
            keyword_score=keyword.get(key),
            vector_score=vector.get(key),
        )
        for key, score in scores.items()
    )


def _rank(leg: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each id, from 1."""
    return {key: rank for rank, key in enumerate(leg, start=1)}
