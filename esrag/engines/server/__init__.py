"""An index on Elasticsearch or OpenSearch: an alias, and behind it one index that carries its fingerprint."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from esrag.engines import EngineOptions, SearchRequest, SearchResult, Writer
from esrag.engines.checks import require_same
from esrag.engines.server import where
from esrag.engines.server.connection import Connection, Refused
from esrag.engines.server.entries import CHUNK_SOURCE, STATE_ID, chunk_of, document_of
from esrag.engines.server.lease import Lease
from esrag.engines.server.mapping import fingerprint_of, index_body
from esrag.engines.server.searching import Search
from esrag.engines.server.writing import ServerWriter, generation
from esrag.errors import EngineError, EngineUnreachable, IndexMissing
from esrag.filters import Filter
from esrag.records import Chunk, Fingerprint, StoredDocument

_PAGE = 1000  # entries read at once
_FORBIDDEN = 403
# What a server says that does not know a retriever, a query or one of its parts, or a processor of search pipelines.
_UNKNOWN = re.compile(r"unknown (retriever|query|field|key)|invalid processor type|does not support \[", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Index:
    """What stands behind the alias."""

    name: str
    made: Fingerprint
    shards: int


class ServerEngine:
    """An index on a server, under the alias `index`; see `Engine` for the promises."""

    def __init__(self, options: EngineOptions) -> None:
        self._options = options
        self._connection = Connection(options)
        self._fuses: bool | None = None  # whether the server fuses by ranks; None: not tried yet

    def exists(self) -> bool:
        """Whether anything was ever ingested here."""
        return self._found() is not None

    def fingerprint(self) -> Fingerprint:
        """What the index was made with. Raises: IndexMissing."""
        return self._index().made

    def generation(self) -> int:
        """A number that grows with every change of content. Raises: IndexMissing."""
        return generation(self._connection, self._index().name)

    def documents(self) -> Iterator[StoredDocument]:
        """What is stored, by doc_id. Raises: IndexMissing."""
        query = {"term": {"entry": "document"}}
        sources = self._pages(query, ["doc_id"], {"excludes": ["chunk_ids"]})
        return map(document_of, sources)

    def chunks(self, filter: Filter | None = None) -> Iterator[Chunk]:  # noqa: A002 -- the field's own word
        """Chunks by document and position. Raises: IndexMissing, UsageError."""
        wanted = [where.query(filter)] if filter is not None else []
        query = {"bool": {"filter": [{"term": {"entry": "chunk"}}, *wanted]}}
        return map(chunk_of, self._pages(query, ["doc_id", "ordinal"], CHUNK_SOURCE))

    def neighbours(self, chunk: Chunk, window: int) -> Sequence[Chunk]:
        """The chunks up to `window` before and after it in its document, in order, itself left out."""
        near = {"range": {"ordinal": {"gte": chunk.ordinal - window, "lte": chunk.ordinal + window}}}
        itself = {"term": {"ordinal": chunk.ordinal}}
        parts = [{"term": {"entry": "chunk"}}, {"term": {"doc_id": chunk.doc_id}}, near]
        query = {"bool": {"filter": parts, "must_not": [itself]}}
        return [chunk_of(source) for source in self._pages(query, ["doc_id", "ordinal"], CHUNK_SOURCE)]

    def search(self, request: SearchRequest) -> SearchResult:
        """Both legs, the filter and the fusion. Raises: IndexMissing, EngineError, UsageError."""
        index = self._index()
        asked = Search(self._connection.server.product, index.made, request)
        if not asked.legs:
            return SearchResult((), "keyword")
        if asked.may_be_native and self._may_fuse(index):
            try:
                return asked.native(self._connection, index.name)
            except Refused as error:  # a trial may end under a running program: the question is answered all the same
                if not _cannot_fuse(error):
                    raise
                self._fuses = None
        return asked.client(self._connection, index.name)

    @contextmanager
    def writer(self, fingerprint: Fingerprint, *, rebuild: bool = False) -> Iterator[Writer]:
        """The one writer; see `Engine.writer`."""
        index = self._found()
        if index and not rebuild:
            require_same(index.made, fingerprint)
        if index is None:
            index = self._made(fingerprint)
        lease = Lease(self._connection, index.name)
        lease.take(self._options.lock_wait_s)
        try:
            if rebuild:
                with self._rebuilding(index, fingerprint, lease) as writer:
                    yield writer
            else:
                yield ServerWriter(self._connection, index.name, fingerprint, lease)
        finally:
            with suppress(EngineUnreachable):  # it ends by itself, and the error that brought us here says more
                lease.give_back()

    def check(self) -> Sequence[str]:
        """What is wrong with the index, a line each; empty when it is sound. Raises: IndexMissing."""
        index = self._index()
        found = []
        health = self._connection.request("GET", f"/_cluster/health/{index.name}")["status"]
        if health == "red":
            found.append(f"the index {index.name} is red: some of its data cannot be read")
        known = {chunk_id for source in self._entries() for chunk_id in source["chunk_ids"]}
        stored = {chunk.chunk_id for chunk in self.chunks()}
        found += [f"{len(known - stored)} chunks of documents are missing"] if known - stored else []
        found += [f"{len(stored - known)} chunks belong to no document"] if stored - known else []
        return found

    def close(self) -> None:
        """Lets go of connections; the next use opens them again."""
        self._connection.close()

    def _entries(self) -> Iterator[Any]:
        return self._pages({"term": {"entry": "document"}}, ["doc_id"], ["chunk_ids", "doc_id"])

    def _index(self) -> _Index:
        index = self._found()
        if index is None:
            message = f"there is no index {self._options.index} on {self._connection.shown_url}"
            raise IndexMissing(message, hint="make one with: esrag ingest FOLDER")
        return index

    def _found(self) -> _Index | None:
        alias = self._options.index
        answer = self._described(alias)
        if answer is None:
            return None
        if len(answer) != 1:
            behind = ", ".join(sorted(answer))
            hint = "keep one of them, or set engine.index to another name"
            raise EngineError(f"the alias {alias} stands for several indexes: {behind}", hint=hint)
        ((name, body),) = answer.items()
        shards = int(body["settings"]["index"]["number_of_shards"])
        return _Index(name, fingerprint_of(body["mappings"], name), shards)

    def _described(self, name: str) -> dict[str, Any] | None:
        """The indexes behind a name, as the server describes them; None where there is none."""
        try:
            answer: dict[str, Any] = self._connection.request("GET", f"/{name}")
        except Refused as error:
            if error.status == 404:  # noqa: PLR2004 -- not found
                return None
            raise
        return answer

    def _made(self, fingerprint: Fingerprint) -> _Index:
        """A new index behind the alias; where another program was quicker, its index."""
        try:
            self._create(f"{self._options.index}-000001", fingerprint, 0, {self._options.index: {}})
        except Refused as error:
            if error.kind != "resource_already_exists_exception":
                raise
        index = self._index()
        require_same(index.made, fingerprint)
        return index

    def _create(self, name: str, fingerprint: Fingerprint, generation: int, aliases: dict[str, Any]) -> None:
        body = index_body(self._connection.server.product, fingerprint)
        self._connection.request("PUT", f"/{name}", {**body, "aliases": aliases})
        state = {"entry": "state", "generation": generation}
        self._connection.request("PUT", f"/{name}/_doc/{STATE_ID}", state, refresh=True)

    @contextmanager
    def _rebuilding(self, old: _Index, fingerprint: Fingerprint, lease: Lease) -> Iterator[ServerWriter]:
        """A writer on an index beside the old one, which takes its place at the end."""
        stem, _, number = old.name.rpartition("-")
        name = f"{stem}-{int(number) + 1:06}" if number.isdigit() else f"{old.name}-000001"
        self._drop_unused(name)  # what a rebuild that was killed left
        try:
            self._create(name, fingerprint, self.generation() + 1, {})
            yield ServerWriter(self._connection, name, fingerprint, lease)
            self._swap(old.name, name)
        except BaseException:
            with suppress(EngineUnreachable):  # the next rebuild drops it
                self._drop_unused(name)
            raise

    def _swap(self, old: str, new: str) -> None:
        """Puts one index in another's place behind the alias, in one step."""
        alias = self._options.index
        actions = [{"add": {"index": new, "alias": alias}}, {"remove_index": {"index": old}}]
        try:
            self._connection.request("POST", "/_aliases", {"actions": actions})
        except EngineError:
            if list(self._described(alias) or ()) != [new]:  # else it was done, and only the answer was lost
                raise

    def _drop_unused(self, name: str) -> None:
        """Removes an index of ours that no alias stands for. Raises: IndexMismatch for one that is not ours."""
        found = self._described(name)
        if found is None or found[name].get("aliases"):
            return
        fingerprint_of(found[name]["mappings"], name)
        self._connection.request("DELETE", f"/{name}")

    def _may_fuse(self, index: _Index) -> bool:
        """Whether the server fuses by ranks over the whole index: by version and shards, then by a tiny question."""
        if self._fuses is None:
            server = self._connection.server
            if server.product == "opensearch" and server.version < (3, 5) and index.shards > 1:
                self._fuses = False  # it ranks each shard by itself
            else:
                self._fuses = self._fuses_when_asked(index)
        return self._fuses

    def _fuses_when_asked(self, index: _Index) -> bool:
        import numpy as np

        vector = np.full(index.made.dimensions, index.made.dimensions**-0.5, dtype=np.float32)
        tiny = SearchRequest("a", vector, size=1, candidates=1)
        try:
            Search(self._connection.server.product, index.made, tiny).native(self._connection, index.name)
        except Refused as error:
            if _cannot_fuse(error):
                return False
            raise
        return True

    def _pages(self, query: dict[str, Any], order: Sequence[str], shown: Any) -> Iterator[Any]:
        """The entries that match, in order, a page at a time."""
        index, after = self._index(), None
        sort = [{field: "asc"} for field in order]
        while True:
            body = {"query": query, "sort": sort, "size": _PAGE, "_source": shown, "track_total_hits": False}
            if after:
                body["search_after"] = after
            path, whole = f"/{index.name}/_search", {"allow_partial_search_results": False}
            hits = self._connection.request("POST", path, body, **whole)["hits"]["hits"]
            yield from (hit["_source"] for hit in hits)
            if len(hits) < _PAGE:
                return
            after = hits[-1]["sort"]


def _cannot_fuse(error: Refused) -> bool:
    """Whether it is for want of a licence, or the server knows no such fusion; any other refusal is an error."""
    parts = list(_mappings(error.body))
    reasons = [str(part.get("reason", "")) for part in parts]
    if error.status == _FORBIDDEN:
        licence = any("license.expired.feature" in part for part in parts)
        return licence or any("non-compliant" in reason for reason in reasons)
    return error.status == 400 and any(map(_UNKNOWN.search, reasons))  # noqa: PLR2004 -- bad request


def _mappings(body: Any) -> Iterator[Mapping[str, Any]]:
    """Every mapping within a body, itself included."""
    if isinstance(body, Mapping):
        yield body
    inner = body.values() if isinstance(body, Mapping) else body if isinstance(body, list) else ()
    for part in inner:
        yield from _mappings(part)
