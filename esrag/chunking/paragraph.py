"""As many whole paragraphs as fit."""

from collections.abc import Iterator

from esrag.chunking import TokenSpans
from esrag.chunking.budget import Budget
from esrag.records import Document, Span
from esrag.text import sentence_spans, trim_span


class ParagraphChunker:
    """Runs of whole paragraphs, split at blank lines; a long one is cut between its sentences."""

    def __init__(self, size: int, overlap: int, tokens: TokenSpans) -> None:
        self._budget = Budget(size, overlap, tokens)

    def __call__(self, document: Document) -> Iterator[Span]:
        """Return spans in order that cover the text."""
        measured = self._budget.measure(document.text)
        units: list[Span] = []

        for start, end in _paragraphs(document.text):
            if measured.count(start, end) <= self._budget.size:
                units.append(Span(start, end))
            else:
                inner = sentence_spans(document.text[start:end])
                units.extend(measured.fit((start + first, start + last) for first, last in inner))

        return measured.pack(units)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the text between blank lines."""
    start = offset = 0
    for line in text.split("\n"):
        if not line.strip():
            yield from trim_span(text, start, offset)
            start = offset
        offset += len(line) + 1
    yield from trim_span(text, start, len(text))
