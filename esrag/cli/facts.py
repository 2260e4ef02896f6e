"""`esrag facts`: the facts that answer questions before the documents do."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.errors import UsageError
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.engines import Engine
    from esrag.facts import Fact
    from esrag.facts.importing import FactsReport
    from esrag.facts.reading import Fault
    from esrag.settings import Settings


@click.group()
def facts() -> None:
    """Import, list, check and remove facts.

    A fact is a question with its answer and its source. It answers that question, and questions
    with the same words, before the documents are searched.
    """


@facts.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print what would happen, and change nothing.")
@json_option
@settings_options
def import_facts(file: Path, *, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Make the index hold the facts of FILE.

    FILE is CSV, TSV or JSONL with question, answer and source_url, and perhaps valid_from and
    valid_until (days such as 2024-04-01); other columns can be filtered by. Facts that an earlier
    import of FILE stored and that FILE has no more are removed. Rows without a source, repetitions
    and contradictions are left out and named by line.
    """
    from esrag.facts.importing import import_facts as run

    engine, settings = _open(options)
    report = run(file, engine, settings.loading.max_bytes, dry_run=dry_run)
    if as_json:
        print_json(report.to_dict())
    else:
        _show(report)
    return 1 if report.left_out else 0


@facts.command("list")
@json_option
@settings_options
def list_facts(*, as_json: bool, **options: Any) -> int:
    """List the stored facts by question."""
    from esrag.facts import storing

    engine, _ = _open(options)
    found = False
    for fact in storing.list_facts(engine):
        found = True
        if as_json:
            print_json(fact.to_dict())
        else:
            print_text(_line(fact))
    if not found and not as_json:
        remark("no facts are stored; esrag facts import FILE adds some")
    return 0


@facts.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@json_option
@settings_options
def check(file: Path | None, *, as_json: bool, **options: Any) -> int:
    """Check the stored facts, or those of FILE.

    The exit code is 1 if there is a problem: a row without a question, an answer or a source, a
    repetition, two answers to one question, an answer that cannot be cited (it has a marker such as
    [c2], or no word), or a fact that does not hold now.
    """
    engine, settings = _open(options)
    faults, count = _check(file, engine, settings)
    if as_json:
        shown = [asdict(fault) for fault in faults]
        print_json({"schema": "esrag.fact_check/1", "facts": count, "problems": shown})
    else:
        for fault in faults:
            print_text(f"{fault.place}: {fault.reason}")
        print_text(f"{format_count(count, 'fact')}, {format_count(len(faults), 'problem')}")
    return 1 if faults else 0


@facts.command()
@click.argument("fact_ids", nargs=-1, metavar="[FACT]...")
@click.option("--all", "everything", is_flag=True, help="Remove all facts.")
@json_option
@settings_options
def remove(fact_ids: tuple[str, ...], *, everything: bool, as_json: bool, **options: Any) -> int:
    """Remove facts by their ids, which `esrag facts list` prints."""
    from esrag.facts import storing

    if bool(fact_ids) == everything:
        raise UsageError("expected the id of a FACT, or --all", hint="esrag facts list shows them")
    engine, _ = _open(options)
    known = {fact.fact_id for fact in storing.list_facts(engine)}
    if unknown := [each for each in fact_ids if each not in known]:
        raise UsageError(f"there is no fact {unknown[0]!r}", hint="esrag facts list shows them")

    removed = sorted(known) if everything else [*dict.fromkeys(fact_ids)]
    if removed:
        storing.remove_facts(removed, engine)
    if as_json:
        print_json({"schema": "esrag.fact_removal/1", "removed": removed})
    else:
        print_text(f"{format_count(len(removed), 'fact')} removed")
    return 0


def _open(options: dict[str, Any]) -> "tuple[Engine, Settings]":
    from esrag.context import open_facts

    settings = settings_of(**options)
    return open_facts(settings.engine), settings


def _check(file: Path | None, engine: "Engine", settings: "Settings") -> "tuple[list[Fault], int]":
    """Return what is wrong with the facts of a file or the stored ones, and how many can stand."""
    from esrag.facts.checking import find_problems
    from esrag.facts.importing import read_sound
    from esrag.facts.storing import list_facts

    stored = [*list_facts(engine)]
    if file:
        sound, faults = read_sound(file, stored, settings.loading.max_bytes)
        return faults, len(sound)
    return [*find_problems(stored, settings.facts.today)], len(stored)


def _show(report: "FactsReport") -> None:
    for fault in report.left_out:
        remark(f"left out: {fault.place} {fault.reason}")
    print_text(
        f"{report.added} added, {report.changed} changed, {report.removed} removed, "
        f"{report.unchanged} unchanged, {len(report.left_out)} left out"
    )


def _line(fact: "Fact") -> str:
    until = f" (until {fact.valid_until})" if fact.valid_until else ""
    since = f" (from {fact.valid_from})" if fact.valid_from else ""
    return f"{fact.fact_id}\n  {fact.question}{since}{until}\n  {fact.answer}\n  {fact.source_url}"
