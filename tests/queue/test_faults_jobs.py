"""Jobs that meet: two at once, one that is cancelled, several sweepers, clocks that differ.

Encoders that fail.
"""

import json
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from waiting import wait_until

from esrag.jobs.queue import Queue
from esrag.jobs.sweeping import sweep
from esrag.jobs.work import Work

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]


def test_two_ingests_of_the_same(start_worker, ingests):
    """Case 32: of two ingests of the same folder at once the newer takes over, and everything is
    stored once.
    """
    ingests.write(**{f"file{number}": f"File number {number}." for number in range(10)})
    start_worker()
    start_worker()

    def begin(_):
        with closing(Work(ingests.work.settings)) as work:
            return ingests.begin(work=work)

    with ThreadPoolExecutor(2) as pool:
        jobs = list(pool.map(begin, range(2)))
    wait_until(lambda: all(ingests.work.ledger.job(job.job_id).state != "open" for job in jobs))
    newest = max(jobs, key=lambda job: (job.created_ms, job.job_id))
    assert ingests.work.ledger.job(newest.job_id).state == "done"
    ingests.check(newest)


def test_cancelled_and_resumed(start_worker, ingests):
    """Case 33: a cancelled job ends within a batch; opened again, it does the rest."""
    ingests.write(**{f"file{number}": "WAIT FOR go" for number in range(6)})
    start_worker()
    job = ingests.begin()
    ingests.running(job)
    ingests.work.ledger.cancel(job.job_id, "by hand")
    ingests.let("go")
    wait_until(lambda: ingests.states(job)["running"] == 0)
    time.sleep(1)
    states = ingests.states(job)
    assert states["done"] <= 1
    assert states["pending"] == 6 - states["done"]
    ingests.work.ledger.reopen(job.job_id)
    ingests.finished(job)
    assert ingests.states(job) == {"done": 6}


def test_many_sweepers(ingests):
    """Case 34: of several sweepers at the same time one hands out; every batch is queued once."""
    ingests.write(**{f"file{number}": f"File number {number}." for number in range(20)})
    ingests.begin(published=False)

    def swept(_):
        with closing(Work(ingests.work.settings)) as work:
            sweep(work, Queue(work.settings.queue))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(swept, range(8)))
    assert ingests.queue.depth() == 20


@pytest.mark.parametrize("ahead_s", [3600, -3600])
def test_a_sweeper_with_another_time(start_worker, ingests, ahead_s):
    """Case 34: a sweeper whose clock is an hour off may hand out what is being worked on.

    The index is the same.
    """
    ingests.write(one="WAIT FOR go", two="WAIT FOR go too")
    start_worker()
    job = ingests.begin()
    ingests.running(job)
    with closing(Work(ingests.work.settings)) as work:
        work.ledger._clock = lambda: time.time() + ahead_s
        for _ in range(3):
            sweep(work, ingests.queue)
    ingests.let("go")
    ingests.finished(job)


def test_an_old_batch_comes_after_a_newer_one(start_worker, ingests, esrag, variables):
    """Case 17: a batch that was held up with an old state of a file stores what is there now."""
    ingests.write(one="WAIT FOR go")
    job = ingests.begin()
    start_worker()
    ingests.running(job)
    ingests.write(one="The newer one.")
    assert esrag("ingest", "docs", "--eager", **variables).code == 0
    ingests.let("go")
    ingests.finished(job)
    assert [chunk.text for chunk in ingests.work.context.engine.chunks()] == ["The newer one."]


@pytest.mark.parametrize("order", ["ONE TOO FEW", "TOO NARROW", "NO NUMBERS"])
def test_an_encoder_that_breaks_its_contract(start_worker, ingests, order):
    """Case 25: nothing of it is stored.

    After its attempts the batch is a dead letter, and the others are done.
    """
    ingests.reset(attempts=2)
    ingests.write(one=order, two="A file like any other.", three="And a third.")
    start_worker(ESRAG_QUEUE__ATTEMPTS="2")
    job = ingests.begin()
    ingests.finished(job)
    assert ingests.states(job) == {"done": 2, "failed": 1}
    (failed,) = ingests.ended(job, "failed")
    assert failed.attempts == 2
    assert "the encoder returned" in failed.error
    stored = {chunk.text for chunk in ingests.work.context.engine.chunks()}
    assert stored == {"A file like any other.", "And a third."}


class Service(BaseHTTPRequestHandler):
    """An embedding service that refuses the first requests, and then gives vectors."""

    refusals: ClassVar = []  # a status and the seconds to come back after, for one request each

    def do_POST(self):
        """A refusal if there is one left, else a unit vector a text."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, after_s = self.refusals.pop(0) if self.refusals else (200, None)
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        data = [
            {"index": number, "embedding": [1.0, 0.0, 0.0, 0.0]} for number in range(len(texts))
        ]
        body = json.dumps(
            {"data": data} if status == 200 else {"error": {"message": "not now"}}
        ).encode()
        self.send_response(status)
        if after_s is not None:
            self.send_header("Retry-After", str(after_s))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Quiet."""


@pytest.fixture
def service():
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    "case",
    [
        ([(429, 1), (503, None)], "done", ""),
        ([(401, None)] * 9, "cancelled", "ESRAG_EMBEDDING__API_KEY"),
    ],
)
def test_an_embedding_service_that_refuses(start_worker, ingests, service, case):
    """Case 24: what passes is waited for as long as it says.

    A key that is refused ends the job and says why.
    """
    refusals, state, said = case
    there = {"provider": "openai", "model": "small", "url": service}
    settings = ingests.work.settings
    embedding = settings.embedding.model_copy(update=there)
    ingests.work.close()
    ingests.work = Work(settings.model_copy(update={"embedding": embedding}))
    ingests.write(one="One.", two="Two.")
    ingests.work.made  # noqa: B018 -- asks the service how wide its vectors are, before it refuses
    Service.refusals[:] = refusals
    variables = {f"ESRAG_EMBEDDING__{name.upper()}": value for name, value in there.items()}
    job = ingests.begin()
    start_worker(**variables)
    wait_until(lambda: ingests.work.ledger.job(job.job_id).state != "open")
    ended = ingests.work.ledger.job(job.job_id)
    assert ended.state == state
    assert said in ended.note
    assert ingests.states(job)["done"] == (2 if state == "done" else 0)
    Service.refusals.clear()


def test_a_rebuild_that_is_not_whole_is_thrown_away(ingests, esrag, variables):
    """An encoder that fails half of it leaves the index as it was, and says so."""
    ingests.write(one="The kettle holds 1.7 litres.", two="The lamp takes an E27 bulb.")
    assert esrag("ingest", "docs", **alone(variables)).code == 0
    before = esrag("chunks", "--json").out
    ingests.write(two="NO NUMBERS")
    done = esrag("ingest", "docs", "--rebuild", **alone(variables))
    assert (done.code, "the index is as it was" in done.err) == (1, True)
    assert esrag("chunks", "--json").out == before


def test_a_rebuild_is_not_handed_to_workers(start_worker, ingests, esrag, variables):
    """Its batches go into an index of its own: a worker that sweeps meanwhile leaves them alone."""
    ingests.write(**{f"file{number}": "WAIT FOR go" for number in range(3)})
    start_worker()
    running = subprocess.Popen(
        esrag.command("ingest", "docs", "--rebuild"),
        cwd=esrag.folder,
        env=esrag.environment(**variables),
    )
    (job,) = wait_until(lambda: [job for job in ingests.work.ledger.jobs() if job.state == "open"])
    ingests.running(job)
    time.sleep(1.5)
    assert {batch.queued_ms for batch in ingests.work.ledger.batches(job.job_id)} == {0}
    ingests.let("go")
    assert running.wait(60) == 0
    ingests.check(job)


def test_a_file_that_came_back_stays(ingests, esrag, variables):
    """What an ingest that was killed had to remove is looked at again by the one that goes on with
    it.
    """
    ingests.write(one="The kettle holds 1.7 litres.", two="The lamp takes an E27 bulb.")
    assert esrag("ingest", "docs", **alone(variables)).code == 0
    (ingests.docs / "one.txt").rename(ingests.docs.parent / "one.txt")
    job = ingests.begin(published=False)
    assert job.gone == (str(ingests.docs / "one.txt"),)
    (ingests.docs.parent / "one.txt").rename(ingests.docs / "one.txt")
    assert esrag("ingest", "docs/two.txt", **alone(variables)).code == 0
    assert ingests.work.ledger.job(job.job_id).state == "done"
    assert {"one", "two"} == {document["doc_id"] for document in esrag("docs", "--json").lines}


def test_two_jobs_do_not_share_an_id(ingests, esrag, variables):
    """Files of one name in jobs that are open at the same time get ids of their own."""
    ingests.write(one="The kettle holds 1.7 litres.")
    ingests.begin(published=False)
    other = ingests.docs.parent / "more"
    other.mkdir()
    (other / "one.txt").write_text("Another one, about lamps.\n")
    assert esrag("ingest", "more", **alone(variables)).code == 0
    stored = {document["doc_id"]: document["source"] for document in esrag("docs", "--json").lines}
    assert sorted(stored.values()) == [str(ingests.docs / "one.txt"), str(other / "one.txt")]


def test_an_ingest_that_is_cancelled_ends(ingests, esrag, variables):
    """The command that does the work itself stops within a batch, says so and does not claim to be
    done.
    """
    ingests.write(**{f"file{number}": "WAIT FOR go" for number in range(3)})
    command = esrag.command("ingest", "docs")
    running = subprocess.Popen(
        command,
        cwd=esrag.folder,
        env=esrag.environment(**alone(variables)),
        stderr=subprocess.PIPE,
        text=True,
    )
    (job,) = wait_until(lambda: [job for job in ingests.work.ledger.jobs() if job.state == "open"])
    ingests.running(job)
    ingests.work.ledger.cancel(job.job_id, "by hand")
    ingests.let("go")
    _, said = running.communicate(timeout=60)
    assert (running.returncode, "was cancelled" in said) == (1, True)
    assert ingests.states(job)["pending"] >= 2


def alone(variables):
    """Without the queue, and a batch is tried once."""
    return variables | {"ESRAG_QUEUE__URL": "", "ESRAG_QUEUE__ATTEMPTS": "1"}
