"""kill -9 in the middle of an ingest loses nothing: the next run brings the index to what a single
run makes.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

CRASH = Path(__file__).resolve().parents[2] / "benchmarks" / "crash.py"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_an_ingest_killed_twenty_times_ends_equal_to_one_in_a_single_run(esrag):
    """Documents with their enriched fields, summaries, chunks and vectors, compared by content."""
    rng = random.Random(3)
    words = [
        "kettle",
        "lamp",
        "toaster",
        "cable",
        "litres",
        "watts",
        "shade",
        "handle",
        "switch",
        "boils",
    ]
    folder = esrag.folder / "docs"
    folder.mkdir()
    for n in range(300):
        sentences = (
            " ".join(rng.choices(words, k=12)).capitalize() + f" {n}.{m}." for m in range(60)
        )
        (folder / f"text{n:03}.txt").write_text("\n\n".join(sentences))
    rows = ({"id": n, "text": f"Row {n} is about the {rng.choice(words)}."} for n in range(2000))
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    done = subprocess.run(
        [sys.executable, CRASH, folder, "--kills", "20"],
        env=esrag.environment(
            ESRAG_SUMMARIES__OF="documents",
            ESRAG_ENRICHING__RULES="{number: {over: name, pattern: '[0-9]+', template: '{0}'}}",
        ),
        capture_output=True,
        text=True,
        check=False,
    )

    stored = {int(line.split()[2]) for line in done.stdout.splitlines() if line.startswith("kill")}
    assert done.returncode == 0, done.stdout + done.stderr
    assert "equal to an index made in one run" in done.stdout
    assert len(stored) > 2, "the kills fell before or after the work, not into it"
    assert "documents of esrag-summaries" in done.stdout
