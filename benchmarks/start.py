"""How long a new user waits: `esrag --help`, and `esrag ask` on a small index."""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ESRAG = str(Path(sys.executable).with_name("esrag"))
ROUNDS = 11
CLICK = 'python -c "import click"'


def main() -> None:
    """Print one Markdown table; an interpreter that imports click is the yardstick."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = (
            "The kettle holds 1.7 litres. It boils in three minutes. The lid opens at a button.\n"
        )
        (folder / "kettle.txt").write_text(text, encoding="utf-8")
        at = ["--engine", str(folder / "index")]
        subprocess.run(
            [ESRAG, "ingest", str(folder / "kettle.txt"), *at], check=True, capture_output=True
        )
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            CLICK: [sys.executable, "-c", "import click"],
            "esrag --help": [ESRAG, "--help"],
            "esrag ask": [ESRAG, "ask", "How much does the kettle hold?", *at],
        }
        took: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for what, command in commands.items():
                started = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                took[what].append(time.perf_counter() - started)
    base = statistics.median(took[CLICK])
    print("| command | seconds, median | against click |\n| --- | --- | --- |")
    for name, seconds in took.items():
        median = statistics.median(seconds)
        print(f"| {name} | {median:.2f} | {median / base:.1f} × |")


if __name__ == "__main__":
    main()
