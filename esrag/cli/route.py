"""`esrag route`: the decision of the routers alone."""

from dataclasses import asdict
from typing import Any

import click

from esrag.cli.options import (
    json_option,
    question_argument,
    question_of,
    settings_of,
    settings_options,
)
from esrag.cli.output import print_json, print_text


@click.command()
@question_argument
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Count only facts where this holds; see esrag ask.",
)
@json_option
@settings_options
def route(words: tuple[str, ...], *, where: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Show how a question would be answered, and why.

    The routers of routing.chain decide. Nothing is answered, and no document is searched.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all
    from esrag.pipeline import find_route
    from esrag.retrieving.legs import prepare_question

    question = prepare_question(question_of(words))
    found = find_route(question, open_context(settings_of(**options)), parse_all(where))
    if as_json:
        shown = {"route": found.kind, "routing": asdict(found.decision), "facts": [*found.doc_ids]}
        print_json({"schema": "esrag.route/1", "question": question, **shown})
    else:
        print_text(_line(found.kind, asdict(found.decision)))
    return 0


def _line(kind: str, decision: dict[str, Any]) -> str:
    reason = f": {decision['reason']}" if decision["reason"] else ""
    router = f"router {decision['router']}, " if decision["router"] else ""
    return f"{kind}{reason} ({router}confidence {decision['confidence']:.2f})"
