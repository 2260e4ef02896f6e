"""The cache in Redis where Redis is dead, deaf, full, foreign, or lets esrag do little."""

import logging
import re
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import redis

from esrag.caching.breaker import OPEN_S, Breaker
from esrag.caching.opening import open_cache
from esrag.caching.redis import RedisCache
from esrag.errors import EsragError, SettingsError
from esrag.plugins import install_hint
from esrag.settings import CacheSettings

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "caches.md").read_text()
RIGHTS = re.search(
    r"^user cache on >… resetkeys (~esrag:c:\* -@all .* \+eval)$", GUIDE, re.MULTILINE
)[1].split()

# An answer that does not come takes 0.3 seconds, and a busy machine some more; five of them would
# take 1.5.
ONCE = 1.0


@pytest.fixture
def as_user(admin, redis_shared):
    """A cache as a user with the rights of the guide, or with more."""

    def made(*more, without=()):
        admin.execute_command(
            "ACL", "SETUSER", "cacher", "reset", "on", ">secret", *RIGHTS, *without, *more
        )
        return RedisCache(redis_shared.url.replace("//", "//cacher:secret@"), 60)

    yield made
    admin.execute_command("ACL", "DELUSER", "cacher")


def used(cache):
    """Every way to use it; gives the seconds that took."""
    started = time.monotonic()
    assert cache.get_many(["e:1"]) == {}
    cache.set_many({"e:1": b"x"}, 60)
    token = cache.lock("a:1", 60)
    assert token
    assert cache.lock("a:1", 60)  # nobody waits for a cache that is not there
    cache.unlock("a:1", token)
    return time.monotonic() - started


@pytest.mark.faults
def test_a_black_hole_costs_half_a_second_once(black_hole, caplog):
    """Then nothing; one line says so, without the password (case 26)."""
    with closing(RedisCache(black_hole, 60)) as cache:
        assert used(cache) < ONCE
        assert used(cache) < 0.05

    assert len(caplog.messages) == 1
    assert "is not used" in caplog.messages[0]
    assert "secret" not in caplog.text


@pytest.mark.faults
def test_nobody_there_costs_nothing(caplog):
    """A refused connection is a miss (case 26)."""
    with closing(RedisCache("redis://127.0.0.1:1/0", 60)) as cache:
        assert used(cache) < 0.3

    assert len(caplog.messages) == 1


def test_a_redis_that_freezes_and_comes_back(redis_own):
    """A stopped process costs half a second once.

    Killed and started anew it is used again after the pause.
    """
    now = [0.0]
    with closing(RedisCache(redis_own.url, 60)) as cache:
        cache._breaker._clock = lambda: now[0]
        cache.set_many({"e:1": b"x"}, 60)
        redis_own.process.send_signal(signal.SIGSTOP)
        assert used(cache) < ONCE
        redis_own.process.send_signal(signal.SIGCONT)
        assert cache.get_many(["e:1"]) == {}
        now[0] += OPEN_S + 1

        assert cache.get_many(["e:1"]) == {"e:1": b"x"}
        assert cache.lock("a:1", 60)
        assert cache.lock("a:1", 60) is None


def test_the_breaker_lets_one_try_at_a_time():
    """After the pause one call finds out; if in vain, the pause starts anew."""
    now = [0.0]
    breaker, tries = Breaker("x", (OSError,), clock=lambda: now[0]), []

    def fails():
        tries.append(now[0])
        assert breaker.run(lambda: "others", "kept out") == (
            "others" if now[0] == 0 else "kept out"
        )
        raise OSError

    for second in (0, 1, OPEN_S - 1, OPEN_S, OPEN_S + 1, 2 * OPEN_S):
        now[0] = second
        assert breaker.run(fails, "otherwise") == "otherwise"

    assert tries == [0, OPEN_S, 2 * OPEN_S]
    now[0] = 3 * OPEN_S
    assert [breaker.run(lambda: "back", "otherwise") for _ in range(2)] == ["back", "back"]


def test_the_rights_of_the_guide_are_enough(as_user, admin):
    """Everything that an ask or an ingest does, and no command is denied."""
    admin.execute_command("ACL", "LOG", "RESET")
    with closing(as_user()) as cache:
        cache.set_many({"e:1": b"x"}, 60)
        assert cache.get_many(["e:1"]) == {"e:1": b"x"}
        token = cache.lock("a:1", 60)
        cache.unlock("a:1", token)
        assert cache.lock("a:1", 60)

    denied = [entry[b"object"] for entry in admin.execute_command("ACL", "LOG")]
    assert denied == []


def test_a_user_without_eval_lets_go_of_locks_too(as_user, caplog):
    """By reading and deleting; nothing is said."""
    with closing(as_user(without=["-eval"])) as cache:
        slow = cache.lock("a:1", 0.05)
        time.sleep(0.1)
        token = cache.lock("a:1", 60)
        cache.unlock("a:1", slow)
        assert cache.lock("a:1", 60) is None
        cache.unlock("a:1", token)
        assert cache.lock("a:1", 60)

    assert caplog.messages == []


def test_counting_and_clearing_need_rights_and_say_so(as_user):
    """One line with what to grant; with that it works."""
    with closing(as_user()) as cache:
        with pytest.raises(EsragError, match="refuses") as counted:
            cache.usage()
        with pytest.raises(EsragError, match="refuses") as cleared:
            cache.clear()
    assert "+scan" in counted.value.hint
    assert "+scan +unlink" in cleared.value.hint
    assert "secret" not in str(counted.value)

    with closing(as_user("+scan", "+unlink", "+hgetall")) as cache:
        cache.set_many({"e:1": b"x"}, 60)
        assert (cache.usage().vectors, cache.usage().size_bytes) == (1, None)
        assert cache.clear() == 1


def test_a_user_who_may_nothing_is_a_miss(admin, redis_shared, caplog):
    """A refusal is an answer: it is said once and waits for nothing; a wrong password too."""
    admin.execute_command(
        "ACL", "SETUSER", "nobody", "reset", "on", ">secret", "+hello", "+client", "+select"
    )
    for password in ("secret", "wrong"):
        caplog.clear()
        with closing(
            RedisCache(redis_shared.url.replace("//", f"//nobody:{password}@"), 60)
        ) as cache:
            used(cache)
        assert len(caplog.messages) == 1
    admin.execute_command("ACL", "DELUSER", "nobody")


def test_clear_leaves_what_is_not_esrags(admin, redis_url):
    """Only what is under the prefix goes, also of thousands."""
    admin.mset({"esrag:q:1": "queue", "other": "x", "xesrag:c:1": "x"})
    with closing(RedisCache(redis_url, 60)) as cache:
        cache.set_many({f"e:{number}": b"x" for number in range(3000)}, 60)
        assert cache.clear() == 3000

    assert sorted(admin.keys()) == [b"esrag:q:1", b"other", b"xesrag:c:1"]


def test_every_key_has_the_prefix_and_an_end(admin, redis_url):
    """Locks too."""
    with closing(RedisCache(redis_url, 60)) as cache:
        cache.set_many({"e:1": b"x", "a:1": b"x"}, 1000)
        cache.lock("a:1", 60)

    keys = admin.keys()
    assert len(keys) == 3
    assert all(key.startswith(b"esrag:c:") for key in keys)
    assert all(900 <= admin.ttl(key) <= 1100 for key in keys if b":l:" not in key)
    assert all(0 < admin.ttl(key) for key in keys)


@pytest.mark.faults
def test_a_value_of_another_type_is_a_miss_and_is_rewritten(admin, redis_url):
    """Whoever put a list there (case 27)."""
    admin.rpush("esrag:c:a:1", "list")
    with closing(RedisCache(redis_url, 60)) as cache:
        assert cache.get_many(["a:1"]) == {}
        cache.set_many({"a:1": b"x"}, 60)
        assert cache.get_many(["a:1"]) == {"a:1": b"x"}


def test_a_full_redis_is_still_read(redis_own, caplog):
    """What it does not take is not kept; what it holds is found."""
    with (
        closing(RedisCache(redis_own.url, 60)) as cache,
        redis.Redis.from_url(redis_own.url) as admin,
    ):
        cache.set_many({"e:1": b"x"}, 60)
        admin.config_set("maxmemory-policy", "noeviction")
        admin.config_set("maxmemory", 1)
        cache.set_many({"e:2": b"x"}, 60)

        assert cache.get_many(["e:1", "e:2"]) == {"e:1": b"x"}
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("url", ["redis://user:secret@host:port/0", "redis://user:secret@[::1/0"])
def test_what_is_no_address_is_told_without_the_password(url):
    """As an error of the settings."""
    with pytest.raises(SettingsError, match=r"cache\.url is not the address of a Redis") as told:
        open_cache(CacheSettings(url=url))

    assert "secret" not in str(told.value) + told.value.hint


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    """The file needs none."""
    monkeypatch.setitem(sys.modules, "redis", None)

    assert open_cache(CacheSettings(url="cache.db"))
    with pytest.raises(SettingsError, match="not installed: redis") as told:
        open_cache(CacheSettings(url="redis://host"))
    assert told.value.hint == install_hint("redis")


def test_what_an_error_says_cannot_act_on_the_terminal(caplog):
    """One line, whatever a server sends."""
    with caplog.at_level(logging.WARNING):
        Breaker("cache", (OSError,)).run(
            lambda: (_ for _ in ()).throw(OSError("a\nb\x1b[2J")), None
        )

    assert caplog.messages == ["warning: the cache cache is not used: a b[2J"]
