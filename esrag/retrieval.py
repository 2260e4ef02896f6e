"""Retrieval: a question → the hits of both legs, fused and reranked, from the scopes to look in."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from esrag.chunking.cut import text_to_index
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import Clock, sum_laps
from esrag.filters import Filter
from esrag.records import Hit
from esrag.reranking.chain import Limits, rerank
from esrag.retrieving.legs import query_vector, search_legs
from esrag.retrieving.scopes import Ladder, Scope, Scoped, search_scopes
from esrag.retrieving.variants import fuse_searches, phrases, variants
from esrag.summarising.searching import NO_LAYER, Layer, scale, search_summaries
from esrag.text import format_count
from esrag.text.dates import date_tokens
from esrag.text.questions import OPTION
from esrag.text.terms import find_technical_words

MAX_NAMED = 3  # hits that go before others since they have a name of the question


def retrieve(
    question: str, context: Context, where: Filter | None = None, scopes: Sequence[Scope] = ()
) -> SearchResult:
    """Return the hits of both legs, fused, in the order of the rerankers of `rerank.chain`.

    The rerankers look at more hits than come back. Scopes are searched as `search_scopes` says.
    Without any, summaries may tell in which documents to look.
    """
    wanted, rerankers = context.settings.retrieval, context.settings.rerank
    chain = context.rerankers()
    names = _names(question)
    depth = rerankers.depth if chain or names else 0
    layer = NO_LAYER if scopes else _search_summaries(question, context, where)
    ladder = Ladder(scopes or layer.scopes, where)
    scoped = _search_scopes(question, context, ladder, depth, has_layer=bool(layer.scopes))
    found = scoped.found

    clock = Clock()
    hits, left_out = _leave_out(
        fuse_searches([each.hits for each in found], wanted.rank_constant), wanted.min_score
    )
    limits = Limits(rerankers.depth, rerankers.budget_ms / 1000 or math.inf)
    reranked = rerank(question, hits, chain, limits)
    if chain:
        clock.lap("rerank")

    took_ms = {**sum_laps([each.took_ms for each in found]), **clock.took_ms}
    return SearchResult(
        hits=_keep_named(reranked.hits, names, wanted.k),
        path=found[0].path,
        notes=(*layer.notes, *scoped.notes, *left_out, *reranked.notes),
        took_ms=took_ms,
        scope=scoped.label,
        summaries=layer.hits,
    )


def _names(question: str) -> set[str]:
    """Return the identifiers and options in a question as written, and its dates in other forms.

    >>> sorted(_names("Does pg_dump.py have --gc, and is it well-known?"))
    ['--gc', 'pg_dump.py']
    """
    words = find_technical_words(question)
    names = {word for word in words if "_" in word or "." in word}
    return names.union(OPTION.findall(question), date_tokens(question))


def _keep_named(hits: Sequence[Hit], names: AbstractSet[str], k: int) -> tuple[Hit, ...]:
    """Return k hits, the last of them such as have a name of the question, if more have one.

    The passage that explains an option may share no other word with a question about it.
    """
    first, rest = hits[:k], hits[k:]
    if not names or not rest:
        return (*first,)
    any_name = "|".join(map(re.escape, sorted(names)))
    named = re.compile(rf"(?<![\w-])(?:{any_name})(?![\w-])", re.IGNORECASE)
    others = [hit for hit in first if not named.search(text_to_index(hit.chunk))]
    found = [hit for hit in rest if named.search(text_to_index(hit.chunk))]
    added = found[: min(MAX_NAMED, len(others))]
    left_out = others[len(others) - len(added) :]
    return (*(hit for hit in first if hit not in left_out), *added)


def _search_summaries(question: str, context: Context, where: Filter | None) -> Layer:
    wanted, summaries = context.settings.summaries, context.summaries()
    if wanted.of == "nothing" or not wanted.search or summaries is None:
        return NO_LAYER
    return search_summaries(question, summaries, context.embedder, wanted, where)


def _search_scopes(
    question: str, context: Context, ladder: Ladder, depth: int, *, has_layer: bool
) -> Scoped:
    def search(within: Filter | None) -> list[SearchResult]:
        found = _search_wordings(question, context, within, depth)
        if not has_layer or within == ladder.where:
            return found
        return [_keep_close(question, each, context) for each in found]

    return search_scopes(ladder, search, context.engine)


def _keep_close(question: str, found: SearchResult, context: Context) -> SearchResult:
    """Return the hits in documents found by their summaries that are close and not too many."""
    wanted, hits = context.settings.summaries, found.hits
    if wanted.min_chunk_score and context.embedder:
        cosines = measure_cosines(question, hits, context)
        close = {id_ for id_, cosine in cosines.items() if scale(cosine) >= wanted.min_chunk_score}
        hits = tuple(hit for hit in hits if hit.chunk.chunk_id in close)
    if wanted.chunks_per_document:
        hits = _limit_per_document(hits, wanted.chunks_per_document)
    return replace(found, hits=hits)


def _limit_per_document(hits: Sequence[Hit], most: int) -> tuple[Hit, ...]:
    taken: Counter[str] = Counter()
    kept = list[Hit]()
    for hit in hits:
        taken[hit.chunk.doc_id] += 1
        if taken[hit.chunk.doc_id] <= most:
            kept.append(hit)
    return (*kept,)


def _leave_out(hits: Sequence[Hit], min_score: float) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """Return the hits with at least this fused score, and a note of how many had less.

    0 keeps them all: the score of the vector leg alone is a cosine, and may be negative.
    """
    if not min_score:
        return tuple(hits), ()

    kept = tuple(hit for hit in hits if hit.score >= min_score)
    weak = len(hits) - len(kept)
    if not weak:
        return kept, ()
    least = f"retrieval.min_score {min_score:g}"
    return kept, (f"left out {format_count(weak, 'hit')} with a score below {least}",)


def _search_wordings(
    question: str, context: Context, where: Filter | None, depth: int
) -> list[SearchResult]:
    """Search for a question, or for each of its variants, at least `depth` hits deep."""
    wanted = context.settings.retrieval
    deep = wanted.model_copy(update={"k": max(wanted.k, depth)})
    wordings = variants(question, phrases(wanted.operations)) if wanted.variants else (question,)
    return [
        search_legs(wording, context.engine, context.embedder, deep, where) for wording in wordings
    ]


def measure_cosines(question: str, hits: Sequence[Hit], context: Context) -> dict[str, float]:
    """Return the cosine between the question and each hit, by chunk id, from stored vectors."""
    if context.embedder is None:
        raise AssertionError("without a model there are no vectors to compare")

    texts = {hit.chunk.chunk_id: text_to_index(hit.chunk) for hit in hits}
    stored = context.engine.vectors_of([*texts.values()])
    vector = query_vector(question, context.embedder)
    return {
        chunk_id: round(float(stored[text] @ vector), 6)
        for chunk_id, text in texts.items()
        if text in stored
    }
