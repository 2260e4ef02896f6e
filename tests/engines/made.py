"""Small real documents for the engines' tests."""

import random

import numpy as np

from esrag.engines import Prepared
from esrag.records import Break, Chunk, Fingerprint, StoredDocument

DIMENSIONS = 8
FINGERPRINT = Fingerprint("random", DIMENSIONS, "none")
WORDLESS = Fingerprint("none", 0, "none")
WORDS = [
    "kem",
    "lattice",
    "key",
    "cipher",
    "hash",
    "polynomial",
    "ring",
    "noise",
    "sample",
    "matrix",
    "secret",
]


def unit_rows(seed, count, dimensions=DIMENSIONS):
    rows = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def texts_of(seed, count):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(8, 40))) for _ in range(count)]


def prepared(
    doc_id, texts, *, seed=0, vectors=True, metadata=None, chunk_metadata=None, **of_document
):
    """A document of one chunk a text."""
    chunks = tuple(
        Chunk(
            chunk_id=f"{doc_id}::c{i:03}",
            doc_id=doc_id,
            ordinal=i,
            start=10 * i,
            end=10 * i + len(text),
            start_page=i + 1,
            end_page=i + 2,
            text=text,
            title=f"Title {doc_id}",
            section=f"Part > {i}",
            keywords=("ML-KEM", f"K{i}"),
            metadata=chunk_metadata or {},
            breaks=(Break(10 * i + 3, i + 2, f"Part > {i} > Sizes"),),
        )
        for i, text in enumerate(texts)
    )
    named = {
        "source": f"/library/{doc_id}.md",
        "source_sha256": "0" * 64,
        "revision": "1",
        "kind": "markdown",
    } | of_document
    stored = StoredDocument(
        doc_id=doc_id,
        **named,
        title=f"Title {doc_id}",
        characters=sum(map(len, texts)),
        page_count=len(texts),
        chunk_count=len(texts),
        metadata=metadata or {},
    )
    rows = unit_rows([seed, *doc_id.encode()], len(texts)) if vectors else None
    return Prepared(document=stored, chunks=chunks, indexed_texts=tuple(texts), vectors=rows)


def library(count=6, chunks=4):
    """Documents d00, d01, … with metadata of every kind."""
    return [
        prepared(
            f"d{i:02}",
            texts_of(i, chunks),
            metadata={"year": 2020 + i, "draft": i % 2 == 0, "folder": "ab"[i % 2]},
        )
        for i in range(count)
    ]


def content(engine):
    """Everything an index holds, to compare two by."""
    return list(engine.documents()), list(engine.chunks())
