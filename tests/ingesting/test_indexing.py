"""Portions: no text is embedded twice, and every chunk gets its own vector."""

import random
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from esrag.embedding import EmbedderOptions
from esrag.embedding.hashing import HashingEmbedder
from esrag.engines import EngineOptions, Prepared
from esrag.engines.embedded import EmbeddedEngine
from esrag.ingesting.indexing import Encoding, Portions
from esrag.records import Chunk, Fingerprint, StoredDocument


def prepared(number, texts):
    """A document of chunks with these texts."""
    doc_id = f"d{number:04}"
    chunks = tuple(
        Chunk(
            chunk_id=f"{doc_id}::{n}",
            doc_id=doc_id,
            ordinal=n,
            start=0,
            end=len(t),
            start_page=1,
            end_page=1,
            text=t,
        )
        for n, t in enumerate(texts)
    )
    return Prepared(
        document=StoredDocument(
            doc_id=doc_id,
            source=f"/{doc_id}",
            source_sha256="",
            revision="",
            kind="plain",
            title="",
            characters=0,
            page_count=0,
            chunk_count=len(texts),
        ),
        chunks=chunks,
        indexed_texts=texts,
        vectors=None,
    )


def test_texts_that_come_again_are_embedded_once(tmp_path):
    """In the same portion or in one that is stored: counted as reused, with the right vector."""
    embedder = HashingEmbedder(EmbedderOptions("hashing"))
    rng = random.Random(1)
    documents = [
        prepared(n, tuple(f"text {rng.randrange(900)}" for _ in range(rng.randrange(12))))
        for n in range(400)
    ]
    texts = [text for document in documents for text in document.indexed_texts]
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))

    with engine.writer(Fingerprint("hashing", embedder.dimensions, "none")) as writer:
        encoding = Encoding(embedder, engine.vectors_of)
        with Portions(lambda: nullcontext(writer), encoding) as portions:
            for document in documents:
                portions.add(document)
    stored = engine.vectors_of(texts)

    assert (encoding.embedded, encoding.reused) == (len(set(texts)), len(texts) - len(set(texts)))
    assert (portions.stored, portions.refused) == (len(texts), {})
    assert sum(document.chunk_count for document in engine.documents()) == len(texts)
    assert engine.check() == []
    for text in sorted(set(texts)):
        assert np.array_equal(stored[text], embedder.embed([text])[0])


class Refusing:
    """A writer that, as a server may, does not take every document."""

    def __init__(self, writer, reasons):
        self.writer, self.reasons = writer, reasons

    def replace(self, documents):
        """Stores the others."""
        ids = [one.document.doc_id for one in documents]
        self.writer.replace([one for one in documents if one.document.doc_id not in self.reasons])
        return {doc_id: self.reasons[doc_id] for doc_id in ids if doc_id in self.reasons}


def test_what_the_engine_refuses_is_not_counted(tmp_path):
    """Only chunks that were stored count.

    The reasons come by source, in the order of the documents.
    """
    documents = [replace(prepared(n, (f"text {n}",) * 50), vectors=None) for n in range(9)]
    for n in (4, 6):  # of one file
        documents[n] = replace(
            documents[n], document=replace(documents[n].document, source="/table.csv")
        )
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    reasons = {"d0001": "too long", "d0004": "too wide", "d0006": "too high"}

    with (
        engine.writer(Fingerprint("none", 0, "none")) as writer,
        Portions(lambda: nullcontext(Refusing(writer, reasons)), None) as portions,
    ):
        for document in documents:
            portions.add(document)

    assert portions.refused == {"/d0001": ["too long"], "/table.csv": ["too wide", "too high"]}
    assert portions.stored == 6 * 50 == sum(document.chunk_count for document in engine.documents())
