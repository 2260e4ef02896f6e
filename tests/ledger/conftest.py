"""Ledgers over each kind of store, and a clock that is turned by hand."""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from esrag.engines import EngineOptions
from esrag.engines.server.connection import Connection
from esrag.ledger.ledger import Ledger

# For ledgers.py, which the racing and the killed processes import too.
sys.path.insert(0, str(Path(__file__).parent))
from ledgers import ATTEMPTS, LEASE_S, Clock, open_store


@dataclass
class Place:
    """Where one ledger is, and the programs that use it, each with a store of its own."""

    url: str
    clock: Clock = field(default_factory=Clock)
    opened: list = field(default_factory=list)

    def __call__(self, clock=None, attempts=ATTEMPTS):
        """The ledger, as one more program opens it."""
        self.opened.append(Ledger(open_store(self.url), LEASE_S, attempts, clock or self.clock))
        return self.opened[-1]


@pytest.fixture
def place(request, tmp_path):
    """An empty place for a ledger of the kind that the test names, a file if it names none."""
    name = getattr(request, "param", "sqlite")
    if name == "sqlite":
        yield (made := Place(str(tmp_path / "folder" / "ledger.sqlite3")))
    else:
        url = request.getfixturevalue(name)
        remove(url)
        yield (made := Place(url))
        remove(url)
    for ledger in made.opened:
        ledger.close()


def remove(url):
    """Removes what stands under the ledger's name on a server."""
    connection = Connection(EngineOptions(url=url))
    for name in connection.get("/esrag-ledger*") or ():
        connection.request("DELETE", f"/{name}")
    connection.close()


@pytest.fixture
def ledger(place):
    """One program's ledger there."""
    return place()
