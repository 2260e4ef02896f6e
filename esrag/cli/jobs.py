"""`esrag jobs`: show, retry, cancel, resume and prune ingest jobs."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import NumberRange, json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.cli.streams import stop_unread
from esrag.errors import JobMissing, QueueUnreachable, UsageError

if TYPE_CHECKING:
    from esrag.ingesting import Task
    from esrag.jobs.queue import Queue
    from esrag.jobs.work import Work
    from esrag.ledger import Batch, Counts, Job
    from esrag.ledger.ledger import Ledger
from esrag.cli.watching import follow
from esrag.text import format_count

EXAMPLES = 3

SHOWN = 20

_OF_JOB = ("job_id", "index", "state", "note", "rebuild", "created_ms", "ended_ms")

_ENDED = ("added", "changed", "renamed", "skipped", "failed")

_DAY_MS = 24 * 3600 * 1000
_MAX_DAYS = 36_500


@click.group()
def jobs() -> None:
    """List, show, retry, cancel, resume and prune ingest jobs."""


@jobs.command("list")
@json_option
@settings_options
def list_(*, as_json: bool, **options: Any) -> int:
    """List the jobs in the ledger, newest first."""
    stop_unread()
    with _open(options) as work:
        for job in work.ledger.jobs():
            told = figures(job, work.ledger.counts(job.job_id))
            if as_json:
                print_json(told)
            else:
                print_text(f"{job.job_id}  {_describe_state(job, told)}  {ago(job.created_ms)}")
    return 0


@jobs.command()
@click.argument("job", required=False)
@click.option(
    "--follow",
    "following",
    is_flag=True,
    help="Watch the job until it ends; exit with 1 if it failed.",
)
@json_option
@settings_options
def show(job: str | None, *, following: bool, as_json: bool, **options: Any) -> int:
    """Show a job's states, errors by cause, and waiting batches.

    JOB is an id or an unambiguous prefix of one; by default it is the newest job.
    """
    stop_unread()
    with _open(options) as work:
        found = _find_job(work.ledger, job)
        if following:
            found, _ = follow(work, _queue(work), found)
        told = figures(found, work.ledger.counts(found.job_id)) | _look_into(work.ledger, found)
        print_json(told) if as_json else _print(told)
        return int(following and (found.state != "done" or told["failed"] > 0))


@jobs.command()
@click.argument("job", required=False)
@click.option("--all", "every", is_flag=True, help="Retry every job that was not cancelled.")
@click.option("--batch", "batch_ids", multiple=True, metavar="ID", help="Retry only these batches.")
@click.option(
    "--file",
    "sources",
    multiple=True,
    metavar="PATH",
    help="Retry only these files, as in esrag jobs show.",
)
@settings_options
def retry(
    job: str | None,
    *,
    every: bool,
    batch_ids: tuple[str, ...],
    sources: tuple[str, ...],
    **options: Any,
) -> int:
    """Retry the failed files of JOB. Their attempts are counted from zero.

    These are the files of failed and dead batches, and failed files of finished batches.
    """
    if bool(job) == every or (every and (batch_ids or sources)):
        raise UsageError(
            "retry expects either a JOB or --all", hint="esrag jobs list shows all jobs"
        )
    files = {_source_of(name): name for name in sources}
    with _open(options) as work:
        wanted = _select_jobs(work.ledger, job, every=every)
        _require_parts(work.ledger, wanted, batch_ids, files)
        counts = {it.job_id: _retry_job(work, it, batch_ids, list(files)) for it in wanted}
        _say_retried(counts)
        _hand_out(work, [it for it in wanted if counts[it.job_id]])
    return 0


@jobs.command()
@click.argument("job")
@settings_options
def cancel(job: str, **options: Any) -> int:
    """Stop JOB. Stored documents stay, and running batches are abandoned."""
    with _open(options) as work:
        found = _find_job(work.ledger, job)
        work.ledger.cancel(found.job_id, "by esrag jobs cancel")
        now = work.ledger.job(found.job_id)
        before = found.state in {"done", "cancelled"}
        print_text(f"{now.job_id} {'was ' * before}{now.state}{' already' * before}")
    return 0


@jobs.command()
@click.argument("job")
@settings_options
def resume(job: str, **options: Any) -> int:
    """Resume a cancelled JOB with the work that is left."""
    with _open(options) as work:
        found = _find_job(work.ledger, job)
        left = work.ledger.counts(found.job_id).files.get("pending", 0)
        if found.state != "open" and not left and not found.gone:
            print_text(f"{found.job_id} has no work left")
            return 0

        _reopen(work, found)
        print_text(f"{found.job_id} is open, {format_count(left, 'file')} left")
        _hand_out(work, [found])
    return 0


def _reopen(work: "Work", job: "Job") -> None:
    """Open a job again. Raises: UsageError if it must not continue."""
    from esrag.jobs.recording import find_displaced, refusal

    pending = list(work.ledger.batches(job.job_id, {"pending"}))
    tasks = chain(*(batch.left for batch in pending))
    if why := refusal(work, job) or _describe_displaced(find_displaced(work, job, tasks)):
        raise UsageError(f"{job.job_id} cannot be resumed: {why}", hint="run: esrag ingest FOLDER")

    queued = [batch.batch_id for batch in pending if batch.queued_ms]
    # Their messages arrived while the job was cancelled.
    work.ledger.mark_queued(queued, queued=False)
    work.ledger.reopen(job.job_id)


@jobs.command()
@click.option(
    "--older-than",
    type=NumberRange(0, _MAX_DAYS),
    default=30,
    show_default=True,
    metavar="DAYS",
    help="Remove jobs that ended longer ago than this.",
)
@settings_options
def prune(*, older_than: float, **options: Any) -> int:
    """Remove old finished jobs from the ledger. The index does not change."""
    with _open(options) as work:
        count = work.ledger.prune(_now_ms() - round(older_than * _DAY_MS))
    print_text(f"removed {format_count(count, 'job')}")
    return 0


def print_job(ledger: "Ledger", job: "Job", *, as_json: bool) -> None:
    """Print a job that was handed to the workers."""
    told = figures(job, ledger.counts(job.job_id))
    if as_json:
        print_json(told)
    elif not (job.files or job.gone):
        print_text(f"nothing to do, {job.unchanged:,} unchanged")
    else:
        print_text(f"{job.job_id}: {format_count(job.files, 'file')} for the workers")
        remark(f"to follow its progress: esrag jobs show {job.job_id} --follow")
    for skip in job.skips[:SHOWN]:
        remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")


def figures(job: "Job", counts: "Counts") -> dict[str, Any]:
    """Return the figures of a job as JSON.

    Every file is counted once: `queued` files will be processed, `dropped` ones will not.
    """
    of_skips = Counter("failed" if skip.failed else "skipped" for skip in job.skips)
    ended = {name: counts.files.get(name, 0) + of_skips[name] for name in _ENDED}
    files = job.files + len(job.skips)
    queued = counts.files.get("pending", 0) if job.state == "open" else 0

    return {
        "schema": "esrag.job/1",
        **{name: getattr(job, name) for name in _OF_JOB},
        "files": files,
        **ended,
        "queued": queued,
        "dropped": max(0, files - sum(ended.values()) - queued),
        "unchanged": job.unchanged,
        "removed": job.removed,
        "chunks": counts.chunks,
        "embedded": counts.embedded,
        "reused": counts.reused,
        "batches": dict(counts.batches),
    }


def ago(then_ms: int) -> str:
    """Return in words how long ago a time was."""
    return f"{span((_now_ms() - then_ms) / 1000)} ago"


def span(seconds: float) -> str:
    """Return a duration in words.

    >>> span(5), span(200), span(7200), span(3 * 86400)
    ('5 s', '3 min', '2 h', '3 days')
    """
    for unit, length_s in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length_s:
            return f"{seconds / length_s:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _now_ms() -> int:
    return round(1000 * time.time())


def _open(options: dict[str, Any]) -> "closing[Work]":
    from esrag.jobs.work import Work

    return closing(Work(settings_of(**options)))


def _queue(work: "Work") -> "Queue | None":
    from esrag.jobs.queue import Queue

    return Queue(work.settings.queue) if work.settings.queue.url else None


def _find_job(ledger: "Ledger", name: str | None) -> "Job":
    """Return the job with this id or prefix.

    Raises: JobMissing if it is unknown, UsageError if several jobs begin with the prefix.
    """
    known = list(ledger.jobs())
    if name is None:
        if not known:
            raise JobMissing("no jobs yet", hint="esrag ingest FOLDER creates one")
        return known[0]

    meant = [job for job in known if name and job.job_id.startswith(name)]
    if len(meant) > 1 and name not in {job.job_id for job in meant}:
        hint = f"use a longer prefix: {', '.join(job.job_id for job in meant[:EXAMPLES])}"
        raise UsageError(f"{len(meant)} jobs begin with {name!r}", hint=hint)

    return meant[0] if len(meant) == 1 else ledger.job(name)


def _select_jobs(ledger: "Ledger", name: str | None, *, every: bool) -> "list[Job]":
    """Return the named job, or every job that was not cancelled."""
    if every:
        return [job for job in ledger.jobs() if job.state != "cancelled"]
    return [_find_job(ledger, name)]


def _source_of(name: str) -> str:
    """Return the source of a file as typed."""
    from esrag.loading.sources import is_address, source_of

    return name if is_address(name) else source_of(Path(name).absolute())


def _require_parts(
    ledger: "Ledger", jobs: "list[Job]", batch_ids: tuple[str, ...], files: dict[str, str]
) -> None:
    """Raise UsageError if one of the batches and files cannot be retried within the job."""
    for batch_id in batch_ids:
        _require_batch(ledger.batch(batch_id), jobs[0])
    if files:
        _require_files(ledger, jobs[0], files)


def _require_batch(batch: "Batch", job: "Job") -> None:
    """Raise UsageError if a batch belongs to another job or did not fail."""
    if batch.job_id != job.job_id or not list(_failures(batch)):
        came = f"batch {batch.batch_id!r} of job {batch.job_id} is {batch.state}"
        raise UsageError(
            came, hint=f"esrag jobs show {job.job_id} lists the batches that can be retried"
        )


def _require_files(ledger: "Ledger", job: "Job", named: "dict[str, str]") -> None:
    """Raise UsageError if a source is not a file of the job. The values are the names as typed."""
    sources = {task.source for batch in ledger.batches(job.job_id) for task in batch.tasks}
    for source, name in named.items():
        if source not in sources:
            hint = f"esrag jobs show {job.job_id} --json lists the failed files"
            raise UsageError(f"job {job.job_id} has no file {name!r}", hint=hint)


def _retry_job(work: "Work", job: "Job", batch_ids: tuple[str, ...], sources: list[str]) -> int:
    """Return how many batches of a job will be retried, and print which files will not."""
    from esrag.jobs.recording import find_displaced, refusal

    if not work.ledger.counts(job.job_id).files["failed"]:
        return 0
    if why := refusal(work, job):
        remark(f"{job.job_id} cannot be retried: {why}; run esrag ingest")
        return 0

    but = find_displaced(work, job, _list_failed(work.ledger, job))
    if but:
        remark(f"{job.job_id}: {_describe_displaced(but)}; run esrag ingest")
    return work.ledger.retry(job.job_id, batch_ids, sources, but)


def _list_failed(ledger: "Ledger", job: "Job") -> "list[Task]":
    """Return the failed files of a job."""
    batches = list(ledger.batches(job.job_id))
    failed = {source for batch in batches for source, _ in _failures(batch)}
    return [task for batch in batches for task in batch.tasks if task.source in failed]


def _describe_displaced(sources: "set[str]") -> str:
    """Return a remark on files whose ids now belong to other files, or "" without any."""
    return (
        f"the ids of {format_count(len(sources), 'file')}, such as {min(sources)}, "
        "now belong to other files"
        if sources
        else ""
    )


def _say_retried(counts: "dict[str, int]") -> None:
    for job_id, count in counts.items():
        if count:
            print_text(f"{count:,} batch{'es' * (count != 1)} of {job_id} will be retried")
    if not any(counts.values()):
        print_text("nothing to retry")


def _hand_out(work: "Work", opened: "list[Job]") -> None:
    """Hand the batches to the workers, or advise how to run them."""
    from esrag.jobs.sweeping import sweep

    queue = _queue(work)
    for advice in sorted({_advice(job) for job in opened if queue is None or job.rebuild}):
        remark(advice)
    if queue is None:
        return
    try:
        sweep(work, queue)
    except QueueUnreachable as error:
        raise QueueUnreachable(
            str(error), hint="the job is recorded and continues when the queue is back"
        ) from error


def _advice(job: "Job") -> str:
    """Return advice on how to continue a job without a queue."""
    return (
        f"to continue it: esrag ingest {'--rebuild' if job.rebuild else 'any path'} "
        f"into index {job.index}"
    )


def _look_into(ledger: "Ledger", job: "Job") -> dict[str, Any]:
    """Return the failures by cause, the failed and dead batches, and those that await a retry."""
    causes: dict[str, _Cause] = {}
    given_up, waiting = [], []
    _count_causes(causes, ((skip.source, skip.reason) for skip in job.skips if skip.failed))
    for batch in ledger.batches(job.job_id):
        _count_causes(causes, _failures(batch))
        if batch.state in {"failed", "dead"}:
            given_up.append(_describe(batch, "state", "traceback") | {"files": len(batch.left)})
        elif batch.state == "pending" and batch.error and job.state == "open":
            waiting.append(_describe(batch, "not_before_ms"))

    return {"errors": _list_errors(causes), "given_up": given_up, "waiting": waiting}


@dataclass(slots=True)
class _Cause:
    """The number of files that failed for one reason, and the first few of them."""

    count: int = 0
    sources: tuple[str, ...] = ()

    def add(self, source: str) -> None:
        self.count += 1
        if len(self.sources) < EXAMPLES:
            self.sources = (*self.sources, source)


def _count_causes(causes: dict[str, _Cause], failures: Iterable[tuple[str, str]]) -> None:
    """Add failed files to their causes."""
    for source, reason in failures:
        causes.setdefault(reason, _Cause()).add(source)


def _list_errors(causes: dict[str, _Cause]) -> list[dict[str, Any]]:
    """Return the causes as JSON, the most frequent first."""
    by_count = sorted(causes.items(), key=lambda item: (-item[1].count, item[0]))
    return [
        {"reason": reason, "count": cause.count, "sources": list(cause.sources)}
        for reason, cause in by_count
    ]


def _failures(batch: "Batch") -> Iterator[tuple[str, str]]:
    """Yield each failed file of a batch with the reason."""
    if batch.state in {"failed", "dead"}:
        yield from ((task.source, batch.error) for task in batch.left)
    for outcome in batch.result.outcomes:
        if outcome.state == "failed":
            yield outcome.source, outcome.reason


def _describe(batch: "Batch", *names: str) -> dict[str, Any]:
    return {name: getattr(batch, name) for name in ("batch_id", "attempts", "error", *names)}


def _describe_state(job: "Job", told: dict[str, Any]) -> str:
    """Return a job's state and figures for the list, or the job that continues it."""
    from esrag.ledger import REMOVAL_KEY, TAKEN_OVER

    if job.note.startswith(TAKEN_OVER):
        return f"{'resumed':9}  as {job.note.removeprefix(TAKEN_OVER)}"
    if job.key == REMOVAL_KEY:
        return f"{job.state:9}  documents of {format_count(job.removed, 'source')} removed by hand"
    done = told["files"] - told["failed"] - told["queued"] - told["dropped"]
    figures = (
        f"{done:,} of {format_count(told['files'], 'file')}, {told['failed']:,} failed, "
        f"{told['queued']:,} left"
    )
    dropped = f", {told['dropped']:,} not processed" if told["dropped"] else ""
    return f"{job.state:9}  {figures}{dropped}{_of_when(told)}"


def _of_when(told: dict[str, Any]) -> str:
    """Return a remark if files of a running batch may be stored.

    They are counted when the batch has ended.
    """
    return (
        ", as of the last batch that ended"
        if told["state"] == "open" and told["batches"].get("running")
        else ""
    )


def _print(told: dict[str, Any]) -> None:
    """Print a job as text. Quoted parts cannot break a line."""
    _print_figures(told)
    _print_causes(told)
    for batch in _iter_first(told["given_up"], "batches"):
        _say(
            f"{batch['state']}: batch {batch['batch_id']}, {format_count(batch['files'], 'file')}: "
            f"{batch['error']}"
        )
    for batch in _iter_first(told["waiting"], "batches"):
        wait = span(batch["not_before_ms"] / 1000 - time.time())
        _say(f"waits: batch {batch['batch_id']}, {wait} more: {batch['error']}")
    _advise(told)


def _print_figures(told: dict[str, Any]) -> None:
    """Print a job's state, and the numbers of its files, batches and chunks."""
    _say(
        f"job {told['job_id']}, index {told['index']}: {told['state']}, "
        f"started {ago(told['created_ms'])}"
    )
    if told["note"]:
        _say(told["note"])
    files = {name: told[name] for name in (*_ENDED, "queued", "dropped", "unchanged", "removed")}
    _say(f"files: {_list_counts(files)}{_of_when(told)}")
    _say(f"batches: {_list_counts(told['batches'])}")
    _say(
        f"chunks: {told['chunks']:,} stored, {told['embedded']:,} embedded, "
        f"{told['reused']:,} reused"
    )


def _print_causes(told: dict[str, Any]) -> None:
    """Print why files failed, with the first few of each cause."""
    for cause in _iter_first(told["errors"], "causes"):
        _say(f"{cause['count']:,} failed: {cause['reason']}")
        for source in cause["sources"]:
            _say(source, indent=2)


def _list_counts(counts: dict[str, int]) -> str:
    """Return the non-zero figures as text."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none"


def _say(text: str, indent: int = 0) -> None:
    print_text(" " * indent + " ".join(text.split()))


def _iter_first(entries: list[dict[str, Any]], name: str) -> Iterable[dict[str, Any]]:
    yield from entries[:SHOWN]
    if len(entries) > SHOWN:
        _say(f"and {len(entries) - SHOWN:,} more {name}; --json lists all")


def _advise(told: dict[str, Any]) -> None:
    if told["failed"]:
        retry = (
            ""
            if told["rebuild"] and told["state"] == "done"
            else f"esrag jobs retry {told['job_id']}, or "
        )
        remark(f"to retry what failed: {retry}repeat esrag ingest")
    if told["dropped"] and told["state"] == "cancelled":
        remark(f"to resume: esrag jobs resume {told['job_id']}")
