"""Kills an ingest with SIGKILL at random moments, again and again, then lets it finish: nothing may be lost.

The index after the last, undisturbed run must hold what an index holds that was made in a single run: documents,
chunks, and vectors to the bit. `python benchmarks/crash.py FOLDER --kills 20`; settings come from the environment.
"""

import argparse
import hashlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ESRAG = str(Path(sys.executable).with_name("esrag"))


def main() -> int:
    """Prints what happened at each kill, and whether the two indexes are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)  # noqa: S311 -- moments to kill at
    with tempfile.TemporaryDirectory() as name:
        whole, killed = Path(name) / "whole", Path(name) / "killed"
        took, idle = _timed_ingest(arguments.folder, whole), _timed_ingest(arguments.folder, whole)
        longest = idle + 8 * (took - idle) / arguments.kills  # so that the kills fall all over the work
        for n in range(arguments.kills):
            _kill(arguments.folder, killed, rng.uniform(idle / 2, longest))
            print(f"kill {n + 1}: {len(_lines('docs', killed))} documents stored", flush=True)
        report = _ingest(arguments.folder, killed)
        print(f"last run: {report['added']} added, {report['changed']} changed, {report['unchanged']} unchanged")
        equal = _content(whole) == _content(killed)
        print(f"equal to an index made in one run of {took:.0f} s: {'yes' if equal else 'NO'}")
        return 0 if equal else 1


def _ingest(folder: Path, index: Path) -> dict[str, int]:
    """A run that is left alone; it may report files that cannot be read (exit 1)."""
    done = subprocess.run(
        [ESRAG, "ingest", str(folder), "--engine", str(index), "--json"], stdout=subprocess.PIPE, check=False, text=True
    )
    report: dict[str, int] = json.loads(done.stdout)
    return report


def _timed_ingest(folder: Path, index: Path) -> float:
    started = time.perf_counter()
    _ingest(folder, index)
    return time.perf_counter() - started


def _kill(folder: Path, index: Path, after_s: float) -> None:
    """A run that is killed; its parse process sees its pipe close and ends by itself."""
    command = [ESRAG, "ingest", str(folder), "--engine", str(index)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _lines(command: str, index: Path) -> list[str]:
    done = subprocess.run(
        [ESRAG, command, "--engine", str(index), "--json"], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines()


def _content(index: Path) -> dict[str, object]:
    """Everything an index holds, however it came there."""
    return {"documents": _lines("docs", index), "chunks": _lines("chunks", index), "vectors": _vectors(index)}


def _vectors(index: Path) -> dict[str, str]:
    """A hash of each chunk's vector, by chunk id."""
    import sqlite3

    import numpy as np

    folder = next(path for path in index.iterdir() if path.is_dir() and not path.name.startswith("."))
    database = sqlite3.connect(folder / "index.sqlite3")
    name, width = database.execute("SELECT vector_file, dimensions FROM state").fetchone()
    if not width:
        return {}
    rows = np.fromfile(folder / name, dtype=np.float32).reshape(-1, width)
    found = database.execute("SELECT chunk_id, vector_row FROM chunks")
    return {chunk_id: hashlib.sha256(rows[row].tobytes()).hexdigest() for chunk_id, row in found}


if __name__ == "__main__":
    sys.exit(main())
