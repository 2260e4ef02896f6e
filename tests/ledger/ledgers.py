"""Small jobs, and what another process does with a ledger: `ledgers.py claim|open|write URL …`."""

import sys
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from esrag.engines import EngineOptions
from esrag.engines.server.connection import Connection
from esrag.ingesting import Task
from esrag.ledger import Job
from esrag.ledger.ledger import Ledger
from esrag.ledger.server import ServerStore
from esrag.ledger.sqlite import SqliteStore
from esrag.records import Fingerprint

LEASE_S = 60
ATTEMPTS = 2
MADE = Fingerprint("hashing", 64, "sections 200 0")


@dataclass
class Clock:
    """Seconds since 1970, when it is called."""

    now_s: float = 1_800_000_000.0

    def __call__(self):
        """The time."""
        return self.now_s

    def advance(self, seconds):
        """Turns it on."""
        self.now_s += seconds


def open_store(url):
    """The store at an address or in a file."""
    if url.startswith("http"):
        return ServerStore(Connection(EngineOptions(url=url)), "esrag")
    return SqliteStore(Path(url))


def task(name):
    """One file."""
    return Task(source=f"/docs/{name}.md", doc_id=name, folder="", state="added")


def batches(*sizes):
    """Batches of so many files each."""
    numbers = count()
    return [[task(f"f{next(numbers)}") for _ in range(size)] for size in sizes]


def a_job(name="job", *, key="key", index="docs", created_ms=1, files=0, **fields):
    """A job that is to be written down."""
    return Job(
        job_id=name, key=key, index=index, made=MADE, created_ms=created_ms, files=files, **fields
    )


def opened(ledger, *sizes, name="job", **fields):
    """A job of batches of so many files, open."""
    return ledger.open(a_job(name, files=sum(sizes), **fields), batches(*sizes))


def _say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _claim(ledger, owner, number):
    """Claims everything there is and says what it got, once it is told to begin."""
    _say("ready")
    sys.stdin.readline()
    for one in range(1, int(number) + 1):
        if batch := ledger.claim(f"job-{one:06}", owner):
            _say(batch.batch_id)


def _open(ledger):
    """Writes a job down that has no end."""

    def endless():
        for number in count():
            if number == 350:
                _say("some are written")
            time.sleep(0.001)
            yield [task(f"f{number}")]

    ledger.open(a_job(files=10**6), endless())


def _write(ledger, name):
    """Writes a small job down, in a ledger that others make at the same moment."""
    _say("ready")
    sys.stdin.readline()
    opened(ledger, 1, name=name, key=name)


if __name__ == "__main__":
    what, url, *rest = sys.argv[1:]
    {"claim": _claim, "open": _open, "write": _write}[what](Ledger(open_store(url), 60, 2), *rest)
