"""Writing a job down, before anything of it is done."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.loading.sources import is_address, path_of
from esrag.settings import Settings
from esrag.sync import Plan, Task

_STORED_FILES = 16  # of a store, whose sizes are not known, in a batch at most


def open_job(work: Work, plan: Plan, key: str, *, rebuild: bool = False) -> Job:
    """Writes down what is to be done; from now on nothing of it can be lost. An older job of the same key gives way."""
    now = datetime.now(UTC)
    job = Job(
        job_id=f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03}-{uuid4().hex[:6]}",
        key=key,
        index=work.settings.engine.index,
        made=work.made,
        created_ms=round(now.timestamp() * 1000),
        files=len(plan.tasks),
        rebuild=rebuild,
        gone=plan.gone,
        unchanged=plan.unchanged,
        removed=plan.removed,
        skips=plan.skips,
    )
    if plan.tasks or plan.gone:
        return work.ledger.open(job, _batches(plan.tasks, work.settings))
    for older in list(work.ledger.jobs()):  # nothing to do is not worth writing down
        if older.state == "open" and older.key == key:
            work.ledger.cancel(older.job_id, "nothing of it is left to do")
    return replace(job, state="done")


def promised(work: Work) -> dict[str, str]:
    """The ids of documents that open jobs are about to store, by source, so that no other file gets one of them."""
    ledger, index = work.ledger, work.settings.engine.index
    jobs = [job for job in ledger.jobs() if job.state == "open" and job.index == index and not job.rebuild]
    batches = (batch for job in jobs for batch in ledger.batches(job.job_id, {"pending", "running"}))
    return {task.source: task.doc_id for batch in batches for task in batch.tasks}


def job_key(settings: Settings, *what: object) -> str:
    """The same for the same arguments on the same index, given in the same folder."""
    told = json.dumps([settings.engine.index, os.getcwd(), *what], default=list)  # noqa: PTH109 -- a name
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _batches(tasks: Sequence[Task], settings: Settings) -> Iterator[Sequence[Task]]:
    """Tasks in portions that a worker takes at once."""
    portion: list[Task] = []
    size_bytes = 0
    for task in tasks:
        own_bytes = _size_bytes(task.source, settings.queue.batch_bytes // _STORED_FILES)
        large = size_bytes + own_bytes > settings.queue.batch_bytes
        if portion and (large or len(portion) == settings.queue.batch_files):
            yield portion
            portion, size_bytes = [], 0
        portion.append(task)
        size_bytes += own_bytes
    if portion:
        yield portion


def _size_bytes(source: str, in_a_store: int) -> int:
    """The size of a file; a guess for what is in a store, and 0 for what is gone since."""
    try:
        return in_a_store if is_address(source) else path_of(source).stat().st_size
    except OSError:
        return 0
