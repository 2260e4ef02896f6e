"""The limits that all workers share, in the queue's Redis behind TLS, as the user that the guide
makes for it.
"""

import re
from pathlib import Path

import pytest
import redis_server
from front import Authority

from esrag.embedding import limits as of_limits
from esrag.embedding.limits import KEY_PREFIX, Limits

redis = pytest.importorskip("redis")

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "jobs.md").read_text()
RIGHTS = re.search(r"ACL SETUSER esrag on >PASSWORD (resetkeys .*?\+info)`", GUIDE, re.DOTALL)[
    1
].split()


@pytest.fixture
def authority(tmp_path):
    """Signs the certificates."""
    return Authority(tmp_path / "authority")


@pytest.fixture
def served(tmp_path, authority, monkeypatch):
    """A client on the port without TLS, and the address of the one with."""
    # A machine under load shakes hands slowly.
    monkeypatch.setattr(of_limits, "_REDIS_TIMEOUT_S", 5)
    server, url = redis_server.start_tls(tmp_path / "redis", authority)
    with redis.Redis.from_url(server.url) as client:
        yield client, url
    server.stop()


def is_shared(client, url, name):
    """Whether a request and a pause are written down in that Redis, without a warning."""
    limits = Limits(name, 60, 600, url)
    limits.wait(5)
    limits.block(0)
    return bool(client.exists(KEY_PREFIX + name)) and not limits._warned


def test_a_certificate_that_is_trusted(served, authority):
    """With the authority in the address the limits are shared."""
    client, url = served
    assert is_shared(client, f"{url}?ssl_ca_certs={authority.certificate}", "trusted")


def test_a_user_of_the_guide(served, authority):
    """The rights of the guide are enough, and no command is denied."""
    client, url = served
    client.execute_command("ACL", "SETUSER", "worker", "on", ">sec/ret", *RIGHTS)
    client.execute_command("ACL", "LOG", "RESET")
    url = f"{url.replace('//', '//worker:sec%2Fret@')}?ssl_ca_certs={authority.certificate}"
    assert is_shared(client, url, "user")
    assert client.execute_command("ACL", "LOG") == []


@pytest.mark.parametrize("query", ["", "?ssl_ca_certs={}"], ids=["authority", "name"])
def test_a_certificate_that_is_not(served, authority, query, caplog):
    """Neither a stranger's certificate nor one for another name is taken: each process keeps to
    limits of its own.
    """
    client, url = served
    url = url.replace("//", "//worker:secret@") + query.format(authority.certificate)
    assert not is_shared(
        client, url.replace("127.0.0.1", "localhost") if query else url, f"not {query}"
    )
    assert client.dbsize() == 0
    assert "for this process alone" in caplog.text
    assert "secret" not in caplog.text
