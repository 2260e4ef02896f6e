"""The producer's side of the queue against a real redis-server."""

import json
import ssl
import time
from pathlib import Path

import pytest
from front import Authority

from esrag.errors import QueueUnreachable, SettingsError
from esrag.jobs.queue import PREFIX, Queue, QueueName, celery_settings
from esrag.loading.isolated import Parser
from esrag.plugins import install_hint
from esrag.settings import LoadingSettings, QueueSettings

ROOT = Path(__file__).parents[2]
TIMES = [1, 4, 60, 3600, 86_400]


@pytest.fixture
def queue(redis):
    """The queue of that redis-server."""
    return Queue(QueueSettings(url=redis.url))


def test_what_is_published_waits(queue):
    """As many batches wait as were published."""
    assert queue.depth() == 0
    queue.publish([f"job-{number:06}" for number in range(300)])
    queue.publish(["job-000300"])
    assert queue.depth() == 301


def test_nothing_is_published(queue, client):
    """Publishing no batch leaves nothing behind."""
    queue.publish([])
    assert queue.depth() == 0
    assert client.llen(PREFIX + QueueName.INGEST) == 0


def test_a_message_holds_ids_only(queue, client):
    """A message is JSON with the task's name and the batch's id; every key has the prefix."""
    queue.publish(["job-000001"])
    message = json.loads(client.lindex(f"{PREFIX}ingest", 0))
    assert message["content-type"] == "application/json"
    assert message["headers"]["task"] == "esrag.batch"
    assert message["headers"]["argsrepr"] == "('job-000001',)"
    assert [key for key in client.scan_iter() if not key.startswith(PREFIX.encode())] == []


def test_what_waits_longest_is_known(queue, client):
    """The batch that is taken next; nothing of a stranger's message, whatever it holds."""
    assert queue.find_oldest() == ""
    queue.publish(["job-000001", "job-000002"])
    assert queue.find_oldest() == "job-000001"
    client.rpop(f"{PREFIX}ingest")
    assert queue.find_oldest() == "job-000002"
    for strange in (
        "",
        "{",
        "[]",
        '{"body": 7}',
        '{"body": "bm8="}',
        '{"body": "W10="}',
        '{"body": "' + "W1tdXQ==" + '"}',
    ):
        client.rpush(f"{PREFIX}ingest", strange)
        assert queue.find_oldest() == ""


def test_a_message_is_small(queue, client):
    """A queued batch takes less than 2 KB of the Redis."""
    before = client.info("memory")["used_memory"]
    queue.publish([f"20261122T101112345-abcdef-{number:06}" for number in range(1000)])
    assert (client.info("memory")["used_memory"] - before) / 1000 < 2000


def test_it_is_published_after_a_restart(queue, redis):
    """A producer that was in use goes on when the Redis was restarted, with what was
    there before.
    """
    queue.publish(["a"])
    redis.stop()
    with pytest.raises(QueueUnreachable):
        queue.publish(["b"])
    redis.start()
    queue.publish(["c"])
    assert queue.depth() == 2


def test_it_is_published_after_the_redis_was_emptied(queue, client):
    """What the Redis knew of the queue is not needed to publish."""
    queue.publish(["a"])
    client.flushall()
    queue.publish(["b"])
    assert queue.depth() == 1


def test_closed_and_used_again(queue):
    """Closing it twice or using it afterwards is no error."""
    queue.close()
    queue.publish(["a"])
    queue.close()
    queue.close()
    assert queue.depth() == 1


@pytest.mark.parametrize("use", [lambda queue: queue.publish(["a"]), lambda queue: queue.depth()])
def test_no_redis(use):
    """Where nothing listens it is one line within 5 s."""
    started = time.monotonic()
    with pytest.raises(
        QueueUnreachable, match=r"^no queue at redis://127\.0\.0\.1:1/0: .*[Rr]efused$"
    ):
        use(Queue(QueueSettings(url="redis://127.0.0.1:1/0")))
    assert time.monotonic() - started < 5


def test_a_redis_that_does_not_answer(proxy):
    """A link that swallows everything is given up after about 5 s, while publishing too."""
    proxy.freeze()
    started = time.monotonic()
    with pytest.raises(QueueUnreachable):
        Queue(QueueSettings(url=f"redis://127.0.0.1:{proxy.port}/0")).publish(["a"])
    assert time.monotonic() - started < 7


def test_the_answer_is_lost(redis, proxy, queue):
    """When the link breaks after the batches arrived, it is an error, and they are in the queue
    once.
    """
    through = Queue(QueueSettings(url=f"redis://127.0.0.1:{proxy.port}/0"))
    through.publish(["a"])
    proxy.lose_after = b"esrag.batch"
    with pytest.raises(QueueUnreachable):
        through.publish(["b", "c"])
    assert queue.depth() == 3


def test_a_full_redis(queue, client):
    """A Redis without memory refuses what is published, in one line.

    Nothing of it is in the queue by half.
    """
    client.config_set("maxmemory", 1)
    with pytest.raises(QueueUnreachable, match="maxmemory"):
        queue.publish(["a", "b"])
    client.config_set("maxmemory", 0)
    assert queue.depth() in (0, 2)


@pytest.mark.parametrize(
    "url",
    [
        "redis://:se/cret@127.0.0.1:6379/0",
        "redis://127.0.0.1:6379/secret",
        "redis://:secret@127.0.0.1:1?db=3",
        "redis://:secret@127.0.0.1:1/0?secret=1",
    ],
)
def test_no_address(url):
    """An address that cannot be read is one line that does not show it."""
    with pytest.raises(SettingsError) as caught:
        Queue(QueueSettings(url=url)).depth()
    assert "cret" not in str(caught.value)


def test_a_wrong_password(redis, client):
    """A password that is refused is one line, and is not shown."""
    client.config_set("requirepass", "right")
    with pytest.raises(QueueUnreachable, match="invalid username-password") as caught:
        Queue(QueueSettings(url=f"redis://:wr%2Fong@127.0.0.1:{redis.port}/0")).publish(["a"])
    assert "ong@" not in str(caught.value)
    assert Queue(QueueSettings(url=f"redis://:right@127.0.0.1:{redis.port}/0")).depth() == 0


def test_a_socket_file(tmp_path, request):
    """A Redis that listens on a socket file is reached by unix://, with a database too."""
    import redis_server

    path = tmp_path / "redis.sock"
    server = redis_server.start(tmp_path / "other", "--unixsocket", path)
    request.addfinalizer(server.stop)
    queue = Queue(QueueSettings(url=f"unix://{path}?db=3"))
    queue.publish(["a"])
    assert queue.depth() == 1
    assert Queue(QueueSettings(url=f"unix://{path}")).depth() == 0


class TestTls:
    """A Redis behind TLS, with certificates of a throw-away authority."""

    @pytest.fixture
    def authority(self, tmp_path):
        return Authority(tmp_path / "authority")

    @pytest.fixture
    def url(self, tmp_path, authority):
        """The address of a Redis that speaks TLS."""
        import redis_server

        server, url = redis_server.start_tls(tmp_path / "tls", authority)
        yield url
        server.stop()

    def test_a_certificate_that_is_trusted(self, url, authority):
        """With the authority in the address it is published over TLS."""
        queue = Queue(QueueSettings(url=f"{url}?ssl_ca_certs={authority.certificate}"))
        queue.publish(["a"])
        assert queue.depth() == 1

    @pytest.mark.parametrize("query", ["", "?ssl_cert_reqs=required"])
    def test_a_certificate_that_is_not(self, url, query):
        """Without it the certificate is refused: verifying is the default."""
        with pytest.raises(QueueUnreachable, match="certificate verify failed"):
            Queue(QueueSettings(url=f"{url}{query}")).depth()

    def test_a_certificate_for_another_name(self, url, authority):
        """A certificate is refused under a name that it does not carry."""
        url = f"{url.replace('127.0.0.1', 'localhost')}?ssl_ca_certs={authority.certificate}"
        with pytest.raises(QueueUnreachable, match="certificate verify failed"):
            Queue(QueueSettings(url=url)).depth()

    def test_nothing_to_verify_with(self, url):
        """A file that is not there is one line."""
        with pytest.raises(QueueUnreachable, match="No such file"):
            Queue(QueueSettings(url=f"{url}?ssl_ca_certs=/no/such.pem")).depth()


@pytest.mark.parametrize("time_limit_s", TIMES)
@pytest.mark.faults
def test_the_times_fit_each_other(time_limit_s):
    """Case 18: a message comes back only long after its batch was killed.

    Celery retries nothing, however late.
    """
    told = celery_settings(QueueSettings(url="redis://x", time_limit_s=time_limit_s))
    visibility_s = told["broker_transport_options"]["visibility_timeout"]
    assert visibility_s == told["visibility_timeout"]
    assert visibility_s > 2 * told["task_time_limit"]
    assert told["task_time_limit"] > time_limit_s  # when the process should have ended itself
    names = ("workers/tasks.py", "workers/sweep_timer.py", "esrag/jobs/queue.py")
    sources = [(ROOT / name).read_text() for name in names]
    assert [
        text
        for text in sources
        if "countdown" in text or "autoretry_for" in text or ".retry(" in text
    ] == []


def test_only_json():
    """Nothing but JSON is taken or sent, and links that hang are noticed."""
    told = celery_settings(QueueSettings(url="rediss://x"))
    assert told["accept_content"] == ["json"]
    assert told["task_serializer"] == "json"
    assert told["broker_use_ssl"] == {"ssl_cert_reqs": ssl.CERT_REQUIRED}
    assert told["broker_transport_options"]["socket_timeout"]


def test_the_queues_are_in_the_table():
    """workers/README.md has a row for each queue, with its purpose and pool, and no other."""
    lines = (ROOT / "workers" / "README.md").read_text().partition("| queue |")[2].splitlines()[2:]
    rows = [line.split("|")[1:-1] for line in lines[: lines.index("")]]
    assert [row[0].strip().strip("`") for row in rows] == list(QueueName)
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)


def test_the_modules_and_the_request_are_described():
    """workers/README.md has a row for each module, and a request with all of its keys."""
    folder = ROOT / "workers"
    page = (folder / "README.md").read_text()
    rows = page.partition("| module |")[2].partition("\n\n")[0].splitlines()[2:]
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert {row.split("|")[1].strip().strip("`") for row in rows} == modules

    request = json.loads(page.partition("→ ")[2].partition("\n")[0])
    assert list(request) == ["source", "doc_id", "root", *Parser(LoadingSettings())._wanted]


def test_without_the_packages(monkeypatch):
    """Without Celery it is one line that says how to install it."""
    import sys

    monkeypatch.setitem(sys.modules, "celery", None)
    with pytest.raises(SettingsError) as caught:
        Queue(QueueSettings(url="redis://127.0.0.1:1/0")).depth()
    assert install_hint("queue") in caught.value.hint
