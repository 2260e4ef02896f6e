"""The opened parts that a question or an ingest goes through, as the settings name them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache as once
from functools import partial
from typing import TYPE_CHECKING

from esrag import plugins
from esrag.caching import Cache
from esrag.caching.opening import open_cache
from esrag.caching.vectors import VectorCache
from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.engines import Engine, EngineOptions
from esrag.errors import SettingsError
from esrag.evidence.statements import Encode
from esrag.generating import Generator, GeneratorOptions
from esrag.generating.extractive import ExtractiveGenerator
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Chain
from esrag.settings import EngineSettings, Settings, is_address

if TYPE_CHECKING:
    from esrag.generating.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Stages:
    """The opened parts; `embedder` is None where `embedding.model` is none, `cache` where `cache.url` is.

    `rerankers` and `generator` open theirs when a question first needs them: an ingest has no use for their keys.
    """

    engine: Engine
    embedder: Embedder | None
    cache: Cache | None = None
    rerankers: Callable[[], Chain] = tuple
    generator: Callable[[], Generator] = lambda: ExtractiveGenerator(GeneratorOptions())

    @property
    def encode(self) -> Encode | None:
        """How meanings are compared; None where there is no model."""
        return self.embedder.embed if self.embedder else None

    @property
    def vectors(self) -> VectorCache | None:
        """The vectors of the embedder that are kept in the cache."""
        embedder = self.embedder
        return VectorCache(self.cache, embedder.fingerprint, embedder.dimensions) if self.cache and embedder else None


def open_stages(settings: Settings) -> Stages:
    """The engine, the embedder, the cache and the rerankers that the settings name; nothing slow happens yet."""
    embedder = open_embedder(settings.embedding.provider, embedder_options(settings))
    cache = open_cache(settings.cache)
    rerankers, generator = partial(open_rerankers, settings, embedder), partial(open_generator, settings)
    return Stages(open_engine(settings.engine), embedder, cache, once(rerankers), once(generator))


def open_generator(settings: Settings) -> Generator:
    """The generator that the settings name, its prompts looked at. Raises: SettingsError."""
    section = settings.generator.model_dump(exclude={"name", "templates", "api_key"})
    options = GeneratorOptions(api_key=settings.generator.api_key.get_secret_value(), **section)
    generator: Generator = plugins.load("generators", settings.generator.name)(options)
    if generator.prompted:
        prompts_of(settings).check(takes_documents=generator.takes_documents)
    return generator


def prompts_of(settings: Settings) -> "Prompts":
    """The prompts that the settings name, for those who ask a model: they bring Jinja, which nobody else needs."""
    return _prompts_in(settings.generator.templates)


@once  # templates are compiled once a process, and again where their file changes
def _prompts_in(folder: str) -> "Prompts":
    from esrag.generating.prompts import Prompts

    return Prompts(folder)


def open_rerankers(settings: Settings, embedder: Embedder | None) -> Chain:
    """The rerankers of `rerank.chain`. Raises: SettingsError for an unknown name, or where one lacks something."""
    names = [name.strip() for name in settings.rerank.chain.split(",") if name.strip()]
    if len(set(names)) < len(names):
        raise SettingsError(f"rerank.chain names one twice: {', '.join(names)}", hint="each is asked once")
    options = rerank_options(settings, embedder) if names else None
    return tuple((name, plugins.load("rerankers", name)(options)) for name in names)


def rerank_options(settings: Settings, embedder: Embedder | None) -> RerankOptions:
    """The section `rerank` of the settings, as rerankers take it."""
    section = settings.rerank.model_dump(exclude={"chain", "depth", "budget_ms", "api_key"})
    key, encoder = settings.rerank.api_key.get_secret_value(), settings.embedding
    return RerankOptions(embedder, api_key=key, precision=encoder.precision, workers=encoder.workers, **section)


def embedder_options(settings: Settings) -> EmbedderOptions:
    """The encoder's section of the settings, as embedders take it; workers share limits through the queue's Redis."""
    secrets = {"api_key": settings.embedding.api_key.get_secret_value(), "limits_url": settings.queue.url}
    return EmbedderOptions(**{**settings.embedding.model_dump(exclude={"provider"}), **secrets})


def open_engine(where: EngineSettings) -> Engine:
    """The engine alone."""
    engine: Engine = plugins.load("engines", "server" if is_address(where.url) else "embedded")(engine_options(where))
    return engine


def engine_options(where: EngineSettings) -> EngineOptions:
    """An engine's section of the settings, as engines take it."""
    secrets = {"password": where.password.get_secret_value(), "api_key": where.api_key.get_secret_value()}
    return EngineOptions(**{**where.model_dump(), **secrets})
