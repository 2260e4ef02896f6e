"""`esrag ingest`: update the index to match the files."""

from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, resolve, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.cli.streams import read_line
from esrag.errors import QueueUnreachable, UsageError
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.ingesting import Skip
    from esrag.ingesting.planning import Plan
    from esrag.jobs.queue import Queue
    from esrag.jobs.reporting import IngestReport
    from esrag.jobs.request import IngestRequest
    from esrag.jobs.work import Work
    from esrag.ledger import Job

SHOWN_SKIPS = 50


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option(
    "--include",
    multiple=True,
    metavar="GLOB",
    help="Ingest only files that match by name or relative path.",
)
@click.option("--exclude", multiple=True, metavar="GLOB", help="Skip files that match.")
@click.option("--follow-links", is_flag=True, help="Follow links that lead outside a named folder.")
@click.option(
    "--no-ignore", is_flag=True, help="Also read files that .gitignore or .esragignore excludes."
)
@click.option("--keep-missing", is_flag=True, help="Keep documents whose files are gone.")
@click.option(
    "--rebuild", is_flag=True, help="Re-read every file with the current settings into a new index."
)
@click.option(
    "--chunk-strategy", "chunking__strategy", metavar="NAME", help="Cut with this chunker."
)
@click.option(
    "--chunk-size",
    "chunking__size",
    type=click.IntRange(min=1),
    help="Cut chunks of at most this size, in tokens or characters (chunking.unit).",
)
@click.option(
    "--chunk-overlap",
    "chunking__overlap",
    type=click.IntRange(min=0),
    help="Let neighbouring chunks share at most this much.",
)
@click.option("--no-wait", is_flag=True, help="With a queue: hand the job to the workers and exit.")
@click.option(
    "--eager", is_flag=True, help="Run here even with a queue, and stop at the first error."
)
@click.option("--dry-run", is_flag=True, help="Print what would happen, and change nothing.")
@click.option("--offline", is_flag=True, help="Never download the encoder's weights.")
@json_option
@settings_options
def ingest(
    paths: tuple[str, ...],
    *,
    dry_run: bool,
    eager: bool,
    no_wait: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Update the index to match the files.

    PATH is a file, a folder, a quoted glob, an address in an object store (s3://bucket/folder), or
    - to read paths from stdin. Unchanged files cost nothing, changed files replace their chunks,
    and files that are gone from a given folder are removed from the index. Files are identified by
    content: renaming one embeds nothing. The ledger records every batch before any work starts:
    after a crash, the same command continues from there. If queue.url is set, the workers do the
    work (esrag worker), and Ctrl-C leaves the job to them.
    """
    from esrag.jobs.work import Work

    request = _take_request(paths, options)
    flags = {
        "embedding__offline": options.pop("offline") or None,
        "loading__follow_links": options.pop("follow_links") or None,
        "loading__ignore_files": False if options.pop("no_ignore") else None,
    }
    resolved = resolve(**flags, **options)
    with closing(Work(resolved.settings, own_files=resolved.own_files)) as work:
        if dry_run:
            return _show_plan(_plan(request, work), as_json=as_json)
        return _ingest(request, work, eager=eager, no_wait=no_wait, as_json=as_json)


def _take_request(paths: tuple[str, ...], options: dict[str, Any]) -> "IngestRequest":
    """Return the request, and take its parts off the options."""
    from esrag.jobs.request import IngestRequest

    arguments = _arguments(paths, rebuild=options["rebuild"])
    names = ("include", "exclude", "keep_missing", "rebuild")
    return IngestRequest(arguments, **{name: options.pop(name) for name in names})


def _plan(request: "IngestRequest", work: "Work") -> "Plan":
    from esrag.jobs.recording import without_dead
    from esrag.jobs.request import plan_ingest

    return without_dead(work, plan_ingest(request, work), rebuild=request.rebuild)


def _ingest(
    request: "IngestRequest", work: "Work", *, eager: bool, no_wait: bool, as_json: bool
) -> int:
    """Ingest by workers if there is a queue, else here, and return the exit code."""
    from esrag.jobs.request import warn_of_long_chunks

    if advice := warn_of_long_chunks(work):
        remark(advice)
    if work.settings.queue.url and not (eager or request.rebuild):
        return _hand_over(request, work, wait=not no_wait, as_json=as_json)
    if no_wait:
        raise UsageError(
            "--no-wait needs a queue", hint="set queue.url, and start a worker: esrag worker"
        )
    return _show(_ingest_here(request, work, eager=eager), as_json=as_json)


def _ingest_here(request: "IngestRequest", work: "Work", *, eager: bool) -> "IngestReport":
    from esrag.cli.progress import choose_progress
    from esrag.pipeline import ingest as run

    try:
        with choose_progress() as shown:
            return run(request, work, shown, eager=eager)
    except KeyboardInterrupt:
        goes_on = "interrupted; stored documents stay, and the same command continues from there"
        raise click.Abort(goes_on) from None


def _hand_over(request: "IngestRequest", work: "Work", *, wait: bool, as_json: bool) -> int:
    """Record the job, hand it to the workers, and show its progress."""
    from esrag.cli.jobs import print_job
    from esrag.jobs.queue import Queue
    from esrag.pipeline import enqueue

    queue = Queue(work.settings.queue)
    queue.depth()  # fails here if the queue cannot be used, before anything is recorded
    job = enqueue(request, work)
    if wait:
        return _wait(work, queue, job, as_json=as_json)

    _publish(work, queue, job)
    print_job(work.ledger, job, as_json=as_json)
    return 0


def _wait(work: "Work", queue: "Queue", job: "Job", *, as_json: bool) -> int:
    """Show a job's progress until it ends, then its report, and return the exit code."""
    from esrag.cli.watching import follow

    ended, report = follow(work, queue, job)
    return _show(report, as_json=as_json) or int(ended.state != "done")


def _publish(work: "Work", queue: "Queue", job: "Job") -> None:
    """Put the batches of a job into the queue. Raises: QueueUnreachable, which names the job."""
    from esrag.jobs.sweeping import sweep

    try:
        sweep(work, queue)
    except QueueUnreachable as error:
        hint = (
            f"job {job.job_id} is recorded and starts when the queue is back; "
            f"or esrag jobs cancel {job.job_id}"
        )
        raise QueueUnreachable(str(error), hint=hint) from error


def _arguments(paths: tuple[str, ...], *, rebuild: bool) -> list[str]:
    """Return the paths as given, with `-` replaced by the lines of stdin."""
    if not paths and not rebuild:
        raise UsageError("nothing to ingest", hint="name a file or folder: esrag ingest FOLDER")
    arguments = [path for path in paths if path != "-"]
    if "-" in paths:
        arguments += [line.rstrip("\r\n") for line in iter(read_line, "") if line.strip()]
    return arguments


def _show(report: "IngestReport", *, as_json: bool) -> int:
    """Print the report, and return exit code 1 if a source could not be read."""
    if as_json:
        print_json(report.to_dict())
    else:
        _remark_left_out(report)
        _print_counts(report)
    return 1 if report.failed else 0


def _remark_left_out(report: "IngestReport") -> None:
    """Remark on the files and the text that are not in the index."""
    for skip in report.skipped[:SHOWN_SKIPS]:
        _remark_skip(skip)
    if len(report.skipped) > SHOWN_SKIPS:
        remark(f"and {len(report.skipped) - SHOWN_SKIPS} more; --json lists all")
    if report.hidden_files:
        characters = format_count(report.hidden_characters, "character")
        found = f"{characters} in {format_count(report.hidden_files, 'file')}"
        remark(f"hidden text left out: {found} (--set loading.hidden=keep reads it)")


def _remark_skip(skip: "Skip") -> None:
    remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")


def _print_counts(report: "IngestReport") -> None:
    """Print the numbers of files, then of chunks."""
    print_text(
        f"{report.added} added, {report.changed} changed, {report.renamed} renamed, "
        f"{report.removed} removed, "
        f"{report.unchanged} unchanged, {report.failed} failed, "
        f"{len(report.skipped) - report.failed} skipped"
    )
    print_text(
        f"{format_count(report.chunks, 'chunk')}, {report.embedded} embedded, "
        f"{report.reused} reused, "
        f"in {report.took_ms / 1000:.1f} s"
    )


def _show_plan(plan: "Plan", *, as_json: bool) -> int:
    """Print what would happen, and return exit code 1 if a source cannot be read."""
    counts = _count(plan)

    if as_json:
        print_json({"schema": "esrag.plan/1", **counts, "skipped": [*map(asdict, plan.skips)]})
    else:
        for task in plan.tasks:
            print_text(f"{task.state:8} {task.source}")
        for skip in plan.skips:
            _remark_skip(skip)
        print_text("would be: " + ", ".join(f"{count} {name}" for name, count in counts.items()))

    return 1 if counts["failed"] else 0


def _count(plan: "Plan") -> dict[str, int]:
    """Return the numbers of files by what would become of them."""
    return {
        **{state: plan.count(state) for state in ("added", "changed", "renamed")},
        "removed": plan.removed,
        "unchanged": plan.unchanged,
        "failed": sum(skip.failed for skip in plan.skips),
    }
