"""Find the passage that has most of a question's words: it shows what the question is about."""

from collections.abc import Sequence

from esrag.engines import Engine, SearchRequest
from esrag.filters import And, Filter, Terms
from esrag.records import Chunk
from esrag.text.terms import question_terms, shares, terms, weigh_terms

_LOOKED_AT = 5  # hits of the keyword leg


def find_nearest_chunk(
    question: str, engine: Engine, where: Filter | None
) -> tuple[Chunk | None, float]:
    """Return the passage with the largest share of a question's terms, and that share, 0..1.

    Terms are weighed by the chunks of the index that have them. Raises: EngineError.
    """
    asked = question_terms(question)
    if not asked or not engine.exists():
        return None, 0.0

    weights = weigh_terms(asked, engine.count_terms(asked), engine.info().chunks)
    request = SearchRequest(question, method="keyword", filter=where, size=_LOOKED_AT)
    chunks = [hit.chunk for hit in engine.search(request).hits]
    if not chunks:
        return None, 0.0

    held = shares(weights, [_terms_of(chunk) for chunk in chunks])
    share, chunk = max(zip(held, chunks, strict=True), key=lambda each: each[0])  # the first one
    return chunk, share


def is_within(chunk: Chunk, scopes: Sequence[Filter], engine: Engine) -> Sequence[bool]:
    """Return, for each scope, whether a passage is in it. Raises: EngineError."""
    only = Terms("chunk_id", (chunk.chunk_id,))
    return engine.any_match([And((only, scope)) for scope in scopes])


def _terms_of(chunk: Chunk) -> set[str]:
    return {*terms(chunk.whole_text)}
