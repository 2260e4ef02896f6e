"""Batches of an ingest or a move: prepared documents → vectors → the index."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np

from esrag.embedding import Embedder, Vectors, checked
from esrag.engines import Prepared, Writer

BATCH_CHUNKS = 128  # chunks embedded and stored together; a crash costs at most this much work


class Batches:
    """Takes documents one by one, stores them in batches; a context manager that stores the rest at its end.

    `embedded` counts the texts that were encoded, `reused` the chunks whose vector was known, `stored` the chunks
    that are in the index; `refused` says why documents are not, by source. Reading the next batch while the encoder
    works on this one gained nothing on two cores: the encoder has a thread on each.
    """

    def __init__(self, writer: Writer, embedder: Embedder | None) -> None:
        self.embedded = self.reused = self.stored = 0
        self.refused: dict[str, list[str]] = {}
        self._writer = writer
        self._embedder = embedder
        self._gathered: list[Prepared] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self._store()

    def add(self, prepared: Prepared) -> None:
        """One more document; stores a batch when there is enough."""
        self._gathered.append(prepared)
        if sum(len(one.chunks) for one in self._gathered) >= BATCH_CHUNKS:
            self._store()

    def _store(self) -> None:
        batch, self._gathered = self._gathered, []
        reasons = self._writer.replace(self._with_vectors(batch, self._embedder) if self._embedder else batch)
        for one in batch:
            if reason := reasons.get(one.document.doc_id):
                self.refused.setdefault(one.document.source, []).append(reason)
            else:
                self.stored += len(one.chunks)

    def _with_vectors(self, batch: Sequence[Prepared], embedder: Embedder) -> list[Prepared]:
        """A text that is stored already or comes twice is not embedded again."""
        texts = list(dict.fromkeys(text for one in batch for text in one.indexed_texts))
        vectors = dict(self._writer.vectors_of(texts))
        new = [text for text in texts if text not in vectors]
        vectors |= dict(zip(new, checked(embedder.embed(new), len(new), embedder.dimensions), strict=True))
        self.embedded += len(new)
        self.reused += sum(len(one.chunks) for one in batch) - len(new)
        return [replace(one, vectors=_rows(one, vectors, embedder.dimensions)) for one in batch]


def _rows(prepared: Prepared, vectors: Mapping[str, Vectors], dimensions: int) -> Vectors:
    """A document's vectors as one array, shape (n, dimensions), also for none."""
    rows: Iterable[Vectors] = [vectors[text] for text in prepared.indexed_texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)
