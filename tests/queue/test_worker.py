"""Workers as they are started by hand: what they say, what they take, what they refuse."""

import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ports import free_port
from waiting import wait_until

from esrag.cli.worker import _share_cores
from esrag.settings import Settings

CELERY = Path(sys.executable).with_name("celery")
APP = [CELERY, "-A", "esrag.workers.app"]
PLAIN = [
    "worker",
    "--concurrency",
    "1",
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
    "-l",
    "INFO",
]
SECRET_TEXT = "The launch code is forty-two."

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]


def test_a_job_is_worked_off(start_worker, ingests):
    """A worker says when it is ready, works off what was there before, says a line a batch and ends
    at SIGTERM.
    """
    ingests.write(one="The kettle holds 1.7 litres.", two=SECRET_TEXT)
    job = ingests.begin(published=False)
    worker = start_worker()
    ingests.finished(job)
    worker.wait_for(" done: 1 file, 1 chunk, ", times=2)
    assert worker.end() == 0
    assert sum(f"{job.job_id}-" in line for line in worker.log.splitlines()) == 2
    assert len(worker.log.splitlines()) <= 6, (
        worker.log
    )  # ready, two batches, and Celery's word at the end
    assert SECRET_TEXT not in worker.log


def test_several_at_a_time(start_worker, ingests):
    """With a concurrency of two, two batches are worked on at once."""
    ingests.write(one="WAIT FOR go", two="WAIT FOR go too")
    worker = start_worker("--concurrency", "2")
    job = ingests.begin()
    ingests.running(job, 2)
    assert len(worker.children) == 2
    ingests.let("go")
    ingests.finished(job)


def test_encoders_share_the_cores_that_the_worker_may_use(monkeypatch):
    """Those of its container, and not those of the machine."""
    monkeypatch.setattr(os, "cpu_count", lambda: 4096)
    shared = _share_cores(Settings(), 2)
    assert shared.embedding.workers == max(1, len(os.sched_getaffinity(0)) // 2)


def test_a_log_that_nobody_reads_any_more(esrag, variables, ingests):
    """`esrag worker 2>&1 | head -1`: it goes on without a word, and ends as it should."""
    ingests.write(one="The kettle holds 1.7 litres.")
    worker = subprocess.Popen(
        esrag.command("worker"),
        cwd=esrag.folder,
        env=esrag.environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with worker.stdout as log:
            assert log.readline().startswith("ready: ")
        ingests.finished(ingests.begin())
        worker.terminate()
        assert worker.wait(40) == 0
    finally:
        worker.kill()
        worker.wait()


def test_by_celery_itself(start_worker, ingests):
    """`celery -A esrag.workers.app worker` does the same, sweeps included."""
    ingests.write(one="The kettle holds 1.7 litres.")
    job = ingests.begin(published=False)
    worker = start_worker(command=[*APP, *PLAIN, "-Q", "ingest,control"])
    ingests.finished(job)
    assert worker.end() == 0


def test_a_queue_each(start_worker, ingests, client):
    """A worker of the ingest queue sends no sweep.

    With one of the control queue beside it the job is done.
    """
    ingests.write(one="The kettle holds 1.7 litres.")
    job = ingests.begin(published=False)
    start_worker(command=[*APP, *PLAIN, "-Q", "ingest"])
    assert client.llen("esrag:q:control") == 0
    assert ingests.states(job) == {"pending": 1}
    start_worker(command=[*APP, *PLAIN, "-Q", "control", "-n", "control@%h"])
    ingests.finished(job)


def test_a_queue_that_is_none(esrag, variables):
    """A queue that nobody fills is an error, not a worker that waits for ever."""
    command = [*APP, *PLAIN, "-Q", "ingets"]
    ran = subprocess.run(
        command,
        cwd=esrag.folder,
        env=esrag.environment(**variables),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode != 0
    assert b"ingets" in ran.stderr + ran.stdout


def test_without_a_queue(esrag):
    """Without queue.url it is one line and a hint, exit 2."""
    ran = esrag("worker")
    assert (ran.code, ran.err.splitlines()[0]) == (2, "error: queue.url is not set")


def test_without_a_redis(esrag):
    """Where no Redis answers it is one line and a hint, exit 4."""
    ran = esrag("worker", ESRAG_QUEUE__URL="redis://127.0.0.1:1/0")
    assert ran.code == 4
    assert ran.err.startswith("error: no queue at redis://127.0.0.1:1/0: ")
    assert len(ran.err.splitlines()) == 2


def test_with_a_wrong_password(esrag, redis, client):
    """A password that is refused is the same, and it is not shown."""
    client.config_set("requirepass", "right")
    ran = esrag("worker", ESRAG_QUEUE__URL=f"redis://:wrong@127.0.0.1:{redis.port}/0")
    assert (ran.code, len(ran.err.splitlines())) == (4, 2)
    assert "wrong" not in ran.err.replace("wrong password", "")


@pytest.mark.parametrize("by_hand", [False, True], ids=["esrag", "celery"])
def test_a_password_is_not_told(start_worker, redis, client, by_hand):
    """Neither the banner nor the loss of the connection shows the password."""
    client.config_set("requirepass", "sesame")
    url = f"redis://:sesame@127.0.0.1:{redis.port}/0"
    command = [*APP, *PLAIN] if by_hand else None
    worker = start_worker(command=command, ESRAG_QUEUE__URL=url)
    redis.stop()
    worker.wait_for("onnection", times=2)
    redis.start("--requirepass", "sesame")
    assert worker.end() == 0
    assert "sesame" not in worker.log


def test_the_parent_loads_no_encoder(esrag, variables):
    """Case 36: importing the application loads neither torch nor onnxruntime nor numpy, and
    connects to nothing.
    """
    code = (
        "import sys, esrag.workers.app as it; print(*sorted(sys.modules)); "
        "print(it.app.connection().connected)"
    )
    environment = esrag.environment(**(variables | {"ESRAG_QUEUE__URL": "redis://127.0.0.1:1/0"}))
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    modules, connected = ran.stdout.splitlines()
    assert {"torch", "onnxruntime", "numpy", "sentence_transformers"} & set(
        modules.split()
    ) == set()
    assert connected == "False"


def test_the_running_parent_loads_no_encoder(start_worker, ingests):
    """Case 36: nor does a worker's parent load one while its child works."""
    ingests.write(one="The kettle holds 1.7 litres.")
    worker = start_worker()
    ingests.finished(ingests.begin())
    (child,) = worker.children
    assert "numpy" in Path(f"/proc/{child}/maps").read_text()
    assert "numpy" not in Path(f"/proc/{worker.pid}/maps").read_text()


def message(body, task="esrag.batch", **changes):
    """A message as Celery writes it, by hand."""
    import base64

    properties = {
        "correlation_id": "1",
        "delivery_tag": "1",
        "body_encoding": "base64",
        "delivery_mode": 2,
    }
    properties["delivery_info"] = {"exchange": "", "routing_key": "ingest"}
    whole = {
        "body": base64.b64encode(body).decode(),
        "content-type": "application/json",
        "content-encoding": "utf-8",
        "headers": {"lang": "py", "task": task, "id": "1"},
        "properties": properties,
    }
    return json.dumps(whole | changes)


def args(*arguments, **named):
    """The body of a message."""
    return json.dumps([arguments, named, {}]).encode()


class Bomb:
    """Would make a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_hostile_messages(start_worker, ingests, client, tmp_path):
    """Case 31: pickle is refused and never read, unknown tasks, ids and nonsense are dropped.

    The worker goes on.
    """
    bomb = pickle.dumps(((Bomb(tmp_path / "boom"),), {}, {}))
    bad = [
        message(
            bomb, **{"content-type": "application/x-python-serialize", "content-encoding": "binary"}
        ),
        message(bomb),
        message(args("a"), task="os.system"),
        message(args("no-such-batch")),
        message(args(["a", {"b": 1}])),
        message(args({"__type__": "os.system", "__value__": "true"})),
        message(args()),
        message(args("no-such-batch", "and more")),
        message(b"\xff"),
        json.dumps({"properties": {"delivery_tag": "2"}}),
    ]
    worker = start_worker()
    for one in bad:
        client.lpush("esrag:q:ingest", one)
    ingests.write(one="The kettle holds 1.7 litres.")
    ingests.finished(ingests.begin())
    assert worker.lives
    assert not (tmp_path / "boom").exists()
    wait_until(lambda: client.hlen("esrag:q:unacked") == 0)


ENTRIES = {
    **{f"is {text}": text for text in ("[]", "[1, 2]", "7", '"text"', "null", "true", "{}", "NaN")},
    "is not JSON": "not json",
    "is empty": "",
    "is not text": b"\xff\xfe",
    "is nested deeply": "[" * 100_000,
    "is large": '"' + "x" * 20_000_000 + '"',
    "has no properties": '{"properties": "x"}',
    "has a tag that is a list": message(args("a"), properties={"delivery_tag": [1]}),
    "has no way to it": message(args("a"), properties={"delivery_tag": "2", "delivery_info": None}),
    "has a body that is a number": json.dumps(json.loads(message(args("a"))) | {"body": 7}),
    "has an unknown encoding": message(
        args("a"), properties={"delivery_tag": "3", "body_encoding": "no"}
    ),
    "has headers that are a text": message(args("a"), headers="x"),
    "has an id that is a list": message(args("a"), headers={"task": "esrag.batch", "id": [1]}),
    "has a task that is a list": message(args("a"), headers={"task": [1], "id": "1"}),
}
STOPPING = {
    "timelimit": ["x", "y"],
    "stamped_headers": 7,
    "stamps": 7,
    "eta": "2999-01-01T00:00:00",
}


def test_entries_that_are_no_messages(start_worker, ingests, client):
    """Case 31: each is dropped with a line, and the worker goes on, the same process that then
    works off a job.
    """
    worker = start_worker()
    for entry in ENTRIES.values():
        client.lpush("esrag:q:ingest", entry)
        client.lpush("esrag:q:control", entry)
    for (
        header,
        value,
    ) in STOPPING.items():  # of the wrong kind they would stop the pool without a word
        client.lpush(
            "esrag:q:ingest",
            message(args("a"), headers={"task": "esrag.batch", "id": "1", header: value}),
        )
    ingests.write(one="The kettle holds 1.7 litres.")
    ingests.finished(ingests.begin())

    assert worker.lives
    worker.wait_for("dropped an entry of the queue that is not a message: ", times=2 * len(ENTRIES))
    wait_until(lambda: client.hlen("esrag:q:unacked") == 0)
    assert worker.end() == 0


@pytest.mark.parametrize("package", ["celery", "redis"])
@pytest.mark.parametrize("command", [["worker"], ["ingest", "docs"]])
def test_without_the_packages_of_a_queue(esrag, corpus, tmp_path, package, command):
    """One line that says what is missing and how to get it, and exit code 2."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / f"{package}.py").write_text(
        f"raise ModuleNotFoundError('No module', name={package!r})"
    )
    ran = esrag(*command, ESRAG_QUEUE__URL="redis://127.0.0.1:1", PYTHONPATH=str(tmp_path / "site"))
    assert (ran.code, ran.out) == (2, "")
    assert (
        ran.err.splitlines()[0]
        == f"error: a queue needs the package {package!r}, which is not installed"
    )
    assert len(ran.err.splitlines()) == 2


def test_a_message_of_a_newer_version(start_worker, ingests, client):
    """Case 31: an argument that this version does not know is no reason to drop a batch."""
    ingests.write(one="The kettle holds 1.7 litres.")
    job = ingests.begin(published=False)
    start_worker(command=[*APP, *PLAIN, "-Q", "ingest"])
    (batch,) = ingests.ended(job, "pending")
    client.lpush("esrag:q:ingest", message(args(batch.batch_id, colour="blue")))
    ingests.finished(job)


def test_a_task_of_a_newer_version(start_worker, ingests, client):
    """Case 31: a batch that came under a name that this version does not know is told, and queued
    again as it knows.
    """
    ingests.write(one="The kettle holds 1.7 litres.")
    job = ingests.begin(published=False)
    (batch,) = ingests.ended(job, "pending")
    ingests.work.ledger.mark_queued([batch.batch_id])
    client.lpush("esrag:q:ingest", message(args(batch.batch_id), task="esrag.batch.v2"))
    worker = start_worker()
    ingests.finished(job)
    worker.wait_for("esrag.batch.v2")
    wait_until(lambda: client.hlen("esrag:q:unacked") == 0)


def test_a_user_who_may_do_little(start_worker, ingests, redis, client):
    """The user of the Redis that the guide makes may touch keys with the prefix, and no channel:
    that suffices.
    """
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "jobs.md").read_text()
    rules = re.search(r"ACL SETUSER esrag on >PASSWORD (resetkeys .*?\+info)`", guide, re.DOTALL)[
        1
    ].split()
    client.execute_command("ACL", "SETUSER", "worker", "on", ">sesame", *rules)
    worker = start_worker(ESRAG_QUEUE__URL=f"redis://worker:sesame@127.0.0.1:{redis.port}/0")
    ingests.write(one="The kettle holds 1.7 litres.")
    ingests.finished(ingests.begin())
    assert worker.end() == 0
    assert client.execute_command("ACL", "LOG") == []


def test_over_tls(start_worker, ingests, tmp_path, redis):
    """A worker reaches its Redis over TLS, and refuses one whose certificate it cannot verify."""
    from front import Authority

    authority = Authority(tmp_path / "authority")
    issued, port = authority.issue("server", "IP:127.0.0.1"), free_port()
    files = ("--tls-cert-file", issued, "--tls-key-file", issued.with_suffix(".key"))
    redis.stop()
    redis.start(
        "--tls-port",
        port,
        *files,
        "--tls-ca-cert-file",
        authority.certificate,
        "--tls-auth-clients",
        "no",
    )
    url = f"rediss://127.0.0.1:{port}/0"
    start_worker(ready="certificate verify failed", ESRAG_QUEUE__URL=url)
    start_worker(command=[*APP, *PLAIN], ready="certificate verify failed", ESRAG_QUEUE__URL=url)
    ingests.write(one="The kettle holds 1.7 litres.")
    start_worker(ESRAG_QUEUE__URL=f"{url}?ssl_ca_certs={authority.certificate}")
    ingests.finished(ingests.begin())
