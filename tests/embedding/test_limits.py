"""The pace at which a service is asked: never too fast, by all who ask together, and not much
slower than allowed.
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ports import free_port

from esrag.embedding.limits import KEY_PREFIX, MAX_WAIT_S, Limits, _LocalBucket, share
from esrag.errors import ServiceBusy

MINUTE_S = 60
PER_MINUTE = 120
ASKS = 50

# Asks ASKS times in each of two threads without really waiting, and prints when it may send, by the
# machine's clock.
PROGRAM = """
import sys, time
from threading import Thread
from esrag.embedding.limits import Limits

class Later(Exception): pass

starts = []

def sleep(wait_s):
    starts.append(time.time() + wait_s)
    raise Later

def ask():
    limits = Limits("shared", int(sys.argv[2]), 0, sys.argv[1], sleep=sleep)
    for _ in range(int(sys.argv[3])):
        try:
            limits.wait(1)
        except Later:
            continue
        starts.append(time.time())

threads = [Thread(target=ask) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(*starts)
"""


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    """A real redis-server of the tests here."""
    import redis_server

    pytest.importorskip("redis")
    server = redis_server.start(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


def busiest_minute(starts, late_s=1e-3):
    """How many requests the fullest minute holds, its end left out.

    `late_s` is how late a start may be noted.
    """
    return max(
        sum(start <= other < start + MINUTE_S - late_s for other in starts) for start in starts
    )


@given(
    per_minute=st.integers(1, 300),
    gaps_s=st.lists(
        st.sampled_from([0.0, 0.0, 0.0, 0.1, 1.0, 30.0, 100.0]), min_size=1, max_size=60
    ),
)
def test_no_minute_holds_more_than_the_limit(per_minute, gaps_s):
    """However the requests come, and wherever the minute begins."""
    now = 0.0
    bucket = _LocalBucket(lambda: now)
    starts = []
    for gap_s in gaps_s:
        now += gap_s
        wait_s = bucket.take([share("requests", 1, per_minute)])
        if wait_s >= 0:  # else it was refused
            starts.append(now + wait_s)
    assert busiest_minute(starts) <= per_minute


@pytest.mark.parametrize("per_minute", [1, 10, 120, 2000])
def test_the_limit_is_nearly_used_up(per_minute, clock):
    """Three minutes' worth of requests take no more than a tenth longer."""
    limits = Limits(f"nearly {per_minute}", per_minute, sleep=clock.sleep, clock=clock)
    started = clock()
    for _ in range(3 * per_minute):
        limits.wait(1)
    assert clock() - started <= 3 * MINUTE_S * 1.1


def test_tokens_are_limited_too(clock):
    """Large requests wait until all their tokens may be sent; the slower of both limits holds."""
    limits = Limits("tokens", 1000, 600, sleep=clock.sleep, clock=clock)
    limits.wait(60)
    assert clock.slept == []
    limits.wait(300)
    assert sum(clock.slept) == pytest.approx(33, rel=0.02)


def test_all_threads_of_a_process_share_one_bucket():
    """Whoever gives the same name, from whatever thread and object."""
    waits = []

    def ask():
        limits = Limits("threads", PER_MINUTE, sleep=waits.append)
        for _ in range(30):
            limits.wait(1)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(waits) == 120 - PER_MINUTE // 10
    assert max(waits) == pytest.approx(
        (120 - PER_MINUTE // 10) / share("requests", 1, PER_MINUTE).per_second, rel=0.02
    )


def test_two_processes_share_a_limit_through_redis(redis_server):
    """Four threads in two processes together stay within what one may send, and use nearly all of
    it.
    """
    command = [sys.executable, "-c", PROGRAM, redis_server.url, str(PER_MINUTE), str(ASKS)]
    with ThreadPoolExecutor() as pool:
        outputs = list(
            pool.map(lambda _: subprocess.check_output(command, text=True, timeout=60), range(2))
        )
    starts = sorted(float(start) for output in outputs for start in output.split())
    assert len(starts) == 4 * ASKS
    assert busiest_minute(starts, late_s=1) <= PER_MINUTE
    assert starts[-1] - starts[0] <= 4 * ASKS / PER_MINUTE * MINUTE_S * 1.1


def test_the_key_in_redis_is_one_that_users_may_touch_and_ends(redis_server):
    """Under the prefix that the least privileges allow, and gone by itself."""
    redis = pytest.importorskip("redis")
    limits = Limits("ends", 60, 600, redis_server.url)
    limits.wait(5)
    with redis.Redis.from_url(redis_server.url) as client:
        assert KEY_PREFIX.startswith("esrag:")
        assert 3600 <= client.ttl(f"{KEY_PREFIX}ends") <= 3700
        assert {*client.hgetall(f"{KEY_PREFIX}ends")} == {b"at", b"requests", b"tokens"}


def test_the_least_privileges_are_enough(redis_server):
    """A user of the queue who may touch `esrag:*` only, and run no command that is dangerous."""
    redis = pytest.importorskip("redis")
    with redis.Redis.from_url(redis_server.url) as client:
        rules = (
            "on",
            ">pass",
            "resetkeys",
            "~esrag:*",
            "allchannels",
            "+@all",
            "-@admin",
            "-@dangerous",
            "+info",
        )
        client.execute_command("ACL", "SETUSER", "worker", *rules)
    limits = Limits("least", 60, 0, redis_server.url.replace("//", "//worker:pass@"))
    limits.wait(1)
    limits.block(0)
    assert not limits._warned


@pytest.mark.parametrize("shared", [False, True])
def test_a_block_holds_for_all_and_those_in_the_line(request, shared):
    """Nobody sends before its end, neither who comes later nor who was told a shorter
    wait before.
    """
    url = request.getfixturevalue("redis_server").url if shared else ""
    starts, ready = [], []
    started = time.monotonic()

    def sleep(wait_s):
        ready.append(wait_s)
        time.sleep(wait_s)

    def ask():
        Limits(f"block {shared}", 600, 0, url, sleep=sleep).wait(1)
        starts.append(time.monotonic() - started)

    one = Limits(f"block {shared}", 600, 0, url)
    for _ in range(61):
        # The burst and more: who asks now stands in the line.
        one._take([share("requests", 1, 600)])
    threads = [Thread(target=ask) for _ in range(2)]
    threads[0].start()
    while not ready:
        time.sleep(0.001)
    one.block(0.6)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert 0.6 <= min(starts) <= max(starts) <= 2
    assert abs(starts[0] - starts[1]) >= 0.05


@pytest.mark.parametrize("shared", [False, True])
def test_what_is_too_far_away_is_not_waited_for(request, shared):
    """The error says how long.

    Nothing is taken for it, so that asking again does not make it longer.
    """
    url = request.getfixturevalue("redis_server").url if shared else ""
    limits = Limits(f"far {shared}", 1, 0, url, sleep=lambda _: pytest.fail("slept"))
    limits.wait(1)
    limits.block(MAX_WAIT_S + 30)
    for _ in range(3):
        with pytest.raises(ServiceBusy) as caught:
            limits.wait(1)
        assert caught.value.wait_s == pytest.approx(MAX_WAIT_S + 30 + MINUTE_S, abs=1)


def test_without_its_redis_a_process_goes_on_with_one_warning(clock, caplog):
    """Its own bucket holds then.

    The address is not shown, and the Redis is asked again after a pause.
    """
    limits = Limits(
        "away", 60, 0, "redis://me:s3cret@127.0.0.1:1/0", sleep=clock.sleep, clock=clock
    )
    for _ in range(12):
        limits.wait(1)
    assert sum(clock.slept) > 0
    clock.sleep(100)
    limits.wait(1)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "for this process alone" in caplog.text
    assert "s3cret" not in caplog.text


def test_a_redis_that_comes_back_is_used_again(tmp_path, clock):
    """After the pause the limits are shared again."""
    import redis_server

    redis = pytest.importorskip("redis")
    port = free_port()
    limits = Limits("back", 60, 0, f"redis://127.0.0.1:{port}/0", sleep=clock.sleep, clock=clock)
    limits.wait(1)
    server = redis_server.start(tmp_path, port=port)
    clock.sleep(31)
    limits.wait(1)
    with redis.Redis.from_url(server.url) as client:
        assert client.exists(f"{KEY_PREFIX}back")
    server.stop()
