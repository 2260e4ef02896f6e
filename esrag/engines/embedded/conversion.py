"""Conversion of records to database rows and back."""

import json
import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from esrag.records import Break, Chunk, Metadata, StoredDocument

DOCUMENT_COLUMNS = (
    "doc_id, source, source_sha256, revision, kind, title, characters, page_count, chunk_count, "
    "metadata, source_documents, rules"
)
CHUNK_SELECT = """
    SELECT c.chunk_id, d.doc_id, c.ordinal, c."start", c."end", c.start_page, c.end_page, p.text,
           c.title, c.section, c.keywords, c.metadata, c.context, c.breaks
    FROM chunks c JOIN documents d ON d.key = c.document JOIN passages p ON p."row" = c."row"
"""

# Reads every page that holds a chunk of the sources.
CHUNKS_READ = """
    SELECT sum(length(p.text) + length(c.title) + length(c.section) + length(c.keywords)
               + length(c.metadata) + length(c.context) + length(c.breaks))
    FROM chunks c JOIN documents d ON d.key = c.document JOIN passages p ON p."row" = c."row"
    WHERE d.source IN (SELECT value FROM json_each(?))
"""


def document_row(document: StoredDocument) -> tuple[Any, ...]:
    """Return the values of DOCUMENT_COLUMNS."""
    d = document
    counts = (d.characters, d.page_count, d.chunk_count)
    known = (d.doc_id, d.source, d.source_sha256, d.revision, d.kind, d.title)
    return (*known, *counts, encode_json(d.metadata), d.source_documents, d.rules)


def chunk_row(chunk: Chunk) -> tuple[Any, ...]:
    """Return the values of the table `chunks` from `ordinal` to `metadata`."""
    place = (chunk.ordinal, chunk.start, chunk.end, chunk.start_page, chunk.end_page)
    described = (encode_json(chunk.keywords), encode_json(chunk.metadata))
    return (*place, chunk.title, chunk.section, *described)


def document(row: Sequence[Any]) -> StoredDocument:
    """Return the record of a row of DOCUMENT_COLUMNS."""
    values = [*row[:-3], json.loads(row[-3]), *row[-2:]]
    return StoredDocument(*values)


def chunk(row: Sequence[Any]) -> Chunk:
    """Return the record of a row of CHUNK_SELECT."""
    *known, keywords, metadata, context, breaks = row
    inside = tuple(Break(*each) for each in json.loads(breaks))
    values = [*known, tuple(json.loads(keywords)), json.loads(metadata), context, inside]
    return Chunk(*values)


def encode_breaks(breaks: Sequence[Break]) -> str:
    """Return a chunk's breaks as a JSON list of offset, page and section.

    >>> encode_breaks([Break(40, 2, "Pets")])
    '[[40, 2, "Pets"]]'
    """
    return json.dumps([astuple(each) for each in breaks], ensure_ascii=False)


def encode_json(value: Metadata | tuple[str, ...]) -> str:
    """Encode as JSON that SQLite reads: characters unescaped, non-finite numbers as text.

    >>> encode_json({"b": float("inf"), "a": "é"})
    '{"a": "é", "b": "inf"}'
    """
    if not isinstance(value, tuple):
        value = {
            key: str(scalar) if isinstance(scalar, float) and not math.isfinite(scalar) else scalar
            for key, scalar in value.items()
        }
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
