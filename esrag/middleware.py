"""What surrounds `ask` and `search`: a check of the input, the cache, the record of the run."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Protocol, TypeVar, cast

from esrag.caching import Kind
from esrag.caching.answers import code_version, get_or_compute, key_of
from esrag.citations import REASONS, SMALL_TALK, OnSentence, ignore
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.errors import EsragError
from esrag.evidence.confidence import Signals, band
from esrag.filters import Filter
from esrag.models.metering import ModelCall, count_saved
from esrag.records import Answer
from esrag.results import AskResult, is_brief
from esrag.retrieving.filter_check import check_filter
from esrag.retrieving.legs import prepare_question
from esrag.routing.small_talk import is_small_talk
from esrag.runs.store import RunStore

ELSEWHERE = ("direct", "web")  # routes of answers that are not from the index
F = TypeVar("F", bound=Callable[..., Any])


class Ask(Protocol):
    """A question → its answer."""

    def __call__(
        self,
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        """Return the answer."""
        ...


class Search(Protocol):
    """A question → its hits."""

    def __call__(
        self, question: str, context: Context, where: Filter | None = None
    ) -> SearchResult:
        """Return the hits."""
        ...


def check_input(line: F) -> F:
    """Return `ask` or `search` with a check of the question and the filter in front.

    Raises: UsageError for an empty or over-long question, or a filter that cannot have been meant.
    """

    @wraps(line)
    def checked(
        question: str, context: Context, where: Filter | None = None, *rest: Any, **named: Any
    ) -> Any:
        question = prepare_question(question)
        notes = check_filter(where, context.engine)
        return line(question, context, where, *rest, **named).with_notes(notes)

    return cast("F", checked)


def keep_runs(ask: Ask) -> Ask:
    """Return `ask` with a record of each run kept, if `runs.keep` says so."""

    @wraps(ask)
    def kept(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        runs = context.runs()  # a store that cannot be meant is reported before it costs an answer
        result = ask(question, context, where, on_sentence)
        return _keep(result, runs, context, where) if runs else result

    return kept


def _keep(result: AskResult, runs: RunStore, context: Context, where: Filter | None) -> AskResult:
    """Return the result with the id of its kept record, or with a note that it was not kept."""
    record = result.to_record(context, where)
    try:
        runs.add(record)
    except EsragError as error:
        return result.with_notes([f"the run was not kept: {error.line}"])
    return replace(result, run_id=record["run_id"])


def answer_small_talk(ask: Ask) -> Ask:
    """Return `ask` with a fixed line for greetings and thanks, for which nothing is searched."""

    @wraps(ask)
    def answered(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        if is_small_talk(question):
            return _reply_to_small_talk(question)
        return ask(question, context, where, on_sentence)

    return answered


def _reply_to_small_talk(question: str) -> AskResult:
    answer = Answer(SMALL_TALK, refused=True, reason="small-talk", notes=(REASONS["small-talk"],))
    return AskResult(
        question=question,
        answer=answer,
        signals=Signals(0.0, None),
        confidence=0.0,
        confidence_band=band(0.0),
        evidence=(),
        retrieved=SearchResult((), "none"),
        model="none",
        took_ms={},
        steps=(),
        route="direct",
    )


def count_calls(ask: Ask) -> Ask:
    """Return `ask` with each call of a language model in its result."""

    @wraps(ask)
    def counted(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        calls: list[ModelCall] = []
        result = ask(question, context.with_recorder(calls.append), where, on_sentence)
        return replace(result, calls=tuple(calls))

    return counted


def cache_answers(ask: Ask) -> Ask:
    """Return `ask` with the context's cache in front; without a cache it is called every time."""

    @wraps(ask)
    def cached(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        compute = partial(ask, question, context, where, on_sentence)
        return _get_or_ask(question, context, where, compute)

    return cached


def _get_or_ask(
    question: str, context: Context, where: Filter | None, compute: Callable[[], AskResult]
) -> AskResult:
    """Return the cached answer to a question, else what `compute` returns."""
    cache = context.cache
    if cache is None:
        return compute()

    clock = Clock()
    basis = (*context.identity, *context.route_identity, *context.writer_identity)
    key = key_of(Kind.ANSWER, code_version(), question, where, *basis)
    result, found = get_or_compute(
        cache,
        key,
        AskResult,
        compute,
        lambda it: it.is_brief,
        keeps=lambda it: it.route not in ELSEWHERE,
    )
    if found:
        count_saved(cache, result.calls)
    clock.lap("cache")
    return replace(result, cached=True, took_ms=clock.took_ms) if found else result


def cache_hits(search: Search) -> Search:
    """Return `search` with the context's cache in front."""

    @wraps(search)
    def cached(question: str, context: Context, where: Filter | None = None) -> SearchResult:
        if context.cache is None:
            return search(question, context, where)

        key = key_of(
            Kind.QUERY, code_version(), question, where, *context.identity, *context.route_identity
        )
        found, _ = get_or_compute(
            context.cache, key, SearchResult, lambda: search(question, context, where), is_brief
        )
        return found

    return cached
