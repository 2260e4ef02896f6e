"""`esrag runs` and `esrag feedback`: show, sum up and rate the records of answered questions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark

if TYPE_CHECKING:
    from esrag.records import Citation
    from esrag.runs import Feedback
    from esrag.settings import Settings

_BARS = " ▁▂▃▄▅▆▇█"


@click.group()
def runs() -> None:
    """List, show, sum up and export the records of questions."""


@runs.command("list")
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="List at most this many."
)
@json_option
@settings_options
def list_runs(*, limit: int, as_json: bool, **options: Any) -> int:
    """List the kept runs, newest first."""
    from esrag.runs.opening import open_runs

    settings = settings_of(**options)
    found = False
    for record, feedback in islice(open_runs(settings).runs(), limit):
        found = True
        if as_json:
            print_json(_summary(record, feedback))
        else:
            print_text(_line(record, feedback))
    if not found and not as_json:
        _remark_none(settings)
    return 0


def _remark_none(settings: "Settings") -> None:
    remark("no runs are kept" + ("; runs.keep is off" if settings.runs.keep == "off" else ""))


@runs.command()
@click.argument("run_id", metavar="RUN")
@json_option
@settings_options
def show(run_id: str, *, as_json: bool, **options: Any) -> int:
    """Show a run with its answer, sources, hits and feedback."""
    from esrag.runs.opening import open_runs

    record, feedback = open_runs(settings_of(**options)).run(run_id)
    if as_json:
        print_json(record | {"feedback": [*map(asdict, feedback)]})
    else:
        _print(record, feedback)
    return 0


def _print(record: Mapping[str, Any], feedback: "Sequence[Feedback]") -> None:
    from esrag.cli.citing import print_citations

    answer = record["answer"]
    print_text(_line(record, feedback))
    print_text(answer["answer"] or "(kept without its text)")
    print_citations([_citation(each) for each in answer["citations"]])
    print_text("")
    for rank, hit in enumerate(answer["hits"], 1):
        print_text(f"{rank}. {hit['chunk_id']}  {hit['score']:.4f}")
    for each in feedback:
        print_text(f"feedback: {each.verdict}{': ' + each.note if each.note else ''}")


@runs.command()
@settings_options
def export(**options: Any) -> int:
    """Print each kept run with its feedback as one line of JSON."""
    from esrag.runs.opening import open_runs

    for record, feedback in open_runs(settings_of(**options)).runs():
        print_json(record | {"feedback": [*map(asdict, feedback)]})
    return 0


@runs.command()
@json_option
@settings_options
def stats(*, as_json: bool, **options: Any) -> int:
    """Count the kept runs by day, route, intent and refusal."""
    from esrag.cli.rendering import render
    from esrag.runs.opening import open_runs
    from esrag.runs.stats import summarise_runs

    settings = settings_of(**options)
    found = summarise_runs(open_runs(settings).runs())
    if found is None:
        _remark_none(settings)
    elif as_json:
        print_json(found.to_dict())
    else:
        print_text(render("stats.txt.j2", stats=found, plot=_plot))
    return 0


def _plot(counts: "Sequence[int]") -> str:
    """Return counts as bars of one line, the largest one full.

    >>> _plot([0, 1, 4, 8])
    ' ▁▄█'
    """
    most = max(counts)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] for count in counts)


@click.command()
@click.argument("run_id", metavar="RUN")
@click.argument("verdict", type=click.Choice(["good", "bad"]))
@click.option("--note", default="", help="Say why.")
@settings_options
def feedback(run_id: str, verdict: Literal["good", "bad"], *, note: str, **options: Any) -> int:
    """Rate the answer of a kept run."""
    from esrag.runs.opening import open_runs

    open_runs(settings_of(**options)).rate(run_id, verdict, note)
    remark(f"noted: {run_id} is {verdict}")
    return 0


def _citation(kept: Mapping[str, Any]) -> "Citation":
    """Return a citation of a record, which an older or a newer esrag may have written."""
    from esrag.records import Citation

    return Citation(
        **{each.name: kept[each.name] for each in fields(Citation) if each.name in kept}
    )


def _summary(record: Mapping[str, Any], feedback: "Sequence[Feedback]") -> dict[str, Any]:
    answer = record["answer"]
    return {
        "schema": "esrag.runs/1",
        **{name: record[name] for name in ("run_id", "at", "index")},
        **{name: answer[name] for name in ("question", "refused", "reason", "confidence")},
        "feedback": [each.verdict for each in feedback],
    }


def _line(record: Mapping[str, Any], feedback: "Sequence[Feedback]") -> str:
    """Return a run as one line."""
    answer = record["answer"]
    result = (
        f"refused ({answer['reason']})"
        if answer["refused"]
        else f"answered ({answer['confidence']:.2f})"
    )
    verdicts = f"  {', '.join(each.verdict for each in feedback)}" if feedback else ""
    return f"{record['run_id']}  {result}{verdicts}  {answer['question']}".rstrip()
