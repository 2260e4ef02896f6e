"""Fusion: several legs' scores → one ranking. A leg maps ids to scores, higher is better; ties go by id, ascending.

Legs are mappings, not lists, so that the order in which an engine happens to return ties cannot change a rank.
"""

from collections.abc import Mapping, Sequence

Leg = Mapping[str, float]

_LEAST = 0.001  # what OpenSearch gives the last hit of a leg, so that there too one that was found beats none


def ranking(scores: Leg) -> list[str]:
    """The ids in falling score, ties by id.

    >>> ranking({"b": 1.0, "a": 1.0, "c": 2.0})
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda key: (-scores[key], key))


def rrf(legs: Sequence[Leg], k: int = 60, weights: Sequence[float] = ()) -> dict[str, float]:
    """Reciprocal rank fusion (Cormack, Clarke & Büttcher, SIGIR 2009): the sum of weight / (k + rank), ranks from 1.

    Without weights every leg has 1; a leg of weight 0 adds nothing, nor its ids. Returned best first.

    >>> rrf([{"a": 9.0, "b": 7.0}, {"b": 0.4}], k=1)  # b: 1/3 + 1/2, a: 1/2
    {'b': 0.8333333333333333, 'a': 0.5}
    """
    ranked = [{key: 1 / (k + rank) for rank, key in enumerate(ranking(leg), start=1)} for leg in legs]
    return _sum(ranked, weights or [1.0] * len(legs))


def combine_weighted(legs: Sequence[Leg], weights: Sequence[float]) -> dict[str, float]:
    """Convex combination of min-max scaled scores (Bruch, Gai & Ingber, ACM TOIS 2023): sum of weight · scaled score.

    A leg is scaled to 0.001..1 over its own ids, so that its last one is still worth more than an id that it does not
    hold, which counts 0; where all its scores are equal they scale to 1. A leg of weight 0 adds nothing, nor its ids.
    Returned best first.

    >>> combine_weighted([{"a": 9.0, "b": 7.0, "c": 5.0}, {"b": 0.4}], [0.5, 0.5])  # b: 0.5 · 0.5 + 0.5 · 1
    {'b': 0.75, 'a': 0.5, 'c': 0.0005}
    """
    return _sum([_scaled(leg) for leg in legs], weights)


def _scaled(leg: Leg) -> dict[str, float]:
    low, high = min(leg.values(), default=0.0), max(leg.values(), default=0.0)
    return {key: max((score - low) / (high - low), _LEAST) if high > low else 1.0 for key, score in leg.items()}


def _sum(legs: Sequence[Leg], weights: Sequence[float]) -> dict[str, float]:
    """The weighted sum of what each leg gives an id, best first."""
    fused: dict[str, float] = {}
    for leg, weight in zip(legs, weights, strict=True):
        for key, score in leg.items() if weight else ():
            fused[key] = fused.get(key, 0.0) + weight * score
    return {key: fused[key] for key in ranking(fused)}
