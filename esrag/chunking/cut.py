"""Spans → chunks: readable ids, pages, section path, technical words."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from esrag.chunking import Chunker
from esrag.chunking.outline import is_lead, outline
from esrag.filters import format_value
from esrag.records import Chunk, Document, Metadata, Page, Section, Span
from esrag.text.terms import find_technical_words

# A file may call a megabyte a heading, and every chunk would carry it.
_SHOWN_CHARACTERS = 200
_CONTEXT_MARK = "; "


def chunks(document: Document, chunker: Chunker, fields: Sequence[str] = ()) -> tuple[Chunk, ...]:
    """Return the document's chunks, in order, with these of its fields as their context.

    Ids count from 1 among the chunks that start on the same page.
    """
    context = _CONTEXT_MARK.join(_iter_values(document.metadata, fields))
    sections = outline(document)
    section_starts = [section.start for section in sections]
    page_starts = [page.start for page in document.pages]
    on_page: Counter[int] = Counter()
    made: list[Chunk] = []

    for ordinal, span in enumerate(chunker(document)):
        page = _page(document.pages, page_starts, span.start)
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
                end_page=_page(document.pages, page_starts, span.end - 1),
                text=text,
                title=_shorten(document.title),
                section=_join(_find_path(document.text, sections, section_starts, span)),
                keywords=find_technical_words(text),
                metadata=document.metadata,
                context=context,
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


def _find_path(
    text: str, sections: Sequence[Section], starts: Sequence[int], span: Span
) -> Sequence[str]:
    """Return the path of the section where a span begins, below its bare headings."""
    at = bisect_right(starts, span.start) - 1
    while (
        at + 1 < len(sections)
        and starts[at + 1] < span.end
        and is_lead(text, sections[at], sections[at + 1])
    ):
        at += 1
    return sections[at].path


def _page(pages: Sequence[Page], starts: Sequence[int], offset: int) -> int:
    """Return the page of an offset, or the page before if it lies between two; 1 without pages."""
    return pages[max(bisect_right(starts, offset) - 1, 0)].number if pages else 1


def _join(path: Sequence[str]) -> str:
    return " > ".join(filter(None, map(_shorten, path)))


def _shorten(heading: str) -> str:
    """Return a heading or a value on one line, cut to a readable length."""
    return " ".join(heading[:_SHOWN_CHARACTERS].split())
