"""Jobs whose ledger and index are on a real search server."""

import json
import time
import urllib.request
import uuid
from contextlib import closing

import pytest
from test_worker import APP, PLAIN

from esrag.jobs.reporting import problems
from esrag.jobs.request import IngestRequest
from esrag.jobs.running import run_batch
from esrag.jobs.work import Work
from esrag.pipeline import enqueue
from esrag.settings.layers import resolve

pytestmark = [pytest.mark.live, pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])]


@pytest.fixture
def where(engine, request):
    """Settings of an index on the server, as variables."""
    return {
        "ESRAG_ENGINE__URL": request.getfixturevalue(engine),
        "ESRAG_ENGINE__INDEX": f"q-{uuid.uuid4().hex[:12]}",
        "ESRAG_EMBEDDING__PROVIDER": "hashing",
        "ESRAG_EMBEDDING__MODEL": "hashing",
        "ESRAG_QUEUE__SWEEP_S": "0.3",
        "ESRAG_QUEUE__BATCH_FILES": "1",
    }


@pytest.mark.faults
def test_a_blocked_index_costs_no_attempt(where, corpus):
    """Case 23: the batches wait and say why; when the block is lifted they are done."""
    with closing(Work(resolve({}, where).settings)) as work:
        job = enqueue(IngestRequest([str(corpus)]), work)
        name = work.context.engine.info().name
        _block(where, name, blocked=True)
        batches = list(work.ledger.batches(job.job_id))
        seen = [run_batch(work, batch.batch_id) for batch in batches]
        assert [(batch.state, batch.attempts) for batch in seen] == [("pending", 0)] * 3
        assert all("blocked" in batch.error for batch in seen)
        assert "ingestion" not in vars(
            work
        )  # made when the first file is read: nothing was parsed in vain
        again = run_batch(work, batches[0].batch_id)
        assert again.not_before_ms - seen[0].not_before_ms >= 300  # waits longer each time
        _block(where, name, blocked=False)
        assert {run_batch(work, batch.batch_id).state for batch in batches} == {"done"}
        assert work.ledger.job(job.job_id).state == "done"
        assert list(problems(work)) == []


def test_a_worker_gives_the_index_of_a_single_process(where, esrag, start_worker, redis, corpus):
    """One that is killed in between too: documents and chunks are the same to the byte."""
    for number in range(20):
        (corpus / f"note{number}.txt").write_text(
            f"Note number {number} is about oiled beech.\n" * 20
        )
    alone = where | {"ESRAG_ENGINE__INDEX": where["ESRAG_ENGINE__INDEX"] + "-alone"}
    queued = where | {"ESRAG_QUEUE__URL": redis.url}
    assert esrag("ingest", "docs", **alone).code == 0
    worker = start_worker(**queued)
    handed = esrag("ingest", "docs", "--no-wait", "--json", **queued).json
    time.sleep(1)
    worker.process.kill()
    start_worker(**queued)
    shown = esrag("jobs", "show", handed["job_id"], "--follow", "--json", **queued)
    assert (shown.code, shown.json["state"], shown.json["added"]) == (0, "done", 23)
    for command in ("docs", "chunks"):
        assert esrag(command, "--json", **queued).out == esrag(command, "--json", **alone).out
    assert esrag("doctor", **queued).code == 0


@pytest.mark.faults
def test_no_log_at_debug_holds_a_document(where, start_worker, redis, corpus, esrag):
    """The clients of the servers write what they send where they may.

    A worker's log has nothing of it.
    """
    queued = where | {"ESRAG_QUEUE__URL": redis.url}
    assert esrag("ingest", "docs", "--no-wait", **queued).code == 0
    worker = start_worker(command=[*APP, *PLAIN[:-1], "DEBUG"], **queued)
    assert esrag("jobs", "show", "--follow", **queued).code == 0
    worker.end()
    assert "DEBUG" in worker.log
    assert "toaster" not in worker.log.replace("toaster.txt", "")
    assert "1.7 litres" not in worker.log


def _block(where, name, *, blocked):
    body = json.dumps({"index.blocks.write": blocked}).encode()
    url, kind = (
        f"{where['ESRAG_ENGINE__URL']}/{name}/_settings",
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(urllib.request.Request(url, body, kind, method="PUT")) as answer:
        assert answer.status == 200
