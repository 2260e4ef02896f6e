"""`esrag docs` and `esrag chunks`: show what the index contains."""

from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import pages, print_json, print_text, remark
from esrag.cli.streams import stop_unread
from esrag.errors import UsageError
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.engines import Engine
    from esrag.filters import Filter
    from esrag.records import Chunk


@click.command()
@json_option
@settings_options
def docs(*, as_json: bool, **options: Any) -> int:
    """List the documents in the index."""
    from esrag.context import open_context

    stop_unread()
    for document in open_context(settings_of(**options)).engine.documents():
        if as_json:
            print_json(document.to_dict())
        else:
            size = (
                f"{format_count(document.chunk_count, 'chunk')}, "
                f"{format_count(document.characters, 'character')}"
            )
            print_text(f"{document.doc_id}  ({document.kind}, {size})  {document.title}".rstrip())
    return 0


@click.command()
@click.argument("name", required=False, metavar="[ID]")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Print only where folder=a,b or kind!=pdf or page=48.",
)
@json_option
@settings_options
def chunks(name: str | None, *, where: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Print all chunks, those of one document, or a single one.

    ID is the id of a document, as printed by `esrag docs`, or of a chunk, as printed by `esrag
    search`.
    """
    from esrag.context import open_context
    from esrag.filters import parse_all

    stop_unread()
    asked = parse_all(where)
    engine = open_context(settings_of(**options)).engine
    for chunk in engine.chunks(_select(engine, name, asked)):
        if as_json:
            print_json(chunk.to_dict())
        else:
            _print(chunk)
    return 0


def _print(chunk: "Chunk") -> None:
    place = pages(chunk.start_page, chunk.end_page)
    where_it_is = f"{chunk.chunk_id}  {place}  {chunk.section}".rstrip()
    print_text(f"{where_it_is}\n{chunk.text}\n")


def _select(engine: "Engine", name: str | None, asked: "Filter | None") -> "Filter | None":
    """Return the condition for an id and what `--where` asks. Raises: UsageError if unknown."""
    from esrag.filters import And, Filter, Or, Terms
    from esrag.retrieving.filter_check import check_filter

    one = None if name is None else Or((Terms("doc_id", (name,)), Terms("chunk_id", (name,))))
    if name is not None and one is not None and not engine.any_match([one])[0]:
        raise _explain_unknown(engine, name)
    for note in check_filter(asked, engine):
        remark(note)

    parts: tuple[Filter, ...] = tuple(filter(None, (one, asked)))
    return And(parts) if parts else None


def _explain_unknown(engine: "Engine", name: str) -> UsageError:
    """Return the error for an unknown id, with similar ids as a hint."""
    from esrag.filters import Terms
    from esrag.text import find_closest

    doc_id, separator, _ = name.rpartition("::p")
    of_document = engine.chunks(Terms("doc_id", (doc_id,))) if separator else ()
    known = [chunk.chunk_id for chunk in of_document] or [
        document.doc_id for document in engine.documents()
    ]

    alike = find_closest(name, known) or find_closest(doc_id, known)
    hint = f"did you mean {' or '.join(alike)}?" if alike else "esrag docs lists the documents"
    return UsageError(f"the index has no document or chunk {name!r}", hint=hint)
