"""Recall against worked figures."""

import sys
from pathlib import Path

import pytest

from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.recall import Recall, recall

sys.path.insert(0, str(Path(__file__).parent))
from made import FINGERPRINT, WORDLESS, library, prepared


class Forgetful(EmbeddedEngine):
    """An engine that never finds a document's chunks."""

    forgotten = "d00"

    def search(self, request):
        """Without them."""
        result = super().search(request)
        kept = tuple(hit for hit in result.hits if hit.chunk.doc_id != self.forgotten)
        return type(result)(kept, result.path)


@pytest.fixture
def store(tmp_path):
    """24 chunks, four of them of d00."""
    with EmbeddedEngine(EngineOptions(str(tmp_path))).writer(FINGERPRINT) as writer:
        writer.replace(library())
    return EngineOptions(str(tmp_path))


def test_an_exact_search_finds_all(store):
    """Also where there are fewer chunks than hits wanted."""
    assert recall(EmbeddedEngine(store), 50, 5, 100) == Recall(
        k=5, mean=1.0, worst=1.0, questions=24, chunks=24
    )
    assert recall(EmbeddedEngine(store), 7, 100, 100) == Recall(
        k=100, mean=1.0, worst=1.0, questions=7, chunks=24
    )


def test_what_is_not_found_is_missing(store):
    """Of all 24 chunks 20 are found, whatever is asked.

    Of the one nearest, none where it is a forgotten chunk.
    """
    assert recall(Forgetful(store), 24, 24, 100) == Recall(
        k=24, mean=round(20 / 24, 4), worst=round(20 / 24, 4), questions=24, chunks=24
    )
    assert recall(Forgetful(store), 24, 1, 100) == Recall(
        k=1, mean=round(20 / 24, 4), worst=0.0, questions=24, chunks=24
    )


def test_no_vectors_no_recall(tmp_path):
    """An index that is searched by its words only."""
    engine = EmbeddedEngine(EngineOptions(str(tmp_path)))
    with engine.writer(WORDLESS) as writer:
        writer.replace([prepared("d", ["zebra"], vectors=False)])
    assert recall(engine, 10, 10, 100) is None
