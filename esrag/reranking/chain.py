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
_NOT_REACHED = "not reached"

Chain = Sequence[tuple[str, Reranker]]


@dataclass(frozen=True, slots=True)
class Limits:
    """How many hits are reranked at most, and how long that may take."""

    depth: int
    budget_s: float = math.inf
    clock: Callable[[], float] = time.perf_counter


class _Late(Exception):  # noqa: N818 -- no error
    """The budget is used up."""


def rerank(question: str, hits: Sequence[Hit], chain: Chain, limits: Limits) -> Reranked:
    """Return the hits in the order of the chain.

    Hits that a reranker did not reach follow those that it did. A reranker that fails or is late
    leaves the order as it is, and a note says so.

    Raises: SettingsError, ModelError.
    """
    end, depth = limits.clock() + limits.budget_s, min(limits.depth, len(hits))
    notes: list[str] = []

    for name, reranker in chain if hits else ():
        try:
            reached = _reorder(question, hits[:depth], reranker, end, limits.clock)
        except (SettingsError, ModelError):
            raise
        except Exception as error:  # noqa: BLE001 -- a library's, or a plugin's: whatever it is, the fused order stands
            notes.append(f"{name} was left out: {_explain(error)}")
        else:
            hits = list(_lower_rest([*reached, *hits[len(reached) :]]))
            if len(reached) < depth:
                notes.append(f"{name} had time for {len(reached)} of {depth} hits")

    return Reranked(tuple(hits), tuple(notes))


def _reorder(
    question: str, hits: Sequence[Hit], reranker: Reranker, end: float, clock: Callable[[], float]
) -> list[Hit]:
    """Return the hits, best first, with additions for as many as there is time for.

    Raises: _Late, RerankError.
    """
    if reranker.cost == "hit" and end < math.inf:
        hits = hits[: _count_affordable(question, hits, reranker, end, clock)]
    given = reranker.score(
        question, hits, _left_s(end, clock) if reranker.cost != "free" else math.inf
    )
    if len(given) != len(hits):
        raise RerankError(f"it scored {len(given)} of {len(hits)} hits")

    changed = [_add(hit, added) for hit, added in zip(hits, given, strict=True)]
    if reranker.cost != "free":
        _left_s(end, clock)
    return sorted(changed, key=lambda hit: -hit.score)


def _explain(error: Exception) -> str:
    if isinstance(error, _Late):
        return "no time was left"
    if isinstance(error, EsragError):
        return error.line
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}{': ' if said else ''}{said}"


def _count_affordable(
    question: str, hits: Sequence[Hit], reranker: Reranker, end: float, clock: Callable[[], float]
) -> int:
    """Return for how many hits there is time.

    The first hit opens a model, so its time says nothing about the others.
    """
    reranker.score(question, hits[:1], _left_s(end, clock))
    probed = hits[:PROBED_HITS]
    began = clock()
    reranker.score(question, probed, _left_s(end, clock))
    hit_s = max((clock() - began) / len(probed), 1e-9)
    affordable = int(_left_s(end, clock) / hit_s)
    if not affordable:
        raise _Late
    return affordable


def _left_s(end: float, clock: Callable[[], float]) -> float:
    """Return the time left, in seconds. Raises: _Late if it is used up."""
    left_s = end - clock()
    if left_s <= 0:
        raise _Late
    return left_s


def _add(hit: Hit, added: Added) -> Hit:
    """Return the hit with its new score, rounded so that rounding noise decides no order.

    Raises: RerankError.
    """
    try:
        score = round(hit.score + math.fsum(added.values()), 9)
    except OverflowError:
        score = math.inf
    if not math.isfinite(score):
        raise RerankError(f"what it adds to {hit.chunk.chunk_id} is not a number")
    return replace(hit, score=score, added=_merge_reasons(hit, added))


def _merge_reasons(hit: Hit, added: Added) -> dict[str, float]:
    """Return all additions; those of two rerankers for the same reason are summed."""
    reasons = dict.fromkeys([*hit.added, *added])
    return {
        reason: round(hit.added.get(reason, 0.0) + added.get(reason, 0.0), 6) for reason in reasons
    }


def _lower_rest(hits: Iterable[Hit]) -> Iterator[Hit]:
    """Yield the hits in this order, with scores of hits not reached below those of the others."""
    least = math.inf
    for hit in hits:
        if hit.score <= least:
            least = hit.score
            yield hit
        else:
            least = round(least - _STEP, 9)
            yield replace(
                hit, score=least, added=_merge_reasons(hit, {_NOT_REACHED: least - hit.score})
            )
