"""Encoders: how fast they are, compared with each other.

`python benchmarks/encoder.py [--texts FILE] [--rounds N]`

Each encoder is a process of its own, so that its peak memory is its own; they take turns, round by
round, so that all meet the same machine. Figures are medians of the rounds; a ratio is the median
of the rounds' ratios. Texts are one a line, plain or as JSON objects with "text"; without a file
they are made of words, about 240 tokens each.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from esrag.embedding import EmbedderOptions
from esrag.settings import DEFAULT_MODEL

ENCODERS = ("sentence-transformers", "onnx fp32", "onnx int8")
VOCABULARY = (
    "key size of the encapsulation mechanism is given in bytes and every parameter set has a "
    "table with values that "
    "describe security strength against known attacks while patients with high levels of "
    "protein in blood were "
    "followed for years to see whether treatment lowers risk compared to control groups results "
    "show no significant "
    "difference between them although older participants reported fewer symptoms after "
    "therapy began in spring"
)


def make_texts(count: int, words: int = 220) -> list[str]:
    """Texts of words drawn at random, the same on every machine."""
    draw = random.Random(240)  # noqa: S311 -- for texts, not for secrets
    return [" ".join(draw.choices(VOCABULARY.split(), k=words)) + "." for _ in range(count)]


def read_texts(path: Path, count: int) -> list[str]:
    """The first texts of a file, one a line."""
    lines = path.read_text(encoding="utf-8").splitlines()[:count]
    return [json.loads(line)["text"] if line.startswith("{") else line for line in lines]


def open_encoder(name: str, workers: int) -> Callable[[Sequence[str]], object]:
    """Return a function that encodes texts.

    sentence-transformers is used as its users do, in padded batches of 32.
    """
    if name.startswith("onnx"):
        from esrag.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(
            EmbedderOptions(DEFAULT_MODEL, precision=name.split()[1], workers=workers)
        ).embed
    from sentence_transformers import SentenceTransformer

    from esrag.embedding import model_files

    model = SentenceTransformer(str(model_files.locate(DEFAULT_MODEL).path), device="cpu")
    return lambda texts: model.encode(list(texts), batch_size=32, show_progress_bar=False)


def encode_in_turns(name: str, workers: int) -> None:
    """Run the child: read texts, and encode them once for each line on stdin.

    It answers with the time and the memory that this took.
    """
    texts = json.loads(sys.stdin.readline())
    encode = open_encoder(name, workers)
    encode(texts[:2])
    for _ in sys.stdin:
        wall, cpu = time.perf_counter(), time.process_time()
        encode(texts)
        took = {
            "wall_s": time.perf_counter() - wall,
            "cpu_s": time.process_time() - cpu,
            "peak_bytes": peak_bytes(),
        }
        print(json.dumps(took), flush=True)


def peak_bytes() -> int:
    """Peak memory of this process alone; getrusage would begin with its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * next(
        int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")
    )


def measure(
    names: Sequence[str], texts: Sequence[str], rounds: int, workers: int
) -> dict[str, list[dict[str, float]]]:
    """For each encoder what each round took."""
    command = [sys.executable, __file__, "--workers", str(workers), "--child"]
    children = {
        name: subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    }
    for child in children.values():
        child.stdin.write(json.dumps(texts) + "\n")
    results: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name, child in children.items():
            child.stdin.write("go\n")
            child.stdin.flush()
            took = json.loads(child.stdout.readline())
            if number:  # the first round warms up
                results[name].append(took)
    for child in children.values():
        child.stdin.close()
        child.wait()
    return results


def table(results: dict[str, list[dict[str, float]]], count: int) -> str:
    """The figures as a Markdown table; ratios are to the first encoder."""
    base = next(iter(results.values()))
    lines = [
        "| encoder | passages/s | ratio | CPU ms a passage | peak MB |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, rounds in results.items():
        rate = median(count / one["wall_s"] for one in rounds)
        ratio = median(
            first["wall_s"] / one["wall_s"] for first, one in zip(base, rounds, strict=True)
        )
        cpu_ms = median(one["cpu_s"] / count * 1e3 for one in rounds)
        peak = max(one["peak_bytes"] for one in rounds) / 1e6
        lines.append(f"| {name} | {rate:.1f} | {ratio:.2f} | {cpu_ms:.1f} | {peak:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Reads the command line, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path)
    parser.add_argument("--count", type=int, default=96, help="texts a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=0, help="encoder threads; 0: one a core")
    parser.add_argument("--child", choices=ENCODERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        encode_in_turns(arguments.child, arguments.workers)
        return
    texts = (
        read_texts(arguments.texts, arguments.count)
        if arguments.texts
        else make_texts(arguments.count)
    )
    from esrag.embedding.onnx import count_cores

    names = list(ENCODERS)
    if not find_spec("sentence_transformers"):
        print(
            "sentence-transformers is left out: pip install '.[sentence-transformers]'\n",
            flush=True,
        )
        names.remove("sentence-transformers")
    results = measure(names, texts, arguments.rounds, arguments.workers)
    print(f"{len(texts)} texts, medians of {arguments.rounds} rounds, {count_cores()} cores\n")
    print(table(results, len(texts)))


if __name__ == "__main__":
    main()
