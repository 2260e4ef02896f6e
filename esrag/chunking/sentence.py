"""As many whole sentences as fit."""

from collections.abc import Iterator

from esrag.chunking import TokenSpans
from esrag.chunking.budget import Budget
from esrag.records import Document, Span
from esrag.text import sentence_spans


class SentenceChunker:
    """Runs of whole sentences; one that is too long by itself is cut between words.

    >>> from esrag.text import word_spans
    >>> text = "AI is amazing. It can recognise images. It can understand text."
    >>> chunker = SentenceChunker(size=10, overlap=0, tokens=word_spans)
    >>> [text[span.start : span.end] for span in chunker(Document("d", "plain", text))]
    ['AI is amazing. It can recognise images.', 'It can understand text.']
    """

    def __init__(self, size: int, overlap: int, tokens: TokenSpans) -> None:
        self._budget = Budget(size, overlap, tokens)

    def __call__(self, document: Document) -> Iterator[Span]:
        """Return spans in order that cover the text."""
        measured = self._budget.measure(document.text)
        return measured.pack(list(measured.fit(sentence_spans(document.text))))
