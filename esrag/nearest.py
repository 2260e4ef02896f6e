"""The places that come nearest to a question whose answer was not found."""

from dataclasses import replace
from itertools import islice

from esrag.citations import Reason
from esrag.engines import Engine
from esrag.evidence.confidence import confidence
from esrag.gathering import Gathered
from esrag.records import Chunk
from esrag.results import Place

MAX_PLACES = 3
# Below this the passages have little to do with the question: questions about something else have
# 0.15 on average.
MIN_CONFIDENCE = 0.2

# The passages may hold the answer, or a part of it. A draft that failed its check proves nothing.
_REASONS: tuple[Reason, ...] = ("below-threshold", "budget", "model-refused", "too-few-hits")


def find_nearest_places(found: Gathered, reason: str, engine: Engine) -> tuple[Place, ...]:
    """Return the sections of the best hits, best first, for a question refused for a reason.

    Raises: EngineError.
    """
    # What lacks the number or year that is asked for may be next to it.
    signals = replace(found.signals, lacks_number=False, lacks_unit=False, lacks_year=False)
    if reason not in _REASONS or confidence(signals) < MIN_CONFIDENCE:
        return ()

    best = _find_sections(found)
    places: dict[tuple[str, str], Chunk] = {}
    for hit in found.retrieved.hits:
        section = best.get(hit.chunk.chunk_id, hit.chunk.section)
        places.setdefault((hit.chunk.doc_id, section), hit.chunk)
    shown = [*islice(places.items(), MAX_PLACES)]
    stored = engine.documents(sorted({doc_id for (doc_id, _), _ in shown}))
    sources = {document.doc_id: document.source for document in stored}
    return tuple(
        Place(
            doc_id=doc_id,
            chunk_id=chunk.chunk_id,
            title=chunk.title,
            section=section,
            start_page=chunk.start_page,
            end_page=chunk.end_page,
            source=sources.get(doc_id, ""),
        )
        for (doc_id, section), chunk in shown
    )


def _find_sections(found: Gathered) -> dict[str, str]:
    """Return the section of the best statement of each chunk."""
    ranked = sorted(found.statements, key=lambda each: (each.fit, -each.order))
    sections = {each.key: each.section for each in ranked}
    return {
        item.chunk.chunk_id: sections[item.key] for item in found.evidence if item.key in sections
    }
