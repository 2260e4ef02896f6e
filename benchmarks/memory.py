"""Memory of an ingest of very many documents: rows of one file, or files of one line.

`python benchmarks/memory.py --rows 2000000`, or `--files 10000`.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from ingest import ESRAG, peak_memory_mb


def main() -> int:
    """Print the peak memory of all processes of the ingest together, and its time."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--files", type=int, default=0)
    given = parser.parse_args()

    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name) / "corpus"
        corpus.mkdir()
        if given.rows:
            with (corpus / "rows.jsonl").open("w") as file:
                file.writelines(f'{{"text":"n{number}"}}\n' for number in range(given.rows))
        for number in range(given.files):
            (corpus / f"{number}.txt").write_text(f"Lamp {number} burns {number} litres.\n")

        started_s = time.perf_counter()
        peak_mb = peak_memory_mb(corpus, Path(name) / "index")
        took_s = time.perf_counter() - started_s
        stored = _count_documents(Path(name) / "index")
    what = f"{given.rows:,} rows and {given.files:,} files, {stored:,} documents stored"
    print(f"{what}: {peak_mb:.0f} MB at most, {took_s:.0f} s")
    return 0


def _count_documents(index: Path) -> int:
    command = [ESRAG, "docs", "--engine", str(index), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as listing:
        return sum(1 for _ in listing.stdout or ())


if __name__ == "__main__":
    raise SystemExit(main())
