"""The ledger on a server: answers that get lost, an index that goes or is another's, what else
stands beside it.
"""

import pytest
from ledgers import MADE, opened

from esrag.engines import EngineOptions
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import Connection, Refused
from esrag.errors import LedgerError
from esrag.ledger.ledger import Ledger
from esrag.ledger.server import ServerStore

pytestmark = [
    pytest.mark.live,
    pytest.mark.parametrize("place", ["opensearch", "elasticsearch"], indirect=True),
]


class _Twice(Connection):
    """A connection on which the answer to every bulk is lost at first, so that it is sent again."""

    def request(self, method, path, body=None, **parameters):
        """Sends it."""
        if path.endswith("_bulk"):
            super().request(method, path, body, **parameters)
        return super().request(method, path, body, **parameters)


def request(place, method, path, body=None):
    """One request of another program."""
    connection = Connection(EngineOptions(url=place.url))
    try:
        return connection.request(method, path, body)
    finally:
        connection.close()


def test_a_lost_answer_is_no_conflict(place, ledger):
    """What is sent again meets what it wrote itself: the claim is ours and what we finish is
    finished.
    """
    lossy = Ledger(ServerStore(_Twice(EngineOptions(url=place.url)), "esrag"), 60, 2, place.clock)
    place.opened.append(lossy)
    assert opened(lossy, 1, 1).state == "open"
    batch = lossy.claim("job-000001", "me")
    assert batch
    assert lossy.renew(batch)
    assert ledger.claim("job-000001", "you") is None
    lossy.give_up(batch, "bad")
    assert (ledger.batch("job-000001").state, ledger.batch("job-000001").attempts) == ("failed", 1)
    assert (lossy.cancel("job", ""), lossy.prune(2**50), list(ledger.jobs())) == (None, 1, [])


def test_an_index_that_goes_is_not_made_by_a_late_write(place, ledger):
    """A claim of before is nobody's then; the next job makes a ledger with the mapping it needs."""
    opened(ledger, 1)
    batch = ledger.claim("job-000001", "me")
    request(place, "DELETE", "/esrag-ledger-1")
    assert list(ledger.jobs()) == ledger.list_due(1) == []
    assert not ledger.renew(batch)
    with pytest.raises(Refused):
        request(place, "GET", "/esrag-ledger")
    assert opened(ledger, 1, name="new").state == "open"
    ((_, made),) = request(place, "GET", "/esrag-ledger/_mapping").items()
    assert made["mappings"]["dynamic"] == "strict"


@pytest.mark.parametrize(
    ("meta", "said"), [({}, "not a ledger"), ({"esrag_ledger": {"schema": 2}}, "newer esrag")]
)
def test_what_is_anothers_or_newer_is_refused(place, ledger, meta, said):
    """An index under the ledger's name is neither read nor written unless it is ours."""
    request(place, "PUT", "/esrag-ledger", {"mappings": {"_meta": meta}})
    for use in (lambda: list(ledger.jobs()), lambda: opened(ledger, 1)):
        with pytest.raises(LedgerError, match=said) as raised:
            use()
        assert raised.value.hint


def test_the_ledger_is_no_index_of_documents(place, ledger):
    """Who lists what was ingested does not find it."""
    opened(ledger, 1)
    engine = ServerEngine(EngineOptions(url=place.url, index="beside-a-ledger"))
    with engine.writer(MADE):
        pass
    names = [index.name for index in engine.indexes()]
    engine.close()
    request(place, "DELETE", "/beside-a-ledger-000001")
    assert "beside-a-ledger-000001" in names
    assert not [name for name in names if name.startswith("esrag-ledger")]
