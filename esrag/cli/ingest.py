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
    from esrag.ingesting.planning import Plan
    from esrag.jobs.reporting import IngestReport
    from esrag.jobs.request import IngestRequest
    from esrag.jobs.work import Work

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
@click.option("--no-wait", is_flag=True, help="With a queue: hand the job to the workers and exit.")
@click.option(
    "--eager", is_flag=True, help="Run here even with a queue, and stop at the first error."
)
@click.option("--dry-run", is_flag=True, help="Print what would happen, and change nothing.")
@click.option("--offline", is_flag=True, help="Never download the encoder's weights.")
@json_option
@settings_options
def ingest(
    paths: tuple[str, ...], *, dry_run: bool, offline: bool, as_json: bool, **options: Any
) -> int:
    """Update the index to match the files.

    PATH is a file, a folder, a quoted glob, an address in an object store (s3://bucket/folder), or
    - to read paths from stdin. Unchanged files cost nothing, changed files replace their chunks,
    and files that are gone from a given folder are removed from the index. Files are identified by
    content: renaming one embeds nothing. The ledger records every batch before any work starts:
    after a crash, the same command continues from there. If queue.url is set, the workers do the
    work (esrag worker), and Ctrl-C leaves the job to them.
    """
    from esrag.jobs.recording import without_dead
    from esrag.jobs.request import IngestRequest, plan_ingest, warn_of_long_chunks
    from esrag.jobs.work import Work

    names = ("include", "exclude", "keep_missing", "rebuild")
    request = IngestRequest(
        _arguments(paths, rebuild=options["rebuild"]), **{name: options.pop(name) for name in names}
    )
    eager, no_wait = options.pop("eager"), options.pop("no_wait")
    flags = {
        "embedding__offline": offline or None,
        "loading__follow_links": options.pop("follow_links") or None,
        "loading__ignore_files": False if options.pop("no_ignore") else None,
    }
    resolved = resolve(**flags, **options)
    with closing(Work(resolved.settings, own_files=resolved.own_files)) as work:
        if dry_run:
            plan = without_dead(work, plan_ingest(request, work), rebuild=request.rebuild)
            return _show_plan(plan, as_json=as_json)
        if advice := warn_of_long_chunks(work):
            remark(advice)
        if work.settings.queue.url and not (eager or request.rebuild):
            return _hand_over(request, work, wait=not no_wait, as_json=as_json)
        if no_wait:
            raise UsageError(
                "--no-wait needs a queue", hint="set queue.url, and start a worker: esrag worker"
            )
        return _show(_done_here(request, work, eager=eager), as_json=as_json)


def _done_here(request: "IngestRequest", work: "Work", *, eager: bool) -> "IngestReport":
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
    from esrag.cli.watching import follow
    from esrag.jobs.queue import Queue
    from esrag.jobs.sweeping import sweep
    from esrag.pipeline import enqueue

    queue = Queue(work.settings.queue)
    queue.depth()  # fails here if the queue cannot be used, before anything is recorded
    job = enqueue(request, work)
    if wait:
        ended, report = follow(work, queue, job)
        return _show(report, as_json=as_json) or int(ended.state != "done")
    try:
        sweep(work, queue)
    except QueueUnreachable as error:
        hint = (
            f"job {job.job_id} is recorded and starts when the queue is back; "
            f"or esrag jobs cancel {job.job_id}"
        )
        raise QueueUnreachable(str(error), hint=hint) from error
    print_job(work.ledger, job, as_json=as_json)
    return 0


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
        for skip in report.skipped[:SHOWN_SKIPS]:
            remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")
        if len(report.skipped) > SHOWN_SKIPS:
            remark(f"and {len(report.skipped) - SHOWN_SKIPS} more; --json lists all")
        if report.hidden_files:
            characters = format_count(report.hidden_characters, "character")
            found = f"{characters} in {format_count(report.hidden_files, 'file')}"
            remark(f"hidden text left out: {found} (--set loading.hidden=keep reads it)")
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
    return 1 if report.failed else 0


def _show_plan(plan: "Plan", *, as_json: bool) -> int:
    """Print what would happen, and return exit code 1 if a source cannot be read."""
    counts = {state: plan.count(state) for state in ("added", "changed", "renamed")}
    counts |= {
        "removed": plan.removed,
        "unchanged": plan.unchanged,
        "failed": sum(s.failed for s in plan.skips),
    }

    if as_json:
        print_json(
            {"schema": "esrag.plan/1", **counts, "skipped": [asdict(skip) for skip in plan.skips]}
        )
    else:
        for task in plan.tasks:
            print_text(f"{task.state:8} {task.source}")
        for skip in plan.skips:
            remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")
        print_text("would be: " + ", ".join(f"{count} {name}" for name, count in counts.items()))

    return 1 if counts["failed"] else 0
