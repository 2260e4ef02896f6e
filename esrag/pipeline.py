"""The two lines of esrag, as two functions: `ingest` and `ask`.

- ingest: sources → load → chunk → embed → index
- ask: question → retrieve → evidence → generate → verify → answer
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from esrag import plugins, sync
from esrag.answering import Draft, GenerationTask, Reason
from esrag.answering.confidence import Signals, band, confidence
from esrag.answering.evidence import select
from esrag.answering.verify import refusal, verify
from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.engines import Engine, EngineOptions, SearchResult
from esrag.errors import EngineError, IndexBusy, IndexMissing
from esrag.filters import Filter
from esrag.ingesting import IngestReport, Progress, Run, fingerprint
from esrag.loading.listing import list_files
from esrag.records import Answer, Evidence, StoredDocument
from esrag.retrieving.legs import retrieve
from esrag.retrieving.neighbours import with_neighbours
from esrag.settings import EngineSettings, Settings, is_address
from esrag.text import normalise


@dataclass(frozen=True, slots=True)
class Stages:
    """The opened parts; `embedder` is None where `embedding.model` is none."""

    engine: Engine
    embedder: Embedder | None


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Which files the index is to hold: files, folders and globs; `rebuild` reads everything again."""

    arguments: Sequence[str]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    keep_missing: bool = False
    rebuild: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and how it came about; `took_ms` is by stage."""

    question: str
    answer: Answer
    signals: Signals
    confidence: float
    confidence_band: str
    evidence: tuple[Evidence, ...]
    retrieved: SearchResult
    model: str
    took_ms: Mapping[str, float]


def open_stages(settings: Settings) -> Stages:
    """The engine and the embedder that the settings name; nothing slow happens yet."""
    options = settings.embedding.model_dump()
    embedder = open_embedder(options.pop("provider"), EmbedderOptions(**options))
    return Stages(open_engine(settings.engine), embedder)


def open_engine(where: EngineSettings) -> Engine:
    """The engine alone."""
    engine: Engine = plugins.load("engines", "server" if is_address(where.url) else "embedded")(engine_options(where))
    return engine


def engine_options(where: EngineSettings) -> EngineOptions:
    """An engine's section of the settings, as engines take it."""
    secrets = {"password": where.password.get_secret_value(), "api_key": where.api_key.get_secret_value()}
    return EngineOptions(**{**where.model_dump(), **secrets})


def ingest(request: IngestRequest, settings: Settings, stages: Stages, progress: Progress) -> IngestReport:
    """Makes the index hold what the files hold.

    Raises: EngineError, ModelError, EmbeddingError. A file that cannot be loaded is reported and the others go on.
    """
    started = perf_counter()
    with stages.engine.writer(fingerprint(settings, stages.embedder), rebuild=request.rebuild) as writer:
        plan = plan_ingest(request, stages.engine)
        report = Run(settings, stages.embedder, writer, progress).load(plan)
    return replace(report, took_ms=round(1000 * (perf_counter() - started)))


def plan_ingest(request: IngestRequest, engine: Engine) -> sync.Plan:
    """What an ingest would do; nothing is written."""
    stored = _stored(request, engine)
    listing = list_files(request.arguments, request.include, request.exclude)
    return sync.plan(listing, stored, keep_missing=request.keep_missing, rebuild=request.rebuild)


def _stored(request: IngestRequest, engine: Engine) -> tuple[StoredDocument, ...]:
    """What the index holds; one that cannot be read may be replaced by a rebuild that names what is to be in it."""
    try:
        return tuple(engine.documents())
    except IndexMissing:
        return ()
    except EngineError as error:
        if isinstance(error, IndexBusy) or not (request.rebuild and request.arguments):
            raise
        return ()


def ask(question: str, settings: Settings, stages: Stages, where: Filter | None = None) -> Asked:
    """The cited answer to a question, or the refusal.

    Raises: UsageError for an empty or over-long question, IndexMissing, IndexMismatch.
    """
    clock = _Clock()
    question = normalise(question)
    retrieved = retrieve(question, stages.engine, stages.embedder, settings.retrieval, where)
    clock.lap("retrieve")
    limits = settings.answer
    around = with_neighbours(retrieved.hits, stages.engine, limits.neighbours)
    evidence = select(around, limits.evidence_chunks, limits.evidence_characters)
    clock.lap("evidence")
    generator = plugins.load("generators", settings.generator.name)()
    encode = stages.embedder.embed if stages.embedder else None
    draft = generator.generate(GenerationTask(question, evidence, encode, limits.max_sentences))
    clock.lap("generate")
    signals = Signals(draft.relevance, _closeness(retrieved))
    sureness = confidence(signals)
    reason = _too_little(retrieved, settings) or _too_unsure(draft, sureness, settings)
    if reason == "no-hits" and where and retrieve(question, stages.engine, stages.embedder, settings.retrieval).hits:
        reason = "filtered-out"
    answer = refusal(reason) if reason else verify(draft.text, evidence)
    clock.lap("verify")
    sure = (signals, sureness, band(sureness))
    return Asked(question, answer, *sure, evidence, retrieved, generator.model, clock.took_ms)


def _closeness(retrieved: SearchResult) -> float | None:
    """The best cosine among the hits; None where the vector leg was not searched or found nothing."""
    return max((hit.vector_score for hit in retrieved.hits if hit.vector_score is not None), default=None)


def _too_little(retrieved: SearchResult, settings: Settings) -> Reason | None:
    if not retrieved.hits:
        return "no-hits"
    return "too-few-hits" if len(retrieved.hits) < settings.answer.minimum_hits else None


def _too_unsure(draft: Draft, sureness: float, settings: Settings) -> Reason | None:
    return "below-threshold" if draft.text and sureness < settings.answer.refusal else None


@dataclass(slots=True)
class _Clock:
    """Milliseconds by stage."""

    took_ms: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=perf_counter)

    def lap(self, stage: str) -> None:
        """The stage that just ended."""
        now = perf_counter()
        self.took_ms[stage] = round(1000 * (now - self.last), 1)
        self.last = now
