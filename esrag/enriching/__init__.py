"""Enriching: a document → fields to filter by, read from its path, its text and its own fields.

The contract, for every class registered under `esrag.enrichers`:

- `__init__(rules)` takes the rules of `enriching.rules`, which most enrichers need not use.
- `find(document, path)` → fields by name, each text, a number or a truth value. The fields that the
  document has, with those of the enrichers before, are its `metadata`; a new value replaces one.
- The same document has the same fields. Nothing is fetched.

Enrichers run in the process that parses the files, within its limits on time and memory.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Protocol

from esrag.errors import ParsingError
from esrag.records import Document, Scalar


class Enricher(Protocol):
    """See the contract above."""

    def find(self, document: Document, path: str) -> Mapping[str, Scalar]:
        """Return fields of a document."""
        ...


def enrich(document: Document, path: str, enrichers: Iterable[tuple[str, Enricher]]) -> Document:
    """Return a document with the fields that enrichers, each with its name, find in order.

    Raises: ParsingError if one fails, or gives a value that no field can have.
    """
    for name, enricher in enrichers:
        try:
            found = dict(enricher.find(document, path))
        except Exception as error:
            raise ParsingError(f"the enricher {name} failed: {error}") from error
        for field, value in found.items():
            if not isinstance(field, str) or not isinstance(value, str | int | float | bool):
                raise ParsingError(
                    f"the enricher {name} gave {field!r} a value that is not a scalar"
                )
        document = replace(document, metadata={**document.metadata, **found})

    return document
