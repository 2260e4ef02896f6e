"""Kills an ingest with SIGKILL at random moments, then lets it finish: nothing may be lost.

The index after the last, undisturbed run must hold what an index holds that was made in a single
run: documents, chunks, and vectors to the bit, and so must its summaries.
`python benchmarks/crash.py FOLDER --kills 20`; settings come from the environment.
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

MAIN = "esrag"  # the index's name
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
        started = time.perf_counter()
        files = sum(_ingest(arguments.folder, whole)[count] for count in ("added", "failed"))
        took = time.perf_counter() - started
        for n in range(arguments.kills):  # fast enough that the work is done before the last kills
            _kill(
                arguments.folder,
                killed,
                rng.randrange(1 + 2 * files // arguments.kills),
                rng.uniform(0, 0.1),
            )
            stored = {name: len(_lines("docs", killed, name)) for name in _names(killed)}
            print(f"kill {n + 1}: {_describe(stored)}", flush=True)
        report = _ingest(arguments.folder, killed)
        print(
            f"last run: {report['added']} added, {report['changed']} changed, "
            f"{report['unchanged']} unchanged"
        )
        one, other = _content(whole), _content(killed)
        different = [what for what in {**one, **other} if one.get(what) != other.get(what)]
        verdict = f"NO, {', '.join(different)} differ" if different else "yes"
        print(f"compared: {', '.join(one)}")
        print(f"equal to an index made in one run of {took:.0f} s: {verdict}")
        return 1 if different else 0


def _ingest(folder: Path, index: Path) -> dict[str, int]:
    """A run that is left alone; it may report files that cannot be read (exit 1)."""
    done = subprocess.run(
        [ESRAG, "ingest", str(folder), "--engine", str(index), "--json"],
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    if not done.stdout:
        sys.exit(f"an ingest that was left alone failed with exit code {done.returncode}")
    report: dict[str, int] = json.loads(done.stdout)
    return report


def _kill(folder: Path, index: Path, after_files: int, after_s: float) -> None:
    """A run that is killed when it has said so many files and a moment more.

    Its parse process ends by itself.
    """
    command = [ESRAG, "ingest", str(folder), "--engine", str(index)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for _ in zip(range(after_files), process.stderr or (), strict=False):
        pass
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def _names(index: Path) -> list[str]:
    """The index in a folder and its siblings."""
    names = (path.name for path in index.glob("[!.]*") if path.is_dir())
    return sorted(name for name in names if name in {MAIN, f"{MAIN}-summaries"})


def _describe(stored: dict[str, int]) -> str:
    summaries = stored.get(f"{MAIN}-summaries", 0)
    return f"{stored.get(MAIN, 0)} documents stored, {summaries} summed up"


def _lines(command: str, index: Path, name: str) -> list[str]:
    where = ("--engine", str(index), "--set", f"engine.index={name}")
    done = subprocess.run(
        [ESRAG, command, *where, "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    is_empty = any(each in done.stderr for each in ("no index", "its creation was interrupted"))
    if done.returncode and not is_empty:
        sys.exit(f"esrag {command}: exit code {done.returncode}, {done.stderr}")
    return done.stdout.splitlines()


def _content(index: Path) -> dict[str, object]:
    """Everything that the indexes hold, however it came there."""
    held: dict[str, object] = {}
    for name in _names(index):
        held[f"documents of {name}"] = _lines("docs", index, name)
        held[f"chunks of {name}"] = _lines("chunks", index, name)
        held[f"vectors of {name}"] = _vectors(index / name)
    return held


def _vectors(folder: Path) -> dict[str, str]:
    """A hash of each chunk's vector, by chunk id."""
    import sqlite3

    import numpy as np

    database = sqlite3.connect(folder / "index.sqlite3")
    name, width = database.execute("SELECT vector_file, dimensions FROM state").fetchone()
    if not width:
        return {}
    rows = np.fromfile(folder / name, dtype=np.float32).reshape(-1, width)
    found = database.execute("SELECT chunk_id, vector_row FROM chunks")
    return {chunk_id: hashlib.sha256(rows[row].tobytes()).hexdigest() for chunk_id, row in found}


if __name__ == "__main__":
    sys.exit(main())
