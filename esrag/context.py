"""The context of a question or an ingest: its settings and the parts that they name, opened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache as once
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from esrag import plugins
from esrag.caching import Cache
from esrag.caching.opening import open_cache
from esrag.caching.vectors import VectorCache
from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.embedding.reader import Reader, open_reader
from esrag.engines import Engine, engine_options
from esrag.evidence.fits import Read
from esrag.facts import storing as facts_storing
from esrag.facts.finding import FactFinder
from esrag.generating import Generator, GeneratorOptions
from esrag.generating.classifying import classify
from esrag.generating.extractive import ExtractiveGenerator
from esrag.models.metering import MeteredModel, OnCall
from esrag.models.profiles import NO_MODELS, Models, choose_model, open_models, with_recorder
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Chain
from esrag.routing import RouterOptions
from esrag.routing import chain as routing
from esrag.runs.opening import open_runs
from esrag.runs.store import RunStore
from esrag.settings import EngineSettings, IntentSettings, Settings, is_address
from esrag.settings.layers import with_values
from esrag.summarising import storing as summaries_storing
from esrag.verifying.support import Entail

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Context:
    """Settings and opened parts.

    `embedder` is None if `embedding.model` is "none", `cache` if `cache.url` is empty.
    `rerankers`, `models`, `generator` and `runs` are opened when a question first needs them: an
    ingest has no use for their keys. `runs` is None if `runs.keep` is "off". `facts` and
    `summaries` are the indexes beside that of the documents, which may not exist.
    """

    settings: Settings
    engine: Engine
    embedder: Embedder | None
    cache: Cache | None = None
    rerankers: Callable[[], Chain] = tuple
    models: Callable[[], Models] = lambda: NO_MODELS
    generator: Callable[[], Generator] = lambda: ExtractiveGenerator(GeneratorOptions())
    runs: Callable[[], RunStore | None] = lambda: None
    facts: Callable[[], Engine | None] = lambda: None
    summaries: Callable[[], Engine | None] = lambda: None
    routers: Callable[[], routing.Chain] = tuple
    reader: Reader | None = None

    def with_settings(self, values: Mapping[str, object]) -> "Context":
        """Return the same parts with other settings, by dotted key; no part is reopened."""
        return replace(self, settings=with_values(self.settings, values))

    def with_recorder(self, on_call: OnCall) -> "Context":
        """Return the same parts, with each call of a language model passed to `on_call`."""
        models = self.models
        return replace(self, models=lambda: with_recorder(models(), on_call))

    def open_writers(self) -> tuple[MeteredModel | None, ...]:
        """Return the models that may write the draft, in order: default, then strong.

        A single None is returned if the generator asks none. Raises: SettingsError for a missing
        model or key, or a prompt that cannot be used.
        """
        if not self.generator().prompted:
            return (None,)

        models = self.models()
        writers = dict.fromkeys((choose_model(models), choose_model(models, "strong")))
        for takes_documents in {writer.takes_documents for writer in writers}:
            self.prompts.check(takes_documents=takes_documents)
        return (*writers,)

    @property
    def assistant(self) -> MeteredModel | None:
        """The language model for small tasks; None if the generator asks none.

        Raises: SettingsError.
        """
        return choose_model(self.models(), "fast") if self.generator().prompted else None

    def classify(self, question: str, kinds: Mapping[str, IntentSettings]) -> str:
        """Return what the fast language model says of a question's intent.

        Raises: GeneratorError, SettingsError.
        """
        return classify(question, kinds, choose_model(self.models(), "fast"), self.prompts)

    @property
    def read(self) -> Read | None:
        """The reader, if `answer.reader` is on; None for another encoder than the default one."""
        return self.reader if self.settings.answer.reader else None

    @property
    def entail(self) -> Entail | None:
        """What tells whether a passage supports a sentence; None for another encoder."""
        return self.reader.entail if self.reader else None

    @property
    def prompts(self) -> "Prompts":
        """The prompts of the settings. They import Jinja, which only a language model needs."""
        return _prompts_in(self.settings.generator.templates)

    @property
    def identity(self) -> tuple[object, ...]:
        """Everything that the hits of a question depend on, except the question and its filter.

        The index's generation is read before anything is retrieved: an ingest that ends in between
        makes a new generation, so that earlier hits are never served after it.
        """
        settings, engine = self.settings, self.settings.engine
        address = engine.url if is_address(engine.url) else str(Path(engine.url).resolve())
        # A server may let each user see other documents.
        user = (engine.username, engine.api_key.get_secret_value())
        index = (address, engine.index, self.engine.generation(), *user)
        model = self.embedder.fingerprint if self.embedder else ""
        chain = [
            (plugins.distribution_of("rerankers", name), getattr(it, "fingerprint", ""))
            for name, it in self.rerankers()
        ]

        reranked = (settings.rerank, settings.rerank.url, chain)
        return (index, model, settings.retrieval, *reranked, *self._summaries_identity)

    @property
    def _summaries_identity(self) -> tuple[object, ...]:
        """The summaries that are searched first; nothing without them."""
        wanted, summaries = self.settings.summaries, self.summaries()
        if wanted.of == "nothing" or not wanted.search or summaries is None:
            return ()
        return (wanted, summaries.generation() if summaries.exists() else 0)

    @property
    def route_identity(self) -> tuple[object, ...]:
        """Everything that the route of a question depends on, except question and filter."""
        names, intents = self.settings.routing.chain, self.settings.intents
        plugged = [plugins.distribution_of("routers", name) for name in names]
        by_model = names and intents.classifier == "model"
        models = [(name, it.fingerprint) for name, it in self.models().items()] if by_model else []
        hard = (self.settings.complexity, self.settings.web) if names else ()
        routing = (self.settings.routing, plugged, intents, *hard, models)
        return (*routing, *(self._facts_identity if names else ()))

    @property
    def _facts_identity(self) -> tuple[object, ...]:
        """The facts, and the day on which they have to hold; nothing without facts."""
        facts = self.facts()
        if facts is None or not facts.exists():
            return ()
        section = self.settings.facts
        return (section, facts.generation(), section.today.isoformat())

    @property
    def writer_identity(self) -> tuple[object, ...]:
        """Everything that a draft and its verification depend on, except the evidence."""
        section = self.settings.generator
        written_by = (section.name, plugins.distribution_of("generators", section.name))
        if not self.generator().prompted:
            return (self.settings.answer, *written_by)

        models = [(name, model.fingerprint) for name, model in self.models().items()]
        return (self.settings.answer, *written_by, self.prompts.fingerprint, models)

    @property
    def vectors(self) -> VectorCache | None:
        """The vectors of the embedder that are kept in the cache."""
        embedder = self.embedder
        return (
            VectorCache(self.cache, embedder.fingerprint, embedder.dimensions)
            if self.cache and embedder
            else None
        )


def open_context(settings: Settings) -> Context:
    """Return the context that the settings describe; nothing slow happens yet.

    Raises: SettingsError, ModelError.
    """
    options = embedder_options(settings)
    embedder = open_embedder(settings.embedding.provider, options)
    cache, facts = open_cache(settings.cache), once(partial(open_facts, settings.engine))
    engine = open_engine(settings.engine)
    return Context(
        settings=settings,
        engine=engine,
        embedder=embedder,
        cache=cache,
        rerankers=once(partial(open_rerankers, settings, embedder)),
        models=once(partial(open_models, settings.models, cache)),
        generator=once(partial(open_generator, settings)),
        runs=once(partial(_open_runs, settings)),
        facts=facts,
        summaries=once(partial(open_summaries, settings.engine)),
        routers=once(lambda: open_routers(settings, facts(), engine)),
        reader=open_reader(embedder, options),
    )


def _open_runs(settings: Settings) -> RunStore | None:
    return None if settings.runs.keep == "off" else open_runs(settings)


def open_generator(settings: Settings) -> Generator:
    """Return the generator that the settings name. Raises: SettingsError."""
    options = GeneratorOptions(templates=settings.generator.templates)
    generator: Generator = plugins.load("generators", settings.generator.name)(options)
    return generator


@once  # templates are compiled once a process, and again if their file changes
def _prompts_in(folder: str) -> "Prompts":
    from esrag.generating.prompts import Prompts

    return Prompts(folder)


def open_rerankers(settings: Settings, embedder: Embedder | None) -> Chain:
    """Return the rerankers of `rerank.chain`.

    Raises: SettingsError for an unknown name, or a reranker that lacks something.
    """
    names = settings.rerank.chain
    options = rerank_options(settings, embedder) if names else None
    return tuple((name, plugins.load("rerankers", name)(options)) for name in names)


def rerank_options(settings: Settings, embedder: Embedder | None) -> RerankOptions:
    """The section `rerank` of the settings, as rerankers take it."""
    section = settings.rerank.model_dump(
        exclude={"chain", "depth", "budget_ms", "api_key", "indicators"}
    )
    return RerankOptions(
        embedder,
        api_key=settings.rerank.api_key.get_secret_value(),
        precision=settings.embedding.precision,
        workers=settings.embedding.workers,
        indicators=settings.rerank.indicators,
        **section,
    )


def embedder_options(settings: Settings) -> EmbedderOptions:
    """Return the section `embedding` of the settings, as embedders take it.

    Workers share their limits through the queue's Redis.
    """
    secrets = {
        "api_key": settings.embedding.api_key.get_secret_value(),
        "limits_url": settings.queue.url,
    }
    return EmbedderOptions(**{**settings.embedding.model_dump(exclude={"provider"}), **secrets})


def open_facts(where: EngineSettings) -> Engine:
    """Return the index of the facts, next to that of the documents."""
    return open_beside(where, facts_storing.index_name(where.index))


def open_summaries(where: EngineSettings) -> Engine:
    """Return the index of the summaries, next to that of the documents."""
    return open_beside(where, summaries_storing.index_name(where.index))


def open_siblings(where: EngineSettings) -> dict[str, Engine]:
    """Return the indexes next to that of the documents by name; they may not exist."""
    return {
        facts_storing.index_name(where.index): open_facts(where),
        summaries_storing.index_name(where.index): open_summaries(where),
    }


def open_beside(where: EngineSettings, name: str) -> Engine:
    """Return another index at the same address by its name."""
    return open_engine(where.model_copy(update={"index": name}))


def open_routers(settings: Settings, facts: Engine, engine: Engine) -> routing.Chain:
    """Return the routers of `routing.chain`. Raises: SettingsError, as `open_rerankers`."""
    names = settings.routing.chain
    options = RouterOptions(settings, FactFinder(facts, settings.facts), engine) if names else None
    return tuple((name, plugins.load("routers", name)(options)) for name in names)


def open_engine(where: EngineSettings) -> Engine:
    """The engine alone."""
    engine: Engine = plugins.load("engines", "server" if is_address(where.url) else "embedded")(
        engine_options(where)
    )
    return engine
