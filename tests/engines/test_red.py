"""A real server whose index is red: what is asked then waits for it, and is an error where that is
in vain.
"""

import threading
import time

import pytest
from made import FINGERPRINT, prepared, unit_rows

from esrag.engines import SearchRequest
from esrag.engines.server.connection import RetryPolicy
from esrag.engines.server.mapping import index_body
from esrag.errors import EngineError, EngineUnreachable

pytestmark = [pytest.mark.live, pytest.mark.parametrize("name", ["opensearch", "elasticsearch"])]

QUESTION = SearchRequest("lattice key", unit_rows(99, 1)[0], size=5)


def allocate(engine, shards):
    """Lets all shards of the index have a place, or none that has not got one."""
    engine._connection.request(
        "PUT", f"/{engine._options.index}/_settings", {"index.routing.allocation.enable": shards}
    )


@pytest.fixture
def red(make, name):
    """An engine over an index whose shard has never had a place: a shard that had one gets it again
    at once.
    """
    engine = make(name)
    alias, server = engine._options.index, engine._connection
    body = index_body(name, FINGERPRINT, engine._options)
    body["settings"]["index"]["routing.allocation.enable"] = "none"
    index = f"{alias}-000001"
    server.request("PUT", f"/{index}", {**body, "aliases": {alias: {}}}, wait_for_active_shards=0)
    until = time.monotonic() + 20  # the state of the cluster follows a little later
    while "red" != server.request("GET", f"/_cluster/health/{index}")["status"]:
        assert time.monotonic() < until, "it did not become red"
        time.sleep(0.1)
    yield engine
    server.request("DELETE", f"/{index}")


def store(engine):
    """One more document."""
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([prepared("zz", ["zebra"])])


@pytest.mark.parametrize(
    "use",
    [
        lambda engine: engine.search(QUESTION),
        lambda engine: list(engine.chunks()),
        lambda engine: engine.generation(),
        lambda engine: engine.vectors_of(["kem"]),
        store,
    ],
    ids=["search", "chunks", "generation", "vectors", "write"],
)
def test_an_index_that_stays_red_is_an_error(red, make, name, use):
    """One line with the server's words and where to look, and not an empty index or a server that
    is away.
    """
    soon = RetryPolicy(request_waits_s=(0.05, 0.05), bulk_waits_s=(0.05,))
    with pytest.raises(EngineError) as caught:
        use(make(name, retries=soon))
    assert not isinstance(caught.value, EngineUnreachable)
    assert ("\n" not in str(caught.value), caught.value.status, caught.value.hint) == (
        True,
        503,
        "run: esrag doctor",
    )
    (problem,) = red.check()
    assert "is red" in problem


def test_an_index_that_comes_back_answers(red):
    """A question and a document wait until the shard is there."""
    healing = threading.Timer(1.5, allocate, (red, "all"))
    healing.start()
    assert () == red.search(QUESTION).hits
    healing.join()
    store(red)
    assert ["zz"] == [document.doc_id for document in red.documents()]
