"""The two pipelines of esrag, as two functions: `ingest` and `ask`.

- ingest: sources → plan → ledger → (load → enrich → chunk → embed → index), a batch at a time, →
  summaries
- ask: question → route → retrieve → select evidence → generate → verify → answer; a question that
  a fact answers is answered with it, and one about the documents themselves from the records of
  the index

The decorators surround a pipeline: they check the input, cache, count and record, answer small
talk, and have each part of a question answered by itself. They add no stage.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from esrag.answering import Answering, generate, verify
from esrag.citations import OnSentence, ignore
from esrag.context import Context
from esrag.describing.reply import answer_about_documents, answer_with_list
from esrag.elsewhere import look_elsewhere
from esrag.engines import SearchResult
from esrag.fact_answers import answer_from_fact
from esrag.filters import Filter
from esrag.gathering import Searches, repair_spelling, select
from esrag.generating.followups import Turn
from esrag.ingesting import Progress, Silent
from esrag.jobs.recording import open_job
from esrag.jobs.reporting import IngestReport, report
from esrag.jobs.request import IngestRequest, plan_ingest
from esrag.jobs.running import (
    cancel_if_stopped,
    finish_earlier_jobs,
    open_target,
    remove_gone,
    run_job,
)
from esrag.jobs.summaries import require_writer, update_summaries
from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.middleware import (
    answer_small_talk,
    cache_answers,
    cache_hits,
    check_input,
    count_calls,
    keep_runs,
)
from esrag.nearest import find_nearest_places
from esrag.parts import answer_parts, complete_followup
from esrag.results import AskResult
from esrag.retrieval import retrieve
from esrag.routing import Route, RouteRequest
from esrag.routing.chain import choose_route
from esrag.routing.small_talk import is_small_talk


def ingest(
    request: IngestRequest, work: Work, progress: Progress, *, eager: bool = False
) -> IngestReport:
    """Make the index hold what the files hold, after what earlier ingests left to do.

    No queue is used: this process does the work, and a child process parses the files. A file that
    cannot be loaded is in the report. With `eager` the first error of any batch is raised.

    Raises: EngineError, EmbeddingError; the rest of the work is in the ledger, and the next ingest
    does it. SettingsError, ModelError, KeyboardInterrupt; the job is cancelled, so that no later
    command carries it out.
    """
    started, key = perf_counter(), request.key(work.settings)
    require_writer(work)  # of summaries

    with open_target(work, rebuild=request.rebuild) as target:
        earlier = 0
        if not request.rebuild:
            earlier = finish_earlier_jobs(work, key, target, progress, eager=eager)

        plan = plan_ingest(request, work)  # the files that are there against the stored documents
        job = open_job(work, plan, key, rebuild=request.rebuild)  # recorded before it is done
        progress.start(earlier + job.files)
        with cancel_if_stopped(job, work):
            run_job(job, work, target, progress, eager=eager)  # load → … → index
        if not request.rebuild:
            with target.writing() as writer:
                remove_gone(writer, job)

    work.ledger.end(job.job_id)
    update_summaries(work, job.index, progress)
    return replace(report(work.ledger, job), took_ms=round(1000 * (perf_counter() - started)))


def enqueue(request: IngestRequest, work: Work) -> Job:
    """Record what an ingest has to do, for workers. Without work for them, sum up what lacks it.

    Raises: EngineError, EmbeddingError, LedgerError, ModelError.
    """
    require_writer(work)  # of summaries
    with work.context.engine.writer(work.made):  # a mismatch, or no right to write, is reported now
        job = open_job(work, plan_ingest(request, work), request.key(work.settings))
    if job.state == "done":  # else the worker that ends it sums up
        update_summaries(work, job.index, Silent())
    return job


@keep_runs
@check_input
@answer_small_talk
@cache_answers
@count_calls
@answer_parts
def ask(
    question: str, context: Context, where: Filter | None = None, on_sentence: OnSentence = ignore
) -> AskResult:
    """Return the cited answer to a question, or the refusal; from the cache if it is there.

    A question about the documents themselves is answered from the records of the index, or from the
    document in question. A router may choose a fact, the web or a model alone instead of passages.

    `on_sentence` is called with each sentence of a new answer as it passes its check. The answer is
    what is returned: it is a refusal if a later sentence fails.

    Raises: UsageError for an empty or over-long question, or a filter that cannot have been meant;
    SettingsError, IndexMissing, IndexMismatch, ContextTooLarge, GeneratorError.
    """
    writers = context.open_writers()  # a missing key is reported before anything is done
    route, context = _choose_route(question, context, where)
    elsewhere = look_elsewhere(question, route, context, on_sentence)  # the web, or a model alone
    known = elsewhere.answer
    if known or (known := _answer_without_passages(question, route, context, where, on_sentence)):
        return known

    spelled, corrections = repair_spelling(question, context, where)
    searches = Searches(spelled, context, where)
    for query in searches.iter_queries():  # the question, then other words if it finds too little
        # Both legs, fused; then the rerankers in order.
        hits = elsewhere.found or retrieve(query, context, where, route.scopes)
        searches.add(query, select(spelled, query, hits, context))
    found = searches.result()

    answering = Answering(spelled, found, context, on_sentence)
    # None without enough evidence; a stronger model's if the check refuses a draft.
    for attempt in answering.iter_attempts(writers):
        draft = generate(attempt)
        answering.add(attempt, draft, verify(draft, attempt))
    result = answering.result(writers[0])

    nearest = find_nearest_places(found, result.reason, context.engine)  # worth a look if refused
    result = replace(result, question=question, decision=route.decision, nearest=nearest)
    return elsewhere.label(replace(result, corrections=corrections))


def _choose_route(question: str, context: Context, where: Filter | None) -> tuple[Route, Context]:
    """Return the route of a question, and the context with the settings that the route has."""
    route = find_route(question, context, where)
    return route, context.with_settings(route.overrides) if route.overrides else context


def find_route(question: str, context: Context, where: Filter | None = None) -> Route:
    """Return how the routers of `routing.chain` would have a question answered.

    Raises: SettingsError, EngineError.
    """
    return choose_route(question, context.routers(), RouteRequest(context.classify, where))


def _answer_without_passages(
    question: str, route: Route, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the answer from the records of the index, or from a fact; None if neither has it."""
    about = answer_about_documents(question, context, where, on_sentence)
    return (
        about
        or answer_with_list(question, route, context, where, on_sentence)
        or answer_from_fact(question, route, context, where, on_sentence)
    )


@check_input
@cache_hits
def search(question: str, context: Context, where: Filter | None = None) -> SearchResult:
    """Return the hits for a question; from the cache if they are there. Raises: as `ask`."""
    route, context = _choose_route(question, context, where)
    spelled, corrections = repair_spelling(question, context, where)
    hits = retrieve(spelled, context, where, route.scopes)
    return hits.with_notes([correction.note for correction in corrections])


def resolve_followup(question: str, earlier: Sequence[Turn], context: Context) -> str:
    """Return a question that stands alone for one that leans on earlier ones.

    The model that writes answers puts it into words; without one, rules do. Small talk stays.
    """
    if is_small_talk(question):
        return question
    return complete_followup(question, earlier, context)
