"""What doctor says of the caches and of the queue's Redis, on real servers."""

import pytest

from esrag.caching.diagnostics import examine
from esrag.settings.layers import resolve


def findings(tmp_path, **urls):
    """Level and text of each finding."""
    settings = resolve(
        {name.replace("_", "."): url for name, url in urls.items()}, {}, tmp_path
    ).settings
    return [(finding.level, finding.what) for finding in examine(settings)]


@pytest.fixture
def configured(admin):
    """Sets what the shared server is; put back afterwards."""
    before = {
        name: admin.config_get(name)[name]
        for name in ("maxmemory", "maxmemory-policy", "appendonly")
    }
    yield lambda **values: [
        admin.config_set(name.replace("_", "-"), value) for name, value in values.items()
    ]
    for name, value in before.items():
        admin.config_set(name, value)


def test_nothing_named_is_nothing_found(tmp_path):
    """Neither is needed."""
    assert findings(tmp_path) == []


def test_a_cache_as_it_should_be(tmp_path, redis_url, configured):
    """One line, with what it holds."""
    configured(maxmemory="64mb", maxmemory_policy="allkeys-lfu")
    ((level, what),) = findings(tmp_path, cache_url=redis_url)

    assert level == "ok"
    assert what.startswith(f"cache {redis_url}: 0 vectors, 0 answers, 0 queries, ")


@pytest.mark.parametrize("wrong", [{"maxmemory": "0"}, {"maxmemory_policy": "noeviction"}], ids=str)
def test_a_cache_that_makes_no_room(tmp_path, redis_url, configured, wrong):
    """Without a limit, or with a policy that keeps everything."""
    configured(**{"maxmemory": "64mb", "maxmemory_policy": "allkeys-lfu"} | wrong)
    _, (level, what) = findings(tmp_path, cache_url=redis_url)

    assert level == "warning"
    assert "evicts nothing when it is full" in what


def test_one_redis_for_both_is_found_out_by_what_it_is(tmp_path, redis_url, redis_own, configured):
    """Not by its address; two servers are in order."""
    configured(maxmemory="64mb", maxmemory_policy="noeviction")
    other_name = redis_url.replace("127.0.0.1", "localhost").replace("/0", "/3")
    for queue in (redis_url, other_name):
        told = [
            what
            for level, what in findings(tmp_path, cache_url=redis_url, queue_url=queue)
            if level == "warning"
        ]
        assert any("are the same Redis" in what for what in told)

    told = findings(tmp_path, cache_url=redis_url, queue_url=redis_own.url)
    assert not any("are the same Redis" in what for _, what in told)


def test_the_queues_redis_must_keep_everything(tmp_path, redis_url, configured):
    """An eviction policy is an error, no AOF a warning."""
    configured(maxmemory_policy="allkeys-lfu", appendonly="no")
    told = findings(tmp_path, queue_url=redis_url)
    assert [level for level, _ in told] == ["ok", "error", "warning"]
    assert "allkeys-lfu" in told[1][1]
    assert "appendonly no" in told[2][1]

    configured(maxmemory_policy="noeviction", appendonly="yes")
    assert [level for level, _ in findings(tmp_path, queue_url=redis_url)] == ["ok"]


def test_what_does_not_answer(tmp_path, black_hole):
    """A warning for the cache, which is not needed, an error for the queue; no password
    is shown.
    """
    told = findings(tmp_path, cache_url=black_hole, queue_url="redis://:secret@127.0.0.1:1/0")

    assert [level for level, _ in told] == ["warning", "error"]
    assert all("does not answer" in what and "secret" not in what for _, what in told)


def test_a_user_who_may_not_ask(tmp_path, admin, redis_url):
    """Is told what to grant."""
    admin.execute_command(
        "ACL",
        "SETUSER",
        "cacher",
        "reset",
        "on",
        ">secret",
        "~esrag:c:*",
        "+scan",
        "+hgetall",
        "+hello",
        "+client",
    )
    ((_, counted), (level, what)) = findings(
        tmp_path, cache_url=redis_url.replace("//", "//cacher:secret@")
    )
    admin.execute_command("ACL", "DELUSER", "cacher")

    assert "0 vectors" in counted
    assert level == "warning"
    assert "does not report its memory" in what


def test_a_cache_in_a_file(tmp_path):
    """What it holds, or why it cannot be used."""
    (tmp_path / "text").write_text("no cache " * 1000)
    assert findings(tmp_path, cache_url=str(tmp_path / "new.db"))[0][0] == "ok"
    ((level, what),) = findings(tmp_path, cache_url=str(tmp_path / "text"))
    assert (level, "cannot be used" in what) == ("warning", True)


def test_doctor_says_it(esrag, corpus, black_hole):
    """With the rest; a cache that does not answer is no failure."""
    esrag("ingest", "docs")
    ran = esrag("doctor", ESRAG_CACHE__URL=black_hole)

    assert ran.code == 0
    assert "warning  the cache redis://********@127.0.0.1" in ran.out
