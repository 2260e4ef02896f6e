"""Find the passage that has most of a question's words: it shows what the question is about."""

import math
from collections.abc import Sequence

from esrag.engines import Engine, SearchRequest
from esrag.filters import And, Filter, Terms
from esrag.records import Chunk
from esrag.text.terms import question_terms, terms

_LOOKED_AT = 5  # hits of the keyword leg


def find_nearest(question: str, engine: Engine, where: Filter | None) -> tuple[Chunk | None, float]:
    """Return the passage with the largest share of a question's terms, and that share, 0..1.

    A term weighs log(1 + chunks / (1 + chunks with it)). Raises: EngineError.
    """
    asked = question_terms(question)
    if not asked or not engine.exists():
        return None, 0.0

    counts, chunks = engine.count_terms(asked), engine.info().chunks
    weights = {term: math.log(1 + chunks / (1 + counts.get(term, 0))) for term in asked}
    request = SearchRequest(question, method="keyword", filter=where, size=_LOOKED_AT)
    held = [(_weigh(hit.chunk, weights), hit.chunk) for hit in engine.search(request).hits]
    if not held:
        return None, 0.0

    most, chunk = max(held, key=lambda each: each[0])  # the first of several
    return chunk, most / math.fsum(weights.values())


def is_within(chunk: Chunk, scopes: Sequence[Filter], engine: Engine) -> Sequence[bool]:
    """Return, for each scope, whether a passage is in it. Raises: EngineError."""
    only = Terms("chunk_id", (chunk.chunk_id,))
    return engine.any_match([And((only, scope)) for scope in scopes])


def _weigh(chunk: Chunk, weights: dict[str, float]) -> float:
    found = {*terms(f"{chunk.title}\n{chunk.section}\n{chunk.text}")}
    return math.fsum(weight for term, weight in weights.items() if term in found)
