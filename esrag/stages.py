"""The opened parts that a question or an ingest goes through, as the settings name them."""

from dataclasses import dataclass

from esrag import plugins
from esrag.caching import Cache
from esrag.caching.opening import open_cache
from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.engines import Engine, EngineOptions
from esrag.settings import EngineSettings, Settings, is_address


@dataclass(frozen=True, slots=True)
class Stages:
    """The opened parts; `embedder` is None where `embedding.model` is none, `cache` where `cache.url` is."""

    engine: Engine
    embedder: Embedder | None
    cache: Cache | None = None


def open_stages(settings: Settings) -> Stages:
    """The engine, the embedder and the cache that the settings name; nothing slow happens yet."""
    embedder = open_embedder(settings.embedding.provider, embedder_options(settings))
    return Stages(open_engine(settings.engine), embedder, open_cache(settings.cache))


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
