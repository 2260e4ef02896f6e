"""Spans → chunks: readable ids, pages, section path, technical words."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from esrag.chunking import Chunker
from esrag.chunking.outline import is_lead, outline
from esrag.filters import format_value
from esrag.records import Break, Chunk, Document, Metadata, Span
from esrag.text.terms import find_technical_words

# A file may call a megabyte a heading, and every chunk would carry it.
_SHOWN_CHARACTERS = 200
_MAX_PATH = 1_000  # characters of a path that is kept for each section of a chunk
_CONTEXT_MARK = "; "


def chunks(document: Document, chunker: Chunker, fields: Sequence[str] = ()) -> tuple[Chunk, ...]:
    """Return the document's chunks, in order, with these of its fields as their context.

    Ids count from 1 among the chunks that start on the same page.
    """
    context = _CONTEXT_MARK.join(_iter_values(document.metadata, fields))
    outlined = _Outlined(document)
    on_page: Counter[int] = Counter()
    made: list[Chunk] = []

    for ordinal, span in enumerate(chunker(document)):
        page = outlined.find_page(span.start)
        section = outlined.find_lead(span)
        on_page[page] += 1
        text = document.text[span.start : span.end]
        made.append(
            Chunk(
                chunk_id=f"{document.doc_id}::p{page:04d}::c{on_page[page]:03d}",
                doc_id=document.doc_id,
                ordinal=ordinal,
                start=span.start,
                end=span.end,
                start_page=page,
                end_page=outlined.find_page(span.end - 1),
                text=text,
                title=_shorten(document.title),
                section=section,
                keywords=find_technical_words(text),
                metadata=document.metadata,
                context=context,
                breaks=tuple(outlined.iter_breaks(span, page, section)),
            )
        )

    return tuple(made)


def text_to_index(chunk: Chunk) -> str:
    r"""Return the text to embed and search: a line each for title, section path, context and text.

    The stored text is unchanged.

    >>> chunk = Chunk("d::p0001::c001", "d", 0, 0, 3, 1, 1, "Yes.", "Keys", "Keys > Sizes")
    >>> text_to_index(chunk)
    'Keys\nSizes\nYes.'
    """
    first, _, rest = chunk.section.partition(" > ")
    section = rest if first.casefold() == chunk.title.casefold() else chunk.section
    return "\n".join(line for line in (chunk.title, section, chunk.context, chunk.text) if line)


def _iter_values(metadata: Metadata, fields: Sequence[str]) -> Iterator[str]:
    """Yield the values of the fields that a document has, each on one line."""
    for name in fields:
        if value := _shorten(format_value(metadata.get(name, ""))):
            yield value


class _Outlined:
    """The sections and pages of a document, to look up by an offset."""

    def __init__(self, document: Document) -> None:
        self._text, self._pages = document.text, document.pages
        self._sections = outline(document)
        self._section_starts = [section.start for section in self._sections]
        self._page_starts = [page.start for page in document.pages]

    def find_page(self, offset: int) -> int:
        """Return the page of an offset, or the one before if it lies between two; 1 without any."""
        at = max(bisect_right(self._page_starts, offset) - 1, 0)
        return self._pages[at].number if self._pages else 1

    def find_lead(self, span: Span) -> str:
        """Return the path of the section where a span begins, below its bare headings."""
        sections, starts = self._sections, self._section_starts
        at = bisect_right(starts, span.start) - 1
        while (
            at + 1 < len(sections)
            and starts[at + 1] < span.end
            and is_lead(self._text, sections[at], sections[at + 1])
        ):
            at += 1
        return _join(sections[at].path)

    def iter_breaks(self, span: Span, page: int, section: str) -> Iterator[Break]:
        """Yield where a page or a section begins in a span that begins with these."""
        last = page, section
        starts = {
            each
            for known in (self._section_starts, self._page_starts)
            for each in known[bisect_right(known, span.start) : bisect_left(known, span.end)]
        }

        for start in sorted(starts):
            path = _join(self._sections[bisect_right(self._section_starts, start) - 1].path)
            place = self.find_page(start), path if len(path) <= _MAX_PATH else section
            if place != last:
                yield Break(start, *place)
            last = place


def _join(path: Sequence[str]) -> str:
    return " > ".join(filter(None, map(_shorten, path)))


def _shorten(heading: str) -> str:
    """Return a heading or a value on one line, cut to a readable length."""
    return " ".join(heading[:_SHOWN_CHARACTERS].split())
