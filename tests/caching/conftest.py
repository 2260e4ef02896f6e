"""What the tests of the caches share: a real Redis, and each kind of cache, empty."""

import socket
from contextlib import closing

import pytest
import redis_server

from esrag.caching.opening import open_cache
from esrag.settings import CacheSettings


@pytest.fixture(scope="session")
def redis_shared(tmp_path_factory):
    """One redis-server for all."""
    server = redis_server.start(tmp_path_factory.mktemp("redis"), "--maxmemory", "64mb")
    yield server
    server.stop()


@pytest.fixture
def admin(redis_shared):
    """A client of the shared server, which is empty; its ACL users are gone afterwards."""
    import redis

    with redis.Redis.from_url(redis_shared.url) as client:
        client.flushall()
        yield client


@pytest.fixture
def redis_url(redis_shared, admin):
    """The address of an empty Redis."""
    return redis_shared.url


@pytest.fixture
def redis_own(tmp_path):
    """A redis-server that the test may stop and freeze."""
    server = redis_server.start(tmp_path / "redis")
    yield server
    server.stop()


@pytest.fixture
def black_hole():
    """The address of a port that takes connections and never answers."""
    with closing(socket.socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        yield f"redis://user:secret@127.0.0.1:{listening.getsockname()[1]}/0"


@pytest.fixture(params=["redis", "sqlite"])
def cache_url(request, tmp_path):
    """The address of an empty cache of each kind."""
    return (
        request.getfixturevalue("redis_url")
        if request.param == "redis"
        else str(tmp_path / "cache.db")
    )


@pytest.fixture
def cache(cache_url):
    """An empty cache of each kind."""
    with closing(open_cache(CacheSettings(url=cache_url))) as one:
        yield one
