"""Prepared documents → vectors → the index, a portion at a time, for ingests and migrations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np

from esrag.caching.vectors import VectorCache
from esrag.embedding import Embedder, Vectors, check_vectors
from esrag.engines import Prepared, Writer

PORTION_CHUNKS = 128  # chunks stored together; a crash costs at most this much work
_ENCODED_TEXTS = (
    96  # at once: what Cohere takes in a request, so that each request that was paid for is kept
)

Known = Callable[[Sequence[str]], Mapping[str, Vectors]]


class Encoding:
    """Vectors of texts: the stored ones, the cached ones, and new ones for the rest.

    `embedded` counts the texts that were encoded, `reused` the chunks whose vector was known.
    `heartbeat` is called after every portion.
    """

    def __init__(
        self,
        embedder: Embedder,
        known: Known,
        cache: VectorCache | None = None,
        heartbeat: Callable[[], None] = lambda: None,
    ) -> None:
        self.embedded = self.reused = 0
        self._embedder = embedder
        self._known = known
        self._cache = cache
        self._heartbeat = heartbeat

    def with_vectors(self, documents: Sequence[Prepared]) -> list[Prepared]:
        """Return the documents with their vectors.

        A text that has a known vector or occurs twice is not encoded again.
        """
        texts = list(dict.fromkeys(text for one in documents for text in one.indexed_texts))
        vectors = dict(self._known(texts))
        if self._cache:
            vectors |= self._cache.look_up([text for text in texts if text not in vectors])
        new = [text for text in texts if text not in vectors]
        for portion, rows in self._encode(new):
            vectors |= zip(portion, rows, strict=True)

        self.embedded += len(new)
        self.reused += sum(len(one.chunks) for one in documents) - len(new)
        width = self._embedder.dimensions
        return [replace(one, vectors=_rows(one, vectors, width)) for one in documents]

    def _encode(self, texts: Sequence[str]) -> Iterator[tuple[Sequence[str], Vectors]]:
        """Yield texts with new vectors, after caching them so that they are not paid for twice."""
        for start in range(0, len(texts), _ENCODED_TEXTS):
            portion = texts[start : start + _ENCODED_TEXTS]
            came = self._embedder.embed(portion)
            rows = check_vectors(came, len(portion), self._embedder.dimensions)
            yield portion, self._cache.keep(portion, rows) if self._cache else rows
            self._heartbeat()


class Portions:
    """Takes documents one by one and stores them in portions.

    A context manager that stores the rest at its end. `writing` gives the index's writer for as
    long as a portion is stored. Within it, `current` returns which documents are still to be
    stored. Without an `encoding` documents are stored as they are. `stored` counts the chunks in
    the index; `refused` says why documents were refused, by source. Reading the next portion while
    the encoder works on this one gained nothing on two cores, since the encoder has a thread on
    each.
    """

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[Writer]],
        encoding: Encoding | None,
        current: Callable[[Sequence[Prepared]], list[Prepared]] = list,
    ) -> None:
        self.stored = 0
        self.refused: dict[str, list[str]] = {}
        self._writing = writing
        self._encoding = encoding
        self._current = current
        self._gathered: list[Prepared] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self._store()

    def add(self, prepared: Prepared) -> None:
        """Add a document, and store a portion if there are enough."""
        self._gathered.append(prepared)
        if sum(len(one.chunks) for one in self._gathered) >= PORTION_CHUNKS:
            self._store()

    def list_waiting(self) -> set[str]:
        """Return the sources of documents that were added but not stored yet."""
        return {one.document.source for one in self._gathered}

    def _store(self) -> None:
        portion, self._gathered = self._gathered, []
        if not portion:
            return

        if self._encoding:
            portion = self._encoding.with_vectors(portion)
        with self._writing() as writer:
            portion = self._current(portion)
            self._count(portion, writer.replace(portion))

    def _count(self, portion: Sequence[Prepared], reasons: Mapping[str, str]) -> None:
        """Count the chunks that were stored, and collect why others were refused."""
        for one in portion:
            if reason := reasons.get(one.document.doc_id):
                self.refused.setdefault(one.document.source, []).append(reason)
            else:
                self.stored += len(one.chunks)


def _rows(prepared: Prepared, vectors: Mapping[str, Vectors], dimensions: int) -> Vectors:
    """Return a document's vectors as one array, shape (n, dimensions), also if n is 0."""
    rows: Iterable[Vectors] = [vectors[text] for text in prepared.indexed_texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)
