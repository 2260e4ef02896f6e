"""The only writer of an index on a server: it reports as stored what the server confirmed.

Writing a document takes three or four requests: its record with the ids of all old and new chunks;
the chunks; the removal of obsolete chunks; and its final record. If the writer is killed in
between, the record still names every chunk to remove and carries the hash of the former file, so
that the next ingest treats the file as changed. If the server refuses a document, a failure entry
replaces its record.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from esrag.engines import Prepared, Vectors
from esrag.engines.preconditions import check_rows
from esrag.engines.server.connection import BUSY, WAITED_HINT, WHOLE, Connection, Refused, refusal
from esrag.engines.server.entries import (
    STATE_ID,
    Entry,
    chunk_entry,
    document_entry,
    document_of,
    entry_id,
    failure_entry,
)
from esrag.engines.server.lease import Lease
from esrag.errors import EngineError, EngineUnreachable, IndexBusy
from esrag.records import Fingerprint

BULK_BYTES = 8 * 2**20  # both servers recommend 5 to 15 MiB per request
BULK_ENTRIES = 500
_MAX_IDS = 1000  # ids per request
_BAD_ENTRY, _TOO_LARGE, _UNAVAILABLE = 400, 413, 503


@dataclass(frozen=True, slots=True)
class _Action:
    """One entry of a bulk request; `about` names the entry, `doc_id` its document."""

    doc_id: str
    about: str
    text: str


class ServerWriter:
    """Writer of documents; see `Writer` for the contract.

    As a context manager, it makes everything visible when it ends.
    """

    def __init__(self, connection: Connection, index: str, made: Fingerprint, lease: Lease) -> None:
        self._connection = connection
        self._index = index
        self._made = made
        self._lease = lease
        self._generation = 0
        self._fills = False  # the index was empty: readers see everything at the end
        self._unseen = False  # whether something was written that readers do not see yet

    def __enter__(self) -> Self:
        looked_empty = self._is_empty()
        self._refresh()
        self._fills = self._is_empty()
        self._generation = generation(self._connection, self._index)
        if self._lease.after_a_death or (looked_empty and not self._fills):
            # A writer was killed: its documents become visible now, under a new generation.
            self._show()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._unseen and not isinstance(error, EngineUnreachable | IndexBusy):
            # The original error is more informative.
            with suppress(EngineError) if error else nullcontext():
                self._show()

    def replace(self, documents: Sequence[Prepared]) -> Mapping[str, str]:
        """Store documents, each replacing its previous version; return those the server refused.

        Raises: EngineError.
        """
        if not documents:
            return {}

        documents = [replace(one, vectors=self._check_vectors(one)) for one in documents]
        _require_apart(documents)
        self._lease.renew()
        records = self._read_records([one.document.doc_id for one in documents])
        before = {key: record for key, record in records.items() if record["entry"] == "document"}

        reasons = self._write(documents, before)
        self._set_aside(documents, before, reasons)
        self._end()
        return reasons

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Remove documents and their chunks; unknown ids are ignored. Raises: EngineError."""
        self._lease.renew()
        records = self._read_records(list(dict.fromkeys(doc_ids)))
        chunks = (
            (doc_id, key)
            for doc_id, record in records.items()
            for key in record.get("chunk_ids", ())
        )
        self._send_or_raise(_delete("chunk", doc_id, chunk_id) for doc_id, chunk_id in chunks)
        self._send_or_raise(_delete("document", doc_id, doc_id) for doc_id in records)
        self._end()

    def remove_former(self, sources: Mapping[str, str]) -> None:
        """Remove what was read from other bytes than these. Raises: EngineError."""
        for source, sha256 in sources.items():
            while doc_ids := self._former_ids(source, sha256):
                self.remove(doc_ids)

    def _former_ids(self, source: str, sha256: str) -> list[str]:
        """Return some documents of a source that were read from other bytes, unseen ones too."""
        self._refresh()
        wanted = [{"term": {"entry": "document"}}, {"term": {"source": source}}]
        query = {
            "bool": {
                "filter": wanted,
                "must_not": [{"term": {"source_sha256": sha256}}] if sha256 else [],
            }
        }
        body = {"query": query, "size": _MAX_IDS, "_source": ["doc_id"]}
        answer = self._connection.request("POST", f"/{self._index}/_search", body, **WHOLE)
        return [hit["_source"]["doc_id"] for hit in answer["hits"]["hits"]]

    def _check_vectors(self, prepared: Prepared) -> Vectors | None:
        rows = check_rows(prepared.vectors, len(prepared.chunks), self._made.dimensions)
        return rows if self._made.dimensions else None

    def _read_records(self, doc_ids: Sequence[str]) -> dict[str, Entry]:
        """Return the stored documents by id; reading by id also sees what was just written."""
        found: dict[str, Entry] = {}
        for some in _portions(doc_ids, _MAX_IDS):
            ids = [entry_id("document", doc_id) for doc_id in some]
            docs = self._connection.read(self._index, ids)
            found |= {doc["_source"]["doc_id"]: doc["_source"] for doc in docs}
        return found

    def _write(self, documents: Sequence[Prepared], before: Mapping[str, Entry]) -> dict[str, str]:
        """Write documents over their records of before; return the reason of each refused one."""
        refused: dict[str, Refused] = {}
        for step in (_announce, _index_chunks, _delete_stale, _complete):
            good = [one for one in documents if one.document.doc_id not in refused]
            refused |= self._send_in_bulks(
                action for one in good for action in step(one, before.get(one.document.doc_id))
            )

        return {doc_id: str(error) for doc_id, error in refused.items()}

    def _set_aside(
        self, documents: Sequence[Prepared], before: Mapping[str, Entry], reasons: Mapping[str, str]
    ) -> None:
        """Remove what is stored of the documents that were refused, and record the reasons.

        Old and new chunks may share ids, so all are removed.
        """
        refused = [one for one in documents if one.document.doc_id in reasons]
        self._send_or_raise(
            action
            for one in refused
            for action in _delete_chunks(one, before.get(one.document.doc_id))
        )
        self._send_or_raise(_record_failure(one, reasons[one.document.doc_id]) for one in refused)

    def _end(self) -> None:
        """Make the call's writes visible, unless a first load is to become visible as a whole."""
        if self._unseen and not self._fills:
            self._show()

    def _show(self) -> None:
        """Make everything written visible, and only then store the next generation."""
        self._refresh()
        self._generation += 1
        state = {"entry": "state", "generation": self._generation}
        self._connection.request("PUT", f"/{self._index}/_doc/{STATE_ID}", state)
        self._unseen = False

    def _refresh(self) -> None:
        self._connection.request("POST", f"/{self._index}/_refresh")

    def _is_empty(self) -> bool:
        """Return whether readers see no document."""
        query = {"query": {"term": {"entry": "document"}}}
        answer = self._connection.request(
            "POST", f"/{self._index}/_count", query, terminate_after=1
        )
        # Otherwise a full index could look empty.
        if failed := answer.get("_shards", {}).get("failed", 0):
            raise refusal(
                self._connection.shown_url, _UNAVAILABLE, f"{failed} shards could not be counted"
            )
        return not answer["count"]

    def _send_or_raise(self, actions: Iterable[_Action]) -> None:
        """Send entries that no document can cause to be refused. Raises: Refused."""
        for error in self._send_in_bulks(actions).values():
            raise error

    def _send_in_bulks(self, actions: Iterable[_Action]) -> dict[str, Refused]:
        """Send entries in portions; return the first permanent error of each document."""
        refused: dict[str, Refused] = {}
        for portion in _bulks(actions):
            self._unseen = True
            for doc_id, error in self._send(portion):
                refused.setdefault(doc_id, error)
        return refused

    def _send(self, actions: Sequence[_Action]) -> Iterator[tuple[str, Refused]]:
        """Send one request; resend entries the server had no room for, and split oversized ones."""
        for wait_s in (*self._connection.retries.bulk_waits_s, None):
            try:
                wrong = self._post(actions)
            except Refused as error:
                yield from self._send_halves(actions, error)
                return
            yield from ((each.doc_id, error) for each, error in wrong if error.status == _BAD_ENTRY)
            others = [(each, error) for each, error in wrong if error.status != _BAD_ENTRY]
            actions = [_require_busy(each, error, wait_s) for each, error in others]
            if not actions or wait_s is None:
                return
            time.sleep(wait_s)

    def _send_halves(
        self, actions: Sequence[_Action], error: Refused
    ) -> Iterator[tuple[str, Refused]]:
        """Send an oversized request in two; a single entry is its document's fault.

        Raises: the error, if it has another cause.
        """
        if error.status != _TOO_LARGE:
            raise error
        if len(actions) == 1:
            yield actions[0].doc_id, error
            return

        middle = len(actions) // 2
        yield from self._send(actions[:middle])
        yield from self._send(actions[middle:])

    def _post(self, actions: Sequence[_Action]) -> list[tuple[_Action, Refused]]:
        """Return the refused entries. Raises: EngineError if the server misses any out."""
        url, text = self._connection.shown_url, "".join(action.text for action in actions)
        items = self._connection.request("POST", f"/{self._index}/_bulk", text).get("items", ())
        if len(items) != len(actions):
            said = f"{url} answered for {len(items)} of {len(actions)} entries of a bulk"
            raise EngineError(said, hint="run the command again")

        answers = (next(iter(item.values())) for item in items)
        return [
            (action, refusal(url, answer["status"], answer, about=action.about))
            for action, answer in zip(actions, answers, strict=True)
            if "error" in answer
        ]


def generation(connection: Connection, index: str) -> int:
    """Return how often the content changed; 0 if the creation was interrupted before it was set."""
    found = connection.get(f"/{index}/_doc/{STATE_ID}")
    return int(found["_source"]["generation"]) if found else 0


def _announce(prepared: Prepared, former: Entry | None) -> Iterator[_Action]:
    """Yield the record while its chunks are written, with old and new chunk ids.

    It is the former record, or one without a hash.
    """
    doc_id = prepared.document.doc_id
    document = (
        document_of(former) if former else replace(prepared.document, source_sha256="", revision="")
    )
    yield _index("document", doc_id, doc_id, document_entry(document, _chunk_ids(prepared, former)))


def _index_chunks(prepared: Prepared, _former: Entry | None) -> Iterator[_Action]:
    doc_id = prepared.document.doc_id
    for number, chunk in enumerate(prepared.chunks):
        yield _index("chunk", doc_id, chunk.chunk_id, chunk_entry(prepared, number))


def _delete_stale(prepared: Prepared, former: Entry | None) -> Iterator[_Action]:
    """Return deletions of the obsolete chunks."""
    kept = {chunk.chunk_id for chunk in prepared.chunks}
    gone = (old for old in (former["chunk_ids"] if former else ()) if old not in kept)
    return (_delete("chunk", prepared.document.doc_id, old) for old in gone)


def _complete(prepared: Prepared, _former: Entry | None) -> Iterator[_Action]:
    """Yield the final record."""
    doc_id, ids = (prepared.document.doc_id, [chunk.chunk_id for chunk in prepared.chunks])
    yield _index("document", doc_id, doc_id, document_entry(prepared.document, ids))


def _delete_chunks(prepared: Prepared, former: Entry | None) -> Iterator[_Action]:
    """Return deletions of all chunks the document had or was to get."""
    return (
        _delete("chunk", prepared.document.doc_id, chunk_id)
        for chunk_id in _chunk_ids(prepared, former)
    )


def _record_failure(prepared: Prepared, reason: str) -> _Action:
    """Return the failure entry that replaces the document's record."""
    doc_id = prepared.document.doc_id
    return _index("document", doc_id, doc_id, failure_entry(prepared.document, reason))


def _chunk_ids(prepared: Prepared, former: Entry | None) -> list[str]:
    """Return the ids of the chunks the document had and of those it gets."""
    had = former["chunk_ids"] if former else ()
    return list(dict.fromkeys([*had, *(chunk.chunk_id for chunk in prepared.chunks)]))


def _index(kind: str, doc_id: str, name: str, entry: Entry) -> _Action:
    lines = ({"index": {"_id": entry_id(kind, name)}}, entry)
    return _Action(doc_id, name, "".join(f"{json.dumps(line)}\n" for line in lines))


def _delete(kind: str, doc_id: str, name: str) -> _Action:
    return _Action(doc_id, name, json.dumps({"delete": {"_id": entry_id(kind, name)}}) + "\n")


def _require_busy(action: _Action, error: Refused, wait_s: float | None) -> _Action:
    """Return an entry that was rejected temporarily. Raises: the error, if it is permanent."""
    if error.status in BUSY and not error.hint:
        if wait_s is not None:
            return action
        error.hint = WAITED_HINT
    raise error


def _bulks(actions: Iterable[_Action]) -> Iterator[list[_Action]]:
    """Yield portions of at most BULK_ENTRIES entries and BULK_BYTES; a larger entry goes alone."""
    portion: list[_Action] = []
    size = 0

    for action in actions:
        length = len(action.text)
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
    """Raise EngineError if two documents, or two chunks, of one call have the same id."""
    for kind, ids in (
        ("document", [prepared.document.doc_id for prepared in documents]),
        ("chunk", [chunk.chunk_id for prepared in documents for chunk in prepared.chunks]),
    ):
        if len(set(ids)) < len(ids):
            twice = next(one for one in ids if ids.count(one) > 1)
            raise EngineError(f"two {kind}s have the id {twice}")
