"""Documents as values that JSON can hold, and back.

Apart from `isolated`: the parse worker imports this, and starts sooner without the settings.
"""

from collections.abc import Mapping
from typing import Any

from esrag.records import Document, Page, Section, Span


def document_fields(document: Document) -> dict[str, Any]:
    """Return a document as values that JSON can hold."""
    return {
        "doc_id": document.doc_id,
        "kind": document.kind,
        "text": document.text,
        "title": document.title,
        "pages": [[page.number, page.start, page.end] for page in document.pages],
        "sections": [[section.path, section.start, section.end] for section in document.sections],
        "tables": [[table.start, table.end] for table in document.tables],
        "metadata": dict(document.metadata),
        "hidden": document.hidden,
    }


def document_from(fields: Mapping[str, Any]) -> Document:
    """Return the document that `document_fields` wrote down."""
    spans = {
        "pages": tuple(Page(*page) for page in fields["pages"]),
        "sections": tuple(
            Section(tuple(path), start, end) for path, start, end in fields["sections"]
        ),
        "tables": tuple(Span(*table) for table in fields["tables"]),
    }
    return Document(**{**fields, **spans})
