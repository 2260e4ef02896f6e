"""The scope ladder: the same steps on every engine, and at most one search more."""

import pytest
from made import WORDLESS, prepared

from esrag.engines import SearchRequest
from esrag.errors import UsageError
from esrag.filters import Or, Prefix, Terms
from esrag.retrieving.scopes import Ladder, Scope, search_scopes

LIVE = [pytest.param(name, marks=pytest.mark.live) for name in ("opensearch", "elasticsearch")]
pytestmark = pytest.mark.parametrize("name", ["embedded", *LIVE], scope="module")

JOB = Scope(Terms("job", (225221,)), "job 225221")
GHOST = Scope(Terms("job", (225999,)), "job 225999")
YEAR = Scope(Prefix("job", "225"), "jobs of 2025")
HOSTILE = Scope(Terms("author", ("x\" OR '1'='1 * ?) --",)), "odd")


@pytest.fixture(scope="module")
def engine(make_engine, name):
    engine = make_engine(name)
    described = [
        ("a", "kem", {"job": 225221, "acl": "open"}),
        ("b", "lattice", {"job": 225189, "acl": "open"}),
        ("c", "lattice", {"job": 224001, "acl": "secret"}),
        ("d", "signature", {"job": 224002, "acl": "open"}),
    ]
    with engine.writer(WORDLESS) as writer:
        writer.replace(
            [prepared(key, [text], vectors=False, metadata=data) for key, text, data in described]
        )
    yield engine
    engine.close()


def climb(engine, text, scopes, where=None, **options):
    """Return the ids of the documents found, the scope's label, the notes and the searches."""
    searched = []

    def search(within):
        searched.append(within)
        return [engine.search(SearchRequest(text, method="keyword", filter=within))]

    scoped = search_scopes(Ladder(scopes, where, **options), search, engine)
    ids = sorted(hit.chunk.doc_id for each in scoped.found for hit in each.hits)
    return ids, scoped.label, scoped.notes, len(searched)


def test_the_narrowest_scope_with_hits_is_searched_once(engine):
    assert climb(engine, "kem", [JOB, YEAR]) == (["a"], "job 225221", (), 1)


@pytest.mark.parametrize("empty", [[GHOST], [GHOST] * 9, [HOSTILE, GHOST]])
def test_scopes_without_passages_cost_no_search(engine, empty):
    ids, label, notes, searches = climb(engine, "lattice", [*empty, YEAR])

    note = f"nothing found in {empty[0].label}; searched in jobs of 2025"
    assert (ids, label, notes, searches) == (["b"], "jobs of 2025", (note,), 1)


def test_a_scope_without_hits_costs_one_search_more(engine):
    note = "nothing found in job 225221; searched in all documents"
    assert climb(engine, "signature", [JOB, JOB, YEAR]) == (["d"], "", (note,), 2)


def test_a_closed_ladder_ends_with_its_last_scope(engine):
    ids, label, _, searches = climb(engine, "signature", [JOB, YEAR], is_closed=True)
    assert (ids, label, searches) == ([], "jobs of 2025", 2)


def test_access_control_is_never_widened(engine):
    everyone = Terms("acl", ("open",))
    either = Scope(Or((Terms("job", (224001,)), Terms("acl", ("secret",)))), "secret")

    assert climb(engine, "lattice", [either], everyone)[0] == ["b"]
    assert climb(engine, "lattice", [either], everyone, is_closed=True)[0] == []


def test_no_scope_searches_everything_unless_closed(engine):
    assert climb(engine, "lattice", []) == (["b", "c"], "", (), 1)
    with pytest.raises(UsageError, match="a closed ladder needs a scope"):
        climb(engine, "lattice", [], is_closed=True)
    with pytest.raises(UsageError, match="a scope has no label"):
        Scope(JOB.filter, " ")
