"""What a question costs beyond the server's own time: `python benchmarks/overhead.py URL [chunks]`.

Made-up chunks and questions as in search.py. Each question is asked twice, in turns: as `esrag
search` does once the question has its vector, and as the very searches that the engine sent,
through a plain HTTP client that reads the answers and does nothing with them. `cpu` is the
processor's time in this process, which other load hardly changes.
"""

import http.client
import json
import sys
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import numpy as np
from search import CHUNKS_A_DOCUMENT, DIMENSIONS, FINGERPRINT, document, questions

from esrag.engines import EngineOptions, SearchRequest, SearchResult, Vectors
from esrag.engines.server import ServerEngine
from esrag.retrieving.legs import search_legs
from esrag.settings import RetrievalSettings

INDEX = "overhead"
METHODS = ("keyword", "vector", "hybrid")
DOCUMENTS_A_BATCH = 25


def main(url: str, chunks: int) -> None:
    """Prints one Markdown table."""
    engine = ServerEngine(EngineOptions(url, INDEX))
    build(engine, chunks)
    print(
        "| method | path | engine p50 ms | bare p50 ms | beyond it ms | share | engine "
        "cpu ms | bare cpu ms |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for method in METHODS:
        path, (whole_ms, cpu_ms), (bare_ms, bare_cpu_ms) = measure(
            engine, url, RetrievalSettings(method=method)
        )
        beyond_ms = whole_ms - bare_ms
        shown = (
            f"| {method} | {path} | {whole_ms:.1f} | {bare_ms:.1f} | {beyond_ms:.1f} | "
            f"{beyond_ms / bare_ms:.0%} |"
        )
        print(f"{shown} {cpu_ms:.1f} | {bare_cpu_ms:.1f} |")
    engine.close()


class Ready:
    """An embedder whose vectors are there already."""

    fingerprint, dimensions = FINGERPRINT.model, DIMENSIONS

    def __init__(self, row: Vectors) -> None:
        self.row = row

    def embed(self, texts: Sequence[str], kind: str = "passage") -> Vectors:  # noqa: ARG002 -- an embedder's
        """The one row."""
        return self.row.reshape(1, -1)


def build(engine: ServerEngine, chunks: int) -> None:
    """Makes the index."""
    rng = np.random.default_rng(0)
    made = [document(rng, number) for number in range(chunks // CHUNKS_A_DOCUMENT)]
    with engine.writer(FINGERPRINT, rebuild=engine.exists()) as writer:
        for first in range(0, len(made), DOCUMENTS_A_BATCH):
            writer.replace(made[first : first + DOCUMENTS_A_BATCH])


def measure(
    engine: ServerEngine, url: str, settings: RetrievalSettings
) -> tuple[str, tuple[float, float], tuple[float, float]]:
    """The path, and of both ways the medians in ms, by the clock and by the processor.

    Ten questions warm up.
    """
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    whole, bare, path = [], [], ""
    for question in questions():

        def ask(question: SearchRequest = question) -> SearchResult:
            return search_legs(question.text, engine, Ready(question.vector), settings)

        sent = bodies(engine, ask)
        took, result = time_call(ask)
        whole.append(took)
        bare.append(time_call(lambda sent=sent: post(connection, sent))[0])
        path = result.path
    connection.close()
    return path, medians(whole[10:]), medians(bare[10:])


def medians(took: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of the clock's and of the processor's milliseconds."""
    clock, processor = zip(*took, strict=True)
    return float(np.median(clock)), float(np.median(processor))


def bodies(engine: ServerEngine, ask: Callable[[], SearchResult]) -> list[bytes]:
    """What the engine sends for a question: each of its `_msearch`."""
    request, sent = engine._connection.request, []  # noqa: SLF001 -- nothing else sees it

    def keep(method: str, path: str, body: object = None, **parameters: object) -> object:
        if path == "/_msearch":
            sent.append("".join(json.dumps(line) + "\n" for line in body).encode())
        return request(method, path, body, **parameters)

    engine._connection.request = keep  # noqa: SLF001
    try:
        ask()
    finally:
        engine._connection.request = request  # noqa: SLF001
    return sent


def post(connection: http.client.HTTPConnection, sent: Sequence[bytes]) -> None:
    """Sends each and reads the answer."""
    for body in sent:
        connection.request("POST", "/_msearch", body, {"content-type": "application/x-ndjson"})
        connection.getresponse().read()


def time_call(call: Callable[[], object]) -> tuple[tuple[float, float], object]:
    """Milliseconds a call took, by the clock and by the processor, and what it gave."""
    started, busy = time.perf_counter(), time.process_time()
    given = call()
    return (1000 * (time.perf_counter() - started), 1000 * (time.process_time() - busy)), given


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000)
