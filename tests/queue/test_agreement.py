"""Ledger and index agree, or `problems` says what does not, and the doctor says the same.

Who may not write waits.
"""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from esrag.engines.embedded.databases import connect
from esrag.ingesting import Silent
from esrag.ingesting.batches import Target
from esrag.jobs.reporting import problems
from esrag.jobs.request import IngestRequest
from esrag.jobs.running import run_batch
from esrag.jobs.work import Work
from esrag.ledger.store import batch_row
from esrag.pipeline import enqueue
from esrag.settings.layers import resolve


@pytest.fixture
def ingested(esrag, corpus):
    """Three files in an index."""
    assert esrag("ingest", "docs").code == 0
    return corpus


@pytest.fixture
def work(esrag):
    """What a program works with that looks at it; the index is waited for a moment only."""
    place = {
        "engine.url": str(esrag.folder / ".esrag"),
        "engine.lock_wait_s": 0.1,
        "queue.sweep_s": 5,
    }
    known = {name: value for name, value in esrag.variables.items() if name.startswith("ESRAG_")}
    with closing(Work(resolve(place, known, esrag.folder).settings)) as opened:
        yield opened


def said(esrag, work):
    """What is wrong; the doctor says exactly that."""
    found = [problem.what for problem in problems(work)]
    lines = [json.loads(line) for line in esrag("doctor", "--json").out.splitlines()]
    assert [line["what"] for line in lines if line["level"] == "error"] == found
    return found


def change(esrag, sql, *values):
    """The index otherwise than any program of ours leaves it."""
    connection = connect(esrag.folder / ".esrag" / "esrag" / "index.sqlite3", "rw")
    connection.execute(sql, values)
    assert connection.changes()
    connection.close()


def test_nothing_is_wrong_after_any_ingest(esrag, ingested, work):
    """Added, changed, renamed, removed, emptied, failed, made anew: each time all that is said is
    so.
    """
    (ingested / "lamp.html").write_text(
        "<html><body><p>Another lamp, with an E14 bulb.</p></body></html>"
    )
    (ingested / "rows.jsonl").write_text('{"id": 1, "text": "One."}\n{"id": 2, "text": "Two."}\n')
    for code, step in (
        (0, lambda: None),
        (0, lambda: (ingested / "kitchen" / "toaster.txt").rename(ingested / "roaster.txt")),
        (0, lambda: (ingested / "rows.jsonl").write_text('{"id": 2, "text": "Two."}\n')),
        (0, (ingested / "kitchen" / "kettle.md").unlink),
        (0, lambda: (ingested / "rows.jsonl").write_text("")),
        (1, lambda: (ingested / "lamp.html").write_bytes(b"%PDF-1.7\nand no more")),
        (1, lambda: (ingested / "kettle.md").write_text("It is back, under another name.")),
    ):
        step()
        assert esrag("ingest", "docs").code == code
        assert list(problems(work)) == []
    assert esrag("ingest", "docs", "--rebuild").code == 1
    assert said(esrag, work) == []


def test_a_document_that_is_not_there(esrag, ingested, work):
    """A file that was stored and is in no document of the index is named."""
    with work.context.engine.writer(work.made) as writer:
        writer.remove(["toaster"])
    (line,) = said(esrag, work)
    assert line.startswith("1 file not in the index, and no failure says why: ")
    assert line.endswith("toaster.txt is the first")


@pytest.mark.parametrize("what", ["source_sha256", "rows"])
def test_a_document_that_is_stale(esrag, ingested, work, what):
    """One with another content than was read last, and a file of which a document is missing or too
    many are stored.
    """
    if what == "rows":
        (ingested / "rows.jsonl").write_text(
            '{"id": 1, "text": "One."}\n{"id": 2, "text": "Two."}\n'
        )
        esrag("ingest", "docs")
        with work.context.engine.writer(work.made) as writer:
            writer.remove(["rows#1"])
    else:
        change(esrag, "UPDATE documents SET source_sha256 = ? WHERE doc_id = 'toaster'", "0" * 64)
    (line,) = said(esrag, work)
    assert line.startswith("1 file in the index otherwise than when read: ")


def test_a_document_that_should_be_gone(esrag, ingested, work):
    """A file that is gone, and was removed as the ledger says, is not in the index."""
    gone = ingested / "kitchen" / "toaster.txt"
    was = gone.read_text()
    gone.unlink()
    esrag("ingest", "docs")
    assert said(esrag, work) == []
    change(esrag, "UPDATE documents SET source = ? WHERE doc_id = 'lamp'", str(gone))
    missing, removed = said(esrag, work)
    assert "not in the index, and no failure says why" in missing
    assert removed == f"1 file still in the index after removal: {gone} is the first"
    gone.write_text(was)  # it came back, and the next ingest looks at it
    assert len(said(esrag, work)) == 1


def test_a_ledger_that_does_not_know_what_was_stored(esrag, ingested, work):
    """Of a file whose hash was not written down nothing is said that nobody can know."""
    (job,) = work.ledger.jobs()
    (batch,) = work.ledger.batches(job.job_id)
    (row,) = work.ledger._store.get([f"batch {batch.batch_id}"])
    outcomes = tuple(replace(outcome, sha256="") for outcome in batch.result.outcomes)
    changed = replace(batch, result=replace(batch.result, outcomes=outcomes))
    assert work.ledger._store.write([batch_row(changed, row.version)]) == [True]
    assert said(esrag, work) == []


def test_counters_that_are_not_the_batches(esrag, ingested, work):
    """What the ledger itself gets wrong is found by the same function."""
    (job,) = work.ledger.jobs()
    (batch,) = work.ledger.batches(job.job_id)
    (row,) = work.ledger._store.get([f"batch {batch.batch_id}"])
    fewer = replace(
        batch,
        tasks=batch.tasks[1:],
        result=replace(batch.result, outcomes=batch.result.outcomes[1:]),
    )
    assert work.ledger._store.write([batch_row(fewer, row.version)]) == [True]
    assert said(esrag, work) == [f"job {job.job_id}: has 3 files, its batches 2"]


def test_what_is_still_to_be_done_is_no_contradiction(esrag, ingested, work):
    """While a job is open nothing is said of its files, whether they are stored already
    or not yet.
    """
    (ingested / "kitchen" / "toaster.txt").write_text("The toaster has four slots.")
    job = enqueue(IngestRequest([str(ingested)]), work)
    assert said(esrag, work) == []
    (batch,) = work.ledger.batches(job.job_id)
    claimed = work.ledger.claim(batch.batch_id, work.owner)
    engine = work.context.engine
    target = Target(work.made, lambda: engine.writer(work.made), engine.vectors_of)
    work.ingestion.load(
        claimed.left, target, Silent(), lambda: None
    )  # stored, and not yet written down
    assert said(esrag, work) == []
    work.ledger.put_back(claimed, "", counted=False)
    work.ledger.cancel(job.job_id, "by hand")
    assert said(esrag, work) == []


def test_an_older_job_that_ends_later(esrag, ingested, work):
    """What was read last is what counts, whichever job it was for."""
    toaster = ingested / "kitchen" / "toaster.txt"
    toaster.write_text("The toaster has four slots.")
    job = enqueue(IngestRequest([str(toaster)]), work)
    (batch,) = work.ledger.batches(job.job_id)
    work.ledger.mark_queued([batch.batch_id])
    work.ledger.cancel(job.job_id, "for a while")
    assert esrag("ingest", "docs").code == 0
    toaster.write_text("The toaster has six slots.")
    work.ledger.reopen(job.job_id)
    assert run_batch(work, batch.batch_id).state == "done"
    assert said(esrag, work) == []


def test_who_may_not_write_neither_reads_nor_embeds(ingested, work):
    """A batch whose index another writes is put back before its files are touched, and waits longer
    each time.
    """
    (ingested / "new.txt").write_text("A new file.")
    job = enqueue(IngestRequest([str(ingested)]), work)
    (batch,) = work.ledger.batches(job.job_id)
    waits = []
    with closing(Work(work.settings)) as other, other.context.engine.writer(other.made):
        for _ in range(3):
            came = run_batch(work, batch.batch_id)
            assert (came.state, came.attempts) == ("pending", 0)
            assert "another program has been writing" in came.error
            waits.append(came.not_before_ms - 1000 * work.ledger._clock())
    assert "ingestion" not in vars(work)  # made when the first file is read
    assert [round(wait_ms / 5000) for wait_ms in waits] == [1, 2, 4]
    assert run_batch(work, batch.batch_id).state == "done"
    assert list(problems(work)) == []
