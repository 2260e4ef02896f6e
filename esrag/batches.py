"""Batches of an ingest: prepared documents → vectors → the index.

While the encoder works on one batch, the next waits at its door and another is read and cut: it never idles.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import numpy as np

from esrag.embedding import Embedder, Vectors, checked
from esrag.engines import Prepared, Writer

BATCH_CHUNKS = 64  # chunks embedded and stored together; a crash costs at most three batches of work
FLIGHTS = 2  # batches with the encoder: one that it works on, one that waits


@dataclass(frozen=True, slots=True)
class Flight:
    """A batch with its vectors that are stored, and those of `new` texts that are being embedded."""

    batch: tuple[Prepared, ...]
    stored: Mapping[str, Vectors]
    new: tuple[str, ...]
    vectors: "Future[Vectors]"

    def landed(self) -> dict[str, Vectors]:
        """The vectors by text; waits for the encoder."""
        return {**self.stored, **dict(zip(self.new, self.vectors.result(), strict=True))}


class Batches:
    """Takes documents one by one, stores them in batches; a context manager that stores the rest at its end.

    `embedded` counts the texts that were encoded, `reused` the chunks whose vector was known.
    """

    def __init__(self, writer: Writer, embedder: Embedder | None) -> None:
        self.embedded = self.reused = 0
        self._writer = writer
        self._embedder = embedder
        self._gathered: list[Prepared] = []
        self._flights: deque[Flight] = deque()
        self._landed: deque[Mapping[str, Vectors]] = deque(maxlen=FLIGHTS)  # the texts that those in flight count on
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="esrag-encoder")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._depart()
                while self._flights:
                    self._land(self._flights.popleft())
        finally:
            self._encoder.shutdown(wait=error is None, cancel_futures=True)

    def add(self, prepared: Prepared) -> None:
        """One more document; stores a batch when there is enough."""
        self._gathered.append(prepared)
        if sum(len(one.chunks) for one in self._gathered) >= BATCH_CHUNKS:
            self._depart()

    def _depart(self) -> None:
        """Sends what was gathered to the encoder, and stores the batch that comes back from it."""
        batch, self._gathered = tuple(self._gathered), []
        if self._embedder is None:
            self._writer.replace(batch)
            return
        self._flights.append(self._flight_of(batch, self._embedder))
        if len(self._flights) > FLIGHTS:
            self._land(self._flights.popleft())

    def _flight_of(self, batch: tuple[Prepared, ...], embedder: Embedder) -> Flight:
        """A text that is stored, comes twice or is in flight already is not embedded again."""
        texts = list(dict.fromkeys(text for one in batch for text in one.indexed_texts))
        near = {text for flight in self._flights for text in (*flight.stored, *flight.new)}
        stored = self._writer.vectors_of([text for text in texts if text not in near])
        new = tuple(text for text in texts if text not in near and text not in stored)
        self.embedded += len(new)
        self.reused += sum(len(one.chunks) for one in batch) - len(new)
        return Flight(batch, stored, new, self._encoder.submit(_encoded, embedder, new))

    def _land(self, flight: Flight) -> None:
        """Stores a batch with its vectors."""
        vectors = {text: vector for landed in self._landed for text, vector in landed.items()} | flight.landed()
        self._landed.append({text: vectors[text] for one in flight.batch for text in one.indexed_texts})
        width = self._embedder.dimensions if self._embedder else 0
        self._writer.replace([replace(one, vectors=_rows(one, vectors, width)) for one in flight.batch])


def _encoded(embedder: Embedder, texts: tuple[str, ...]) -> Vectors:
    return checked(embedder.embed(texts), len(texts), embedder.dimensions)


def _rows(prepared: Prepared, vectors: Mapping[str, Vectors], dimensions: int) -> Vectors:
    """A document's vectors as one array, shape (n, dimensions), also for none."""
    rows: Iterable[Vectors] = [vectors[text] for text in prepared.indexed_texts]
    return np.array(rows, dtype=np.float32).reshape(-1, dimensions)
