"""`esrag search`: retrieval without an answer."""

from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import question_argument, question_of, retrieval_options, settings_of
from esrag.cli.output import print_json, print_text, remark

if TYPE_CHECKING:
    from esrag.engines import SearchResult


@click.command()
@question_argument
@click.option(
    "--explain",
    is_flag=True,
    help="Print the search path, and each hit's rank and score in each leg.",
)
@retrieval_options
def search(
    words: tuple[str, ...], *, as_json: bool, explain: bool, where: tuple[str, ...], **options: Any
) -> int:
    """Show the matching chunks, best first. `ask` retrieves the same way.

    Quote a QUESTION that contains ? or *, or pass - to read it from stdin.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all
    from esrag.pipeline import search as run
    from esrag.results import Hits
    from esrag.retrieving.legs import prepare_question

    query = prepare_question(question_of(words))
    result = run(query, open_context(settings_of(**options)), parse_all(where))
    if as_json:
        print_json(Hits(query, result).to_dict())
    else:
        _print(result, explain=explain)
    return 0


def _print(result: "SearchResult", *, explain: bool) -> None:
    from esrag.cli.rendering import render

    print_text(render("hits.txt.j2", result=result))
    if explain:
        print_text(render("legs.txt.j2", result=result))
    for note in result.notes:
        remark(note)
