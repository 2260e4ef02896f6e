"""What a question costs beyond the server's own time: `python benchmarks/overhead.py URL [chunks]`.

Made-up chunks and questions as in search.py. Each question is asked twice, in turns: through the engine, and as the
very body that the engine sent, through a plain HTTP client that reads the answer and does nothing with it.
"""

import http.client
import json
import sys
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import numpy as np
from search import CHUNKS_A_DOCUMENT, FINGERPRINT, document, questions

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.server import ServerEngine

INDEX = "overhead"
METHODS = ("keyword", "vector", "hybrid")
DOCUMENTS_A_BATCH = 25


def main(url: str, chunks: int) -> None:
    """Prints one Markdown table."""
    engine = ServerEngine(EngineOptions(url, INDEX))
    build(engine, chunks)
    print("| method | path | engine p50 ms | bare p50 ms | beyond it ms | share |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method in METHODS:
        path, whole_ms, bare_ms = measure(engine, url, method)
        beyond_ms = whole_ms - bare_ms
        print(f"| {method} | {path} | {whole_ms:.1f} | {bare_ms:.1f} | {beyond_ms:.1f} | {beyond_ms / bare_ms:.0%} |")
    engine.close()


def build(engine: ServerEngine, chunks: int) -> None:
    """Makes the index."""
    rng = np.random.default_rng(0)
    made = [document(rng, number) for number in range(chunks // CHUNKS_A_DOCUMENT)]
    with engine.writer(FINGERPRINT, rebuild=engine.exists()) as writer:
        for first in range(0, len(made), DOCUMENTS_A_BATCH):
            writer.replace(made[first : first + DOCUMENTS_A_BATCH])


def measure(engine: ServerEngine, url: str, method: str) -> tuple[str, float, float]:
    """The path, and the median of both ways in ms; the first ten questions warm the server up."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    whole_ms, bare_ms, path = [], [], ""
    for question in questions():
        asked = SearchRequest(question.text, question.vector, method=method)
        sent = bodies(engine, asked)
        took_ms, result = timed(lambda asked=asked: engine.search(asked))
        whole_ms.append(took_ms)
        bare_ms.append(timed(lambda sent=sent: post(connection, sent))[0])
        path = result.path
    connection.close()
    return path, float(np.median(whole_ms[10:])), float(np.median(bare_ms[10:]))


def bodies(engine: ServerEngine, asked: SearchRequest) -> bytes:
    """What the engine sends for a question: its last `_msearch`."""
    request, sent = engine._connection.request, []  # noqa: SLF001 -- nothing else sees it

    def kept(method: str, path: str, body: object = None, **parameters: object) -> object:
        if path == "/_msearch":
            sent.append("".join(json.dumps(line) + "\n" for line in body))
        return request(method, path, body, **parameters)

    engine._connection.request = kept  # noqa: SLF001
    try:
        engine.search(asked)
    finally:
        engine._connection.request = request  # noqa: SLF001
    return sent[-1].encode()


def post(connection: http.client.HTTPConnection, body: bytes) -> None:
    """Sends it and reads the answer."""
    connection.request("POST", "/_msearch", body, {"content-type": "application/x-ndjson"})
    connection.getresponse().read()


def timed(call: Callable[[], object]) -> tuple[float, object]:
    """Milliseconds a call took, and what it gave."""
    started = time.perf_counter()
    given = call()
    return 1000 * (time.perf_counter() - started), given


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000)
