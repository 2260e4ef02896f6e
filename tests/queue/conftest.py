"""A real redis-server, real workers, a link that can be broken, and a job to be worked off whatever
happens.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import redis_server  # noqa: E402 -- found by the line above
from proxy import Proxy  # noqa: E402
from waiting import wait_until  # noqa: E402

from esrag import plugins  # noqa: E402
from esrag.jobs.queue import Queue  # noqa: E402
from esrag.jobs.reporting import problems  # noqa: E402
from esrag.jobs.request import IngestRequest  # noqa: E402
from esrag.jobs.sweeping import sweep  # noqa: E402
from esrag.jobs.work import Work  # noqa: E402
from esrag.pipeline import enqueue  # noqa: E402
from esrag.settings.layers import resolve  # noqa: E402

KEEPS = ("--appendonly", "yes", "--appendfsync", "always")  # what was answered survives a kill


class Redis:
    """A redis-server of the test's own on one port, which keeps what it holds unless told
    otherwise.
    """

    def __init__(self, folder):
        self.folder = folder
        self.server = redis_server.start(folder, *KEEPS)
        self.port, self.url = self.server.port, self.server.url

    def stop(self, number=signal.SIGTERM):
        """Ends it by a signal."""
        self.server.stop(number)

    def start(self, *arguments, folder=None):
        """Starts it once more."""
        self.server = redis_server.start(
            folder or self.folder, *(arguments or KEEPS), port=self.port
        )


@pytest.fixture
def redis(tmp_path):
    """A redis-server that can be stopped and started."""
    server = Redis(tmp_path / "redis")
    yield server
    server.stop(signal.SIGKILL)


@pytest.fixture
def proxy(redis):
    """A link to that redis-server that can be broken."""
    link = Proxy(redis.port)
    yield link
    link.close()


@pytest.fixture
def client(redis):
    """A plain client that looks at what the redis-server holds."""
    import redis as library

    with library.Redis(port=redis.port) as opened:
        yield opened


@pytest.fixture
def variables(esrag, redis, tmp_path, monkeypatch):
    """The settings of ingests and workers as variables: what is lost is soon noticed, and embedding
    follows orders.
    """
    site = tmp_path / "site"
    info = site / "faulty-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    points = (
        "[esrag.embedders]",
        "faulty = faulty:FaultyEmbedder",
        "[esrag.loaders]",
        "quoted = faulty:QuotingLoader",
    )
    (info / "entry_points.txt").write_text("\n".join(points))
    monkeypatch.syspath_prepend(site)
    plugins._entries.cache_clear()
    yield {
        "ESRAG_QUEUE__URL": redis.url,
        "ESRAG_QUEUE__SWEEP_S": "0.3",
        "ESRAG_QUEUE__LEASE_S": "20",  # what dies on this machine is seen without it
        "ESRAG_QUEUE__BATCH_FILES": "1",
        "ESRAG_EMBEDDING__PROVIDER": "faulty",
        "FAULTS": str(esrag.folder),
        # What the tests themselves import may be another checkout than the one installed.
        "PYTHONPATH": os.pathsep.join(
            filter(None, (str(HERE), str(site), os.environ.get("PYTHONPATH")))
        ),
        "PYTHONUNBUFFERED": "1",
    }
    plugins._entries.cache_clear()


@dataclass
class Worker:
    """A worker that runs, and what it said so far."""

    process: subprocess.Popen
    file: Path

    @property
    def pid(self):
        """Of the parent, that signals are sent to."""
        return self.process.pid

    @property
    def children(self):
        """The processes that do the work."""
        return [
            int(pid)
            for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        ]

    @property
    def log(self):
        """All that it said."""
        return self.file.read_text()

    @property
    def lives(self):
        """Whether it runs."""
        return self.process.poll() is None

    def send(self, number):
        """A signal to the parent."""
        self.process.send_signal(number)

    def wait_for(self, text, times=1, within_s=45):
        """Until it has said something so often."""
        wait_until(lambda: self.log.count(text) >= times or not self.lives, within_s)
        assert self.log.count(text) >= times, self.log

    def end(self, number=signal.SIGTERM, within_s=40):  # an answer of its Redis is waited for 15 s
        """Ends it by a signal; gives the exit code."""
        self.process.send_signal(number)
        wait_until(lambda: not self.lives, within_s)
        return self.process.returncode


@pytest.fixture
def start_worker(esrag, variables, tmp_path):
    """Starts `esrag worker` (or another command) in the test's folder.

    What is left of it at the end is killed.
    """
    workers = []

    def start(*arguments, command=None, ready="ready", **others):
        words = command or esrag.command("worker", *arguments)
        environment, log = (
            esrag.environment(**(variables | others)),
            tmp_path / f"worker-{len(workers)}.log",
        )
        with log.open("w") as out:
            process = subprocess.Popen(
                words,
                cwd=esrag.folder,
                env=environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        workers.append(Worker(process, log))
        workers[-1].wait_for(ready)
        return workers[-1]

    yield start
    for worker in workers:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.process.wait(10)


@dataclass
class Ingests:
    """Files, the ingests of their folder, and what must be so in the end."""

    docs: Path
    work: Work
    queue: Queue

    def write(self, **texts):
        """Files by their names, without the ending."""
        for name, text in texts.items():
            (self.docs / f"{name}.txt").write_text(f"{text}\n")

    def let(self, *names):
        """Those that wait for one of these names go on."""
        for name in names:
            (self.docs.parent / name).touch()

    def reset(self, **changes):
        """Other settings of the queue for what the test itself does: attempts=2."""
        settings = self.work.settings
        settings = settings.model_copy(update={"queue": settings.queue.model_copy(update=changes)})
        self.work.close()
        self.work, self.queue = Work(settings), Queue(settings.queue)

    def begin(self, *, published=True, work=None):
        """A job over the folder; its batches are in the queue unless told otherwise."""
        job = enqueue(IngestRequest([str(self.docs)]), work or self.work)
        if published:
            sweep(work or self.work, self.queue)
        return job

    def batches(self, job):
        """Its batches by the name of their first file."""
        return {
            Path(batch.tasks[0].source).stem: batch
            for batch in self.work.ledger.batches(job.job_id)
        }

    def states(self, job):
        """How many of its batches are in which state."""
        return Counter(batch.state for batch in self.work.ledger.batches(job.job_id))

    def running(self, job, count=1):
        """Waits until so many batches are being worked on."""
        wait_until(lambda: self.states(job)["running"] >= count)

    def finished(self, job, within_s=45):
        """Waits until nothing of it is left to do; then everything must agree."""
        wait_until(lambda: self.work.ledger.job(job.job_id).state != "open", within_s)
        self.check(job)

    def check(self, job):
        """Sources = indexed + dead letters.

        The index holds each chunk once and none that is stale; figures agree.
        """
        assert list(problems(self.work)) == []
        lost = {task.source for batch in self.ended(job, "failed", "dead") for task in batch.tasks}
        stored = {document.source: document for document in self.work.context.engine.documents()}
        assert set(stored) | lost == {str(path) for path in self.docs.iterdir()}
        chunks = list(self.work.context.engine.chunks())
        assert max(Counter(chunk.chunk_id for chunk in chunks).values(), default=1) == 1
        assert len(chunks) == sum(document.chunk_count for document in stored.values())
        texts = {chunk.doc_id: chunk.text for chunk in chunks}  # the files are short
        assert texts == {
            it.doc_id: Path(source).read_text().strip() for source, it in stored.items()
        }

    def ended(self, job, *states):
        """Its batches in these states."""
        return list(self.work.ledger.batches(job.job_id, states))


@pytest.fixture
def ingests(esrag, variables):
    """A folder without files, and ingests of it."""
    docs = esrag.folder / "docs"
    docs.mkdir()
    known = {
        name: value
        for name, value in (esrag.variables | variables).items()
        if name.startswith("ESRAG_")
    }
    settings = resolve({"engine.url": str(esrag.folder / ".esrag")}, known, esrag.folder).settings
    ingests = Ingests(docs, Work(settings), Queue(settings.queue))
    yield ingests
    ingests.work.close()
