"""What the caches save: an ingest with an empty and with a full cache, and a cached answer.

PATH is what is ingested, with the default model; without it texts are made up. `--url` is a Redis;
else a file is used.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from texts import as_file, make_documents

from esrag.caching.vectors import VectorCache
from esrag.context import Context, open_context
from esrag.pipeline import ask
from esrag.settings import Settings
from esrag.settings.layers import resolve

ESRAG = str(Path(sys.executable).with_name("esrag"))
QUESTIONS = 20
TEXTS = 200
ROUNDS = 20


def main() -> None:
    """Prints one Markdown table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = arguments.path or as_file(
            folder / "made-up.jsonl", make_documents(arguments.documents)
        )
        cache = arguments.url or str(folder / "cache.db")
        first, second = (_ingest(path, folder / made, cache) for made in ("first", "second"))
        encoded, found, texts = _vectors(folder, cache)
        settings = resolve(
            {"engine.url": str(folder / "first"), "cache.url": cache}, {}, folder
        ).settings
        fresh, kept = _answers(settings)
    print("| what | without | from the cache | |\n| --- | --- | --- | --- |")
    sizes = (
        f"{first['chunks']:,} chunks, {first['embedded']:,} texts encoded, "
        f"then {second['embedded']:,}"
    )
    _row(f"ingest, s: {sizes}", first["took_ms"] / 1000, second["took_ms"] / 1000)
    _row(f"vectors of {texts} of these texts, s", encoded, found)
    _row("answer inside the process, ms, median", statistics.median(fresh), statistics.median(kept))
    _row("answer inside the process, ms, the slowest", max(fresh), max(kept))


def _row(what: str, without: float, kept: float) -> None:
    print(f"| {what} | {without:.2f} | {kept:.2f} | {without / kept:.0f} × |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", type=Path)
    parser.add_argument(
        "--documents", type=int, default=1000, help="made-up texts of about 100 words"
    )
    parser.add_argument("--url", help="address of a Redis, which must be empty")
    return parser.parse_args()


def _ingest(path: Path, engine: Path, cache: str) -> dict[str, int]:
    """What the ingest reports, its time among it.

    The model is opened within that, the interpreter before.
    """
    command = [
        ESRAG,
        "ingest",
        str(path),
        "--engine",
        str(engine),
        "--json",
        "--set",
        f"cache.url={cache}",
    ]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")}
    # 1: a file of PATH is broken.
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
    report: dict[str, int] = json.loads(done.stdout)
    return report


def _vectors(folder: Path, cache: str) -> tuple[float, float, int]:
    """Seconds to encode texts, and to find their vectors."""
    settings = resolve(
        {"engine.url": str(folder / "first"), "cache.url": cache}, {}, folder
    ).settings
    context = open_context(settings)
    with closing(context.engine), closing(context.cache):
        texts = [
            chunk.text for chunk, _ in zip(context.engine.chunks(), range(TEXTS), strict=False)
        ]
        context.embedder.embed(texts[:1])
        vectors = VectorCache(context.cache, "benchmark", context.embedder.dimensions)
        started = time.perf_counter()
        rows = context.embedder.embed(texts)
        encoded = time.perf_counter()
        vectors.keep(texts, rows)
        kept = time.perf_counter()
        vectors.look_up(texts)
        return encoded - started, time.perf_counter() - kept, len(texts)


def _answers(settings: Settings) -> tuple[list[float], list[float]]:
    """Milliseconds of answers that are made and of the same when they are kept.

    What is opened once is open.
    """
    context = open_context(settings)
    with closing(context.engine), closing(context.cache):
        chunks = [
            chunk for chunk, _ in zip(context.engine.chunks(), range(QUESTIONS + 1), strict=False)
        ]
        warm, *questions = (" ".join(chunk.text.split()[:8]) for chunk in chunks)
        for _ in range(2):
            ask(warm, context)
        fresh = [_timed(question, context) for question in questions]
        kept = [_timed(question, context) for _ in range(ROUNDS) for question in questions]
    return fresh, kept


def _timed(question: str, context: Context) -> float:
    started = time.perf_counter()
    ask(question, context)
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()
