"""The two lines of esrag, as two functions: `ingest` and `ask`.

- ingest: sources → plan → (load → chunk → embed → index), a batch at a time
- ask: question → retrieve → select evidence → generate → verify → answer
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from time import perf_counter

from esrag.cached import cache_answers, cache_hits
from esrag.citations import REASONS, SMALL_TALK, OnSentence, ignore
from esrag.context import Context
from esrag.describing.catalogue import describe_collection
from esrag.describing.summary import summarise
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.errors import EsragError
from esrag.evidence.confidence import Signals, band
from esrag.filters import Filter
from esrag.gathering import Gathered, gather_evidence, retrieve_hits
from esrag.generating import Draft
from esrag.generating.followups import Turn, make_standalone
from esrag.generating.rewriting import rewrite
from esrag.ingesting import Progress
from esrag.ingesting.batches import Target
from esrag.jobs.planning import IngestRequest, plan_ingest
from esrag.jobs.recording import open_job
from esrag.jobs.reporting import IngestReport, report
from esrag.jobs.running import cancel_if_stopped, files_left, remove_gone, run_job, take_over
from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.models.metering import ModelCall
from esrag.nearest import find_nearest
from esrag.records import Answer
from esrag.results import AskResult, with_notes
from esrag.retrieving.conditions import check_filter
from esrag.retrieving.legs import prepare_question
from esrag.retrieving.spelling import Correction, repair
from esrag.routing import DOCUMENTS, Kind, Route
from esrag.routing.document_questions import find_document_route
from esrag.routing.small_talk import is_small_talk
from esrag.runs.store import RunStore
from esrag.writing import Written, write_answer


def ingest(
    request: IngestRequest, work: Work, progress: Progress, *, eager: bool = False
) -> IngestReport:
    """Make the index hold what the files hold, after what earlier ingests left to do.

    Everything happens in this process. A file that cannot be loaded is in the report. With `eager`
    the first error of any batch is raised.

    Raises: EngineError, EmbeddingError; the rest of the work is in the ledger, and the next ingest
    does it. SettingsError, ModelError, KeyboardInterrupt; the job is cancelled, so that no later
    command carries it out.
    """
    started = perf_counter()
    engine, key = work.context.engine, request.key(work.settings)

    with engine.writer(work.made, rebuild=request.rebuild) as writer:
        known_vectors = (
            (lambda _: {}) if request.rebuild else engine.vectors_of
        )  # a rebuild trusts nothing stored
        target = Target(work.made, lambda: nullcontext(writer), known_vectors)

        total = 0
        for earlier in () if request.rebuild else take_over(work, key, progress.say):
            total += files_left(work, earlier)
            progress.start(total)
            run_job(earlier, work, target, progress, eager=eager)
            remove_gone(writer, earlier)
            work.ledger.end(earlier.job_id)

        job = open_job(work, plan_ingest(request, work), key, rebuild=request.rebuild)
        progress.start(total + job.files)
        with cancel_if_stopped(job, work):
            run_job(job, work, target, progress, eager=eager)
        if not request.rebuild:
            remove_gone(writer, job)

    work.ledger.end(job.job_id)
    return replace(report(work.ledger, job), took_ms=round(1000 * (perf_counter() - started)))


def enqueue(request: IngestRequest, work: Work) -> Job:
    """Record what an ingest has to do, for workers.

    Raises: EngineError, LedgerError, ModelError.
    """
    with work.context.engine.writer(work.made):  # a mismatch, or no right to write, is reported now
        return open_job(work, plan_ingest(request, work), request.key(work.settings))


def ask(
    question: str, context: Context, where: Filter | None = None, on_sentence: OnSentence = ignore
) -> AskResult:
    """Return the cited answer to a question, or the refusal; from the cache if it is there.

    A question about the documents themselves is answered from the records of the index or from the
    document in question. Small talk gets a fixed line, and nothing is searched for it.

    `on_sentence` is called with each sentence of a new answer as it passes its check. The answer is
    what is returned: it is a refusal if a later sentence fails.

    Raises: UsageError for an empty or over-long question, or a filter that cannot have been meant;
    SettingsError, IndexMissing, IndexMismatch, ContextTooLarge, GeneratorError.
    """
    question = prepare_question(question)
    notes = check_filter(where, context.engine)
    runs = context.runs()  # a store that cannot be meant is reported before an answer is paid for

    answer = _reply if is_small_talk(question) else _answer
    result = answer(question, context, where, on_sentence).with_notes(notes)
    return _keep(result, runs, context, where) if runs else result


def _keep(result: AskResult, runs: RunStore, context: Context, where: Filter | None) -> AskResult:
    """Return the result with the id of its kept record, or with a note that it was not kept."""
    record = result.to_record(context, where)
    try:
        runs.add(record)
    except EsragError as error:
        return result.with_notes([f"the run was not kept: {error.line}"])
    return replace(result, run_id=record["run_id"])


def _reply(question: str, *_: object) -> AskResult:
    """Return the line that answers small talk."""
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


@cache_answers
def _answer(
    question: str, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult:
    calls: list[ModelCall] = []
    context = context.with_recorder(calls.append)
    context.open_writers()  # a missing key is reported before anything is done

    route = find_document_route(question) or DOCUMENTS
    result = (
        _describe(question, route, context, where, on_sentence)
        or _summarise(question, route, context, where, on_sentence)
        or _answer_from_passages(question, context, where, on_sentence)
    )
    return result.with_calls(calls)


def _describe(
    question: str, route: Route, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the answer to a question about the collection; None for any other question."""
    clock = Clock()
    described = describe_collection(route, context, where) if route.kind == "collection" else None
    if described is None:
        return None

    clock.lap("describe")
    for line in described.answer.text.splitlines():
        on_sentence(line)
    signals = Signals(described.confidence, None)
    found = Gathered(
        described.retrieved, described.evidence, (), signals, described.confidence, None
    )
    written = Written(described.answer, Draft("", "records"), took_ms=clock.took_ms)
    return _build_result(question, "collection", found, written, context)


def _summarise(
    question: str, route: Route, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the summary of the document in question; None if the question names none."""
    if route.kind != "summary":
        return None
    summary = summarise(question, route.about, context, where, on_sentence)
    return _build_result(question, "summary", *summary, context) if summary else None


def _answer_from_passages(
    question: str, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult:
    spelled, corrections = _repair(question, context, where)
    found = gather_evidence(spelled, context, where)
    written = write_answer(spelled, found, context, on_sentence)
    result = _build_result(question, "documents", found, written, context)
    nearest = find_nearest(found, result.reason, context.engine)
    return replace(result, corrections=corrections, nearest=nearest)


def _repair(
    question: str, context: Context, where: Filter | None
) -> tuple[str, tuple[Correction, ...]]:
    """Return the question in the documents' spelling, if `retrieval.spelling` is on."""
    if not context.settings.retrieval.spelling:
        return question, ()
    return repair(question, context.engine, context.embedder, where)


def _build_result(
    question: str, route: Kind, found: Gathered, written: Written, context: Context
) -> AskResult:
    writer = context.open_writers()[0]
    return AskResult(
        question=question,
        answer=written.answer,
        signals=found.signals,
        confidence=found.confidence,
        confidence_band=band(found.confidence),
        evidence=found.evidence,
        retrieved=found.retrieved,
        model=written.draft.model or (writer or context.generator()).model,
        took_ms={**found.retrieved.took_ms, **(written.took_ms or {})},
        steps=found.steps,
        prompt=written.prompt,
        draft=written.draft.text,
        route=route,
    )


def search(question: str, context: Context, where: Filter | None = None) -> SearchResult:
    """Return the hits for a question; from the cache if they are there. Raises: as `ask`."""
    question = prepare_question(question)
    notes = check_filter(where, context.engine)
    spelled, corrections = _repair(question, context, where)
    repaired = (correction.note for correction in corrections)

    return with_notes(_search(spelled, context, where), (*notes, *repaired))


_search = cache_hits(retrieve_hits)


def resolve_followup(question: str, earlier: Sequence[Turn], context: Context) -> str:
    """Return a question that stands alone for one that leans on earlier ones.

    The model that writes answers puts it into words; without one, rules do. Small talk stays.
    """
    if is_small_talk(question):
        return question
    model = context.assistant
    if model:
        return rewrite(question, earlier, model, context.prompts)
    return make_standalone(question, earlier)
