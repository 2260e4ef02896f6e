"""What is kept of an order that a reranker could not make."""

import sqlite3
import time
from contextlib import closing
from importlib.util import find_spec

import pytest

from esrag.caching.answers import BRIEFLY_S

QUESTION = "How large is the kettle?"


@pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere")
def test_it_is_not_for_a_month_that_a_service_was_busy_once(esrag, corpus, service, answering):
    """Answers and hits are kept for a minute then, and for as long as ever once the service
    answers.
    """
    esrag("ingest", "docs")
    file = esrag.folder / "cache.db"
    variables = {"ESRAG_CACHE__URL": str(file), "ESRAG_RERANK__CHAIN": "[cohere]"}
    variables |= {"ESRAG_RERANK__URL": service.url, "ESRAG_RERANK__API_KEY": "a-key"}
    for command in ("search", "ask"):
        for fault, max_s in (
            (answering(429, {"message": "busy"}), 1.1 * BRIEFLY_S),
            (answering(200), 1.1 * 30 * 86_400),
        ):
            service.script.append(fault)
            ran = esrag(command, QUESTION, "--json", **variables)
            assert bool(ran.json["notes"]) == (max_s < 100)
            with closing(sqlite3.connect(file)) as kept:
                (until,) = kept.execute(
                    "SELECT max(until) FROM entries WHERE key NOT GLOB 'n:*'"
                ).fetchone()
                kept.execute("DELETE FROM entries")
                kept.commit()
            assert max_s / 2 < until - time.time() < max_s
