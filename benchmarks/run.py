"""Runs every benchmark of this folder, one after the other; each prints a table of its own."""

import subprocess
import sys
from pathlib import Path

BENCHMARKS = ("start.py", "search.py", "encoder.py", "ingest.py")


def main() -> None:
    """In turn, so that none disturbs another; the first failure ends it."""
    for name in BENCHMARKS:
        print(f"\n## {name}\n", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).with_name(name))], check=True)


if __name__ == "__main__":
    main()
