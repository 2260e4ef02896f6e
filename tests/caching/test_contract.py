"""What every cache promises, on a real Redis and in a file."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from esrag.caching import Usage, jitter
from esrag.caching.opening import open_cache
from esrag.settings import CacheSettings


def test_what_is_kept_is_found_by_another_process_or_connection(cache, cache_url):
    """Any bytes, under their keys only, also more than are asked for at once."""
    items = {f"e:{number}": bytes([number % 256]) * number for number in range(1500)}

    cache.set_many(items, 60)

    with closing(open_cache(CacheSettings(url=cache_url))) as other:
        assert other.get_many([*items, "e:none"]) == items
        assert other.get_many([]) == {}
        other.set_many({}, 60)


def test_the_last_value_counts(cache):
    """A second writing replaces the first."""
    cache.set_many({"a:1": b"one"}, 60)
    cache.set_many({"a:1": b"two"}, 60)

    assert cache.get_many(["a:1"]) == {"a:1": b"two"}


def test_entries_end(cache):
    """Each after its own time."""
    cache.set_many({"a:short": b"x"}, 0.05)
    cache.set_many({"a:long": b"x"}, 60)
    time.sleep(0.1)

    assert set(cache.get_many(["a:short", "a:long"])) == {"a:long"}


def test_times_are_spread():
    """Within 10 %, so that what was kept together does not end together."""
    seen = {jitter(100) for _ in range(200)}

    assert 90 <= min(seen) < 95
    assert 105 < max(seen) <= 110


def test_of_many_who_want_a_lock_one_gets_it(cache):
    """And the next after it was given back."""
    with ThreadPoolExecutor(20) as pool:
        tokens = [token for token in pool.map(lambda _: cache.lock("a:1", 60), range(20)) if token]

    assert len(tokens) == 1
    assert cache.lock("a:2", 60)
    cache.unlock("a:1", tokens[0])
    assert cache.lock("a:1", 60)


def test_a_lock_is_given_back_by_its_holder_only(cache):
    """Whoever was too slow does not take it from the next one."""
    slow = cache.lock("a:1", 0.05)
    time.sleep(0.1)
    assert cache.lock("a:1", 60)
    cache.unlock("a:1", slow)

    assert cache.lock("a:1", 60) is None


def test_usage_and_clear(cache):
    """Entries are counted by kind and can all be removed."""
    cache.set_many({"e:1": b"x", "e:2": b"x", "a:1": b"x", "s:1": b"x", "m:1": b"x"}, 60)
    before = cache.usage()

    assert (before.vectors, before.answers, before.queries, before.responses) == (2, 1, 1, 1)
    assert before.size_bytes > 0
    assert cache.clear() == 5
    assert cache.get_many(["e:1", "a:1"]) == {}
    after = cache.usage()  # once: a Redis frees memory in the background
    assert after == Usage(
        vectors=0, answers=0, queries=0, responses=0, size_bytes=after.size_bytes, counts={}
    )


def test_counters_add_up_and_do_not_expire(cache):
    """Whole numbers and fractions, from several callers, until the cache is cleared."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: cache.count({"calls": 1, "cost": 0.25}), range(40)))

    assert cache.usage().counts == {"calls": 40, "cost": 10}
    cache.clear()
    assert cache.usage().counts == {}


def test_a_closed_cache_opens_again(cache):
    """Closing twice is no error."""
    cache.set_many({"a:1": b"x"}, 60)
    cache.close()
    cache.close()

    assert cache.get_many(["a:1"]) == {"a:1": b"x"}


def test_the_settings_name_the_cache(cache_url):
    """Nothing, a file or a Redis; `ttl_days` is how long an entry is kept."""
    assert open_cache(CacheSettings()) is None
    with closing(open_cache(CacheSettings(url=cache_url, ttl_days=2))) as named:
        assert named.ttl_s == 2 * 86_400
        named.set_many({"a:1": b"x"}, 60)
    with closing(open_cache(CacheSettings(url=cache_url))) as other:
        assert other.get_many(["a:1"]) == {"a:1": b"x"}
