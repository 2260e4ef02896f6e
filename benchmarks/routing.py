"""What the routers add to a question, and what a scope costs that is too narrow.

Each example that routes is ingested with its preset, and the routes of its questions are timed.
The second table asks the questions of `examples/intents` about a job that there is, and about one
that there is not, within its scopes and without; both are ratios within one run.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import esrag

EXAMPLES = Path(__file__).parents[1] / "examples"
ROUTED = ("two-tier", "intents", "hierarchical")
ROUNDS = 3
JOB, NO_JOB = "225221", "225999"


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        print(
            "| preset | questions | ms, median | ms, 95th percentile |\n| --- | --- | --- | --- |"
        )
        for name in ROUTED:
            with _open(name, folder) as index:
                _fill(index, name)
                _print_row(name, _questions(name), index.route)

        print("\n| search | questions | ms, median | ms, 95th percentile |")
        print("| --- | --- | --- | --- |")
        asked = [
            f"What is the {thing} of job {JOB}?"
            for thing in ("budget", "scope", "deadline", "fee", "client", "roof", "site", "team")
        ]
        with _open("intents", folder) as index:
            _print_row("in the scope of the job", asked, index.search)
            other = [question.replace(JOB, NO_JOB) for question in asked]
            _print_row("in a scope without passages, widened", other, index.search)
        with _open("intents", folder, {"routing.chain": []}) as index:
            _print_row("in all documents", asked, index.search)


def _open(name: str, folder: str, settings: dict[str, object] | None = None) -> esrag.Index:
    return esrag.open(
        Path(folder, name), preset=name, settings={"runs.keep": "off", **(settings or {})}
    )


def _fill(index: esrag.Index, name: str) -> None:
    """Ingest the documents of an example, and import its facts."""
    index.ingest(EXAMPLES / name / "docs")
    for facts in EXAMPLES.glob(f"{name}/facts.*"):
        index.import_facts(facts)


def _questions(name: str) -> list[str]:
    lines = [
        line
        for path in sorted(EXAMPLES.glob(f"{name}/questions-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [json.loads(line)["question"] for line in lines]


def _print_row(name: str, questions: Sequence[str], run: Callable[[str], object]) -> None:
    """Time each question once in every round, after a first round that warms the caches."""
    ms = []
    for number in range(ROUNDS + 1):
        for question in questions:
            started = time.perf_counter()
            run(question)
            if number:
                ms.append(1000 * (time.perf_counter() - started))
    ms.sort()
    median, late = statistics.median(ms), ms[int(len(ms) * 0.95)]
    print(f"| {name} | {len(questions)} | {median:.2f} | {late:.2f} |", flush=True)


if __name__ == "__main__":
    main()
