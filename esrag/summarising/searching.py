"""The first of two searches: the summaries that fit a question, and with them its documents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.embedding import Embedder
from esrag.engines import Engine, SearchRequest
from esrag.errors import IndexMismatch, IndexMissing
from esrag.filters import Filter, Terms
from esrag.records import Hit
from esrag.retrieving.legs import query_vector
from esrag.retrieving.scopes import WHOLE, Scope
from esrag.settings import SummariesSettings
from esrag.text import format_count

_DEPTH = 10  # summaries read for each document that is wanted; many may be of one document


@dataclass(frozen=True, slots=True)
class Layer:
    """The documents whose summaries fit, as a scope; none, and a note, if no summary does."""

    hits: tuple[Hit, ...] = ()
    scopes: tuple[Scope, ...] = ()
    notes: tuple[str, ...] = ()


NO_LAYER = Layer()


def scale(cosine: float) -> float:
    """Return a cosine on the scale 0..1 of both search servers: half of 1 + cosine.

    >>> scale(0.2)
    0.6
    """
    return round((1 + cosine) / 2, 6)


def search_summaries(
    question: str,
    engine: Engine,
    embedder: Embedder | None,
    settings: SummariesSettings,
    where: Filter | None,
) -> Layer:
    """Return the documents with the best summaries for a question, within a filter.

    Without a model they are found by their words, and `min_score` does not apply.

    Raises: EngineError.
    """
    if not engine.exists():
        return _skip("there are no summaries yet, esrag ingest makes them")
    try:
        found = _search(question, engine, embedder, settings, where)
    except (IndexMissing, IndexMismatch) as error:
        return _skip(f"the summaries cannot be used: {error}; esrag ingest makes them again")

    best = _list_best(found, settings)
    if not best:
        return _skip("no summary is close enough to the question")
    doc_ids = tuple(hit.chunk.doc_id for hit in best)
    label = f"the {format_count(len(best), 'document')} with the nearest summaries"
    return Layer(best, (Scope(Terms("doc_id", doc_ids), label),))


def _skip(why: str) -> Layer:
    return Layer(notes=(f"{why}; searched in {WHOLE}",))


def _search(
    question: str,
    engine: Engine,
    embedder: Embedder | None,
    settings: SummariesSettings,
    where: Filter | None,
) -> Sequence[Hit]:
    deep = settings.top_k * _DEPTH
    request = SearchRequest(
        text=question,
        vector=query_vector(question, embedder) if embedder else None,
        method="vector" if embedder else "keyword",
        filter=where,
        size=deep,
        candidates=deep,
        model=embedder.fingerprint if embedder else "",
    )
    return engine.search(request).hits


def _list_best(found: Sequence[Hit], settings: SummariesSettings) -> tuple[Hit, ...]:
    """Return the best summary of each of the best documents."""
    best: dict[str, Hit] = {}
    for hit in _iter_close(found, settings.min_score):
        best.setdefault(hit.chunk.doc_id, hit)
    return (*best.values(),)[: settings.top_k]


def _iter_close(found: Sequence[Hit], min_score: float) -> Iterator[Hit]:
    for hit in found:
        if hit.vector_score is None or scale(hit.vector_score) >= min_score:
            yield hit
