"""A soak: workers and their Redis are killed again and again while they work off one job.

Nothing may be lost.

Two `esrag worker` processes under a small supervisor, a redis-server that keeps what it holds in an
append-only file. All the time the figures of `esrag jobs show` must add up. In the end the ledger
agrees with itself and with the index, and the index is the one that a single `esrag ingest` without
a queue makes. Exit code 1 where anything differs.

- `python benchmarks/soak.py --batches 2000 --kills 50 --restarts 4`: made-up files, the hashing
  embedder, an index in a folder. The producer ends at once, so that only the workers look after the
  job.
- `python benchmarks/soak.py --docs FOLDER --engine URL --kills 20 --restarts 1`: given documents,
  the encoder by default, an index in a folder or on a search server, where it stays. `esrag ingest`
  waits for its end.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

import numpy as np
import redis_server  # -- found by the line above

from esrag.embedding import Vectors
from esrag.engines.embedded.databases import connect
from esrag.jobs.reporting import problems
from esrag.jobs.work import Work
from esrag.settings import is_address
from esrag.settings.layers import resolve

ESRAG = str(Path(sys.executable).with_name("esrag"))
KEEPS = ("--appendonly", "yes", "--appendfsync", "everysec")
FILES_A_BATCH = 2
DOWN_S = 4  # as long as the Redis stays away, at most
MAX_WAIT_S = 3600
SHOW_S = 3  # from one `esrag jobs show` to the next
# Each file in one of these.
COUNTED = ("added", "changed", "renamed", "skipped", "failed", "queued", "dropped")
# Of a number of a vector that a search server gives back: it keeps unit vectors and their lengths.
ROUNDING = 1e-5
RESTARTS = (  # alternately: the signal, and whether what it held is gone
    (signal.SIGKILL, False),
    (signal.SIGKILL, True),
    (signal.SIGTERM, False),
    (signal.SIGTERM, False),
)


def main() -> int:
    """Prints a line for each event, and a summary."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="esrag-soak-") as name:
        folder, rng = Path(name), random.Random(arguments.seed)  # noqa: S311 -- texts and moments, nothing secret
        if not arguments.docs:
            _write_files(folder / "docs", arguments.batches * FILES_A_BATCH, rng)
        with closing(Soak(arguments, folder, rng)) as soak:
            soak.run(arguments)
            wrong = soak.summary()
        print("\nEverything is as it must be." if not wrong else "\nWRONG: " + "; ".join(wrong))
        return 1 if wrong else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=2000, help="of made-up files")
    parser.add_argument("--docs", type=Path, help="a folder of documents in their place")
    parser.add_argument("--engine", default="", help="folder or server of the index")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--restarts", type=int, default=4)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def _write_files(folder: Path, count: int, rng: random.Random) -> None:
    """Texts of one to some ten chunks, no two alike."""
    folder.mkdir()
    words = [
        "".join(rng.choices("abcdefghijklmnoprstuvwyz", k=rng.randint(2, 10))) for _ in range(5000)
    ]
    for number in range(count):
        paragraphs = (
            " ".join(f"{' '.join(rng.choices(words, k=12))}." for _ in range(6))
            for _ in range(number % 9)
        )
        (folder / f"file-{number:05}.txt").write_text(
            f"File number {number}.\n\n" + "\n\n".join(paragraphs) + "\n"
        )


def _events(
    arguments: argparse.Namespace, batches: int, rng: random.Random
) -> list[tuple[int, str]]:
    """What happens when so many batches are done.

    By progress and not by the clock, so that all find work under way.
    """
    what = ["kill"] * arguments.kills + ["restart"] * arguments.restarts
    rng.shuffle(what)
    moments = range(max(1, round(0.98 * batches)))
    chosen = (
        rng.sample(moments, len(what))
        if len(what) <= len(moments)
        else rng.choices(moments, k=len(what))
    )
    return list(zip(sorted(chosen), what, strict=True))


def _variables(
    encoder: dict[str, str], engine: dict[str, str], queue: dict[str, object]
) -> dict[str, str]:
    """The settings of all that runs here, without those of the user."""
    mine = {name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")}
    given = [("EMBEDDING", encoder), ("ENGINE", engine), ("QUEUE", queue)]
    ours = {
        f"ESRAG_{section}__{k.upper()}": str(v)
        for section, values in given
        for k, v in values.items()
    }
    return mine | ours | {"PYTHONUNBUFFERED": "1"}


def _ran(variables: dict[str, str], *words: str) -> bytes:
    """What a command prints; a file that cannot be read does not count as a failure.

    Raises: RuntimeError with what it said.
    """
    done = subprocess.run([ESRAG, *words], env=variables, capture_output=True, check=False)
    if done.returncode and not done.stdout:
        raise RuntimeError(done.stderr.decode())
    return done.stdout


class Broker:
    """A redis-server that goes away and comes back."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self._folder, self._rng, self._back_at = folder, rng, 0.0
        self._server = redis_server.start(folder, *KEEPS)
        self.url, self.restarts = self._server.url, 0

    def end(self) -> str:
        """Ends it for a while; what was done."""
        number, emptied = RESTARTS[self.restarts % len(RESTARTS)]
        self.restarts += 1
        self._server.stop(number)
        if emptied:
            shutil.rmtree(self._folder)
        down_s = self._rng.uniform(0, DOWN_S)
        self._back_at = time.monotonic() + down_s
        return (
            f"{number.name} to the Redis, back in {down_s:.1f} s "
            f"{'EMPTY' if emptied else 'with what it held'}"
        )

    def look(self) -> None:
        """Starts it again when it is time."""
        if self._back_at and time.monotonic() > self._back_at:
            self._back_at = 0.0
            self._server = redis_server.start(self._folder, *KEEPS, port=self._server.port)

    def close(self) -> None:
        """For good."""
        self._server.stop(signal.SIGKILL)


@dataclass
class Supervised:
    """A worker that is started again whenever it ended."""

    number: int
    variables: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    ends: Counter[int] = field(default_factory=Counter)

    def look(self) -> None:
        """Starts it if it does not run."""
        if self.process and self.process.poll() is not None:
            self.ends[self.process.returncode] += 1
            self.process = None
        if self.process is None:
            with self.log.open("ab") as out:
                self.process = subprocess.Popen(
                    [ESRAG, "worker"], env=self.variables, stdout=out, stderr=out
                )

    def kill(self, rng: random.Random) -> tuple[str, int]:
        """Kill the worker or its child, which does the work, with signal 9.

        Return which of them it was, and the child's number.
        """
        assert self.process  # noqa: S101 -- looked after just before
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        child = next(map(int, listed.read_text().split()), 0)
        if child and rng.random() < 0.5:
            os.kill(child, signal.SIGKILL)
            return f"worker {self.number}'s child", child
        self.process.kill()
        return f"worker {self.number}", child

    def close(self) -> None:
        """Told to end."""
        if self.process:
            self.process.terminate()
            self.process.wait(60)


class Soak:
    """The job, those who work on it, and what is to be found in the end."""

    def __init__(self, arguments: argparse.Namespace, folder: Path, rng: random.Random) -> None:
        self._folder, self._rng, self._started = folder, rng, time.perf_counter()
        self._docs, self._made_up = str(arguments.docs or folder / "docs"), not arguments.docs
        self._engine = {
            "url": arguments.engine or str(folder / "index"),
            "index": f"soak-{os.getpid()}",
        }
        self._on_a_server = is_address(self._engine["url"])
        threads = {"workers": str(max(1, (os.cpu_count() or 1) // 2))}  # of each of the two
        self._encoder = {"provider": "hashing", "model": "hashing"} if self._made_up else threads
        self._broker = Broker(folder / "redis", rng)
        # One more attempt than kills, and some for leases that end on a busy machine: even if every
        # kill met the same batch, that would be no reason for it to be dead.
        limits = {
            "batch_files": FILES_A_BATCH,
            "lease_s": 5,
            "sweep_s": 1,
            "attempts": min(100, arguments.kills + 10),
        }
        self._variables = _variables(
            self._encoder, self._engine, {"url": self._broker.url, **limits}
        )
        self._work = Work(resolve({}, self._variables, folder).settings)
        self._workers = [Supervised(n, self._variables, folder / f"worker-{n}.log") for n in (1, 2)]
        self._queued: dict[str, int] = {}
        self._job_id, self._files, self._kills, self._again, self._shown = "", 0, 0, 0, 0
        self._show_at = 0.0
        self._untrue: list[str] = []
        self._ingest: subprocess.Popen[bytes] | None = None

    def run(self, arguments: argparse.Namespace) -> None:
        """Until the job has ended."""
        self._begin()
        self._files = self._work.ledger.job(self._job_id).files
        batches = sum(self._work.ledger.counts(self._job_id).batches.values())
        self._say(f"job {self._job_id} is recorded, {batches} batches, {self._files} files")
        events = _events(arguments, batches, self._rng)
        while self._work.ledger.job(self._job_id).state == "open" and self._seconds() < MAX_WAIT_S:
            self._broker.look()
            for worker in self._workers:
                worker.look()
            self._look()
            if events and events[0][0] <= self._done():
                time.sleep(self._rng.uniform(0, 0.3))
                self._kill() if events.pop(0)[1] == "kill" else self._say(self._broker.end())
            time.sleep(0.5 if self._on_a_server else 0.05)  # there each question costs a refresh
        self._say(
            f"job {self._job_id} is {self._work.ledger.job(self._job_id).state}, "
            f"{len(events)} events left over"
        )

    def summary(self) -> list[str]:
        """Prints the figures; what is wrong, each in some words."""
        took_s = self._seconds()
        print("\n" + _ran(self._variables, "jobs", "show", self._job_id).decode())
        batches = list(self._work.ledger.batches(self._job_id))
        attempts = Counter(batch.attempts for batch in batches)
        print(
            f"kills {self._kills}, restarts of the Redis {self._broker.restarts}, "
            f"batches {len(batches)}"
        )
        again = "" if self._on_a_server else f"queued again {self._again}, "
        print(
            f"{again}attempts > 1: {len(batches) - attempts[1]}, {dict(sorted(attempts.items()))}"
        )
        print(
            f"esrag jobs show was asked {self._shown} times; "
            f"its figures did not add up {len(self._untrue)} times"
        )
        ends = sum((one.ends for one in self._workers), Counter())
        print(f"workers started again after exit code {dict(ends)}; {took_s:.0f} s")
        print(
            "the workers said:",
            *(f"{times} × {line}" for line, times in self._troubles()),
            sep="\n  ",
        )
        states = Counter(batch.state for batch in batches)
        unfinished = [f"batches {dict(states)}"] if set(states) != {"done"} else []
        return [
            *unfinished,
            *self._untrue,
            *(it.what for it in problems(self._work)),
            *self._differs(),
        ]

    def close(self) -> None:
        """Ends all that was started."""
        if self._ingest:
            self._ingest.kill()
            self._ingest.wait()
        for worker in self._workers:
            worker.close()
        self._broker.close()
        self._work.close()

    def _begin(self) -> None:
        """Hand the job over: by a command that ends, or by one that waits and is abandoned."""
        if self._made_up:
            handed = json.loads(_ran(self._variables, "ingest", self._docs, "--no-wait", "--json"))
            self._job_id = handed["job_id"]
            return
        command = [ESRAG, "ingest", self._docs, "--json"]
        with (
            (self._folder / "report").open("wb") as out,
            (self._folder / "said").open("wb") as said,
        ):
            self._ingest = subprocess.Popen(command, env=self._variables, stdout=out, stderr=said)
        while not self._job_id:
            time.sleep(0.2)
            if self._ingest.poll() is not None:
                raise RuntimeError((self._folder / "said").read_text())
            own = [job for job in self._work.ledger.jobs() if job.index == self._engine["index"]]
            self._job_id = own[0].job_id if own else ""

    def _kill(self) -> None:
        worker = self._rng.choice(self._workers)
        what, child = worker.kill(self._rng)
        running = list(self._work.ledger.batches(self._job_id, {"running"}))
        held = [batch.batch_id[-6:] for batch in running if batch.owner.split()[1] == str(child)]
        self._kills += 1
        self._say(
            f"kill -9 {self._kills}: {what}, "
            f"{f'at work on {held[0]}' if held else 'without a batch'}"
        )

    def _say(self, what: str) -> None:
        print(f"{self._seconds():6.1f} s {self._done():5} done: {what}", flush=True)

    def _seconds(self) -> float:
        return time.perf_counter() - self._started

    def _done(self) -> int:
        return self._work.ledger.counts(self._job_id).batches["done"]

    def _look(self) -> None:
        """Return whether every file is counted once now.

        Also return how many batches at least were queued a second time.
        """
        counted = self._work.ledger.counts(self._job_id).files
        if sum(counted.values()) != self._files:
            self._untrue.append(f"{self._files} files were counted as {counted}")
        if time.perf_counter() > self._show_at:
            self._show()
        if self._on_a_server:
            return
        with closing(connect(Path(self._engine["url"], "ledger.sqlite3"), "ro")) as ledger:
            waiting = (
                "SELECT key, queued_ms FROM entries WHERE kind = 'batch' AND state = "
                "'pending' AND queued_ms > 0"
            )
            queued = dict(ledger.execute(waiting))
        self._again += sum(
            self._queued.get(key, queued_ms) != queued_ms for key, queued_ms in queued.items()
        )
        self._queued |= queued

    def _show(self) -> None:
        """Whether the command tells of every file once."""
        told = json.loads(_ran(self._variables, "jobs", "show", self._job_id, "--json"))
        counted = {name: told[name] for name in COUNTED}
        if sum(counted.values()) != told["files"]:
            self._untrue.append(f"esrag jobs show tells of {told['files']} files as {counted}")
        self._shown += 1
        self._show_at = time.perf_counter() + SHOW_S

    def _troubles(self) -> list[tuple[str, int]]:
        """What the workers said beside what was done, without the numbers."""
        lines = (
            line
            for one in self._workers
            for line in one.log.read_text(errors="replace").splitlines()
        )
        told = (re.sub(r"^[-\d]+ [:,\d]+ ", "", line) for line in lines if " done: " not in line)
        return Counter(re.sub(r"[\w-]*\d[\w.:/-]*", "#", line)[:120] for line in told).most_common(
            12
        )

    def _differs(self) -> list[str]:
        """From an index that was made by one command without a queue."""
        plain = _variables(self._encoder, {"url": str(self._folder / "plain")}, {})
        started = time.perf_counter()
        report = json.loads(_ran(plain, "ingest", self._docs, "--json"))
        print(f"a single esrag ingest without a queue: {time.perf_counter() - started:.0f} s")
        mine, single = (_printed(variables) for variables in (self._variables, plain))
        ids = [json.loads(line)["chunk_id"] for line in mine["chunks"].splitlines()]
        twice = len(ids) - len(set(ids))
        print(
            f"{len(mine['docs'].splitlines())} documents, {len(ids)} chunks, {twice} of them twice"
        )
        different = [what for what in single if mine[what] != single[what]]
        different += ["vectors"] * (not self._same_vectors(plain)) + self._told_otherwise(report)
        return [f"{what} are not those of the single ingest" for what in different] + twice * [
            "a chunk is there twice"
        ]

    def _same_vectors(self, plain: dict[str, str]) -> bool:
        """To the bit where the index is in a folder."""
        (mine, rows), (single, others) = (
            _vectors(variables, self._folder) for variables in (self._variables, plain)
        )
        return mine == single and np.allclose(
            rows, others, rtol=0, atol=ROUNDING * self._on_a_server
        )

    def _told_otherwise(self, single: dict[str, object]) -> list[str]:
        """Figures that the waiting command told otherwise than the single one."""
        if not self._ingest:
            return []
        self._ingest.wait(60)
        told = json.loads((self._folder / "report").read_text())
        names = ("added", "changed", "renamed", "removed", "unchanged", "failed", "chunks")
        print("esrag ingest waited and told:", *(f"{told[name]} {name}" for name in names))
        return [f"{name} files" for name in names if told[name] != single[name]]


def _printed(variables: dict[str, str]) -> dict[str, bytes]:
    """All documents and chunks that an index holds, as they are printed."""
    return {what: _ran(variables, what, "--json") for what in ("docs", "chunks")}


def _vectors(variables: dict[str, str], folder: Path) -> tuple[list[str], Vectors]:
    """The ids of its chunks, and their vectors by row."""
    with closing(Work(resolve({}, variables, folder).settings)) as work:
        found = [(chunk_id, np.array(row)) for chunk_id, row in work.context.engine.vectors()]
    return [chunk_id for chunk_id, _ in found], np.array([row for _, row in found])


if __name__ == "__main__":
    sys.exit(main())
