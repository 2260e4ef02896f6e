"""`esrag route`: the decision of the routers alone."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, question_of, settings_of, settings_options
from esrag.cli.output import print_json, print_text
from esrag.errors import UsageError
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.filters import Filter
    from esrag.routing import Route


@click.command()
@click.argument("words", nargs=-1, metavar="[QUESTION...]")
@click.option(
    "--questions",
    type=click.Path(path_type=Path),
    help='Count the questions of a JSONL file that go the way of their label "route".',
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Count only facts where this holds; see esrag ask.",
)
@json_option
@settings_options
def route(
    words: tuple[str, ...],
    *,
    questions: Path | None,
    where: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> int:
    """Show how a question would be answered, and why.

    The routers of routing.chain decide, for each part of a question that asks several things.
    Nothing is answered, and no document is searched.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all

    if bool(words) == bool(questions):
        hint = 'type one, such as: esrag route "How heavy is it?"'
        raise UsageError("expected either a QUESTION or --questions FILE", hint=hint)

    context, filter_ = open_context(settings_of(**options)), parse_all(where)
    if questions:
        _count(questions, context, filter_, as_json=as_json)
    else:
        _show(question_of(words), context, filter_, as_json=as_json)
    return 0


def _show(question: str, context: "Context", where: "Filter | None", *, as_json: bool) -> None:
    from esrag.parts import list_parts
    from esrag.pipeline import find_route
    from esrag.retrieving.legs import prepare_question

    question = prepare_question(question)
    parts = list_parts(question, context)
    if as_json:
        asked = [(part, find_route(part, context, where)) for part in parts if part != question]
        whole = _to_dict(question, find_route(question, context, where))
        print_json({"schema": "esrag.route/1", **whole, "parts": [_to_dict(*one) for one in asked]})
        return
    for part in parts:
        name = f"{part} " if part != question else ""
        print_text(f"{name}{_line(find_route(part, context, where))}")


def _to_dict(question: str, found: "Route") -> dict[str, Any]:
    return {
        "question": question,
        "route": found.kind,
        "routing": asdict(found.decision),
        "scopes": [scope.label for scope in found.scopes],
        "facts": [*found.doc_ids],
    }


def _line(found: "Route") -> str:
    decision = found.decision
    reason = f": {decision.reason}" if decision.reason else ""
    router = f"router {decision.router}, " if decision.router else ""
    return f"{found.kind}{reason} ({router}confidence {decision.confidence:.2f})"


def _count(path: Path, context: "Context", where: "Filter | None", *, as_json: bool) -> None:
    from esrag.evaluation.routes import find_missed, read_routes

    labelled = read_routes(path)
    missed = [*find_missed(labelled, context, where)]
    right = len(labelled) - len(missed)
    if as_json:
        shown = [asdict(each) for each in missed]
        counts = {"questions": len(labelled), "right": right}
        print_json({"schema": "esrag.routes/1", **counts, "missed": shown})
    else:
        for each in missed:
            print_text(f"{each.found} instead of {each.expected}: {each.question}")
        print_text(f"{right} of {format_count(len(labelled), 'question')} as labelled")
