"""Neighbours: the chunks around a hit, for reading it in its place."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from esrag.engines import Engine
from esrag.records import Hit


def with_neighbours(hits: Sequence[Hit], engine: Engine, window: int) -> Iterator[Hit]:
    """Yield the hits, best first, then the chunks around each, the best hit's first.

    A neighbour has the score of its hit.
    """
    yield from hits
    if window:
        for hit in hits:
            for chunk in engine.neighbours(hit.chunk, window):
                yield replace(hit, chunk=chunk)
