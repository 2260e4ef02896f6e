"""Runs the commands of docs/reference/benchmarks.md one after the other on two cores.

Each prints a table of its own.

They are read from that page, so that its figures are those of these commands. One that names a
variable which is not set ($BEIR_DATA, $OPENSEARCH_URL) is left out, and a line says so. `run.py
ingest queued` runs those alone.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "benchmarks.md"
CORES = 2


def main(wanted: list[str]) -> int:
    """One after the other, so that none disturbs another; failures are listed at the end."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]  # the processes started from here inherit them
    os.sched_setaffinity(0, cores)
    print(f"on the cores {', '.join(map(str, cores))}", flush=True)
    commands = re.findall(
        r"^Command: `python (.+)`$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    failed = [command for command in commands if _is_wanted(command, wanted) and not _run(command)]
    print("".join(f"\nfailed: {command}" for command in failed))
    return bool(failed)


def _is_wanted(command: str, wanted: list[str]) -> bool:
    return not wanted or any(f"/{name}" in command for name in wanted)


def _run(command: str) -> bool:
    """Whether it did not fail."""
    print(f"\n## {command}\n", flush=True)
    words = [os.path.expandvars(word) for word in shlex.split(command)]
    if missing := [word for word in words if "$" in word]:
        print(f"left out: {missing[0]} is not set")
        return True
    return (
        subprocess.run([sys.executable, *words], cwd=PAGE.parents[2], check=False).returncode == 0
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
