"""Fusion: the scores of several legs → one ranking.

A leg maps ids to scores; higher is better, and ties are broken by ascending id. Legs are mappings
rather than lists, so that the order in which an engine returns ties cannot change a rank.
"""

from collections.abc import Mapping, Sequence

Leg = Mapping[str, float]

_LEAST = 0.001  # OpenSearch gives this to the last hit of a leg, so that a hit always beats a miss


def ranking(scores: Leg) -> list[str]:
    """Return the ids by falling score, ties by id.

    >>> ranking({"b": 1.0, "a": 1.0, "c": 2.0})
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda key: (-scores[key], key))


def rrf(legs: Sequence[Leg], k: int = 60, weights: Sequence[float] = ()) -> dict[str, float]:
    """Fuse legs by reciprocal rank: the sum of weight / (k + rank), ranks from 1, best first.

    Source: Cormack, Clarke & Büttcher, SIGIR 2009. Without weights every leg has weight 1; a leg of
    weight 0 contributes neither scores nor ids.

    >>> rrf([{"a": 9.0, "b": 7.0}, {"b": 0.4}], k=1)  # b: 1/3 + 1/2, a: 1/2
    {'b': 0.8333333333333333, 'a': 0.5}
    """
    ranked = [
        {key: 1 / (k + rank) for rank, key in enumerate(ranking(leg), start=1)} for leg in legs
    ]
    return _sum(ranked, weights or [1.0] * len(legs))


def combine_weighted(legs: Sequence[Leg], weights: Sequence[float]) -> dict[str, float]:
    """Fuse legs by a convex combination of min-max scaled scores, best first.

    Source: Bruch, Gai & Ingber, ACM TOIS 2023: the sum of weight · scaled score. A leg is scaled to
    0.001..1 over its own ids, so that its last id still scores more than an id it does not contain,
    which counts 0. If all its scores are equal, they scale to 1. A leg of weight 0 contributes
    neither scores nor ids.

    >>> legs = [{"a": 9.0, "b": 7.0, "c": 5.0}, {"b": 0.4}]
    >>> combine_weighted(legs, [0.5, 0.5])  # b: 0.5 · 0.5 + 0.5 · 1
    {'b': 0.75, 'a': 0.5, 'c': 0.0005}
    """
    return _sum([_scale(leg) for leg in legs], weights)


def _scale(leg: Leg) -> dict[str, float]:
    low, high = min(leg.values(), default=0.0), max(leg.values(), default=0.0)
    return {
        key: max((score - low) / (high - low), _LEAST) if high > low else 1.0
        for key, score in leg.items()
    }


def _sum(legs: Sequence[Leg], weights: Sequence[float]) -> dict[str, float]:
    """Return the weighted sum of the legs' scores by id, best first."""
    fused: dict[str, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        for key, score in leg.items() if weight else ():
            fused[key] = fused.get(key, 0.0) + weight * score
    return {key: fused[key] for key in ranking(fused)}
