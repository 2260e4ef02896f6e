"""Ingest against the encoder alone on the same texts: what the rest costs, and its memory.

All run by turns, in processes of their own, and the figures are ratios of medians: of the time, and
of the processor time, which other load disturbs less. The texts are SciFact's where BEIR_DATA
names the folder that holds it, else made up. Sentence-transformers takes part where its extra is
installed. Memory is measured by itself: over the same rows, and over two long documents.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from texts import as_file, long_documents, rows

ESRAG = str(Path(sys.executable).with_name("esrag"))
ENCODER = str(Path(__file__).with_name("encoder.py"))
ALONE, TORCH = "encoder alone", "sentence-transformers alone"


class Took(NamedTuple):
    """Of one run."""

    seconds: float
    processor_s: float


def main() -> None:
    """Prints one Markdown table, and the memory."""
    arguments = _arguments()
    encoders = {ALONE: "onnx int8"}
    if find_spec("sentence_transformers"):
        encoders[TORCH] = "sentence-transformers"
    else:
        print(
            "sentence-transformers is left out: pip install '.[sentence-transformers]'\n",
            flush=True,
        )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus = as_file(folder / "corpus.jsonl", rows(arguments.documents))
        peaks_mb = [peak_memory_mb(corpus, folder / "warm")]
        peaks_mb.append(peak_memory_mb(long_documents(folder / "long"), folder / "long-index"))
        texts = _indexed_texts(folder / "warm")
        took: dict[str, list[Took]] = {name: [] for name in (*encoders, "ingest")}
        for n in range(arguments.rounds):
            for what, encoder in encoders.items():
                took[what].append(_encode(texts, encoder))
            took["ingest"].append(_ingest(corpus, folder / f"index{n}"))
    print(
        f"{arguments.documents} documents in {len(texts)} chunks, "
        f"medians of {arguments.rounds} alternating rounds\n"
    )
    _table(
        {
            name: Took(*map(statistics.median, zip(*each, strict=True)))
            for name, each in took.items()
        }
    )
    print("\npeak resident memory of an ingest, parse process included:", end=" ")
    print(
        f"{peaks_mb[0]:.0f} MB over these, {peaks_mb[1]:.0f} MB over two documents of "
        "a million characters"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def _ingest(corpus: Path, index: Path) -> Took:
    """Return the seconds that the ingest reports, and the processor time of its processes.

    The start of the interpreter is included.
    """
    before_s = _used_s()
    done = subprocess.run(_command(corpus, index), capture_output=True, text=True, check=True)
    return Took(float(json.loads(done.stdout)["took_ms"]) / 1000, _used_s() - before_s)


def _used_s() -> float:
    """Processor time of the processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def peak_memory_mb(corpus: Path, index: Path) -> float:
    """Peak memory of the processes of an ingest together.

    Looking at it takes time, so this one is not timed.
    """
    process = subprocess.Popen(
        _command(corpus, index), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
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
        return (
            sum(p.memory_full_info().pss for p in (process, *process.children(recursive=True)))
            / 1e6
        )
    except psutil.Error:
        return 0.0


def _indexed_texts(index: Path) -> list[str]:
    """What an ingest embeds, so that the encoder alone gets the very same texts."""
    listed = subprocess.run(
        [ESRAG, "chunks", "--engine", str(index), "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    chunks = [json.loads(line) for line in listed.stdout.splitlines()]
    return [
        "\n".join(part for part in (c["title"], c["section"], c["text"]) if part) for c in chunks
    ]


def _encode(texts: list[str], encoder: str) -> Took:
    """What an encoder that is open takes, in a process of its own."""
    command, asked = [sys.executable, ENCODER, "--child", encoder], f"{json.dumps(texts)}\ngo\n"
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    took = json.loads(done.stdout)
    return Took(took["wall_s"], took["cpu_s"])


def _table(took: dict[str, Took]) -> None:
    base = took[ALONE]
    print(
        "| what | seconds | throughput against the encoder alone | processor seconds "
        "| the same of these |"
    )
    print("| --- | --- | --- | --- | --- |")
    for name, one in took.items():
        pairs = zip(one, base, strict=True)
        print("|", name, *(f"| {mine:.2f} | {alone / mine:.2f}" for mine, alone in pairs), "|")
    if TORCH in took:
        ratio = took[TORCH].seconds / took["ingest"].seconds
        print(f"\ningest against sentence-transformers encoding the same texts: {ratio:.1f} ×")


if __name__ == "__main__":
    main()
