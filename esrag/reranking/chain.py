"""The chain of rerankers: each is given the order that the one before it made."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from esrag.errors import EsragError, ModelError, RerankError, SettingsError
from esrag.records import Hit
from esrag.reranking import Added, Reranked, Reranker

PROBED_HITS = 4  # are tried first, where time is short, to know what one costs
_STEP = 1e-6  # what a hit that was not reached is below the one before it

Chain = Sequence[tuple[str, Reranker]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many hits are reranked at most, and how long that may take."""

    depth: int
    budget_s: float = math.inf
    clock: Callable[[], float] = time.perf_counter


def rerank(question: str, hits: Sequence[Hit], chain: Chain, limits: Limits) -> Reranked:
    """The hits in the order of the chain, those it did not reach after the others; scores fall as the hits follow.

    A reranker that takes long gets as many hits as there is time for. One that fails, or for which no time is left,
    leaves the order as it is; the notes say so. Raises: SettingsError, ModelError.
    """
    end, depth = limits.clock() + limits.budget_s, min(limits.depth, len(hits))
    notes: list[str] = []
    for name, reranker in chain:
        reached = hits[:depth]
        try:
            if reranker.takes_long and end < math.inf:
                reached = reached[: _affordable(reranker, question, reached, end, limits.clock)]
            hits = [*_reordered(reranker, question, reached), *hits[len(reached) :]]
        except (SettingsError, ModelError):
            raise
        except EsragError as error:
            notes.append(f"{name} was left out: {error.line}")
            continue
        if len(reached) < depth:
            notes.append(f"{name} had time for {len(reached)} of {depth} hits")
    return Reranked(tuple(_falling(hits)), tuple(notes))


def _affordable(reranker: Reranker, question: str, hits: Sequence[Hit], end: float, clock: Callable[[], float]) -> int:
    """For how many hits there is time. The first of all opens a model, so it says nothing about the others."""
    if clock() >= end or not hits:
        return 0
    reranker.added(question, hits[:1])
    began = clock()
    reranker.added(question, hits[:PROBED_HITS])
    hit_s = (clock() - began) / max(1, len(hits[:PROBED_HITS]))
    return max(0, min(len(hits), int((end - clock()) / max(hit_s, 1e-9))))


def _reordered(reranker: Reranker, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """The hits with what was added, best first. Raises: RerankError where that is not a number for each."""
    given = reranker.added(question, hits) if hits else []
    if len(given) != len(hits) or not all(math.isfinite(value) for added in given for value in added.values()):
        raise RerankError(f"it gave {len(given)} hits something for {len(hits)}, or what is no number")
    return sorted(map(_changed, hits, given), key=lambda hit: -hit.score)


def _changed(hit: Hit, added: Added) -> Hit:
    """The hit with its new score, rounded, so that noise of the arithmetic is no order."""
    shown = {reason: round(value, 6) for reason, value in added.items()}
    score = round(hit.score + math.fsum(added.values()), 9)
    return replace(hit, score=score, added={**hit.added, **shown})


def _falling(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits in this order; the score of one that was not reached is put below those that were."""
    least = math.inf
    for hit in hits:
        least = hit.score if hit.score <= least else round(least - _STEP, 9)
        yield replace(hit, score=least)
