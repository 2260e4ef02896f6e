"""Records ↔ what one index holds: an entry a chunk, an entry a document, and one for the index's own state.

An entry's `_id` is the UUIDv5 of its kind and name, so that writing it again changes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from esrag.engines import Prepared, Vectors
from esrag.engines.checks import text_hash
from esrag.engines.server.where import facts
from esrag.records import Chunk, StoredDocument
from esrag.terms import terms

Entry = dict[str, Any]

STATE_ID = "state"
_NAMESPACE = uuid5(NAMESPACE_URL, "esrag")
_CHUNK_FIELDS = (
    "chunk_id", "doc_id", "ordinal", "start", "end", "start_page", "end_page", "text", "title", "section",
)  # fmt: skip
_DOCUMENT_FIELDS = (
    "doc_id", "source", "source_sha256", "revision", "kind", "title", "characters", "page_count", "chunk_count",
)  # fmt: skip
CHUNK_SOURCE = [*_CHUNK_FIELDS, "keywords", "metadata"]
_SHOWN_METADATA = ("folder", "project_name", "collection", "year", "acl")  # fields of their own, for dashboards


def entry_id(kind: str, name: str) -> str:
    """The `_id` of a chunk or a document.

    >>> entry_id("chunk", "d::p0001::c001")
    '1da687b1-4d77-5535-86d5-f14428a95229'
    """
    return str(uuid5(_NAMESPACE, f"{kind} {name}"))


def chunk_entry(prepared: Prepared, index: int) -> Entry:
    """One chunk with everything that is searched, filtered or shown."""
    document, chunk, text = prepared.document, prepared.chunks[index], prepared.indexed_texts[index]
    metadata = {**document.metadata, **chunk.metadata}
    entry: Entry = {name: getattr(chunk, name) for name in _CHUNK_FIELDS} | {
        "entry": "chunk",
        "keywords": list(chunk.keywords),
        "metadata": dict(chunk.metadata),
        "kind": document.kind,
        "revision": document.revision,
        "terms": " ".join(terms(text)),
        "facts": facts(chunk, metadata, document.source, document.kind),
        "text_hash": text_hash(text),
    }
    entry |= {name: metadata[name] for name in _SHOWN_METADATA if name in metadata}
    if prepared.vectors is not None:
        entry["embedding"] = prepared.vectors[index].tolist()
    return entry


def document_entry(document: StoredDocument, chunk_ids: Sequence[str]) -> Entry:
    """A document and the ids of its chunks, by which they are removed exactly."""
    entry: Entry = {name: getattr(document, name) for name in _DOCUMENT_FIELDS}
    return entry | {
        "entry": "document",
        "metadata": dict(document.metadata),
        "source_documents": document.source_documents,
        "chunk_ids": list(chunk_ids),
    }


def chunk_of(source: Mapping[str, Any]) -> Chunk:
    """The chunk of an entry."""
    fields = {name: source[name] for name in _CHUNK_FIELDS}
    return Chunk(**fields, keywords=tuple(source["keywords"]), metadata=source["metadata"])


def document_of(source: Mapping[str, Any]) -> StoredDocument:
    """The document of an entry."""
    fields = {name: source[name] for name in _DOCUMENT_FIELDS}
    return StoredDocument(**fields, metadata=source["metadata"], source_documents=source["source_documents"])


def vector_of(source: Mapping[str, Any]) -> Vectors:
    """The stored vector of an entry."""
    import numpy as np

    return np.array(source["embedding"], dtype=np.float32)
