"""Chunking: a document → spans to index.

The contract, for every class registered under `esrag.chunkers`:

- `Chunker(size, overlap, tokens)`: sizes in tokens; `tokens(text)` gives the offsets of a text's
  tokens: the encoder's own, words without an encoder, or characters if `chunking.unit` says so.
  `overlap` must be smaller than `size`, else `SettingsError`.
- Called with a document it gives spans in order (start and end both rise) that cover the document's
  whole text except for white space between them, none blank, none with white space around it.
- A span holds at most `size` tokens, unless `sections` keeps a table whole. What is longer by
  itself, a sentence or a run of letters without an end, is cut.
- Two neighbours share at most `overlap` tokens; where a strategy knows sentences, it repeats whole
  ones.

`cut.chunks` makes chunks of the spans: ids, pages, section path, technical words.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from esrag.records import Document, Span

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]


class Chunker(Protocol):
    """Cuts one document into spans."""

    def __init__(self, size: int, overlap: int, tokens: TokenSpans) -> None: ...

    def __call__(self, document: Document) -> Iterator[Span]:
        """Return spans in order that cover the text; see the module for the promises."""
        ...
