"""Two versions of esrag: whether they give the same answers.

`python benchmarks/equality.py OLD NEW --data FOLDER`

OLD and NEW are `esrag` commands, each from its own environment. Each one ingests the same files
into its own index and answers the same questions in `esrag chat`. Hits, citations, refusals,
confidences and texts of answers must be equal. The first differences are printed, and the exit code
is 1 if there are any. Fields that only one version prints are not compared. FOLDER holds `docs/`
with the NIST publications, and collections with `corpus.jsonl` and `queries.jsonl`.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COLLECTIONS = ("scifact", "clapnq-dev", "squad-v2-dev")
QUESTIONS = 100  # of each collection
SHOWN = 5
IGNORED = {"took_ms", "cached", "kibana_url"}
SEED = 15


def main() -> int:
    """Print how many answers are equal, and where the first others differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path, help="the esrag command of the old version")
    parser.add_argument("new", type=Path, help="that of the new version")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    arguments = parser.parse_args()

    different = 0
    for name, files, questions in _cases(arguments.data, arguments.questions):
        old, new = (
            _answers(command, files, questions) for command in (arguments.old, arguments.new)
        )
        unequal = [(a, b) for a, b in zip(old, new, strict=True) if _common(a, b) != _common(b, a)]
        print(f"{name}: {len(old) - len(unequal)} of {len(old)} answers are equal")
        for a, b in unequal[:SHOWN]:
            print(f"  {a['question']}: {', '.join(_differing(a, b))}")
        different += len(unequal)
    return 1 if different else 0


def _cases(data: Path, count: int) -> Iterator[tuple[str, list[Path], list[str]]]:
    """Yield a name, the files to ingest and the questions."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "quality"))
    from test_snapshots import QUESTIONS as FIXED
    from test_snapshots import documents

    os.environ["BEIR_DATA"] = str(data)
    yield "snapshots", documents(), [*FIXED]

    for name in COLLECTIONS:
        rows = (data / name / "queries.jsonl").read_text(encoding="utf-8").splitlines()
        texts = [" ".join(json.loads(row)["text"].split()) for row in rows]
        yield name, [data / name / "corpus.jsonl"], random.Random(SEED).sample(texts, count)  # noqa: S311 -- a sample


def _answers(command: Path, files: list[Path], questions: list[str]) -> list[dict[str, Any]]:
    """Return each explained answer, from an index that the command makes."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")
        }

        def run(*words: str | Path, stdin: str = "") -> str:
            done = subprocess.run(
                [command.absolute(), *words],
                cwd=folder,
                env=variables,
                input=stdin,
                capture_output=True,
                text=True,
                check=True,
            )
            return done.stdout

        run("ingest", *files)
        typed = "".join(f"{question}\n/explain\n/new\n" for question in questions)
        return [
            answer
            for answer in map(json.loads, run("chat", "--json", stdin=typed).splitlines())
            if "hits" in answer
        ]


def _common(answer: Any, other: Any) -> Any:
    """Return the parts of an answer that the other one has as well."""
    if isinstance(answer, dict) and isinstance(other, dict):
        return {
            key: _common(answer[key], other[key])
            for key in answer
            if key in other and key not in IGNORED
        }
    if isinstance(answer, list) and isinstance(other, list) and len(answer) == len(other):
        return [_common(one, its) for one, its in zip(answer, other, strict=True)]
    return answer


def _differing(answer: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of the parts that differ."""
    common, others = _common(answer, other), _common(other, answer)
    return [key for key in common if common[key] != others[key]]


if __name__ == "__main__":
    raise SystemExit(main())
