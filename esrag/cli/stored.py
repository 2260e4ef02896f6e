"""`esrag docs` and `esrag chunks`: what is in the index."""

from dataclasses import asdict
from typing import Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import pages, print_json, print_text
from esrag.errors import UsageError


@click.command()
@json_option
@settings_options
def docs(*, as_json: bool, **options: Any) -> int:
    """List the documents in the index."""
    from esrag.stages import open_stages

    for document in open_stages(settings_of(**options)).engine.documents():
        if as_json:
            print_json({"schema": "esrag.document/1", **asdict(document)})
        else:
            size = f"{document.chunk_count} chunks, {document.characters:,} characters"
            print_text(f"{document.doc_id}  ({document.kind}, {size})  {document.title}".rstrip())
    return 0


@click.command()
@click.argument("doc_id", required=False)
@click.option("--where", multiple=True, metavar="CONDITION", help="folder=a,b  kind!=pdf  page=48  section=Intro*")
@json_option
@settings_options
def chunks(doc_id: str | None, *, where: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Print the chunks of the index, or of one document, in order."""
    from esrag.filters import And, Filter, Terms, parse_all
    from esrag.stages import open_stages

    asked = parse_all(where)
    one = [] if doc_id is None else [Terms("doc_id", (doc_id,))]
    parts: tuple[Filter, ...] = (*one, *([asked] if asked else []))
    found = False
    for chunk in open_stages(settings_of(**options)).engine.chunks(And(parts) if parts else None):
        found = True
        if as_json:
            print_json({"schema": "esrag.chunk/1", **asdict(chunk)})
        else:
            where_it_is = f"{chunk.chunk_id}  {pages(chunk.start_page, chunk.end_page)}  {chunk.section}".rstrip()
            print_text(f"{where_it_is}\n{chunk.text}\n")
    if one and not found and not asked:
        raise UsageError(f"there is no document {doc_id!r} in the index", hint="esrag docs lists them")
    return 0
