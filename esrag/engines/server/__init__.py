"""Indexes on Elasticsearch or OpenSearch: an alias, and one index with a fingerprint behind it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any

from esrag.engines import (
    EngineOptions,
    Finding,
    SearchRequest,
    SearchResult,
    StoredIndex,
    Vectors,
    Writer,
)
from esrag.engines.preconditions import require_generation, require_same, swap_error, text_hash
from esrag.engines.server import filter_dsl
from esrag.engines.server.connection import (
    RETRIES,
    WHOLE,
    Connection,
    Product,
    Refused,
    RetryPolicy,
)
from esrag.engines.server.diagnostics import examine
from esrag.engines.server.entries import (
    CHUNK_SOURCE,
    chunk_of,
    document_of,
    vector_of,
    with_vectors,
)
from esrag.engines.server.indexes import Index, Indexes
from esrag.engines.server.lease import Lease
from esrag.engines.server.searching import RANKS_THE_WHOLE_INDEX, Search, any_match, count_terms
from esrag.engines.server.writing import ServerWriter, generation
from esrag.errors import EngineUnreachable, IndexMissing
from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, StoredDocument
from esrag.text import format_count

_PAGE = 1000  # entries per request
_FORBIDDEN = 403
# What a server answers if it does not know a retriever, a query or one of its parts, or a processor
# of search pipelines.
_UNKNOWN = re.compile(
    r"unknown (retriever|query|field|key)|invalid processor type|(not support|not supported by) \[",
    re.IGNORECASE,
)


class ServerEngine:
    """An index on a server, under the alias `index`; see `Engine` for the contract."""

    def __init__(self, options: EngineOptions, retries: RetryPolicy = RETRIES) -> None:
        self._options = options
        self._connection = Connection(options, retries)
        self._indexes = Indexes(self._connection, options)
        # Whether the server fuses by ranks, by the index this was tried with.
        self._fuses: dict[str, bool] = {}

    @property
    def product(self) -> Product:
        """Return the product of the server.

        Raises: EngineError, EngineUnreachable.
        """
        return self._connection.server.product

    def exists(self) -> bool:
        """Return whether anything was ever ingested here."""
        return self._indexes.find() is not None

    def fingerprint(self) -> Fingerprint:
        """Return the fingerprint of the index. Raises: IndexMissing."""
        return self._indexes.find_current().made

    def generation(self) -> int:
        """Return a number that grows with every change of content. Raises: IndexMissing."""
        return generation(self._connection, self._indexes.find_current().name)

    def documents(self, doc_ids: Sequence[str] | None = None) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids, all or those of `doc_ids`.

        Raises: IndexMissing.
        """
        named = [] if doc_ids is None else [{"terms": {"doc_id": [*doc_ids]}}]
        query = {"bool": {"filter": [{"term": {"entry": "document"}}, *named]}}
        sources = self._iter_sources(query, ["doc_id"], {"excludes": ["chunk_ids"]})
        return map(document_of, sources)

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Yield chunks, ordered by document and position. Raises: IndexMissing, UsageError."""
        wanted = [filter_dsl.query(filter)] if filter is not None else []
        query = {"bool": {"filter": [{"term": {"entry": "chunk"}}, *wanted]}}
        return map(chunk_of, self._iter_sources(query, ["doc_id", "ordinal"], CHUNK_SOURCE))

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """Return the chunks of a document up to `window` before and after a chunk, in order."""
        near = {
            "range": {"ordinal": {"gte": chunk.ordinal - window, "lte": chunk.ordinal + window}}
        }
        itself = {"term": {"ordinal": chunk.ordinal}}
        parts = [{"term": {"entry": "chunk"}}, {"term": {"doc_id": chunk.doc_id}}, near]
        query = {"bool": {"filter": parts, "must_not": [itself]}}
        return [
            chunk_of(source)
            for source in self._iter_sources(query, ["doc_id", "ordinal"], CHUNK_SOURCE)
        ]

    def search(self, request: SearchRequest) -> SearchResult:
        """Search both legs, apply the filter and fuse.

        Raises: IndexMissing, EngineError, UsageError.
        """
        index = self._indexes.find_current()
        asked = Search(self._connection.server, index.made, request, index.vectors)

        if asked.may_be_native and self._may_fuse(index):
            try:
                return asked.search_natively(self._connection, index.name)
            except Refused as error:
                # A trial licence may expire while we run; the question is answered anyway.
                if not _cannot_fuse(error):
                    raise
                self._fuses.pop(index.name, None)  # another thread may have been faster

        return asked.client(self._connection, index.name)

    def count_terms(self, terms: Sequence[str], like: Sequence[str] = ()) -> Mapping[str, int]:
        """Return the number of chunks of each term that occurs; see `Engine.count_terms`.

        Raises: IndexMissing, EngineError.
        """
        return count_terms(self._connection, self._indexes.find_current().name, terms, like)

    def any_match(self, filters: Sequence[Filter]) -> Sequence[bool]:
        """Return, for each filter, whether any chunk passes it.

        Raises: IndexMissing, EngineError, UsageError.
        """
        return any_match(self._connection, self._indexes.find_current().name, filters)

    @contextmanager
    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> Iterator[Writer]:
        """Return the only writer; see `Engine.writer`."""
        index = self._indexes.find()
        if rebuild:
            self._indexes.require_alias(index)
        elif index:
            require_same(index.made, fingerprint)

        with self._hold_current(fingerprint) as (index, lease):
            write = self._rebuild if rebuild else self._write
            with write(index, fingerprint, lease) as writer:
                yield writer

    def check(self) -> Sequence[str]:
        """Return one line per defect of the index; empty if it is sound. Raises: IndexMissing."""
        index = self._indexes.find_current()
        with suppress(Refused):  # a key restricted to the index may not query its health
            if self._connection.ask(f"/_cluster/health/{index.name}")["status"] == "red":
                return [f"the index {index.name} is red: some of its data cannot be read"]

        known = {chunk_id for source in self._entries() for chunk_id in source["chunk_ids"]}
        stored = {chunk.chunk_id for chunk in self.chunks()}
        defects = {"of documents missing": known - stored, "of no document": stored - known}
        return [
            f"{format_count(len(chunk_ids), 'chunk')} {defect}"
            for defect, chunk_ids in defects.items()
            if chunk_ids
        ]

    def verify_chunks(self, sources: Sequence[str]) -> None:
        """Do nothing: the server verifies its own files."""

    def vectors(self) -> Iterator[tuple[str, Vectors]]:
        """Yield chunk ids and their vectors in the order of `chunks`. Raises: IndexMissing."""
        if self.fingerprint().dimensions:
            shown = with_vectors(self.product, ["chunk_id"])
            hits = self._iter_hits({"term": {"entry": "chunk"}}, ["doc_id", "ordinal"], shown)
            yield from ((hit["_source"]["chunk_id"], vector_of(hit)) for hit in hits)

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """Return the stored vectors of texts, by text; see `Engine.vectors_of`."""
        index, found = self._indexes.find(), dict[str, Vectors]()
        texts = list(dict.fromkeys(indexed_texts))
        if index and index.made.dimensions:
            for first in range(0, len(texts), _PAGE):
                found |= self._vectors_of(
                    index.name, {text_hash(text): text for text in texts[first : first + _PAGE]}
                )
        return found

    def info(self) -> StoredIndex:
        """Describe the index behind the alias. Raises: IndexMissing, EngineError."""
        return self._indexes.summarise(self._indexes.find_current())

    def indexes(self) -> Sequence[StoredIndex]:
        """Describe every index of esrag on the server, by name; see `Engine.indexes`."""
        return tuple(self._indexes.describe_all())

    def create(self, fingerprint: Fingerprint) -> str:
        """Create an empty index next to the one in use; see `Engine.create`."""
        current = self._indexes.find()
        self._indexes.require_alias(current)
        # A rebuild of it creates one as well.
        with self._hold(current) if current else nullcontext():
            return self._indexes.make_beside(fingerprint)

    def swap(self, name: str, since: int | None = None) -> str:
        """Move the alias to another index; see `Engine.swap`."""
        new, old = self._indexes.resolve(name), self._indexes.find()
        self._indexes.require_alias(old)
        if old == new:
            raise swap_error(name)

        both = [index for index in (old, new) if index]
        with self._hold(*both):
            generations = [generation(self._connection, index.name) for index in both]
            require_generation(generations[0], since)
            self._indexes.set_generation(new.name, max(generations) + 1)
            self._indexes.swap(old.name if old else "", new.name, keep=True)

        return old.name if old else ""

    def drop(self, name: str) -> None:
        """Delete an index, and its alias if it is the one in use; see `Engine.drop`."""
        index = self._indexes.resolve(name)
        with self._hold(index):
            self._indexes.drop(index.name)

    def refresh(self) -> None:
        """Make everything stored visible to searches. Raises: IndexMissing, IndexBusy."""
        with self.writer(self.fingerprint()):
            pass

    def examine(self) -> Iterator[Finding]:
        """Check the server and its resources; see `Engine.examine`."""
        return examine(self._connection, self._options.index, self._try_fusing)

    def close(self) -> None:
        """Close connections; the next use reopens them."""
        self._connection.close()

    @contextmanager
    def _hold(self, *indexes: Index) -> Iterator[None]:
        """Hold the write leases of indexes. Raises: IndexBusy, IndexMissing."""
        with ExitStack() as held:
            for index in indexes:
                lease = Lease(self._connection, index.name)
                lease.take(self._options.lock_wait_s)
                held.enter_context(_give_back_at_end(lease))
            yield

    @contextmanager
    def _hold_current(self, fingerprint: Fingerprint) -> Iterator[tuple[Index, Lease]]:
        """Hold the write lease of the index in use, creating the index if it is missing.

        While this waits, another index may replace the one in use; then it waits for that one.
        Raises: IndexBusy.
        """
        while True:
            index = self._indexes.find() or self._indexes.make(fingerprint)
            lease = Lease(self._connection, index.name)
            with suppress(IndexMissing):
                lease.take(self._options.lock_wait_s)
                if self._indexes.find() == index:
                    break
                lease.give_back()
        with _give_back_at_end(lease):
            yield index, lease

    def _write(self, index: Index, fingerprint: Fingerprint, lease: Lease) -> ServerWriter:
        """Return a writer on the index in use. Raises: IndexMismatch."""
        require_same(index.made, fingerprint)
        return ServerWriter(self._connection, index.name, fingerprint, lease)

    def _entries(self) -> Iterator[Any]:
        return self._iter_sources(
            {"term": {"entry": "document"}}, ["doc_id"], ["chunk_ids", "doc_id"]
        )

    @contextmanager
    def _rebuild(
        self, old: Index, fingerprint: Fingerprint, lease: Lease
    ) -> Iterator[ServerWriter]:
        """Yield a writer on a separate index, which replaces the old one at the end."""
        try:
            name = self._indexes.make_beside(fingerprint, self.generation() + 1)
            with ServerWriter(self._connection, name, fingerprint, lease) as writer:
                yield writer
            self._indexes.swap(old.name, name, keep=False)
        except EngineUnreachable:  # the next rebuild deletes the index
            raise
        except BaseException:
            with suppress(EngineUnreachable):
                self._indexes.drop_unfinished()
            raise

    def _try_fusing(self) -> bool | None:
        """Return whether the server fuses by ranks; None if there are no vectors to try it with."""
        index = self._indexes.find()
        return self._may_fuse(index) if index and index.made.dimensions else None

    def _may_fuse(self, index: Index) -> bool:
        """Return whether the server fuses by ranks over the whole index.

        Checks the version and the shards first, then sends a tiny query.
        """
        fuses = self._fuses.get(index.name)
        if fuses is None:
            server = self._connection.server
            by_shard = (
                server.product == "opensearch"
                and server.version < RANKS_THE_WHOLE_INDEX
                and index.shards > 1
            )
            fuses = self._fuses[index.name] = not by_shard and self._fuses_when_asked(index)
        return fuses

    def _fuses_when_asked(self, index: Index) -> bool:
        import numpy as np

        vector = np.full(index.made.dimensions, index.made.dimensions**-0.5, dtype=np.float32)
        tiny = SearchRequest("a", vector, size=1, candidates=1)
        try:
            asked = Search(self._connection.server, index.made, tiny, index.vectors)
            asked.search_natively(self._connection, index.name)
        except Refused as error:
            if _cannot_fuse(error):
                return False
            raise
        return True

    def _vectors_of(self, index: str, texts: Mapping[str, str]) -> Iterator[tuple[str, Vectors]]:
        """Yield those of the given texts (by hash) that are indexed, each with its vector."""
        wanted = {
            "query": {"terms": {"text_hash": list(texts)}},
            "collapse": {"field": "text_hash"},
        }
        body = {**wanted, "size": len(texts), **with_vectors(self.product, ["text_hash"])}
        hits = self._connection.request("POST", f"/{index}/_search", body, **WHOLE)["hits"]["hits"]
        return ((texts[hit["_source"]["text_hash"]], vector_of(hit)) for hit in hits)

    def _iter_sources(
        self, query: dict[str, Any], order: Sequence[str], shown: Any
    ) -> Iterator[Any]:
        """Yield the `_source` of the entries that match, in order."""
        return (hit["_source"] for hit in self._iter_hits(query, order, {"_source": shown}))

    def _iter_hits(
        self, query: dict[str, Any], order: Sequence[str], shown: Mapping[str, Any]
    ) -> Iterator[Any]:
        """Yield the hits that match, in order, requesting one page at a time.

        `shown` selects what each hit returns.
        """
        path = f"/{self._indexes.find_current().name}/_search"
        sort = [{field: "asc"} for field in order]
        body = {"query": query, "sort": sort, "size": _PAGE, "track_total_hits": False, **shown}

        while True:
            hits = self._connection.request("POST", path, body, **WHOLE)["hits"]["hits"]
            yield from hits
            if len(hits) < _PAGE:
                return
            body["search_after"] = hits[-1]["sort"]


@contextmanager
def _give_back_at_end(lease: Lease) -> Iterator[None]:
    """Give a lease back, unless the server just timed out; the lease then expires by itself."""
    reachable = True
    try:
        yield
    except EngineUnreachable:
        reachable = False
        raise
    finally:
        if reachable:
            with suppress(EngineUnreachable):
                lease.give_back()


def _cannot_fuse(error: Refused) -> bool:
    """Return whether the licence or an unknown kind of fusion caused the refusal.

    Any other refusal is an error.
    """
    parts = list(_mappings(error.body))
    reasons = [str(part.get("reason", "")) for part in parts]
    if error.status == _FORBIDDEN:
        licence = any("license.expired.feature" in part for part in parts)
        return licence or any("non-compliant" in reason for reason in reasons)
    return error.status == 400 and any(map(_UNKNOWN.search, reasons))  # noqa: PLR2004 -- bad request


def _mappings(body: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping within a body, including the body itself."""
    inner: Iterable[Any] = body if isinstance(body, list) else ()
    if isinstance(body, Mapping):
        yield body
        inner = body.values()
    for part in inner:
        yield from _mappings(part)
