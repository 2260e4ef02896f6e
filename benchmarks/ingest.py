"""Ingest against the encoder alone on the same texts: what everything else costs, and the memory it takes.

Both run in turn, in processes of their own, and the figure is the ratio of the medians. `--texts` names a JSONL file
with `title` and `text`; without it texts are made up. `--torch` adds sentence-transformers (the extra must be there).
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ESRAG = str(Path(sys.executable).with_name("esrag"))
ENCODER = str(Path(__file__).with_name("encoder.py"))


def main() -> None:
    """Prints one Markdown table."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = folder / "corpus.jsonl"
        corpus.write_text("".join(json.dumps(row) + "\n" for row in _rows(arguments)), encoding="utf-8")
        peak_mb = _peak_memory_mb(corpus, folder / "warm")
        texts = _indexed_texts(folder / "warm")
        encoders = {"encoder alone": "onnx int8"}
        if arguments.torch:
            encoders["sentence-transformers alone"] = "sentence-transformers"
        took: dict[str, list[float]] = {"ingest": [], **{name: [] for name in encoders}}
        for n in range(arguments.rounds):
            for what, encoder in encoders.items():
                took[what].append(_encode(texts, encoder))
            took["ingest"].append(_ingest(corpus, folder / f"index{n}"))
    _table(took, peak_mb, arguments.documents)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch", action="store_true")
    return parser.parse_args()


def _rows(arguments: argparse.Namespace) -> list[dict[str, str]]:
    if arguments.texts:
        lines = arguments.texts.read_text(encoding="utf-8").splitlines()[: arguments.documents]
        return [{"id": str(n), **{k: json.loads(line)[k] for k in ("title", "text")}} for n, line in enumerate(lines)]
    rng = random.Random(7)  # noqa: S311 -- made-up words, nothing secret
    words = ["".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 10))) for _ in range(20_000)]
    made = (" ".join(f"{' '.join(rng.choices(words, k=14))}." for _ in range(7)) for _ in range(arguments.documents))
    return [{"id": str(n), "title": f"Made-up text {n}", "text": text} for n, text in enumerate(made)]


def _ingest(corpus: Path, index: Path) -> float:
    """Seconds the ingest says it took."""
    done = subprocess.run(_command(corpus, index), capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["took_ms"]) / 1000


def _peak_memory_mb(corpus: Path, index: Path) -> float:
    """Peak memory of the processes of an ingest together; looking at it takes time, so this one is not timed."""
    process = subprocess.Popen(_command(corpus, index), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _resident_mb(process.pid))
        time.sleep(0.05)
    return peak


def _command(corpus: Path, index: Path) -> list[str]:
    return [ESRAG, "ingest", str(corpus), "--engine", str(index), "--json"]


def _resident_mb(pid: int) -> float:
    """Resident memory of a process and its children, pages they share counted once."""
    import psutil

    try:
        process = psutil.Process(pid)
        return sum(p.memory_full_info().pss for p in (process, *process.children(recursive=True))) / 1e6
    except psutil.Error:
        return 0.0


def _indexed_texts(index: Path) -> list[str]:
    """What an ingest embeds, so that the encoder alone gets the very same texts."""
    listed = subprocess.run(
        [ESRAG, "chunks", "--engine", str(index), "--json"], capture_output=True, text=True, check=True
    )
    chunks = [json.loads(line) for line in listed.stdout.splitlines()]
    return ["\n".join(part for part in (c["title"], c["section"], c["text"]) if part) for c in chunks]


def _encode(texts: list[str], encoder: str) -> float:
    """Seconds an encoder that is open takes, in a process of its own."""
    command, asked = [sys.executable, ENCODER, "--child", encoder], f"{json.dumps(texts)}\ngo\n"
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["wall_s"])


def _table(took: dict[str, list[float]], peak_mb: float, documents: int) -> None:
    base = statistics.median(took["encoder alone"])
    print(f"{documents} documents, medians of {len(took['ingest'])} rounds in turn\n")
    print("| what | seconds | throughput against the encoder alone |\n| --- | --- | --- |")
    for name, seconds in took.items():
        print(f"| {name} | {statistics.median(seconds):.2f} | {base / statistics.median(seconds):.2f} |")
    if "sentence-transformers alone" in took:
        ratio = statistics.median(took["sentence-transformers alone"]) / statistics.median(took["ingest"])
        print(f"\ningest against sentence-transformers encoding the same texts: {ratio:.1f} ×")
    print(f"\npeak resident memory of an ingest, parse process included: {peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
