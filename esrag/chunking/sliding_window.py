"""Windows of equal size over the tokens, whatever they hold; words stay whole."""

from collections.abc import Iterator

from esrag.chunking import TokenSpans
from esrag.chunking.budget import Budget
from esrag.records import Document, Span


class SlidingWindowChunker:
    """Spans of `size` tokens, each starting `overlap` tokens before the end of the last."""

    def __init__(self, size: int, overlap: int, tokens: TokenSpans) -> None:
        self._budget = Budget(size, overlap, tokens)

    def __call__(self, document: Document) -> Iterator[Span]:
        """Return spans in order that cover the text."""
        return self._budget.measure(document.text).windows(
            0, len(document.text), self._budget.overlap
        )
