"""Answers and hits that were asked for before, taken from the cache."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from esrag.caching import Kind
from esrag.caching.answers import code_version, get_or_compute, key_of
from esrag.citations import OnSentence, ignore
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.filters import Filter
from esrag.models.metering import count_saved
from esrag.results import AskResult, is_brief

Ask = Callable[[str, Context, Filter | None, OnSentence], AskResult]
Search = Callable[[str, Context, Filter | None], SearchResult]


def cache_answers(ask: Ask) -> Ask:
    """Return `ask` with the context's cache in front; without a cache it is called every time."""

    @wraps(ask)
    def cached(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        if context.cache is None:
            return ask(question, context, where, on_sentence)

        clock = Clock()
        key = key_of(
            Kind.ANSWER,
            code_version(),
            question,
            where,
            *context.identity,
            *context.writer_identity,
        )
        result, found = get_or_compute(
            context.cache,
            key,
            AskResult,
            lambda: ask(question, context, where, on_sentence),
            lambda result: result.is_brief,
        )
        if found:
            count_saved(context.cache, result.calls)
        clock.lap("cache")
        return replace(result, cached=True, took_ms=clock.took_ms) if found else result

    return cached


def cache_hits(search: Search) -> Search:
    """Return `search` with the context's cache in front."""

    @wraps(search)
    def cached(question: str, context: Context, where: Filter | None = None) -> SearchResult:
        if context.cache is None:
            return search(question, context, where)

        key = key_of(Kind.QUERY, code_version(), question, where, *context.identity)
        found, _ = get_or_compute(
            context.cache, key, SearchResult, lambda: search(question, context, where), is_brief
        )
        return found

    return cached
