"""`esrag ingest`: makes the index hold what the files hold."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.errors import UsageError

if TYPE_CHECKING:
    from esrag.ingesting import IngestReport
    from esrag.sync import Plan

SHOWN_SKIPS = 50


@click.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--include", multiple=True, metavar="GLOB", help="Take only these, by name or relative path.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these out.")
@click.option("--keep-missing", is_flag=True, help="Keep documents whose files are gone.")
@click.option("--rebuild", is_flag=True, help="Read everything again, with the settings of now, into a new index.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and do nothing.")
@click.option("--offline", is_flag=True, help="Never download the encoder's weights.")
@json_option
@settings_options
def ingest(paths: tuple[str, ...], *, dry_run: bool, offline: bool, as_json: bool, **options: Any) -> int:
    """Make the index hold what the files hold.

    PATH is a file, a folder, a glob in quotes, or - for a list of paths on stdin. Files that are unchanged cost
    nothing, changed ones replace their chunks, those that are gone from a given folder go. Files are told by content:
    a rename embeds nothing.
    """
    from esrag.pipeline import IngestRequest, open_stages, plan_ingest
    from esrag.pipeline import ingest as run

    names = ("include", "exclude", "keep_missing", "rebuild")
    request = IngestRequest(
        _arguments(paths, rebuild=options["rebuild"]), **{name: options.pop(name) for name in names}
    )
    settings = settings_of(embedding__offline=offline or None, **options)
    stages = open_stages(settings)
    if dry_run:
        return _show_plan(plan_ingest(request, stages.engine), as_json=as_json)
    from esrag.cli.progress import progress

    with progress() as shown:
        report = run(request, settings, stages, shown)
    stages.engine.close()
    return _show(report, as_json=as_json)


def _arguments(paths: tuple[str, ...], *, rebuild: bool) -> list[str]:
    """Paths as given, `-` replaced by the lines of stdin."""
    if not paths and not rebuild:
        raise UsageError("nothing to ingest", hint="name a file or folder: esrag ingest FOLDER")
    arguments = [path for path in paths if path != "-"]
    if "-" in paths:
        arguments += [line.rstrip("\r\n") for line in sys.stdin if line.strip()]
    return arguments


def _show(report: "IngestReport", *, as_json: bool) -> int:
    """Prints the report; a source that could not be read makes it a failure."""
    if as_json:
        print_json({"schema": "esrag.ingest/1", **asdict(report)})
    else:
        for skip in report.skipped[:SHOWN_SKIPS]:
            remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")
        if len(report.skipped) > SHOWN_SKIPS:
            remark(f"and {len(report.skipped) - SHOWN_SKIPS} more; --json lists all")
        print_text(
            f"{report.added} added, {report.changed} changed, {report.renamed} renamed, {report.removed} removed, "
            f"{report.unchanged} unchanged, {report.failed} failed, {len(report.skipped) - report.failed} skipped"
        )
        print_text(
            f"{report.chunks} chunks, {report.embedded} embedded, {report.reused} reused, "
            f"in {report.took_ms / 1000:.1f} s"
        )
    return 1 if report.failed else 0


def _show_plan(plan: "Plan", *, as_json: bool) -> int:
    counts = {state: plan.count(state) for state in ("added", "changed", "renamed")}
    counts |= {"removed": plan.removed, "unchanged": plan.unchanged, "failed": sum(s.failed for s in plan.skips)}
    if as_json:
        print_json({"schema": "esrag.plan/1", **counts, "skipped": [asdict(skip) for skip in plan.skips]})
        return 0
    for task in plan.tasks:
        print_text(f"{task.state:8} {task.path}")
    for skip in plan.skips:
        remark(f"{'failed' if skip.failed else 'skipped'}: {skip.source}: {skip.reason}")
    print_text("would be: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    return 0
