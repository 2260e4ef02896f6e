"""Processes that are killed, stopped and told to end while they work.

Nothing is lost and nothing doubled.
"""

import os
import random
import signal
import time

import pytest
from test_worker import APP, PLAIN
from waiting import wait_until

from esrag.jobs.sweeping import sweep

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(240)]


def test_a_child_is_killed(start_worker, ingests):
    """Case 1: a process killed while it works is replaced, and the batch is done by the next
    attempt.
    """
    ingests.write(one="WAIT FOR go", two="The kettle holds 1.7 litres.")
    worker = start_worker()
    job = ingests.begin()
    ingests.running(job)
    os.kill(worker.children[0], signal.SIGKILL)
    ingests.let("go")
    ingests.finished(job)
    assert {name: batch.attempts for name, batch in ingests.batches(job).items()} == {
        "one": 2,
        "two": 1,
    }
    assert worker.lives


def test_a_worker_is_killed(start_worker, ingests):
    """Case 2: when a whole worker dies, another takes its batch."""
    ingests.write(one="WAIT FOR go", two="WAIT FOR go too")
    worker = start_worker()
    job = ingests.begin()
    ingests.running(job)
    worker.end(signal.SIGKILL)
    ingests.let("go")
    start_worker()
    ingests.finished(job)
    assert sorted(batch.attempts for batch in ingests.batches(job).values()) == [1, 2]


def test_a_worker_on_another_machine_is_killed(start_worker, ingests):
    """Case 2, where nobody can see that the process is gone: its lease ends, and then another takes
    the batch.
    """
    ingests.write(one="The kettle holds 1.7 litres.")
    job = ingests.begin(published=False)
    (batch,) = ingests.batches(job).values()
    ingests.reset(lease_s=2)
    assert ingests.work.ledger.claim(batch.batch_id, "elsewhere 1 x")
    started = time.monotonic()
    start_worker(ESRAG_QUEUE__LEASE_S="2")
    ingests.finished(job)
    assert time.monotonic() - started > 1.5
    assert ingests.batches(job)["one"].attempts == 2


def test_a_worker_is_killed_with_messages_on_their_way(start_worker, ingests, client):
    """Case 3: what the Redis gave to a worker that never got to note it is queued again."""
    ingests.write(one="One.", two="Two.", three="Three.")
    job = ingests.begin(published=False)
    sweep(ingests.work, ingests.queue)
    assert client.rpop("esrag:q:ingest")  # handed out to a worker that dies in this moment
    assert client.hlen("esrag:q:unacked") == 0  # and nobody knows of it
    start_worker()
    ingests.finished(job)


def test_many_are_killed(start_worker, ingests):
    """Case 4: workers and their children killed at random moments.

    Every batch is done, no chunk twice.
    """
    ingests.write(**{f"file{number}": f"File number {number}." for number in range(80)})
    job, chance = ingests.begin(published=False), random.Random(4)
    workers = [start_worker(), start_worker()]
    for _ in range(6):
        time.sleep(chance.random() / 2)
        at = chance.randrange(2)
        if chance.random() < 0.5 and workers[at].children:
            os.kill(workers[at].children[0], signal.SIGKILL)
        else:
            workers[at].end(signal.SIGKILL)
            workers[at] = start_worker()
    ingests.finished(job, within_s=90)
    assert ingests.states(job) == {"done": 80}


@pytest.mark.parametrize("batch_files", [1, 4], ids=["alone", "among others"])
def test_a_file_that_kills_its_process(start_worker, ingests, batch_files):
    """Case 5: a file that kills whoever reads it is a dead letter after its attempts.

    All others are stored.
    """
    few = {"ESRAG_QUEUE__ATTEMPTS": "2", "ESRAG_QUEUE__BATCH_FILES": str(batch_files)}
    ingests.reset(attempts=2, batch_files=batch_files)
    ingests.write(one="One.", two="KILL CHILD", three="Three.", four="Four.")
    job = ingests.begin()
    worker = start_worker(**few)
    ingests.finished(job)
    (dead,) = ingests.ended(job, "dead")
    assert [task.source for task in dead.tasks] == [str(ingests.docs / "two.txt")]
    assert (dead.attempts, dead.error) == (2, "ended its worker 2 times")
    assert worker.lives


def test_a_file_that_kills_its_worker(start_worker, ingests):
    """Case 6: a file that ends the whole worker, as a machine out of memory does, is a dead letter
    too.
    """
    ingests.reset(attempts=2)
    ingests.write(one="One.", two="KILL PARENT", three="Three.")
    job = ingests.begin()
    deaths = 0
    while ingests.work.ledger.job(job.job_id).state == "open":
        worker = start_worker(ESRAG_QUEUE__ATTEMPTS="2")
        wait_until(
            lambda worker=worker: (
                not worker.lives or ingests.work.ledger.job(job.job_id).state != "open"
            )
        )
        deaths += not worker.lives
    ingests.check(job)
    assert deaths == 2
    assert [batch.attempts for batch in ingests.ended(job, "dead")] == [2]


def test_a_batch_that_takes_too_long(start_worker, ingests):
    """Case 7: a batch over its time limit is killed, and a dead letter after its attempts.

    It is written down once.
    """
    ingests.reset(attempts=2)
    ingests.write(one="WAIT FOR ever", two="Two.")
    job = ingests.begin()
    worker = start_worker(ESRAG_QUEUE__ATTEMPTS="2", ESRAG_QUEUE__TIME_LIMIT_S="3")
    ingests.finished(job)
    assert {name: batch.state for name, batch in ingests.batches(job).items()} == {
        "one": "dead",
        "two": "done",
    }
    assert worker.lives


def test_told_to_end(start_worker, ingests, client):
    """Case 8: at SIGTERM the batch under way is finished and no other begun.

    Nothing is left unacknowledged.
    """
    ingests.write(**{f"file{number}": "WAIT FOR go" for number in range(4)})
    worker = start_worker()
    job = ingests.begin()
    ingests.running(job)
    worker.send(signal.SIGTERM)
    worker.wait_for("Warm shutdown")
    ingests.let("go")
    assert worker.process.wait(40) == 0
    assert ingests.states(job) == {"done": 1, "pending": 3}
    assert client.hlen("esrag:q:unacked") == 0
    start_worker()
    ingests.finished(job)
    assert {batch.attempts for batch in ingests.batches(job).values()} == {1}


def test_told_to_end_soon(start_worker, ingests, client):
    """Case 8, in a container: SIGTERM gives the batch a little time and then cuts it short.

    Another takes it.
    """
    ingests.write(one="WAIT FOR go", two="WAIT FOR go too")
    command = [*APP, *PLAIN, "--", "worker.soft_shutdown_timeout=1"]
    worker = start_worker(command=command, REMAP_SIGTERM="SIGQUIT")
    job = ingests.begin()
    ingests.running(job)
    time.sleep(
        1
    )  # Celery 5.7 does not cut short a batch that its parent has sent and not yet seen begun
    started = time.monotonic()
    worker.end(signal.SIGTERM)
    assert time.monotonic() - started > 1
    assert client.hlen("esrag:q:unacked") == 0
    ingests.let("go")
    start_worker()
    ingests.finished(job)


def test_a_model_that_is_slow_to_open(start_worker, ingests):
    """Case 35: processes that are replaced after every batch and open a slow model each are not
    ended for it.
    """
    ingests.write(one="One.", two="Two.")
    job = ingests.begin()
    worker = start_worker(command=[*APP, *PLAIN, "--max-tasks-per-child", "2"], SLOW="5")
    ingests.finished(job)
    assert {batch.attempts for batch in ingests.batches(job).values()} == {1}
    assert "Timed out" not in worker.log


def test_a_batch_that_takes_longer_than_a_lease(start_worker, ingests):
    """A batch whose worker lives is nobody else's, however long one file of it takes."""
    ingests.write(one="WAIT FOR go")
    job = ingests.begin()
    start_worker(ESRAG_QUEUE__LEASE_S="1")
    start_worker(ESRAG_QUEUE__LEASE_S="1")
    ingests.running(job)
    time.sleep(4)
    ingests.let("go")
    ingests.finished(job)
    assert ingests.batches(job)["one"].attempts == 1
