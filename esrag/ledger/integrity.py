"""Integrity of a ledger: no crash makes it contradict itself, so a finding here is a bug in esrag.

One exception: a sweeper killed while splitting a batch leaves the batch and its pieces. The next
sweep ends it.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from esrag.ledger import Batch, Job
from esrag.ledger.store import (
    NEW,
    OUTCOMES,
    Query,
    Row,
    Store,
    batch_of,
    batch_row,
    iter_rows,
    job_of,
    job_row,
)
from esrag.text import format_count


def problems(store: Store) -> Iterator[str]:
    """Yield the contradictions in the ledger, one line each.

    Raises: LedgerError if a row cannot be read.
    """
    jobs: dict[str, str] = {}
    for row in iter_rows(store, Query("job")):
        job = job_of(row)
        jobs[job.job_id] = job.state
        yield from chain(_of_row(row, job_row(job)), _of_job(job, store))
    for row in iter_rows(store, Query("batch")):
        batch = batch_of(row)
        yield from chain(_of_row(row, batch_row(batch)), _of_batch(batch, jobs.get(batch.job_id)))


def _of_row(row: Row, expected: Row) -> Iterator[str]:
    """Compare the fields that are searched and summed with the record."""
    if replace(row, version=NEW, body="") != replace(expected, body=""):
        yield f"{row.key}: what it is found by is not what it holds"


def _of_job(job: Job, store: Store) -> Iterator[str]:
    """Compare the job with the sums of its batches."""
    totals = store.totals(job.job_id)
    files = sum(sum(total.sums[: len(OUTCOMES)]) for total in totals.values())
    if job.state in {"open", "done"} and files != job.files:
        yield f"job {job.job_id}: has {format_count(job.files, 'file')}, its batches {files}"
    left = sum(total.batches for state, total in totals.items() if state in {"pending", "running"})
    if job.state == "done" and left:
        yield f"job {job.job_id}: is done with {format_count(left, 'batch')} open"
    if (job.ended_ms > 0) != (job.state in {"done", "cancelled"}):
        yield f"job {job.job_id}: is {job.state} and ended at {job.ended_ms}"


def _of_batch(batch: Batch, job_state: str | None) -> Iterator[str]:
    name, running = f"batch {batch.batch_id}", batch.state == "running"
    if job_state is None:
        yield f"{name}: its job {batch.job_id} is not there"
    # A dead batch was dead in the job before.
    if job_state == "recording" and batch.state not in {"pending", "dead"}:
        yield f"{name}: is {batch.state} while its job is being recorded"
    if running != (batch.until_ms > 0):
        yield f"{name}: is {batch.state} until {batch.until_ms}"
    if running and not (batch.owner and batch.attempts):
        yield f"{name}: is running at attempt {batch.attempts} of {batch.owner or 'nobody'}"
    if batch.state != "pending" and batch.queued_ms:
        yield f"{name}: is {batch.state} and queued"
