"""Engines: where chunks and vectors live and are searched.

The contract, for every class registered under `esrag.engines`:

- `Engine(EngineOptions)` does nothing slow; the first use opens. `close()` is safe to call twice.
- Reading: many readers at once, each sees one consistent state a call; on a server one a request. A missing index
  raises `IndexMissing`.
- Writing: inside `with engine.writer(fingerprint)`; one writer at a time, a second waits `lock_wait_s` and then raises
  `IndexBusy`. `writer.replace(...)` is atomic a document: after a crash each document is wholly old or wholly new. A
  server cannot do that: there a document that was being written counts as changed, and the next ingest mends it.
- `search(request)` → hits in falling score, ties by chunk id, each with per-leg ranks and scores (ranks are 1..n in
  that leg after the filter), and the path taken. One filter reaches both legs. Data is never syntax.
- `generation` changes with every commit that changes content.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, Fusion, Hit, Method, StoredDocument

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where the index is, how long a second writer waits, and for a server how to get in."""

    url: str = field(default=".esrag", repr=False)  # it may hold a password
    index: str = "esrag"
    lock_wait_s: float = 30.0
    username: str = ""
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    ca_file: str = ""
    certificate_fingerprint: str = ""
    verify_certificates: bool = True


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the index.

    `candidates` is how deep each leg is read before fusion; `size` how many fused hits come back; `vector` is a unit
    row, or None for the keyword leg alone. `rank_constant` is RRF's k; `vector_weight` is the weighted fusion's.
    """

    text: str
    vector: Vectors | None = None
    method: Method = "hybrid"
    filter: Filter | None = None
    size: int = 10
    candidates: int = 100
    fusion: Fusion = "rrf"
    rank_constant: int = 60
    vector_weight: float = 0.5


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in order and the path taken: `keyword`, `vector`, `weighted-client`, `rrf-client` or `rrf-native`."""

    hits: tuple[Hit, ...]
    path: str


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored: its chunks, what of each is embedded and searched (title, section, text), vectors.

    `vectors` has one row a chunk, or is None in an index without a model.
    """

    document: StoredDocument
    chunks: tuple[Chunk, ...]
    indexed_texts: tuple[str, ...]
    vectors: Vectors | None


class Writer(Protocol):
    """The one writer of an index."""

    def replace(self, documents: Sequence[Prepared]) -> None:
        """Stores documents, each replacing its former self; one transaction for all that are given."""
        ...

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Removes documents and their chunks; unknown ids are ignored. One transaction."""
        ...

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """The stored vectors of texts that are indexed already, by text, so that they are not embedded again."""
        ...


class Engine(Protocol):
    """An index that can be read by many and written by one."""

    def __init__(self, options: EngineOptions) -> None: ...

    def exists(self) -> bool:
        """Whether anything was ever ingested here."""
        ...

    def fingerprint(self) -> Fingerprint:
        """What the index was made with. Raises: IndexMissing."""
        ...

    def generation(self) -> int:
        """A number that grows with every change of content."""
        ...

    def documents(self) -> Iterator[StoredDocument]:
        """What is stored, by doc_id."""
        ...

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Chunks by document and position."""
        ...

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """The chunks up to `window` before and after it in its document, in order, itself left out."""
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """Both legs, the filter and the fusion. Raises: IndexMissing."""
        ...

    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> AbstractContextManager[Writer]:
        """The one writer. `rebuild` starts an empty index beside the old one and puts it in its place on success.

        Raises: IndexBusy, IndexMismatch (made with another fingerprint), IndexUnwritable.
        """
        ...

    def check(self) -> Sequence[str]:
        """What is wrong with the index, a line each; empty when it is sound."""
        ...

    def close(self) -> None:
        """Lets go of files and connections."""
        ...
