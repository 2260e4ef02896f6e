"""Writing to a server: our writer against the bulk helper of the server's own client.

`python benchmarks/bulk.py --url URL`: both by turns fill an index of their own, in batches of the
same size, and make what they wrote visible at the end. Both make the entries on the way; how long
that takes alone is printed as well. The helper sends each entry once, ours each document's record
before its chunks and after them, for the sake of a crash.
"""

import argparse
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from esrag.engines import EngineOptions, Prepared
from esrag.engines.server import ServerEngine
from esrag.engines.server.entries import chunk_entry, document_entry, entry_id
from esrag.records import Chunk, Fingerprint, StoredDocument

MADE = Fingerprint("random", 384, "none")
CHUNKS_A_DOCUMENT = 10
WORDS_A_CHUNK = 120
INDEX = "esrag-benchmark-bulk"


def main() -> None:
    """Prints one Markdown table."""
    arguments = _arguments()
    documents = list(_documents(arguments.chunks // CHUNKS_A_DOCUMENT))
    engine = ServerEngine(EngineOptions(arguments.url, INDEX))
    client, bulk = _client(arguments.url)
    started = time.perf_counter()
    count = sum(1 for _ in _actions(documents))
    making_s = time.perf_counter() - started
    print(
        f"{count} entries of {arguments.chunks} chunks, {making_s:.1f} s to make; "
        f"{arguments.rounds} rounds\n"
    )
    print(
        "| chunks a batch | esrag, chunks/s | client's helper, "
        "chunks/s | ratio |\n| --- | --- | --- | --- |"
    )
    for size in arguments.batch:
        took: dict[str, list[float]] = {"ours": [], "theirs": []}
        for _ in range(arguments.rounds):
            took["ours"].append(_timed(engine, lambda size=size: _write(engine, documents, size)))
            took["theirs"].append(
                _timed(engine, lambda size=size: _send(client, bulk, _actions(documents), size))
            )
        ours, theirs = (
            len(documents) * CHUNKS_A_DOCUMENT / statistics.median(s) for s in took.values()
        )
        print(f"| {size} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |", flush=True)
    _drop(engine)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--batch", type=int, nargs="+", default=[128, 500])
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def _documents(count: int) -> Iterator[Prepared]:
    rng, vectors = random.Random(7), np.random.default_rng(7)  # noqa: S311 -- made-up words, nothing secret
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 10)))
        for _ in range(20_000)
    ]
    for number in range(count):
        texts = tuple(
            " ".join(rng.choices(words, k=WORDS_A_CHUNK)) for _ in range(CHUNKS_A_DOCUMENT)
        )
        rows = vectors.standard_normal((CHUNKS_A_DOCUMENT, MADE.dimensions)).astype(np.float32)
        yield _prepared(
            f"document{number:05}", texts, rows / np.linalg.norm(rows, axis=1, keepdims=True)
        )


def _prepared(doc_id: str, texts: tuple[str, ...], rows: np.ndarray) -> Prepared:
    chunks = tuple(
        Chunk(
            chunk_id=f"{doc_id}::p0001::c{n:03}",
            doc_id=doc_id,
            ordinal=n,
            start=0,
            end=len(text),
            start_page=1,
            end_page=1,
            text=text,
            title=doc_id,
            section="Part > One",
            keywords=("ML-KEM",),
        )
        for n, text in enumerate(texts)
    )
    named = {"source_sha256": "0" * 64, "revision": "0" * 32, "kind": "plain", "title": doc_id}
    size = sum(map(len, texts))
    stored = StoredDocument(
        doc_id, f"/{doc_id}.txt", **named, characters=size, page_count=1, chunk_count=len(chunks)
    )
    return Prepared(document=stored, chunks=chunks, indexed_texts=texts, vectors=rows)


def _actions(documents: list[Prepared]) -> Iterator[dict[str, Any]]:
    """What the helper is given: every chunk, and every document's record once."""
    for prepared in documents:
        for number, chunk in enumerate(prepared.chunks):
            yield {"_id": entry_id("chunk", chunk.chunk_id), **chunk_entry(prepared, number)}
        record = document_entry(prepared.document, [chunk.chunk_id for chunk in prepared.chunks])
        yield {"_id": entry_id("document", prepared.document.doc_id), **record}


def _timed(engine: ServerEngine, write: Callable[[], None]) -> float:
    """Seconds it takes to fill a new index."""
    _drop(engine)
    with engine.writer(MADE):
        pass
    started = time.perf_counter()
    write()
    return time.perf_counter() - started


def _write(engine: ServerEngine, documents: list[Prepared], size: int) -> None:
    step = max(1, round(size / CHUNKS_A_DOCUMENT))
    with engine.writer(MADE) as writer:
        for start in range(0, len(documents), step):
            writer.replace(documents[start : start + step])


def _send(
    client: Any, bulk: Callable[..., Any], actions: Iterator[dict[str, Any]], size: int
) -> None:
    bulk(client, actions, index=INDEX, chunk_size=size)
    client.indices.refresh(index=INDEX)


def _client(url: str) -> tuple[Any, Callable[..., Any]]:
    """The server's own client and its helper."""
    import elasticsearch
    import elasticsearch.helpers

    client = elasticsearch.Elasticsearch(url, request_timeout=60)
    try:
        client.info()
    except elasticsearch.UnsupportedProductError:
        import opensearchpy
        import opensearchpy.helpers

        return opensearchpy.OpenSearch(url, timeout=60), opensearchpy.helpers.bulk
    return client, elasticsearch.helpers.bulk


def _drop(engine: ServerEngine) -> None:
    for index in engine.indexes():
        if index.in_use:
            engine.drop(index.name)


if __name__ == "__main__":
    main()
