"""Loading: a source's bytes → documents.

The contract, for every class registered under `esrag.loaders`:

- `recognises(name, data)` → how sure it is: 1.0 the bytes say so, 0.6 a plain text has several
  marks of the format, 0.5 the file name says so and the bytes do not contradict, 0.1 it is some
  text, 0.0 not mine. The surest loader gets the source; ties go to the first by name.
- `load(source)` → documents whose `text` is `text.normalise`d once, whose spans are true, whose
  `kind` is the loader's name and whose `doc_id` is the source's (rows of a table or lines of a
  JSONL: `f"{source.doc_id}#{row id}"`). A part that cannot be read, and without which the rest
  still makes sense, becomes a `Skipped` among them.
- A section starts at its heading, or at the page whose running head names it first, and ends where
  the next one starts; what stands before the first has none.
- Raises `ParsingError` with one line that is read after the source's name ("is encrypted …: needs a
  password"); never fetches anything; reads no file but the bytes it was given.
- The constructor takes nothing and does nothing slow; heavy libraries are imported in `load`.

Loaders run in a worker process of their own with a time and memory limit (`workers/parse.py`), so
that a hostile file costs one line in the report and nothing else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from esrag.records import Document, Source


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of a source that was left out (`where`: "line 12", "attachment plan.pdf") and why."""

    where: str
    reason: str


class Loader(Protocol):
    """Turns one kind of source into documents."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return how sure this loader is that the source is its own, from 0.0 to 1.0."""
        ...

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield the source's documents and the parts that were left out, in order.

        Raises: ParsingError.
        """
        ...
