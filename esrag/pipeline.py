"""The two lines of esrag, as two functions: `ingest` and `ask`.

- ingest: sources → load → chunk → embed → index
- ask: question → retrieve → rerank → evidence → prompt → generate → verify → answer
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter

from esrag import plugins
from esrag.asking import Asked, Shown, answer_question, retrieve_hits
from esrag.caching import Kind
from esrag.caching.answers import code_version, get_or_compute, key_of
from esrag.engines import Engine, SearchResult, Vectors
from esrag.engines.clock import Clock
from esrag.errors import (
    EngineError,
    EsragError,
    IndexBusy,
    IndexMissing,
    JobEnded,
    ModelError,
    SettingsError,
    UsageError,
)
from esrag.filters import Filter
from esrag.generating.rewriting import make_standalone, rewrite
from esrag.ingesting import Progress, planning
from esrag.ingesting.batches import Target
from esrag.jobs.recording import job_key, list_promised_ids, open_job, record_removal
from esrag.jobs.reporting import IngestReport, report
from esrag.jobs.running import drain, files_left, remove_gone, take_over
from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.loading.listing import Selection, list_files, source_named
from esrag.loading.sources import is_below
from esrag.records import StoredDocument
from esrag.retrieving.conditions import check_filter, require_of_documents
from esrag.retrieving.legs import prepare_question
from esrag.settings import Settings, is_address
from esrag.stages import Stages, prompts_of
from esrag.text import closest, format_count


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Which files the index is to hold: files, folders and globs; `rebuild` reads everything again."""

    arguments: Sequence[str]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    keep_missing: bool = False
    rebuild: bool = False


def ingest(request: IngestRequest, work: Work, progress: Progress, *, eager: bool = False) -> IngestReport:
    """Makes the index hold what the files hold, in this process; what other ingests left to do is done first.

    A file that cannot be loaded is reported and the others go on; with `eager` the first error of any batch is raised.

    Raises: EngineError, EmbeddingError; what is left to do is in the ledger, and done by the next ingest.
    SettingsError, ModelError, KeyboardInterrupt; the job is cancelled, so that no later command carries it out.
    """
    started = perf_counter()
    engine, key = work.stages.engine, _key(request, work.settings)

    with engine.writer(work.made, rebuild=request.rebuild) as writer:
        target = Target(work.made, lambda: nullcontext(writer), _none if request.rebuild else engine.vectors_of)
        total = 0
        for left in () if request.rebuild else take_over(work, key, progress.say):
            total += files_left(work, left)
            progress.start(total)
            _done_here(left, work, target, progress, eager=eager)
            remove_gone(writer, left)
            work.ledger.end(left.job_id)
        job = open_job(work, plan_ingest(request, work), key, rebuild=request.rebuild)
        progress.start(total + job.files)
        with _cancelled_when_stopped(job, work):
            _done_here(job, work, target, progress, eager=eager)
        if not request.rebuild:
            remove_gone(writer, job)

    work.ledger.end(job.job_id)
    return replace(report(work.ledger, job), took_ms=round(1000 * (perf_counter() - started)))


@contextmanager
def _cancelled_when_stopped(job: Job, work: Work) -> Iterator[None]:
    """Cancel a job whose command the user stops, or has to change; what passes by itself leaves it open."""
    try:
        yield
    except (KeyboardInterrupt, SettingsError, ModelError) as error:
        note = error.line if isinstance(error, EsragError) else "interrupted; the same esrag ingest goes on from there"
        work.ledger.cancel(job.job_id, note)
        raise


def _done_here(job: Job, work: Work, target: Target, progress: Progress, *, eager: bool) -> None:
    """Does what there is to do of a job. Raises: EsragError where it was cancelled, or a rebuild is not whole."""
    if job.state != "open":
        return

    drain(work, job, target, progress, eager=eager)
    counts = work.ledger.counts(job.job_id).batches
    if work.ledger.job(job.job_id).state == "cancelled":
        raise JobEnded(f"job {job.job_id} was cancelled", hint=f"to go on: esrag jobs resume {job.job_id}")
    if job.rebuild and (lost := counts["failed"] + counts["dead"]):
        message = f"the rebuild lacks {format_count(lost, 'batch')} and is thrown away; the index is as it was"
        raise JobEnded(message, hint=f"esrag jobs show {job.job_id} says why")


def over_window(work: Work) -> str:
    """What is to be known of chunks that may be longer than the encoder reads at once; "" where none can be.

    Raises: ModelError.
    """
    embedder, size = work.stages.embedder, work.settings.chunking.size
    if embedder is None or size <= embedder.window:
        return ""

    came = f"chunking.size is {size}, and the encoder reads {embedder.window} tokens at once"
    return f"{came}: a longer chunk gets the mean of its parts' vectors; a size of {embedder.window} or less avoids it"


def enqueue(request: IngestRequest, work: Work) -> Job:
    """Writes down what is to be done, for workers. Raises: EngineError, LedgerError, ModelError."""
    with work.stages.engine.writer(work.made):  # a mismatch, or no right to write, is said now
        return open_job(work, plan_ingest(request, work), _key(request, work.settings))


def _key(request: IngestRequest, settings: Settings) -> str:
    return job_key(settings, request.arguments, request.include, request.exclude, request.rebuild)


def _none(_: Sequence[str]) -> Mapping[str, Vectors]:
    """A rebuild takes nothing from the index that it replaces: that may be what is wrong."""
    return {}


def plan_ingest(request: IngestRequest, work: Work) -> planning.Plan:
    """What an ingest would do; nothing is written."""
    stored = _stored(request, work.stages.engine)
    listing = list_files(request.arguments, _selection(request, work.settings))
    return planning.plan(
        listing,
        stored,
        keep_missing=request.keep_missing,
        rebuild=request.rebuild,
        max_bytes=work.settings.loading.max_bytes,
        promised=list_promised_ids(work, work.settings.engine.index),
    )


@dataclass(frozen=True, slots=True)
class Removal:
    """Which documents are to leave the index, told in one way: by ids, by files and folders, or by a condition."""

    doc_ids: Sequence[str] = ()
    sources: Sequence[str] = ()
    where: Filter | None = None


def find_documents(removal: Removal, work: Work) -> tuple[tuple[StoredDocument, ...], tuple[str, ...]]:
    """Return the documents that are meant, by id, and notes on conditions that nothing meets.

    Raises: UsageError for an id, a source or a field that the index does not have; IndexMissing, EngineError.
    """
    if sum(map(bool, (removal.doc_ids, removal.sources, removal.where))) != 1:
        hint = "name ids, or --source PATH, or --where CONDITION; esrag docs lists the documents"
        raise UsageError("what is to be removed has to be told in one way", hint=hint)
    engine = work.engine(work.settings.engine.index)
    stored = tuple(engine.documents())

    if removal.where:
        require_of_documents(removal.where)
        notes = check_filter(removal.where, engine)
        doc_ids = {chunk.doc_id for chunk in engine.chunks(removal.where)}
        return tuple(document for document in stored if document.doc_id in doc_ids), notes
    if removal.sources:
        return tuple(_of_sources(removal.sources, stored)), ()
    for doc_id in removal.doc_ids:
        _require_known("document", doc_id, [document.doc_id for document in stored])
    return tuple(document for document in stored if document.doc_id in removal.doc_ids), ()


def _of_sources(sources: Sequence[str], stored: Sequence[StoredDocument]) -> Iterator[StoredDocument]:
    """The documents of files, and of all that is below folders. Raises: UsageError where there is none."""
    places = [source_named(source) for source in sources]
    known = {document.source for document in stored}
    for place in places:
        if not any(is_below(source, place) for source in known):
            _require_known("source", place, known)
    yield from (document for document in stored if any(is_below(document.source, place) for place in places))


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise UsageError for a name that the index does not have."""
    if name not in known:
        alike = closest(name, known)
        hint = f"did you mean {' or '.join(alike)}?" if alike else "esrag docs --json lists what there is"
        raise UsageError(f"the index has no {what} {name!r}", hint=hint)


def remove(documents: Sequence[StoredDocument], work: Work) -> tuple[StoredDocument, ...]:
    """Remove documents from the index, and return those that were still there. The ledger is told before.

    Raises: EngineError, IndexBusy, LedgerError.
    """
    engine, meant = work.engine(work.settings.engine.index), {document.doc_id for document in documents}
    with engine.writer(engine.fingerprint()) as writer:
        present = tuple(document for document in engine.documents() if document.doc_id in meant)
        if present:
            record_removal(work, engine.fingerprint(), sorted({document.source for document in present}))
            writer.remove([document.doc_id for document in present])
    return present


def _selection(request: IngestRequest, settings: Settings) -> Selection:
    """Which files of the named folders are taken; the index, the ledger and the cache never are."""
    addresses = (settings.ledger.url, settings.cache.url)
    own = frozenset(str(Path(url).resolve()) for url in addresses if url and "://" not in url)
    return Selection(
        include=request.include,
        exclude=request.exclude,
        follow_links=settings.loading.follow_links,
        ignore_files=settings.loading.ignore_files,
        own=own,
    )


def _stored(request: IngestRequest, engine: Engine) -> Mapping[str, planning.StoredSource]:
    """What the index holds; one that cannot be read may be replaced by a rebuild that names what is to be in it."""
    try:
        return planning.group_by_source(engine.documents())
    except IndexMissing:
        return {}
    except EngineError as error:
        if isinstance(error, IndexBusy) or not (request.rebuild and request.arguments):
            raise
        return {}


def ask(
    question: str, settings: Settings, stages: Stages, where: Filter | None = None, shown: Shown | None = None
) -> Asked:
    """The cited answer to a question, or the refusal; from the cache, where the same was asked before.

    `shown` is given each sentence of a new answer as it passes its check. What is shown stands for itself: the answer
    is what is returned, a refusal where a later sentence fails.

    Raises: UsageError for an empty or over-long question, or a filter that cannot have been meant; IndexMissing,
    IndexMismatch, ContextTooLarge, GeneratorError.
    """
    clock = Clock()
    question = prepare_question(question)
    notes = check_filter(where, stages.engine)
    make = partial(answer_question, question, settings, stages, where, shown)
    if stages.cache is None:
        return _with_notes(make(), notes)

    prompts = prompts_of(settings).fingerprint if stages.generator().prompted else ""
    generator = (settings.generator, plugins.distribution_of("generators", settings.generator.name), prompts)
    key = _cache_key(Kind.ANSWER, question, settings, stages, (where, settings.answer, generator))
    asked, cached = get_or_compute(stages.cache, key, Asked, make, _is_brief)
    clock.lap("cache")
    return _with_notes(replace(asked, cached=True, took_ms=clock.took_ms) if cached else asked, notes)


def resolve_followup(question: str, earlier: Sequence[str], settings: Settings, stages: Stages) -> str:
    """A question that leans on earlier ones as one of its own: by the model that writes answers, else by rules."""
    generator = stages.generator()
    if generator.prompted:
        return rewrite(question, earlier, generator, prompts_of(settings))
    return make_standalone(question, earlier)


def search(question: str, settings: Settings, stages: Stages, where: Filter | None = None) -> SearchResult:
    """The hits alone; from the cache, where the same was asked before. Raises: as `ask`."""
    question = prepare_question(question)
    notes = check_filter(where, stages.engine)
    make = partial(retrieve_hits, question, settings, stages, where)

    if stages.cache is None:
        found = make()
    else:
        key = _cache_key(Kind.QUERY, question, settings, stages, (where,))
        found, _ = get_or_compute(stages.cache, key, SearchResult, make, _brings_little)

    return replace(found, notes=(*notes, *found.notes))


def _with_notes(asked: Asked, notes: Sequence[str]) -> Asked:
    """Return an answer whose hits carry the notes on the filter, which are no part of what is cached."""
    return replace(asked, retrieved=replace(asked.retrieved, notes=(*notes, *asked.retrieved.notes)))


def _is_brief(asked: Asked) -> bool:
    """Whether it is kept for a minute only: a refusal, or an order that a reranker could not make."""
    return asked.answer.refused or _brings_little(asked.retrieved)


def _brings_little(found: SearchResult) -> bool:
    return not found.hits or bool(found.notes)


def _cache_key(kind: Kind, question: str, settings: Settings, stages: Stages, others: tuple[object, ...]) -> str:
    """The key of all that an answer depends on. The generation is read now, before anything is retrieved.

    An ingest that ends meanwhile makes a new generation, so that what is found by then is never given after it.
    """
    engine = settings.engine
    address = engine.url if is_address(engine.url) else str(Path(engine.url).resolve())
    user = (engine.username, engine.api_key.get_secret_value())  # a server may let each see something else
    index = (address, engine.index, stages.engine.generation(), *user)
    model = stages.embedder.fingerprint if stages.embedder else ""
    chain = [
        (plugins.distribution_of("rerankers", name), getattr(it, "fingerprint", "")) for name, it in stages.rerankers()
    ]
    services = (settings.rerank.url, settings.generator.url)  # which no settings show
    of = (question, settings.retrieval, settings.rerank, chain, services)
    return key_of(kind, code_version(), index, model, *of, *others)
