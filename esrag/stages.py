"""The opened parts that a question or an ingest goes through, as the settings name them."""

import math
from dataclasses import dataclass

from esrag import plugins
from esrag.caching import Cache
from esrag.caching.opening import open_cache
from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.opening import open_embedder
from esrag.engines import Engine, EngineOptions
from esrag.errors import SettingsError
from esrag.reranking import RerankOptions
from esrag.reranking.chain import Chain
from esrag.settings import EngineSettings, Settings, is_address

_SERVICE_S = 10.0  # without a budget; a question waits for it
_BY_LENGTH = "rerank.completeness"


@dataclass(frozen=True, slots=True)
class Stages:
    """The opened parts; `embedder` is None where `embedding.model` is none, `cache` where `cache.url` is.

    `rerankers` are those of `rerank.chain` by their names, in its order.
    """

    engine: Engine
    embedder: Embedder | None
    cache: Cache | None = None
    rerankers: Chain = ()


def open_stages(settings: Settings) -> Stages:
    """The engine, the embedder, the cache and the rerankers that the settings name; nothing slow happens yet."""
    embedder = open_embedder(settings.embedding.provider, embedder_options(settings))
    cache = open_cache(settings.cache)
    return Stages(open_engine(settings.engine), embedder, cache, open_rerankers(settings, embedder))


def open_rerankers(settings: Settings, embedder: Embedder | None) -> Chain:
    """The rerankers of `rerank.chain`. Raises: SettingsError for an unknown name, or a setting that one needs."""
    names = [name.strip() for name in settings.rerank.chain.split(",") if name.strip()]
    if not names:
        return ()
    options = rerank_options(settings, embedder)
    return tuple((name, plugins.load("rerankers", name)(options)) for name in names)


def rerank_options(settings: Settings, embedder: Embedder | None) -> RerankOptions:
    """The section `rerank` of the settings, as rerankers take it."""
    rerank, embedding = settings.rerank, settings.embedding
    return RerankOptions(
        embedder=embedder,
        model=rerank.model,
        url=rerank.url,
        api_key=rerank.api_key.get_secret_value(),
        timeout_s=rerank.budget_ms / 1000 or _SERVICE_S,
        precision=embedding.precision,
        workers=embedding.workers,
        offline=embedding.offline,
        group_by=rerank.group_by,
        relevance=rerank.relevance,
        weight=rerank.weight,
        authority=_bonuses("rerank.authority", rerank.authority),
        completeness=_bonuses(_BY_LENGTH, rerank.completeness),
        indicators=_bonuses("rerank.indicators", rerank.indicators),
    )


def _bonuses(key: str, written: str) -> dict[str, float]:
    """NAME=NUMBER, … as a mapping. Raises: SettingsError."""
    found: dict[str, float] = {}
    for part in filter(None, map(str.strip, written.split(","))):
        name, _, number = part.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name or not math.isfinite(found[name.strip()]) or (key == _BY_LENGTH and not name.strip().isdecimal()):
            raise SettingsError(f"{key}: {part!r} is no bonus", hint="write NAME=NUMBER, …, as 600=0.10, 400=0.05")
    return found


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
