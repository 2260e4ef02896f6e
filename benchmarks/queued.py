"""What the queue costs: an ingest by a worker against one without a queue, and Redis's memory.

Not named `queue`: scripts beside it would import it in the place of Python's own. The three ways of
an ingest take turns, over the same files, and each is timed from starting `esrag ingest` to its
end; processor time is that of all processes, and is disturbed less by what else runs:

- without a queue: the command opens the encoder itself;
- a new worker: it has said that it is ready and opens the encoder with its first batch, within the
  time, so that the same is done on both sides, and the ratio is what the queue costs;
- the same worker again, into another index: its encoder is open, as it is from then on.

The texts are SciFact's where BEIR_DATA names the folder that holds it, else made up. Each becomes a
file.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

import redis_server  # -- found by the line above
from texts import rows

from esrag.ingesting import Task
from esrag.jobs.queue import Queue
from esrag.jobs.sweeping import sweep
from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.settings.layers import resolve

ESRAG = str(Path(sys.executable).with_name("esrag"))
BASE = "without a queue"
MB = 1e6


class Took(NamedTuple):
    """Of one ingest; a worker and the Redis count with it."""

    wall_s: float
    processor_s: float


def main() -> None:
    """Prints two Markdown tables."""
    arguments = _arguments()
    if not shutil.which("redis-server"):
        print("left out: redis-server is not installed")
        return
    with tempfile.TemporaryDirectory(prefix="esrag-queued-") as name:
        folder = Path(name)
        redis = redis_server.start(folder / "redis")
        try:
            if arguments.rounds:
                _print_overhead(arguments, folder, redis.url)
            if arguments.files:
                _print_memory(arguments.files, folder / "large", redis.url)
        finally:
            redis.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3, help="0: no ingests")
    parser.add_argument(
        "--files",
        type=int,
        default=1_000_000,
        help="of the job that nobody works on; 0: no such job",
    )
    return parser.parse_args()


def _print_overhead(arguments: argparse.Namespace, folder: Path, url: str) -> None:
    docs = folder / "docs"
    docs.mkdir()
    for row in rows(arguments.documents):
        (docs / f"{int(row['id']):05}.txt").write_text(
            f"{row['title']}\n\n{row['text']}\n", encoding="utf-8"
        )
    took: dict[str, list[Took]] = {BASE: [], "a new worker": [], "the same worker again": []}
    for number in range(arguments.rounds):
        index = folder / f"index-{number}"
        took[BASE].append(_ingest(docs, "in-process", _variables(index / "own")))
        queued = _variables(index / "queued", url)
        with _worker(queued, folder / "worker.log"):
            took["a new worker"].append(_ingest(docs, "first", queued))
            took["the same worker again"].append(_ingest(docs, "second", queued))
        print({name: each[-1] for name, each in took.items()}, file=sys.stderr, flush=True)
    print(f"{arguments.documents} files, medians of {arguments.rounds} alternating rounds\n")
    print("| ingest | seconds | more than without | CPU seconds | more than without |")
    print("| --- | --- | --- | --- | --- |")
    bases = [statistics.median(seconds) for seconds in zip(*took[BASE], strict=True)]
    for name, each in took.items():
        medians = [statistics.median(seconds) for seconds in zip(*each, strict=True)]
        pairs = zip(medians, bases, strict=True)
        print(
            "|",
            name,
            *(f"| {mine:.1f} | {100 * (mine / base - 1):+.1f} %" for mine, base in pairs),
            "|",
        )


def _variables(index: Path, url: str = "", **others: str) -> dict[str, str]:
    """The default settings except for the index and the queue, without those of the user."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")}
    return (
        mine
        | {"ESRAG_ENGINE__URL": str(index), "ESRAG_QUEUE__URL": url, "PYTHONUNBUFFERED": "1"}
        | others
    )


def _ingest(docs: Path, index: str, variables: dict[str, str]) -> Took:
    """Seconds from the start of the command to its end, by the clock and of all processors."""
    started, used_s = time.perf_counter(), _used_s()
    command = [ESRAG, "ingest", str(docs), "--index", index, "--json"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    took = Took(time.perf_counter() - started, _used_s() - used_s)
    if done.returncode or json.loads(done.stdout)["added"] != len(list(docs.iterdir())):
        raise RuntimeError(f"not all was added: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    return took


def _used_s() -> float:
    """Processor time of whatever was started from here, living or not."""
    from psutil import Process

    times = (process.cpu_times() for process in (Process(), *Process().children(recursive=True)))
    return float(
        sum(one.user + one.system + one.children_user + one.children_system for one in times)
    )


@contextmanager
def _worker(variables: dict[str, str], log: Path) -> Iterator[None]:
    """A worker that is ready, and is asked to end."""
    with log.open("wb") as out:
        process = subprocess.Popen([ESRAG, "worker"], env=variables, stdout=out, stderr=out)
    try:
        while b"ready" not in log.read_bytes():
            if process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(60)


def _print_memory(files: int, index: Path, url: str) -> None:
    """A job without workers: all of it is in the ledger, and a window of it in the queue."""
    variables = _variables(
        index, url, ESRAG_EMBEDDING__PROVIDER="hashing", ESRAG_EMBEDDING__MODEL="hashing"
    )
    settings = resolve({}, variables, index.parent).settings
    with closing(Work(settings)) as work:
        before_mb = _used_mb(url)
        started = time.perf_counter()
        now_ms, size = round(1000 * time.time()), settings.queue.batch_files
        work.ledger.open(
            Job(
                job_id="large",
                key="large",
                index=settings.engine.index,
                made=work.made,
                created_ms=now_ms,
                files=files,
            ),
            _batches(files, size),
        )
        opened = time.perf_counter()
        queue = Queue(settings.queue)
        sweep(work, queue)
        swept = time.perf_counter()
        batches = work.ledger.counts("large").batches["pending"]
        ledger_mb = (index / "ledger.sqlite3").stat().st_size / MB
        print(f"\n{files:,} files in {batches:,} batches, and no worker\n")
        print("| what | figure |\n| --- | --- |")
        print(
            f"| to write the job into the ledger | {opened - started:.1f} s, {ledger_mb:.0f} MB |"
        )
        print(f"| first sweep | {swept - opened:.2f} s, {queue.depth()} batches in the queue |")
        print(f"| memory of the Redis | {_used_mb(url):.2f} MB, {before_mb:.2f} MB before |")


def _batches(files: int, size: int) -> Iterator[list[Task]]:
    for first in range(0, files, size):
        numbers = range(first, min(first + size, files))
        folders = ((number, f"archive/{number // 1000:04}") for number in numbers)
        yield [
            Task(
                source=f"/srv/{folder}/document-{n:07}.pdf",
                doc_id=f"{n:032x}",
                folder=folder,
                state="added",
            )
            for n, folder in folders
        ]


def _used_mb(url: str) -> float:
    from redis import Redis

    with closing(Redis.from_url(url)) as client:
        return float(client.info("memory")["used_memory"]) / MB


if __name__ == "__main__":
    main()
