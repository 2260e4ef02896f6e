"""The one writer of an index on a server: what it says was stored is what the server confirmed.

A document is three requests: its record with the ids of all chunks it had and will have, the chunks, then its record as
it is now with the removal of the chunks it no longer has. Killed between them, the record still names everything there
is to remove, and carries the hash of the former file, so that the next ingest takes the file for changed.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from esrag.engines import Prepared, Vectors
from esrag.engines.checks import checked_rows, text_hash
from esrag.engines.server.connection import Connection, Refused, refusal
from esrag.engines.server.entries import (
    STATE_ID,
    Entry,
    chunk_entry,
    document_entry,
    document_of,
    entry_id,
    vector_of,
)
from esrag.engines.server.lease import Lease
from esrag.errors import EngineError
from esrag.records import Fingerprint

BULK_BYTES = 8 * 2**20  # both servers advise 5 to 15 MiB a request
BULK_ENTRIES = 500
_MOST_IDS = 1000  # ids asked for at once
_WAITS_S = (0.5, 1, 2, 4, 8, 16)
_BUSY = (429, 502, 503, 504)

Action = tuple[Mapping[str, Any], Entry | None]


class ServerWriter:
    """Writes documents; see `Writer` for the promises."""

    def __init__(self, connection: Connection, index: str, made: Fingerprint, lease: Lease) -> None:
        self._connection = connection
        self._index = index
        self._made = made
        self._lease = lease

    def replace(self, documents: Sequence[Prepared]) -> None:
        """Stores documents, each replacing its former self. Raises: EngineError."""
        if not documents:
            return
        documents = [replace(d, vectors=self._rows_of(d)) for d in documents]
        _require_apart(documents)
        self._lease.renew()
        before = self._records([prepared.document.doc_id for prepared in documents])
        self._bulk(_index("document", *_intent(prepared, before)) for prepared in documents)
        self._bulk(
            _index("chunk", chunk.chunk_id, chunk_entry(prepared, number))
            for prepared in documents
            for number, chunk in enumerate(prepared.chunks)
        )
        self._bulk(action for prepared in documents for action in _finished(prepared, before))
        self._advance()

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Removes documents and their chunks; unknown ids are ignored. Raises: EngineError."""
        self._lease.renew()
        before = self._records(list(dict.fromkeys(doc_ids)))
        if before:
            self._bulk(_delete("chunk", chunk_id) for record in before.values() for chunk_id in record["chunk_ids"])
            self._bulk(_delete("document", doc_id) for doc_id in before)
            self._advance()

    def vectors_of(self, indexed_texts: Sequence[str]) -> Mapping[str, Vectors]:
        """The stored vectors of texts, by text; texts that are not indexed are left out."""
        texts = {text_hash(text): text for text in indexed_texts} if self._made.dimensions else {}
        found: dict[str, Vectors] = {}
        for hashes in _portions(list(texts), _MOST_IDS):
            query = {"terms": {"text_hash": hashes}}
            shown: Any = ["text_hash", "embedding"]
            if self._connection.server.product == "elasticsearch" and self._connection.server.version >= (9, 2):
                shown = {"includes": shown, "exclude_vectors": False}
            body = {"query": query, "size": len(hashes), "collapse": {"field": "text_hash"}, "_source": shown}
            hits = self._connection.request("POST", f"/{self._index}/_search", body)["hits"]["hits"]
            found |= {texts[hit["_source"]["text_hash"]]: vector_of(hit["_source"]) for hit in hits}
        return found

    def _rows_of(self, prepared: Prepared) -> Vectors | None:
        rows = checked_rows(prepared.vectors, len(prepared.chunks), self._made.dimensions)
        return rows if self._made.dimensions else None

    def _records(self, doc_ids: Sequence[str]) -> dict[str, Entry]:
        """The documents that are stored, by id; read by id, so that what was just written is seen."""
        found: dict[str, Entry] = {}
        for some in _portions(doc_ids, _MOST_IDS):
            ids = [entry_id("document", doc_id) for doc_id in some]
            answer = self._connection.request("POST", f"/{self._index}/_mget", {"ids": ids})
            found |= {doc["_source"]["doc_id"]: doc["_source"] for doc in answer["docs"] if doc.get("found")}
        return found

    def _advance(self) -> None:
        """The next generation; then everything that was written is seen at once."""
        entry = {"entry": "state", "generation": generation(self._connection, self._index) + 1}
        self._connection.request("PUT", f"/{self._index}/_doc/{STATE_ID}", entry)
        self._connection.request("POST", f"/{self._index}/_refresh")

    def _bulk(self, actions: Iterable[Action]) -> None:
        for portion in _bulks(actions):
            self._send(portion)

    def _send(self, actions: Sequence[Action]) -> None:
        """One request; what the server had no room for is sent again, a request that was too large in halves."""
        for wait_s in (*_WAITS_S, None):
            lines = [line for action in actions for line in action if line is not None]
            try:
                items = self._connection.request("POST", f"/{self._index}/_bulk", lines)["items"]
            except Refused as error:
                if error.status != 413 or len(actions) == 1:  # noqa: PLR2004 -- content too large
                    raise
                middle = len(actions) // 2
                self._send(actions[:middle])
                self._send(actions[middle:])
                return
            pairs = zip(actions, items, strict=True)
            actions = [action for action, item in pairs if self._must_repeat(action, item, wait_s)]
            if not actions or wait_s is None:
                return
            time.sleep(wait_s)

    def _must_repeat(self, action: Action, item: Mapping[str, Any], wait_s: float | None) -> bool:
        """Whether an entry was turned away for now. Raises: Refused for one that will never be taken."""
        (answer,) = item.values()
        if "error" not in answer:
            return False
        error = refusal(self._connection.shown_url, answer["status"], answer, about=_name_of(action))
        if answer["status"] in _BUSY and wait_s is not None and not error.hint:
            return True
        raise error


def generation(connection: Connection, index: str) -> int:
    """How often the content changed; 0 where the making of the index was cut short before it said so."""
    try:
        answer = connection.request("GET", f"/{index}/_doc/{STATE_ID}")
    except Refused as error:
        if error.status == 404:  # noqa: PLR2004 -- not found
            return 0
        raise
    return int(answer["_source"]["generation"])


def _intent(prepared: Prepared, before: Mapping[str, Entry]) -> tuple[str, Entry]:
    """The record while its chunks are written: the former one, or one without a hash, with old and new chunk ids."""
    doc_id = prepared.document.doc_id
    former = before.get(doc_id)
    document = document_of(former) if former else replace(prepared.document, source_sha256="", revision="")
    ids = dict.fromkeys([*(former["chunk_ids"] if former else ()), *(chunk.chunk_id for chunk in prepared.chunks)])
    return doc_id, document_entry(document, list(ids))


def _finished(prepared: Prepared, before: Mapping[str, Entry]) -> Iterator[Action]:
    """The chunks that are no more, then the record as it is now."""
    doc_id, ids = prepared.document.doc_id, [chunk.chunk_id for chunk in prepared.chunks]
    kept = set(ids)
    former = before.get(doc_id)
    yield from (_delete("chunk", old) for old in (former["chunk_ids"] if former else ()) if old not in kept)
    yield _index("document", doc_id, document_entry(prepared.document, ids))


def _index(kind: str, name: str, entry: Entry) -> Action:
    return {"index": {"_id": entry_id(kind, name)}}, entry


def _delete(kind: str, name: str) -> Action:
    return {"delete": {"_id": entry_id(kind, name)}}, None


def _name_of(action: Action) -> str:
    """What a reader knows an entry by."""
    ((what, where),) = action[0].items()
    entry = action[1] or {}
    return str(entry.get("chunk_id") or entry.get("doc_id") or f"{what} {where['_id']}")


def _bulks(actions: Iterable[Action]) -> Iterator[list[Action]]:
    """Portions of at most BULK_ENTRIES entries and, but for a single large one, BULK_BYTES."""
    portion: list[Action] = []
    size = 0
    for action in actions:
        length = len(json.dumps(action[1])) if action[1] else 0
        if portion and (len(portion) == BULK_ENTRIES or size + length > BULK_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(action)
        size += length
    if portion:
        yield portion


def _portions(values: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _require_apart(documents: Sequence[Prepared]) -> None:
    """Raises: EngineError where two documents, or two chunks, of one call have the same id."""
    for kind, ids in (
        ("document", [prepared.document.doc_id for prepared in documents]),
        ("chunk", [chunk.chunk_id for prepared in documents for chunk in prepared.chunks]),
    ):
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise EngineError(f"two {kind}s have the id {twice}")
