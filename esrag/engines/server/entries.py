"""Records ↔ index entries: one entry per chunk, one per document, and one for the index state.

The `_id` of an entry is the UUIDv5 of its kind and name, so that writing it again changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from esrag.engines import Prepared, Vectors
from esrag.engines.preconditions import text_hash
from esrag.engines.server.connection import Product
from esrag.engines.server.filter_dsl import MAX_VALUE, facts
from esrag.records import Break, Chunk, Metadata, StoredDocument
from esrag.text.terms import terms

Entry = dict[str, Any]

STATE_ID = "state"
_NAMESPACE = uuid5(NAMESPACE_URL, "esrag")
_CHUNK_FIELDS = (
    "chunk_id", "doc_id", "ordinal", "start", "end", "start_page", "end_page", "text", "title",
    "section", "context",
)  # fmt: skip
_DOCUMENT_FIELDS = (
    "doc_id", "source", "source_sha256", "revision", "kind", "title", "characters", "page_count",
    "chunk_count", "source_documents", "rules",
)  # fmt: skip
CHUNK_SOURCE = [*_CHUNK_FIELDS, "breaks", "keywords", "metadata", "long_metadata"]
_SKETCH_TERMS = 8
# Separate fields for dashboards.
_SHOWN_METADATA = ("folder", "project_name", "collection", "year", "acl")


def entry_id(kind: str, name: str) -> str:
    """Return the `_id` of a chunk or a document.

    >>> entry_id("chunk", "d::p0001::c001")
    '1da687b1-4d77-5535-86d5-f14428a95229'
    """
    return str(uuid5(_NAMESPACE, f"{kind} {name}"))


def chunk_entry(prepared: Prepared, index: int) -> Entry:
    """Return the entry of one chunk, with everything that is searched, filtered or shown."""
    document, chunk, text = prepared.document, prepared.chunks[index], prepared.indexed_texts[index]
    metadata = {**document.metadata, **chunk.metadata}
    entry: Entry = {name: getattr(chunk, name) for name in _CHUNK_FIELDS} | {
        "entry": "chunk",
        "keywords": list(chunk.keywords),
        "breaks": [asdict(each) for each in chunk.breaks],
        **_metadata_fields(chunk.metadata),
        "kind": document.kind,
        "revision": document.revision,
        "terms": " ".join(prepared.find_terms(index)),
        "facts": facts(chunk, metadata, document.source, document.kind),
        "text_hash": text_hash(text),
        "near_hash": hash_near_duplicates(chunk.text),
        "characters": len(chunk.text),
        "stored_at": _now(),
    }

    entry |= {name: metadata[name] for name in _SHOWN_METADATA if name in metadata}
    if prepared.vectors is not None:
        entry["embedding"] = prepared.vectors[index].tolist()
    return entry


def document_entry(document: StoredDocument, chunk_ids: Sequence[str]) -> Entry:
    """Return a document's entry, which lists its chunk ids so that removal is exact."""
    entry: Entry = {name: getattr(document, name) for name in _DOCUMENT_FIELDS}
    return entry | {
        "entry": "document",
        **_metadata_fields(document.metadata),
        "chunk_ids": list(chunk_ids),
        "stored_at": _now(),
    }


def failure_entry(document: StoredDocument, reason: str) -> Entry:
    """Return the entry that replaces a document the server refused."""
    named = {"doc_id": document.doc_id, "source": document.source}
    return {"entry": "failure", **named, "reason": reason, "stored_at": _now()}


def hash_near_duplicates(text: str) -> str | None:
    """Return a hash that near-duplicates share; None for a text without terms.

    It covers the smallest hashes of the text's distinct terms (a sketch, Broder 1997). Order,
    repetition and inflection make no difference. Texts that share a fraction `s` of all their terms
    agree with probability s ** 8: 85 % of texts of a hundred terms that differ in one term, 0.4 %
    of texts that share half.

    >>> first = hash_near_duplicates("The keys are shared, by Alice.")
    >>> first == hash_near_duplicates("Alice shares the KEY!")
    True
    """
    least = sorted(map(text_hash, set(terms(text))))[:_SKETCH_TERMS]
    return text_hash(" ".join(least)) if least else None


def chunk_of(source: Mapping[str, Any]) -> Chunk:
    """Return the chunk of an entry."""
    fields = {name: source[name] for name in _CHUNK_FIELDS}
    return Chunk(
        **fields,
        keywords=tuple(source["keywords"]),
        metadata=_metadata_of(source),
        breaks=tuple(Break(**each) for each in source["breaks"]),
    )


def document_of(source: Mapping[str, Any]) -> StoredDocument:
    """Return the document of an entry."""
    fields = {name: source[name] for name in _DOCUMENT_FIELDS}
    return StoredDocument(**fields, metadata=_metadata_of(source))


def with_vectors(product: Product, fields: Sequence[str]) -> dict[str, Any]:
    """Return the part of a search request that selects these fields and the vector.

    Elasticsearch omits vectors from `_source` from 9.2 on, and older versions reject the option
    that controls this.
    """
    if product == "elasticsearch":
        return {"_source": list(fields), "fields": ["embedding"]}
    return {"_source": [*fields, "embedding"]}


def vector_of(hit: Mapping[str, Any]) -> Vectors:
    """Return the stored vector of a hit."""
    import numpy as np

    return np.array({**hit["_source"], **hit.get("fields", {})}["embedding"], dtype=np.float32)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _metadata_fields(metadata: Metadata) -> Entry:
    """Return metadata as fields, with long values separate.

    OpenSearch would refuse a value that is longer than Lucene's terms.
    """
    long = {
        name: value
        for name, value in metadata.items()
        if isinstance(value, str) and len(value) > MAX_VALUE
    }
    short = {name: value for name, value in metadata.items() if name not in long}
    return {"metadata": short, **({"long_metadata": long} if long else {})}


def _metadata_of(source: Mapping[str, Any]) -> Metadata:
    return dict(sorted({**source["metadata"], **source.get("long_metadata", {})}.items()))
