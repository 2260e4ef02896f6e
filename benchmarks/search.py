"""Search over 100,000 made-up chunks with the embedded engine.

`python benchmarks/search.py [chunks]`

The texts are 150 words a chunk from a vocabulary of 60,000, Zipf-Mandelbrot distributed with an
offset of 50, which is what English looks like without its stop words: the most frequent word is in
a third of all chunks. Questions have 5 to 12 words, two of them among the hundred most frequent.
Vectors are random unit rows. Building and measuring run in processes of their own, so that the
memory is the search's alone.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from esrag.engines import EngineOptions, Prepared, SearchRequest
from esrag.engines.embedded import EmbeddedEngine
from esrag.records import Chunk, Fingerprint, StoredDocument

DIMENSIONS = 384
WORDS_A_CHUNK = 150
CHUNKS_A_DOCUMENT = 20
DOCUMENTS_A_BATCH = 250
QUESTIONS = 200
VOCABULARY = np.array([f"w{rank}" for rank in range(60_000)])
SHARE = 1 / (np.arange(len(VOCABULARY)) + 50)
SHARE /= SHARE.sum()
FINGERPRINT = Fingerprint("random", DIMENSIONS, "none")


def unit_rows(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random unit rows, float32."""
    rows = rng.standard_normal((count, DIMENSIONS), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def document(rng: np.random.Generator, number: int) -> Prepared:
    """A made-up document."""
    doc_id = f"d{number:06}"
    words = rng.choice(VOCABULARY, size=(CHUNKS_A_DOCUMENT, WORDS_A_CHUNK), p=SHARE)
    texts = tuple(" ".join(row) for row in words)
    year = {"year": 2000 + number % 25}
    chunks = tuple(
        Chunk(
            chunk_id=f"{doc_id}::c{i:03}",
            doc_id=doc_id,
            ordinal=i,
            start=0,
            end=len(text),
            start_page=i + 1,
            end_page=i + 1,
            text=text,
        )
        for i, text in enumerate(texts)
    )
    stored = StoredDocument(
        doc_id=doc_id,
        source=f"/{doc_id}",
        source_sha256="",
        revision="",
        kind="plain",
        title="",
        characters=sum(map(len, texts)),
        page_count=len(texts),
        chunk_count=len(texts),
        metadata=year,
    )
    return Prepared(
        document=stored, chunks=chunks, indexed_texts=texts, vectors=unit_rows(rng, len(texts))
    )


def build(url: str, chunks: int) -> dict[str, float]:
    """Makes the index."""
    rng, started = np.random.default_rng(0), time.perf_counter()
    documents = chunks // CHUNKS_A_DOCUMENT
    with EmbeddedEngine(EngineOptions(url)).writer(FINGERPRINT) as writer:
        for first in range(0, documents, DOCUMENTS_A_BATCH):
            last = min(first + DOCUMENTS_A_BATCH, documents)
            writer.replace([document(rng, number) for number in range(first, last)])
    return {"build_s": time.perf_counter() - started}


def questions() -> Iterator[SearchRequest]:
    """Questions with their vectors."""
    rng = np.random.default_rng(1)
    for _ in range(QUESTIONS):
        words = [
            *rng.choice(VOCABULARY, rng.integers(3, 11), p=SHARE),
            *rng.choice(VOCABULARY[:100], 2),
        ]
        yield SearchRequest(" ".join(words), unit_rows(rng, 1)[0])


def measure(url: str, method: str) -> dict[str, float]:
    """Opens the index and asks every question once."""
    started = time.perf_counter()
    engine = EmbeddedEngine(EngineOptions(url))
    engine.generation()
    opened = time.perf_counter()
    took_ms = []
    for question in questions():
        before = time.perf_counter()
        engine.search(SearchRequest(question.text, question.vector, method=method))
        took_ms.append((time.perf_counter() - before) * 1000)
    return {
        "open_ms": (opened - started) * 1000,
        "first_ms": took_ms[0],
        "p50_ms": float(np.percentile(took_ms[1:], 50)),
        "p99_ms": float(np.percentile(took_ms[1:], 99)),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_process(*arguments: str) -> dict[str, float]:
    """One step in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main(chunks: int) -> None:
    """Prints a Markdown table."""
    with tempfile.TemporaryDirectory() as url:
        built = in_process("build", url, str(chunks))
        size_mb = sum(path.stat().st_size for path in Path(url).rglob("*")) / 2**20
        vectors_mb = chunks * DIMENSIONS * 4 / 2**20
        print(
            f"{chunks:,} chunks built in {built['build_s']:.0f} s: {size_mb:.0f} MB, "
            f"{vectors_mb:.0f} of them vectors\n"
        )
        print("| method | open ms | first ms | p50 ms | p99 ms | peak MB | peak less vectors MB |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for method in ("keyword", "vector", "hybrid"):
            row = in_process("measure", url, method)
            beside_mb = row["peak_mb"] - (vectors_mb if method != "keyword" else 0)
            print(
                f"| {method} | "
                + " | ".join(f"{value:.0f}" for value in [*row.values(), beside_mb])
                + " |"
            )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["build", url, chunks]:
            print(json.dumps(build(url, int(chunks))))
        case ["measure", url, method]:
            print(json.dumps(measure(url, method)))
        case arguments:
            main(int(arguments[0]) if arguments else 100_000)
