"""Batches: no text is embedded twice, and every chunk gets its own vector."""

import random

import numpy as np

from esrag.batches import Batches
from esrag.embedding import EmbedderOptions
from esrag.embedding.hashing import HashingEmbedder
from esrag.engines import EngineOptions, Prepared
from esrag.engines.embedded import EmbeddedEngine
from esrag.records import Chunk, Fingerprint, StoredDocument


def prepared(number, texts):
    """A document of chunks with these texts."""
    doc_id = f"d{number:04}"
    chunks = tuple(Chunk(f"{doc_id}::{n}", doc_id, n, 0, len(t), 1, 1, t) for n, t in enumerate(texts))
    return Prepared(StoredDocument(doc_id, f"/{doc_id}", "", "", "plain", "", 0, 0, len(texts)), chunks, texts, None)


def test_texts_that_come_again_are_embedded_once(tmp_path):
    """In the same batch or in one that is stored: counted as reused, with the right vector."""
    embedder = HashingEmbedder(EmbedderOptions("hashing"))
    rng = random.Random(1)
    documents = [prepared(n, tuple(f"text {rng.randrange(900)}" for _ in range(rng.randrange(12)))) for n in range(400)]
    texts = [text for document in documents for text in document.indexed_texts]
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))

    with engine.writer(Fingerprint("hashing", embedder.dimensions, "none")) as writer:
        with Batches(writer, embedder) as batches:
            for document in documents:
                batches.add(document)
        stored = writer.vectors_of(texts)

    assert (batches.embedded, batches.reused) == (len(set(texts)), len(texts) - len(set(texts)))
    assert sum(document.chunk_count for document in engine.documents()) == len(texts)
    assert engine.check() == []
    for text in sorted(set(texts)):
        assert np.array_equal(stored[text], embedder.embed([text])[0])
