"""A Redis that restarts, is emptied, is full or cannot be reached, while workers work.

Nothing is lost or doubled.
"""

import signal
import time
from dataclasses import replace

import pytest
from test_worker import APP
from waiting import wait_until

from esrag.errors import QueueUnreachable
from esrag.ingesting import Task
from esrag.jobs.queue import PREFIX, Queue, QueueName
from esrag.jobs.sweeping import sweep

DEFAULTS = ["worker", "--concurrency", "2", "-l", "INFO"]  # gossip and all

pytestmark = [pytest.mark.faults, pytest.mark.slow, pytest.mark.timeout(240)]


def waits_for_work(client):
    """Whether a worker asks for messages at this moment."""
    return "brpop" in {it["cmd"] for it in client.client_list()}


@pytest.mark.parametrize("command", [None, [*APP, *DEFAULTS]], ids=["esrag", "celery"])
def test_restarts_with_work_under_way(start_worker, ingests, redis, client, command):
    """Case 9: four restarts with a batch under way and a process free.

    The worker lives, every batch is done once.
    """
    ingests.write(one="WAIT FOR go", two="Two.")
    worker = start_worker("--concurrency", "2", command=command)
    job = ingests.begin()
    wait_until(lambda: ingests.states(job) == {"done": 1, "running": 1})
    for _ in range(4):
        redis.stop()
        redis.start()
        wait_until(lambda: waits_for_work(client))
    ingests.let("go")
    ingests.finished(job)
    assert {batch.attempts for batch in ingests.batches(job).values()} == {1}
    ingests.write(three="Three.")
    ingests.finished(ingests.begin())
    assert worker.end() == 0


def test_an_acknowledgement_that_fails(start_worker, ingests, redis):
    """A worker with one process whose batch ends while the Redis is away takes the next when it is
    back.
    """
    worker = start_worker()
    for name in ("one", "two", "three"):
        ingests.write(**{name: f"WAIT FOR {name}"})
        job = ingests.begin()
        ingests.running(job)
        redis.stop()
        ingests.let(name)
        wait_until(lambda job=job: ingests.states(job) == {"done": 1})
        time.sleep(0.5)
        redis.start()
    ingests.write(four="Four.")
    ingests.finished(ingests.begin())
    assert worker.end() == 0


def test_restarted_empty(start_worker, ingests, redis, tmp_path):
    """Case 10: a Redis that is killed and comes back with nothing is filled from the ledger, by
    nobody's hand.
    """
    ingests.write(**{f"file{number}": "WAIT FOR go" for number in range(5)})
    start_worker()
    job = ingests.begin()
    ingests.running(job)
    redis.stop(signal.SIGKILL)
    redis.start(folder=tmp_path / "another")
    assert ingests.queue.depth() == 0
    ingests.let("go")
    ingests.finished(job)


def test_no_redis_when_it_is_published(start_worker, ingests, redis):
    """Case 11: an ingest whose Redis is away has recorded its job whole.

    The first sweep afterwards hands it out.
    """
    ingests.write(one="One.", two="Two.")
    worker = start_worker()
    redis.stop()
    with pytest.raises(QueueUnreachable):
        ingests.begin()
    (job,) = ingests.work.ledger.jobs()
    assert (job.state, ingests.states(job)) == ("open", {"pending": 2})
    redis.start()
    ingests.finished(job)
    assert worker.lives


def test_a_frozen_link(start_worker, ingests, proxy):
    """Case 12: a link that swallows everything for 15 s and then heals.

    The worker goes on by itself.
    """
    worker = start_worker(ESRAG_QUEUE__URL=f"redis://127.0.0.1:{proxy.port}/0")
    proxy.freeze()
    ingests.write(one="One.", two="Two.", three="Three.")
    job = ingests.begin()
    time.sleep(15)
    proxy.heal()
    ingests.finished(job)
    assert worker.lives


def test_a_link_that_is_forgotten(start_worker, ingests, proxy):
    """Case 12, by a firewall that restarts: the message in it is lost and neither side is told.

    The ledger has it.
    """
    worker = start_worker(ESRAG_QUEUE__URL=f"redis://127.0.0.1:{proxy.port}/0")
    proxy.forget_at = b"esrag.batch"
    ingests.write(one="One.", two="Two.", three="Three.")
    job = ingests.begin()
    wait_until(lambda: proxy.forgotten)
    ingests.finished(
        job, within_s=90
    )  # an answer is waited for 15 s, on the connections of messages and of sweeps
    assert {batch.attempts for batch in ingests.batches(job).values()} == {1}
    assert worker.lives


def test_a_link_that_is_cut(start_worker, ingests, proxy):
    """Case 12, cut instead: again and again, with a batch under way."""
    ingests.write(one="WAIT FOR go", two="Two.", three="Three.")
    worker = start_worker(
        "--concurrency", "2", ESRAG_QUEUE__URL=f"redis://127.0.0.1:{proxy.port}/0"
    )
    job = ingests.begin()
    ingests.running(job)
    for _ in range(5):
        proxy.cut()
        time.sleep(0.3)
    ingests.let("go")
    ingests.finished(job)
    assert worker.lives


def test_a_link_that_is_slow(start_worker, ingests, proxy):
    """A tenth of a second each way costs time and nothing else."""
    proxy.delay_s = 0.1
    start_worker(ESRAG_QUEUE__URL=f"redis://127.0.0.1:{proxy.port}/0")
    ingests.write(one="One.", two="Two.", three="Three.")
    ingests.finished(ingests.begin())


def test_the_answer_to_a_publish_is_lost(start_worker, ingests, proxy):
    """Case 13: batches that arrived although the producer heard of an error are done once."""
    ingests.write(one="One.", two="Two.", three="Three.")
    job = ingests.begin(published=False)
    through = Queue(
        ingests.work.settings.queue.model_copy(update={"url": f"redis://127.0.0.1:{proxy.port}/0"})
    )
    proxy.lose_after = b"esrag.batch"
    with pytest.raises(QueueUnreachable):
        sweep(ingests.work, through)
    assert ingests.queue.depth() == 3
    start_worker()
    ingests.finished(job)
    assert {batch.attempts for batch in ingests.batches(job).values()} == {1}


def test_a_full_redis(start_worker, ingests, client):
    """Case 14: a Redis without memory refuses batches and acknowledgements.

    When it has some again, all are done.
    """
    ingests.write(one="WAIT FOR go", two="Two.", three="Three.")
    worker = start_worker()
    job = ingests.begin()
    ingests.running(job)
    client.config_set("maxmemory", 1)
    ingests.let("go")
    time.sleep(2)
    with pytest.raises(QueueUnreachable, match="maxmemory"):
        ingests.queue.publish(["x"])
    client.config_set("maxmemory", 0)
    ingests.finished(job)
    assert worker.lives


def test_emptied_between_two_publishes(start_worker, ingests, client):
    """Case 15: what was queued when the Redis was emptied is queued again, and what is queued
    afterwards arrives.
    """
    ingests.write(one="One.")
    first = ingests.begin()
    client.flushall()
    ingests.write(two="Two.")
    second = ingests.begin()
    start_worker()
    ingests.finished(second)
    assert ingests.work.ledger.job(first.job_id).state == "cancelled"  # the second took over


def test_a_message_that_is_lost_while_others_wait(ingests, client):
    """It is queued again although the queue never runs dry: whatever was handed out before what
    waits now was taken.
    """
    ingests.reset(window_batches=4, sweep_s=0.3)
    ingests.write(**{f"f{number}": f"text {number}" for number in range(12)})
    job = ingests.begin()
    first, *others = [batch.batch_id for batch in ingests.work.ledger.batches(job.job_id)]
    assert taken(ingests.queue, client) == first  # and its worker died before it claimed it
    time.sleep(0.4)
    sweep(ingests.work, ingests.queue)  # fills the window again
    assert [taken(ingests.queue, client) for _ in range(3)] == others[:3]
    time.sleep(0.4)
    sweep(ingests.work, ingests.queue)
    assert [taken(ingests.queue, client) for _ in range(4)] == [others[3], first, *others[:2]]


def taken(queue, client):
    """The batch that waited longest, which is not in the queue any more."""
    batch_id = queue.find_oldest()
    assert client.rpop(f"{PREFIX}{QueueName.INGEST}")
    return batch_id


def test_delivered_three_times_at_once(start_worker, ingests):
    """Case 16: of several deliveries of one batch at the same time one works on it.

    The figures count it once.
    """
    ingests.write(one="WAIT FOR go")
    job = ingests.begin(published=False)
    (batch,) = ingests.batches(job).values()
    ingests.queue.publish([batch.batch_id] * 3)
    start_worker("--concurrency", "3")
    ingests.running(job)
    wait_until(lambda: ingests.queue.depth() == 0)
    ingests.let("go")
    ingests.finished(job)
    ingests.queue.publish([batch.batch_id])
    time.sleep(1)
    assert ingests.work.ledger.counts(job.job_id).files["added"] == 1
    assert ingests.batches(job)["one"].attempts == 1


def test_a_window_of_a_large_job(ingests, client):
    """Case 30: without workers no more than the window is queued, however large the job and however
    often it is swept; a million files, in batches of 64, take a few hundred kilobytes of the Redis.
    """
    tasks = [
        Task(source=f"/docs/{number}.txt", doc_id=str(number), folder="", state="added")
        for number in range(2000)
    ]
    ingests.reset(window_batches=100)
    template = ingests.begin(published=False)
    ingests.work.ledger.open(
        replace(template, job_id="large", key="large", files=2000), ([task] for task in tasks)
    )
    before = client.info("memory")["used_memory"]
    for _ in range(5):
        sweep(ingests.work, ingests.queue)
    assert ingests.queue.depth() == 100
    assert client.info("memory")["used_memory"] - before < 500_000
