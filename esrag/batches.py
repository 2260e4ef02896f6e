"""Batches of an ingest: prepared documents → vectors → the index.

While the encoder works on one batch, the next one is read and cut: on two cores that saves time.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np

from esrag.embedding import Embedder, Vectors, checked
from esrag.engines import Prepared, Writer

BATCH_CHUNKS = 64  # chunks embedded and stored together; a crash costs at most two batches of work


@dataclass(frozen=True, slots=True)
class Flight:
    """A batch whose new texts are being embedded; `known` holds the vectors it did not need to ask for."""

    batch: tuple[Prepared, ...]
    known: Mapping[str, Vectors]
    new: tuple[str, ...]
    vectors: "Future[Vectors]"

    def landed(self) -> dict[str, Vectors]:
        """Every text of the batch with its vector; waits for the encoder."""
        return {**self.known, **dict(zip(self.new, self.vectors.result(), strict=True))}


class Batches:
    """Takes documents one by one, stores them in batches; a context manager that stores the rest at its end.

    `embedded` counts the texts that were encoded, `reused` the chunks whose vector was known.
    """

    def __init__(self, writer: Writer, embedder: Embedder | None) -> None:
        self.embedded = self.reused = 0
        self._writer = writer
        self._embedder = embedder
        self._gathered: list[Prepared] = []
        self._flight: Flight | None = None
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="esrag-encoder")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._depart()
                self._depart()
        finally:
            self._encoder.shutdown(wait=error is None, cancel_futures=True)

    def add(self, prepared: Prepared) -> None:
        """One more document; stores a batch when there is enough."""
        self._gathered.append(prepared)
        if sum(len(one.chunks) for one in self._gathered) >= BATCH_CHUNKS:
            self._depart()

    def _depart(self) -> None:
        """Sends what was gathered to the encoder, and stores the batch before it meanwhile."""
        batch, self._gathered = tuple(self._gathered), []
        if self._embedder is None:
            self._writer.replace(batch)
            return
        landed, before = (self._flight.landed(), self._flight.batch) if self._flight else ({}, ())
        self._flight = self._flight_of(batch, landed, self._embedder) if batch else None
        self._writer.replace([replace(one, vectors=_rows(one, landed, self._embedder.dimensions)) for one in before])

    def _flight_of(self, batch: tuple[Prepared, ...], landed: Mapping[str, Vectors], embedder: Embedder) -> Flight:
        """A text that is stored, comes twice or was in the batch before is not embedded again."""
        texts = list(dict.fromkeys(text for one in batch for text in one.indexed_texts))
        known = {text: landed[text] for text in texts if text in landed}
        known |= self._writer.vectors_of([text for text in texts if text not in known])
        new = tuple(text for text in texts if text not in known)
        self.embedded += len(new)
        self.reused += sum(len(one.chunks) for one in batch) - len(new)
        return Flight(batch, known, new, self._encoder.submit(_encoded, embedder, new))


def _encoded(embedder: Embedder, texts: tuple[str, ...]) -> Vectors:
    return checked(embedder.embed(texts), len(texts), embedder.dimensions)


def _rows(prepared: Prepared, vectors: Mapping[str, Vectors], dimensions: int) -> Vectors:
    """A document's vectors as one array, shape (n, dimensions), also for none."""
    rows: Iterable[Vectors] = [vectors[text] for text in prepared.indexed_texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)
