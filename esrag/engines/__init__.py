"""Engines: the stores that hold chunks and vectors and search them.

The contract for every class registered under `esrag.engines`:

- `Engine(EngineOptions)` does nothing slow; the first use opens the index. `close()` may be called
  twice.
- Reading: many readers may work at once. Each call sees one consistent state; on a server, each
  request does. A missing index raises `IndexMissing`.
- Writing: happens inside `with engine.writer(fingerprint)`. Only one writer works at a time; a
  second one waits for `lock_wait_s` and then raises `IndexBusy`. `writer.replace(...)` is atomic
  per document: after a crash, each document is either the old version or the new one. A server
  cannot guarantee this. There, a document that was being written counts as changed, and the next
  ingest repairs it.
- Readers see the result of a call once it has returned. On a server, documents that fill an empty
  index become visible only when the writer ends, with or without an exception. What a killed writer
  stored becomes visible with the next writer.
- `search(request)` returns hits by falling score, ties by chunk id. Each hit has its rank and score
  per leg (ranks are 1..n within the leg, after the filter), and the result names the path taken.
  One filter applies to both legs. Data is never interpreted as syntax.
- `generation` changes with every commit that changes content.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, Fusion, Hit, Method, StoredDocument
from esrag.settings import EngineSettings
from esrag.text.defined import find_definitions
from esrag.text.rows import find_rows
from esrag.text.terms import question_terms, terms

Vectors = npt.NDArray[np.float32]
UNFINISHED = "is unfinished: a rebuild or a move is filling it, or was cut short"
_NOT_KNOWN = Fingerprint("", 0, "")
Similarity = Literal["cosine", "dot_product", "l2_norm"]
Quantisation = Literal["none", "int8", "int4", "bbq"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options of an engine: where the index is, how to authenticate, and how to create an index."""

    url: str = field(default=".esrag", repr=False)  # it may contain a password
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


def engine_options(where: EngineSettings) -> EngineOptions:
    """Return the section `engine` of the settings as engines take it."""
    secrets = {
        "password": where.password.get_secret_value(),
        "api_key": where.api_key.get_secret_value(),
    }
    return EngineOptions(**{**where.model_dump(), **secrets})


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One query to an index.

    `candidates` is the depth to which each leg is read before fusion, and `size` the number of
    fused hits to return. `vector` is a unit row, or None to search the keyword leg only.
    `rank_constant` is the k of RRF. `vector_weight` is the share of the vector leg, 0..1, in either
    fusion. `model` is the model the index must have been made with; "" accepts any.
    `also` are the tokens that the keyword leg searches beside those of the text.
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
    also: tuple[str, ...] = ()

    def find_terms(self) -> list[str]:
        """Return the distinct tokens that the keyword leg searches."""
        return list(dict.fromkeys((*question_terms(self.text), *self.also)))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in order, and the path that produced them.

    The path is `keyword`, `vector`, or a fusion and where it ran: `rrf-client` and
    `weighted-client` (esrag), `rrf-native` and `weighted-native` (the server). `notes` report what
    a reranker or a model that rephrases questions could not do, and which filter condition matches
    no passage. `took_ms` is the time per stage, as far as the engine can separate its stages.
    `scope` is the label of the scope that was searched; "" for none. `summaries` are those by which
    documents were found before their passages.
    """

    hits: tuple[Hit, ...]
    path: str
    notes: tuple[str, ...] = ()
    took_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    scope: str = ""
    summaries: tuple[Hit, ...] = ()

    def with_notes(self, notes: Sequence[str]) -> "SearchResult":
        """Return the hits with notes on their filter in front."""
        return replace(self, notes=(*notes, *self.notes))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be stored: its chunks, their indexed texts and their vectors.

    An indexed text is what is embedded and searched for a chunk: title, section and text. `vectors`
    has one row per chunk; in an index without a model it is absent (None).
    """

    document: StoredDocument
    chunks: tuple[Chunk, ...]
    indexed_texts: tuple[str, ...]
    vectors: Vectors | None

    def find_terms(self, index: int) -> list[str]:
        """Return what the keyword leg finds a chunk by: its indexed text, and what it defines."""
        chunk = self.chunks[index]
        return [
            *terms(self.indexed_texts[index]),
            *find_definitions(chunk.text, chunk.section),
            *find_rows(chunk.text),
        ]


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """An index at an engine's address; `in_use` marks the one that queries and ingests use.

    `size_bytes` may be None on servers that hide it. `problem` says why the index cannot be
    read or used; "" means no problem.
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
    """The result of one check; `advice` is empty if nothing needs to be done."""

    level: Literal["ok", "warning", "error"]
    what: str
    advice: str = ""


class Writer(Protocol):
    """The only writer of an index."""

    def replace(self, documents: Sequence[Prepared]) -> Mapping[str, str]:
        """Store documents, each replacing its previous version, in one transaction.

        Return the documents that the engine refused, as a mapping from doc_id to the reason. All
        others are stored. Nothing of a refused document remains in the index, not even its previous
        version. Only a server refuses documents.
        """
        ...

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove documents and their chunks in one transaction; unknown ids are ignored."""
        ...

    def remove_former(self, sources: Mapping[str, str]) -> None:
        """Remove documents of these sources that were not read from the given bytes.

        `sources` maps a source to the SHA-256 of its current bytes; "" removes everything stored of
        the source. Runs in one transaction and includes what the same writer stored earlier.
        """
        ...


class Engine(Protocol):
    """An index with many readers and one writer."""

    def __init__(self, options: EngineOptions) -> None: ...

    def exists(self) -> bool:
        """Return whether anything was ever ingested here."""
        ...

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the index. Raises: IndexMissing."""
        ...

    def generation(self) -> int:
        """Return a number that grows with every change of content."""
        ...

    def documents(self, doc_ids: Sequence[str] | None = None) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids.

        These are all documents, or those of `doc_ids` that exist.
        """
        ...

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Yield chunks, ordered by document and position."""
        ...

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """Return the chunks of a document up to `window` before and after a chunk, in order.

        The chunk itself is left out.
        """
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """Search both legs, apply the filter and fuse. Raises: IndexMissing, IndexMismatch."""
        ...

    def count_terms(self, terms: Sequence[str], like: Sequence[str] = ()) -> Mapping[str, int]:
        """Return the number of chunks of each search term that occurs.

        The terms are those given, and those with the first letter of one in `like` and at most two
        edits from it. Raises: IndexMissing.
        """
        ...

    def any_match(self, filters: Sequence[Filter]) -> Sequence[bool]:
        """Return, for each filter, whether any chunk passes it. Raises: IndexMissing."""
        ...

    def writer(
        self, fingerprint: Fingerprint, *, rebuild: bool = False
    ) -> AbstractContextManager[Writer]:
        """Return the only writer. `rebuild` fills an empty index and swaps it in on success.

        Raises: IndexBusy, IndexMismatch (made with another fingerprint), IndexUnwritable.
        """
        ...

    def check(self) -> Sequence[str]:
        """Return one line for each defect of the index; empty if the index is sound."""
        ...

    def verify_chunks(self, sources: Sequence[str]) -> None:
        """Read the stored chunks of these sources, so that damage to them is found.

        A server does nothing, because it verifies its own files. Raises: EngineError, IndexMissing.
        """
        ...

    def vectors(self) -> Iterator[tuple[str, Vectors]]:
        """Yield chunk ids and their vectors in the order of `chunks`.

        An index without a model has no vectors.
        """
        ...

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the stored vectors of texts that are already indexed, by text.

        The vectors come from the model that the index in use was made with. Empty if there is no
        index or the index has no model.
        """
        ...

    def info(self) -> StoredIndex:
        """Describe the index in use. Raises: IndexMissing, EngineError."""
        ...

    def indexes(self) -> Sequence[StoredIndex]:
        """Describe every index of esrag at this address, by name, including unreadable ones."""
        ...

    def create(self, fingerprint: Fingerprint) -> str:
        """Create an empty index next to the one in use and return its name."""
        ...

    def swap(self, name: str, since: int | None = None) -> str:
        """Replace the index in use by another one, in one step, once neither has a writer.

        Return the name under which the former index can be restored; "" if there was none. The
        generation grows. Raises: IndexMissing, IndexMismatch, IndexBusy (also if the generation is
        no longer `since`).
        """
        ...

    def drop(self, name: str) -> None:
        """Delete an index with all its content, once it has no writer.

        Raises: IndexMissing, IndexMismatch, IndexBusy.
        """
        ...

    def refresh(self) -> None:
        """Make everything stored visible to searches; a no-op if it is visible at once."""
        ...

    def examine(self) -> Iterator[Finding]:
        """Check what the index depends on, with one finding per part.

        The parts are the disk or the server, its free space, version and licence. A part that
        cannot be queried is reported as a finding; nothing is raised. The content of the index is
        checked by `check`.
        """
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...
