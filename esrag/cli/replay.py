"""`esrag replay` and `esrag diff`: show what changed between two runs of a question."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, resolve, settings_of, settings_options
from esrag.cli.output import print_json, print_text

if TYPE_CHECKING:
    from esrag.runs.comparing import Difference

DIFFERENT = 1


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the record of this run to a file.",
)
@json_option
@settings_options
def replay(file: Path, *, save: Path | None, as_json: bool, **options: Any) -> int:
    """Repeat the question of a saved run, and show what changed.

    FILE was written by `esrag ask --save`. The question, its filter and the settings of routing,
    retrieval, reranking and answer are those of the saved run. The index, the generator and every
    address are those in force now. The exit code is 0 if nothing changed, else 1.
    """
    from esrag.runs.comparing import compare
    from esrag.runs.record_files import check_target, read_record, write_record

    if save:
        check_target(save)
    before = read_record(file)
    after = _repeat(before, options)

    code = _show(compare(before, after), as_json=as_json)
    if save:
        write_record(save, after)
    return code


def _repeat(before: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Ask the question of a record again, and return the new record."""
    from esrag.context import open_context
    from esrag.filters import filter_from_dict
    from esrag.pipeline import ask
    from esrag.runs import select_replayed

    where = filter_from_dict(before["where"])
    context = open_context(resolve(**_flags(options, select_replayed(before))).settings)
    return ask(before["answer"]["question"], context, where).to_record(context, where)


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@json_option
@settings_options
def diff(before: str, after: str, *, as_json: bool, **options: Any) -> int:
    """Show what differs between two runs.

    That is hits that entered, left, moved or have another text, and sentences that changed. A and B
    are files written by `esrag ask --save`, or ids of kept runs. The exit code is 0 if nothing
    differs except version, filter and settings, else 1.
    """
    from esrag.runs.comparing import compare
    from esrag.runs.opening import open_runs
    from esrag.runs.record_files import read_record

    settings = settings_of(**options)
    first, second = (
        read_record(Path(each)) if Path(each).exists() else open_runs(settings).run(each)[0]
        for each in (before, after)
    )
    return _show(compare(first, second), as_json=as_json)


def _flags(options: dict[str, Any], replayed: dict[str, object]) -> dict[str, Any]:
    """Return the command's options, which override the settings of the record."""
    return {**{key.replace(".", "__"): value for key, value in replayed.items()}, **options}


def _show(difference: "Difference", *, as_json: bool) -> int:
    if as_json:
        print_json(difference.to_dict())
    else:
        for line in difference.lines():
            print_text(line)
    return DIFFERENT if difference else 0
