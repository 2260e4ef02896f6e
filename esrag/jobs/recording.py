"""Writing a job down, before anything of it is done."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from esrag.ingesting import Skip, Task
from esrag.ingesting.planning import Plan
from esrag.jobs.running import find_gone_sources
from esrag.jobs.work import Work
from esrag.ledger import REMOVAL_KEY, Batch, BatchState, Job
from esrag.ledger.ledger import Ledger
from esrag.liveness import is_dead
from esrag.loading.sources import is_address, path_of
from esrag.records import Fingerprint
from esrag.settings import Settings

_STORED_FILES = 16  # of a store, whose sizes are not known, in a batch at most
_UNFINISHED: Sequence[BatchState] = ("pending", "running", "dead")


def open_job(work: Work, plan: Plan, key: str, *, rebuild: bool = False) -> Job:
    """Record a job, so that none of its work can be lost, in place of an open one of its key.

    Batches that the older job had begun keep their attempts. Dead files that are unchanged are left
    out.
    """
    older = _list_older(work, key)
    plan = without_dead(work, plan, rebuild=rebuild, but=older)
    job = _to_job(work, plan, key, rebuild=rebuild)
    if plan.tasks or plan.gone:
        return _record(work, job, plan.tasks, older)

    for it in older:  # nothing to do is not worth writing down
        work.ledger.cancel(it.job_id, "nothing of it is left to do")
    return replace(job, state="done")


def _list_older(work: Work, key: str) -> list[Job]:
    """Return the open jobs of a key, after taking back their batches that nothing runs."""
    ledger = work.ledger
    ledger.reap(is_dead)
    known = [it for it in ledger.jobs() if it.index == work.settings.engine.index]
    older = [it for it in known if it.state == "open" and it.key == key]

    # No worker has it, and no other command: that would hold the index.
    if not work.settings.queue.url:
        lost = {batch.owner for it in older for batch in ledger.batches(it.job_id, {"running"})}
        ledger.reap(lambda owner: owner in lost)
    return older


def _to_job(work: Work, plan: Plan, key: str, *, rebuild: bool) -> Job:
    """Return the job of a plan."""
    return replace(
        _make_job(work, key, work.made),
        files=len(plan.tasks),
        rebuild=rebuild,
        gone=plan.gone,
        unchanged=plan.unchanged,
        removed=plan.removed,
        skips=plan.skips,
        left_out=plan.left_out,
    )


def _make_job(work: Work, key: str, made: Fingerprint) -> Job:
    """Return a job of now for the index of the settings, without any files."""
    now = datetime.now(UTC)
    return Job(
        job_id=f"{now:%Y%m%dT%H%M%S}{now.microsecond // 1000:03}-{uuid4().hex[:6]}",
        key=key,
        index=work.settings.engine.index,
        made=made,
        created_ms=round(now.timestamp() * 1000),
        files=0,
    )


def _record(work: Work, job: Job, tasks: Sequence[Task], older: Sequence[Job]) -> Job:
    """Write a job down with its tasks in batches: last those that older jobs had begun."""
    same_index = [it for it in older if it.made == work.made]
    begun = list(_iter_begun(work.ledger, same_index, tasks))
    taken = {task.source for batch in begun for task in batch.tasks}
    fresh = [task for task in tasks if task.source not in taken]
    return work.ledger.open(job, _cut_into_batches(fresh, work.settings), begun)


def record_removal(work: Work, made: Fingerprint, sources: Sequence[str]) -> None:
    """Record that documents of sources are removed by hand, which overrides their earlier records.

    This is called just before they are removed. A command that is killed in between leaves the
    documents stored.
    """
    job = _make_job(work, REMOVAL_KEY, made)
    work.ledger.open(replace(job, gone=tuple(sources), removed=len(sources)), [])
    work.ledger.end(job.job_id)


def _iter_begun(ledger: Ledger, older: Sequence[Job], planned: Sequence[Task]) -> Iterator[Batch]:
    """Yield batches of older jobs that were tried already, with their attempts.

    Otherwise a file that ends the command itself would have all its attempts again with each new
    command.
    """
    fresh = {task.source: task for task in planned}
    for batch in (batch for job in older for batch in ledger.batches(job.job_id, _UNFINISHED)):
        same = [
            fresh.pop(task.source)
            for task in batch.left
            if _is_as_it_was(task, fresh.get(task.source))
        ]
        attempts = batch.attempts - (batch.state == "running")  # that one is cut short by us
        if same and (attempts or batch.alone):
            yield _renew(batch, same, attempts)


def _renew(batch: Batch, tasks: Sequence[Task], attempts: int) -> Batch:
    """Return a batch of a new job that goes on with some files of an older one."""
    return Batch(
        batch_id="",
        job_id="",
        tasks=tuple(tasks),
        state="dead" if batch.state == "dead" else "pending",
        attempts=attempts,
        error=batch.error,
        traceback=batch.traceback,
        alone=batch.alone,
    )


def without_dead(work: Work, plan: Plan, *, rebuild: bool, but: Sequence[Job] = ()) -> Plan:
    """Return the plan without dead files that have not changed; they become failures.

    A dead file ended its worker at every attempt. Files that are dead in the jobs of `but` are left
    to them.
    """
    dead = _find_dead(work, rebuild=rebuild, but=but)
    skips = []

    for task in plan.tasks:
        former, batch = dead.get(task.source, (None, None))
        if batch and _is_as_it_was(task, former):
            again = f"it is tried again when it changes, or by esrag jobs retry {batch.job_id}"
            skips.append(Skip(task.source, f"{batch.error}; {again}"))

    left_out = {skip.source for skip in skips}
    tasks = tuple(task for task in plan.tasks if task.source not in left_out)
    return replace(plan, tasks=tasks, skips=(*plan.skips, *skips))


def _find_dead(work: Work, *, rebuild: bool, but: Sequence[Job]) -> dict[str, tuple[Task, Batch]]:
    """Return the dead files of the index by source, each with its batch."""
    index, made = work.settings.engine.index, work.made
    jobs = [it for it in work.ledger.jobs() if it.index == index and it.made == made]

    # A rebuild with a dead batch is thrown away, so that whatever was dead in one is left out of
    # all that follows, and whatever was dead at all is left out of it.
    of_rebuilds = [it for it in jobs if rebuild or it.rebuild]
    others = [it for it in jobs if it.state in {"open", "done"} and it not in but]
    job_ids = {it.job_id for it in (*of_rebuilds, *others)}

    dead = (batch for batch in work.ledger.iter_dead() if batch.job_id in job_ids)
    return {task.source: (task, batch) for batch in dead for task in batch.left}


def _is_as_it_was(task: Task, other: Task | None) -> bool:
    return other is not None and task.sha256 == other.sha256


def refusal(work: Work, job: Job) -> str:
    """Return why a job must not continue; "" if it may.

    Raises: EngineError.
    """
    engine = work.engine(job.index)
    if job.rebuild:
        return "it was a rebuild" if job.state == "done" else ""
    return (
        "it was made with other settings"
        if engine.exists() and engine.fingerprint() != job.made
        else ""
    )


def find_displaced(work: Work, job: Job, tasks: Iterable[Task]) -> set[str]:
    """Return the files of a job whose document ids other files have taken since.

    Their documents would replace those of the other files.

    Raises: EngineError.
    """
    engine = work.engine(job.index)
    held = {doc_id: source for source, doc_id in list_promised_ids(work, job.index).items()}
    gone = find_gone_sources(job)

    for document in engine.documents() if engine.exists() and not job.rebuild else ():
        if document.source not in gone:
            held[document.doc_id.partition("#")[0]] = document.source

    return {task.source for task in tasks if held.get(task.doc_id, task.source) != task.source}


def list_promised_ids(work: Work, index: str) -> dict[str, str]:
    """Return the document ids that open jobs are about to store, by source, as reserved ones."""
    ledger = work.ledger
    jobs = [
        job
        for job in ledger.jobs()
        if job.state == "open" and job.index == index and not job.rebuild
    ]
    batches = (
        batch for job in jobs for batch in ledger.batches(job.job_id, {"pending", "running"})
    )
    return {task.source: task.doc_id for batch in batches for task in batch.left}


def job_key(settings: Settings, *what: object) -> str:
    """Return a key that is the same for the same arguments, index and current folder."""
    told = json.dumps([settings.engine.index, os.getcwd(), *what], default=list)  # noqa: PTH109 -- a name
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _cut_into_batches(tasks: Sequence[Task], settings: Settings) -> Iterator[Sequence[Task]]:
    """Yield the tasks in batches."""
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
    """Return the size of a file; a guess for one in a store, and 0 for one that is gone."""
    try:
        return in_a_store if is_address(source) else path_of(source).stat().st_size
    except OSError:
        return 0
