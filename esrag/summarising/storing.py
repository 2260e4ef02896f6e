"""Summaries in their index: a document there has the id of the one it sums up, and its fields.

So a filter by the fields of a document holds for its summaries too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from esrag.chunking.cut import text_to_index
from esrag.embedding import Embedder
from esrag.engines import Prepared
from esrag.engines.preconditions import text_hash
from esrag.records import Chunk, Fingerprint, StoredDocument
from esrag.summarising import Summary

_GAP = "\n\n"  # between the summaries of a document


def index_name(index: str) -> str:
    """Return the name of the index with the summaries of an index."""
    return f"{index}-summaries"


def fingerprint(embedder: Embedder | None) -> Fingerprint:
    """Return the fingerprint of an index of summaries that an encoder embeds."""
    if embedder is None:
        return Fingerprint("", 0, "summaries/1")
    return Fingerprint(embedder.fingerprint, embedder.dimensions, "summaries/1")


def revision_of(document: StoredDocument, maker: str) -> str:
    """Return what changes with a document, and with the way in which it is summed up."""
    return text_hash(f"{document.revision}\0{document.source}\0{maker}")


def prepare(document: StoredDocument, summaries: Sequence[Summary], revision: str) -> Prepared:
    """Return the summaries of a document as they are stored, still without vectors."""
    chunks = tuple(_iter_chunks(document, summaries))
    stored = replace(
        document,
        revision=revision,
        characters=chunks[-1].end if chunks else 0,
        chunk_count=len(chunks),
        source_documents=1,
    )
    return Prepared(
        document=stored,
        chunks=chunks,
        indexed_texts=tuple(map(text_to_index, chunks)),
        vectors=None,
    )


def _iter_chunks(document: StoredDocument, summaries: Sequence[Summary]) -> Iterator[Chunk]:
    sizes = [len(summary.text) + len(_GAP) for summary in summaries]
    starts = accumulate(sizes, initial=0)
    for ordinal, (summary, start) in enumerate(zip(summaries, starts, strict=False)):
        yield Chunk(
            chunk_id=f"{document.doc_id}::p{summary.start_page:04d}::s{ordinal:03d}",
            doc_id=document.doc_id,
            ordinal=ordinal,
            start=start,
            end=start + len(summary.text),
            start_page=summary.start_page,
            end_page=summary.end_page,
            text=summary.text,
            title=document.title,
            section=summary.section,
            metadata=document.metadata,
        )
