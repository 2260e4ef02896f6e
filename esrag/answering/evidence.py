"""Evidence: which passages an answer may use, in which order, under which keys."""

from collections.abc import Iterable

from esrag.records import Evidence, Hit


def select(hits: Iterable[Hit], max_chunks: int, max_characters: int) -> tuple[Evidence, ...]:
    """Evidence with keys c1…cN from hits in order of importance.

    A chunk counts once, with its best score. The first hit is always in, the next ones while both budgets last. Keys
    follow (−score, doc_id, start_page, end_page, chunk_id), so that neighbours stand beside their hit.
    """
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.chunk.chunk_id)
        if known is None or hit.score > known.score:
            best[hit.chunk.chunk_id] = hit
    chosen = sorted(_within(best.values(), max_chunks, max_characters), key=_order)
    return tuple(Evidence(f"c{n}", hit.chunk, hit.score) for n, hit in enumerate(chosen, 1))


def _within(hits: Iterable[Hit], max_chunks: int, max_characters: int) -> list[Hit]:
    chosen: list[Hit] = []
    left = max_characters
    for hit in hits:
        size = len(hit.chunk.text)
        if len(chosen) < max_chunks and (size <= left or not chosen):
            chosen.append(hit)
            left -= size
    return chosen


def _order(hit: Hit) -> tuple[float, str, int, int, str]:
    chunk = hit.chunk
    return (-hit.score, chunk.doc_id, chunk.start_page, chunk.end_page, chunk.chunk_id)
