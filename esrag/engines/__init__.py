"""Engines: where chunks and vectors live and are searched.

The contract, for every class registered under `esrag.engines`:

- `Engine(EngineOptions)` does nothing slow; the first use opens. `close()` is safe to call twice.
- Reading: many readers at once, each sees one consistent state a call; on a server one a request. A missing index
  raises `IndexMissing`.
- Writing: inside `with engine.writer(fingerprint)`; one writer at a time, a second waits `lock_wait_s` and then raises
  `IndexBusy`. `writer.replace(...)` is atomic a document: after a crash each document is wholly old or wholly new. A
  server cannot do that: there a document that was being written counts as changed, and the next ingest mends it.
- Readers see a call once it has returned. On a server they see what fills an empty index only when the writer ends, by
  an exception or not; what a killed one stored they see from the next writer on.
- `search(request)` → hits in falling score, ties by chunk id, each with per-leg ranks and scores (ranks are 1..n in
  that leg after the filter), and the path taken. One filter reaches both legs. Data is never syntax.
- `generation` changes with every commit that changes content.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, Fusion, Hit, Method, StoredDocument

Vectors = npt.NDArray[np.float32]
UNFINISHED = "is unfinished: a rebuild or a move is filling it, or was cut short"
_NOT_KNOWN = Fingerprint("", 0, "")
Similarity = Literal["cosine", "dot_product", "l2_norm"]
Quantisation = Literal["none", "int8", "int4", "bbq"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where the index is, how long a second writer waits, for a server how to get in, and how it makes an index."""

    url: str = field(default=".esrag", repr=False)  # it may hold a password
    index: str = "esrag"
    lock_wait_s: float = 30.0
    username: str = ""
    password: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    ca_file: str = ""
    certificate_fingerprint: str = ""
    verify_certificates: bool = True
    shards: int = 1
    replicas: int = 0
    similarity: Similarity = "cosine"
    quantisation: Quantisation = "none"
    hnsw_m: int = 16
    hnsw_ef_construction: int = 100


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One question to the index.

    `candidates` is how deep each leg is read before fusion; `size` how many fused hits come back; `vector` is a unit
    row, or None for the keyword leg alone. `rank_constant` is RRF's k; `vector_weight` is the vector leg's
    share, 0..1, in either fusion. `model` is what the index must have been made with, or "" for whatever it was.
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
    model: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in order and the path taken: `keyword`, `vector`, or a fusion and who made it, as `rrf-client` (esrag).

    The others are `rrf-native`, `weighted-client` and `weighted-native`. `notes` say what a reranker could not do, or a
    model that failed to find other words, or which condition of the filter no passage meets. `took_ms` is by stage, as
    far as an engine can tell its stages apart.
    """

    hits: tuple[Hit, ...]
    path: str
    notes: tuple[str, ...] = ()
    took_ms: Mapping[str, float] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored: its chunks, what of each is embedded and searched (title, section, text), vectors.

    `vectors` has a row for each chunk, and is None in an index without a model.
    """

    document: StoredDocument
    chunks: tuple[Chunk, ...]
    indexed_texts: tuple[str, ...]
    vectors: Vectors | None


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index at an engine's address; `in_use` is the one that questions and ingests go to.

    `size_bytes` is None if the server does not report it. `problem` says why it cannot be used.
    """

    name: str
    in_use: bool
    fingerprint: Fingerprint = _NOT_KNOWN
    documents: int = 0
    chunks: int = 0
    size_bytes: int | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` is empty where it is in order."""

    level: Literal["ok", "warning", "error"]
    what: str
    advice: str = ""


class Writer(Protocol):
    """The one writer of an index."""

    def replace(self, documents: Sequence[Prepared]) -> Mapping[str, str]:
        """Stores documents, each replacing its former self; one transaction for all that are given.

        Returns the documents that the engine would not take, and why, by doc_id: the others are stored, and of these
        nothing is in the index any more, their former selves included. Only a server refuses a document.
        """
        ...

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Removes documents and their chunks; unknown ids are ignored. One transaction."""
        ...

    def remove_former(self, sources: Mapping[str, str]) -> None:
        """Removes what is stored of these sources and was not read from the bytes of the given SHA-256; "": all of it.

        One transaction. What was stored within the same writer is seen.
        """
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

    def documents(self, doc_ids: Sequence[str] | None = None) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids: all, or those of `doc_ids` that exist."""
        ...

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Chunks by document and position."""
        ...

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """The chunks up to `window` before and after it in its document, in order, itself left out."""
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """Both legs, the filter and the fusion. Raises: IndexMissing, IndexMismatch."""
        ...

    def any_match(self, filters: Sequence[Filter]) -> Sequence[bool]:
        """Return, for each filter, whether any chunk passes it. Raises: IndexMissing."""
        ...

    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> AbstractContextManager[Writer]:
        """Return the one writer. `rebuild` starts an empty index that replaces the old one on success.

        Raises: IndexBusy, IndexMismatch (made with another fingerprint), IndexUnwritable.
        """
        ...

    def check(self) -> Sequence[str]:
        """What is wrong with the index, a line each; empty when it is sound."""
        ...

    def vectors(self) -> Iterator[tuple[str, Vectors]]:
        """Chunk ids and their vectors, in the order of `chunks`; nothing in an index without a model."""
        ...

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the stored vectors of indexed texts, by text; an empty mapping without an index or a model.

        They are of the model that the index in use was made with.
        """
        ...

    def info(self) -> StoredIndex:
        """The index in use. Raises: IndexMissing, EngineError."""
        ...

    def indexes(self) -> Sequence[StoredIndex]:
        """Every index that esrag made at this address, by name; one that cannot be read is there with its problem."""
        ...

    def create(self, fingerprint: Fingerprint) -> str:
        """Create an empty index next to the one in use, and return its name."""
        ...

    def swap(self, name: str, since: int | None = None) -> str:
        """Swap another index in for the one in use, in one step, as soon as neither is being written.

        Returns the name that swaps the former index back in; "" if there was no index. The generation grows.
        Raises: IndexMissing, IndexMismatch, IndexBusy, which is also said where the generation is not `since` any more.
        """
        ...

    def drop(self, name: str) -> None:
        """Remove an index with its content, as soon as it is not being written.

        Raises: IndexMissing, IndexMismatch, IndexBusy.
        """
        ...

    def refresh(self) -> None:
        """Lets everything that is stored be found; for an engine where that is so at once, nothing."""
        ...

    def examine(self) -> Iterator[Finding]:
        """Yield a finding for each part that the index depends on: disk or server, free space, version, licence.

        What cannot be asked is a finding as well; nothing is raised. The content of the index is `check`'s.
        """
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...
