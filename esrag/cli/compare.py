"""`esrag compare`: the same question with several settings, side by side."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, question_of, settings_of, settings_options
from esrag.cli.output import print_json, print_text
from esrag.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from esrag.context import Context
    from esrag.filters import Filter


@click.command()
@click.argument("words", nargs=-1, metavar="[QUESTION...]")
@click.option(
    "--questions",
    type=click.Path(path_type=Path),
    help="Count the good answers to labelled questions; see esrag calibrate for the file.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Search only where this holds; see esrag ask.",
)
@json_option
@settings_options
def compare(
    words: tuple[str, ...],
    *,
    questions: Path | None,
    where: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Ask a question with several settings, side by side.

    The settings are compare.variations: by default keyword, vector and hybrid retrieval. Nothing is
    taken from the cache. With --questions, the last column is the probability that a difference to
    the first variation comes about by chance (McNemar's exact test).
    """
    from esrag.evaluation.comparing import open_variations
    from esrag.filters import parse_all

    if bool(words) == bool(questions):
        hint = 'type one, such as: esrag compare "How heavy is it?"'
        raise UsageError("expected either a QUESTION or --questions FILE", hint=hint)

    variations, filter_ = open_variations(settings_of(**options)), parse_all(where)
    if questions:
        _compare_file(questions, variations, filter_, as_json=as_json)
    else:
        _compare_one(question_of(words), variations, filter_, as_json=as_json)
    return 0


def _compare_one(
    question: str, variations: "Mapping[str, Context]", where: "Filter | None", *, as_json: bool
) -> None:
    from esrag.cli.rendering import render
    from esrag.evaluation.comparing import compare_question

    asked = compare_question(question, variations, where)
    if as_json:
        shown = [each.to_dict() for each in asked]
        print_json({"schema": "esrag.comparison/1", "question": question, "variations": shown})
    else:
        print_text(render("comparison.txt.j2", asked=asked))


def _compare_file(
    questions: Path, variations: "Mapping[str, Context]", where: "Filter | None", *, as_json: bool
) -> None:
    from esrag.cli.rendering import render
    from esrag.evaluation.calibrating import read_labelled
    from esrag.evaluation.comparing import compare_labelled

    labelled = read_labelled(questions)
    rows = compare_labelled(labelled, variations, where)
    if as_json:
        shown = [asdict(row) for row in rows]
        print_json(
            {"schema": "esrag.comparisons/1", "questions": len(labelled), "variations": shown}
        )
    else:
        print_text(render("comparisons.txt.j2", rows=rows, total=len(labelled)))
