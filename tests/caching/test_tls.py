"""The cache in a Redis behind TLS, as a user with no more rights than the guide gives."""

import re
from contextlib import closing
from pathlib import Path

import pytest
import redis
import redis_server
from front import Authority

from esrag.caching import redis as of_redis
from esrag.caching.diagnostics import examine
from esrag.caching.redis import RedisCache
from esrag.settings import CacheSettings, QueueSettings, Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "caches.md").read_text()
RIGHTS = re.search(r"^user cache on >… (resetkeys .*)$", GUIDE, re.MULTILINE)[1].split()


@pytest.fixture
def authority(tmp_path):
    """Signs the certificates."""
    return Authority(tmp_path / "authority")


@pytest.fixture
def started(tmp_path, authority, monkeypatch):
    """Starts it, and gives a client on its port without TLS and the address of the one with."""
    monkeypatch.setattr(of_redis, "TIMEOUT_S", 5)  # a machine under load shakes hands slowly
    servers = []

    def start(*arguments):
        server, url = redis_server.start_tls(tmp_path / "redis", authority, *arguments)
        servers.append((server, redis.Redis.from_url(server.url)))
        return servers[-1][1], url

    yield start
    for server, client in servers:
        client.close()
        server.stop()


def keeps(url):
    """Whether it gives back what it was given, and holds a lock."""
    with closing(RedisCache(url, 60)) as cache:
        cache.set_many({"e:1": b"x"}, 60)
        token = cache.lock("a:1", 60)
        held = cache.lock("a:1", 60) is None
        cache.unlock("a:1", token)
        return cache.get_many(["e:1"]) == {"e:1": b"x"} and held


def test_a_certificate_that_is_trusted(started, authority, caplog):
    """With the authority in the address everything is kept, as a user with the rights of the guide
    too.
    """
    admin, url = started()
    trusting = f"{url}?ssl_ca_certs={authority.certificate}"
    assert keeps(trusting)
    admin.execute_command("ACL", "SETUSER", "cacher", "reset", "on", ">sec/ret", *RIGHTS)
    admin.execute_command("ACL", "SETUSER", "default", "resetpass", "off")
    assert not keeps(trusting)  # who gives no name may nothing now
    caplog.clear()
    assert keeps(trusting.replace("//", "//cacher:sec%2Fret@", 1))
    assert caplog.messages == []


@pytest.mark.parametrize("query", ["", "?ssl_cert_reqs=required", "?ssl_ca_certs=/no/such.pem"])
def test_a_certificate_that_is_not(started, caplog, query):
    """Verifying is the default: nothing is read or kept, one line says why, and the password is not
    sent or shown.
    """
    admin, url = started()
    assert not keeps(url.replace("//", "//cacher:secret@", 1) + query)
    assert admin.dbsize() == 0
    (said,) = caplog.messages
    assert ("No such file" if "such" in query else "certificate verify failed") in said
    assert "secret" not in caplog.text


def test_a_certificate_for_another_name(started, authority, caplog):
    """A certificate is refused under a name that it does not carry."""
    _, url = started()
    assert not keeps(
        f"{url.replace('127.0.0.1', 'localhost')}?ssl_ca_certs={authority.certificate}"
    )
    assert "certificate is not valid for 'localhost'" in caplog.text


def test_a_server_that_asks_for_a_certificate(started, authority, caplog):
    """One that lets nobody in without is given the client's."""
    _, url = started("--tls-auth-clients", "yes")
    url += f"?ssl_ca_certs={authority.certificate}"
    assert not keeps(url)
    (said,) = caplog.messages  # its alert, or the end of the connection where that came first
    assert ("is not used" in said, "imed out" in said) == (True, False)
    caplog.clear()
    mine = authority.issue("client", "DNS:client")
    assert keeps(f"{url}&ssl_certfile={mine}&ssl_keyfile={mine.with_suffix('.key')}")
    assert caplog.messages == []


def test_a_port_without_tls(redis_url, caplog):
    """Nothing goes out in the clear where TLS was asked for."""
    assert not keeps(redis_url.replace("redis://", "rediss://"))
    assert len(caplog.messages) == 1


def test_the_doctor_looks_through_tls(started, authority):
    """And sees that cache and queue are one, whichever port each of them names."""
    admin, url = started()
    clear = f"redis://127.0.0.1:{admin.connection_pool.connection_kwargs['port']}/0"
    cache = CacheSettings(url=f"{url}?ssl_ca_certs={authority.certificate}")
    said = [found.what for found in examine(Settings(cache=cache, queue=QueueSettings(url=clear)))]
    assert any("are the same Redis" in line for line in said)
    said = [found.what for found in examine(Settings(cache=CacheSettings(url=url)))]
    assert any("certificate verify failed" in line for line in said)


def test_the_command_says_what_is_wrong(started, esrag):
    """`esrag cache stats` ends with one line where the certificate is a stranger's."""
    _, url = started()
    ran = esrag("cache", "stats", ESRAG_CACHE__URL=url)
    assert ran.code == 4
    # Of a process that waits 0.3 s for the handshake, whatever else runs.
    line, hint = ran.err.splitlines()
    assert line.startswith("error: the cache rediss://127.0.0.1:")
    assert hint.startswith("hint: ")
