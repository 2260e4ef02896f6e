"""`esrag remove`: remove documents from the index, whether or not their files exist."""

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text, remark
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.jobs.removing import Removal
    from esrag.jobs.work import Work
    from esrag.records import StoredDocument

EXAMPLES = 3


@click.command()
@click.argument("doc_ids", nargs=-1, metavar="[DOC_ID]...")
@click.option(
    "--source",
    "sources",
    multiple=True,
    metavar="PATH|URL",
    help="Remove the documents of a file, or of all files below a folder.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Remove documents with folder=a,b or kind!=pdf.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be removed, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation on a terminal.")
@json_option
@settings_options
def remove(*, dry_run: bool, yes: bool, as_json: bool, **options: Any) -> int:
    """Remove documents by id, by source or by a condition.

    Only the index changes: a file that still exists comes back with its next ingest. PATH does not
    have to exist any more.
    """
    from esrag.jobs.removing import find_documents
    from esrag.jobs.work import Work

    removal = _take_removal(options)
    with closing(Work(settings_of(**options))) as work:
        documents, notes = find_documents(removal, work)
        for note in notes:
            remark(note)
        if not dry_run:
            documents = _remove(documents, work, yes=yes)
    _show(documents, dry_run=dry_run, as_json=as_json)
    return 0


def _take_removal(options: dict[str, Any]) -> "Removal":
    """Return what to remove, and take it off the options."""
    from esrag.filters import parse_all
    from esrag.jobs.removing import Removal

    return Removal(
        doc_ids=options.pop("doc_ids"),
        sources=options.pop("sources"),
        where=parse_all(options.pop("where")),
    )


def _remove(
    documents: "tuple[StoredDocument, ...]", work: "Work", *, yes: bool
) -> "tuple[StoredDocument, ...]":
    """Remove the documents, on a terminal after a confirmation, and return those that were there.

    Raises: click.Abort.
    """
    from esrag.jobs.removing import remove as run

    if documents and not yes and sys.stdin.isatty():
        question = f"Remove {_count(documents)} ({_list_ids(documents)})?"
        click.confirm(question, abort=True, err=True)

    removed = run(documents, work)
    _say_what_comes_back(removed)
    return removed


def _say_what_comes_back(documents: "tuple[StoredDocument, ...]") -> None:
    """Remark on files that still exist, because the next ingest would add their documents again."""
    from esrag.loading.sources import is_address, path_of

    sources = sorted({document.source for document in documents if not is_address(document.source)})
    there = [source for source in sources if path_of(source).exists()]
    if there:
        remark(
            f"the next ingest of {there[0]} {'and others ' * (len(there) > 1)}adds it again: "
            "the file still exists"
        )


def _show(documents: "tuple[StoredDocument, ...]", *, dry_run: bool, as_json: bool) -> None:
    """Print what was removed, or would be removed."""
    if as_json:
        figures = {"documents": len(documents), "chunks": sum(it.chunk_count for it in documents)}
        print_json(
            {"schema": "esrag.removal/1", **figures, "doc_ids": [it.doc_id for it in documents]}
        )
        return
    for document in documents if dry_run else ():
        print_text(f"{document.doc_id}  {document.source}")
    print_text(f"{'would remove' if dry_run else 'removed'} {_count(documents)}")


def _count(documents: "tuple[StoredDocument, ...]") -> str:
    count, chunks = (len(documents), sum(document.chunk_count for document in documents))
    return f"{format_count(count, 'document')}, {format_count(chunks, 'chunk')}"


def _list_ids(documents: "tuple[StoredDocument, ...]") -> str:
    """Return the first few ids."""
    more = ", …" if len(documents) > EXAMPLES else ""
    return ", ".join(document.doc_id for document in documents[:EXAMPLES]) + more
