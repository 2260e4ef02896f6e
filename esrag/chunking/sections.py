"""Sections of whole sentences, tables in one piece: the default."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from esrag.chunking import TokenSpans
from esrag.chunking.budget import Budget, Measured
from esrag.chunking.outline import is_below, is_lead, outline
from esrag.records import Document, Section, Span
from esrag.text import sentence_spans, trim_span
from esrag.text.captions import read_caption
from esrag.text.lists import find_indent

# Sections below a quarter of the size (a heading over its subsections, a definition of one line)
# say little alone; tables above eight times the size (a sheet of ten thousand rows) are no passage,
# and are cut between their rows.
_SMALL_SHARE = 0.25
_MAX_TABLE = 8
_MAX_LEAD_IN = 400  # characters of a sentence that introduces a list
_MAX_TERM = 60  # characters of a term above its explanation


class SectionsChunker:
    """Runs of whole sentences that never leave their section, tables whole with their heading.

    A small section is joined with its neighbour if both fit: a sibling or its own subsection. A
    heading with almost nothing under it always goes with its first subsection.
    """

    def __init__(
        self, size: int, overlap: int, tokens: TokenSpans, *, is_strict: bool = False
    ) -> None:
        """With `is_strict`, only a bare heading is joined, and no table is above the size."""
        self._budget = Budget(size, overlap, tokens)
        self._is_strict = is_strict
        self._max_table = 1 if is_strict else _MAX_TABLE

    def __call__(self, document: Document) -> Iterator[Span]:
        """Yield spans in order that cover the text."""
        measured = self._budget.measure(document.text)
        tables = sorted(document.tables, key=lambda table: table.start)
        table_starts = [table.start for table in tables]
        for part in self._join(measured, outline(document)):
            inside = tables[
                bisect_left(table_starts, part.start) : bisect_left(table_starts, part.end)
            ]
            yield from measured.pack(self._units(measured, part, inside))

    def _join(self, measured: Measured, parts: Iterable[Section]) -> Sequence[Section]:
        joined: list[Section] = []
        for part in parts:
            if joined and self._belong_together(measured, joined[-1], part):
                joined[-1] = Section(joined[-1].path, joined[-1].start, part.end)
            else:
                joined.append(part)
        return joined

    def _belong_together(self, measured: Measured, first: Section, second: Section) -> bool:
        """Return whether two neighbouring sections belong in one chunk.

        That is a short lead with its own subsection, or two sections, one of them small, that fit.
        """
        if self._is_strict:
            return is_lead(measured.text, first, second)
        first_count, second_count = (
            measured.count(part.start, part.end) for part in (first, second)
        )
        is_subsection = is_below(second, first)
        if is_subsection and self._is_small(first_count):
            return True
        is_sibling = len(second.path) == len(first.path) and second.path[:-1] == first.path[:-1]
        fits = measured.count(first.start, second.end) <= self._budget.size
        return (
            (is_subsection or is_sibling)
            and fits
            and self._is_small(min(first_count, second_count))
        )

    def _is_small(self, count: int) -> bool:
        return count <= self._budget.size * _SMALL_SHARE

    def _units(self, measured: Measured, part: Section, tables: Iterable[Span]) -> list[Span]:
        """Return the spans that are kept whole.

        These are sentences, and tables with the short caption or heading above them.
        """
        units: list[Span] = []
        cursor = part.start

        for table in tables:
            first, last = max(table.start, cursor), min(table.end, part.end)
            for start, end in trim_span(measured.text, first, last):
                whole = Span(start, end)
                if not self._is_whole(measured, whole):
                    continue
                units += self._sentences(measured, part, cursor, start)
                while units and self._is_label(measured, part, units, whole):
                    whole = Span(units.pop().start, end)
                units.append(whole)
                cursor = end

        return units + self._sentences(measured, part, cursor, part.end)

    def _is_label(
        self, measured: Measured, part: Section, units: Sequence[Span], table: Span
    ) -> bool:
        """Return whether the last unit is a short caption, or a heading with nothing below it.

        A sentence or title right above the table is a caption if it introduces the table.
        """
        last = units[-1]
        is_heading = len(units) == 1 and bool(part.path)
        is_named = is_heading or bool(read_caption([measured.text[last.start : last.end]]))
        is_short = self._is_small(measured.count(last.start, table.start))
        return is_named and is_short and self._is_whole(measured, Span(last.start, table.end))

    def _is_whole(self, measured: Measured, table: Span) -> bool:
        """Return whether a table, with or without its caption, is short enough for one chunk."""
        return measured.count(table.start, table.end) <= self._budget.size * self._max_table

    def _sentences(self, measured: Measured, part: Section, start: int, end: int) -> list[Span]:
        """Return sentences that fit; a heading and what introduces a list join what follows."""
        found = sentence_spans(measured.text[start:end])
        spans = [(start + first, start + last) for first, last in found]
        if start == part.start and part.path and len(spans) > 1:
            spans[:2] = [(spans[0][0], spans[1][1])]
        return list(measured.fit(_join_lead_ins(measured.text, spans)))


def _join_lead_ins(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans; a short one that introduces the next one goes with it.

    It ends with a colon, or is a term above an indented text that explains it.
    """
    begun = None
    for (start, end), following in zip_longest(spans, spans[1:]):
        leads = text[end - 1] == ":" and end - start <= _MAX_LEAD_IN
        is_term = following is not None and _is_term(text, start, end, following[0])
        if begun is None and (leads or is_term):
            begun = start
            continue
        yield (start if begun is None else begun, end)
        begun = None
    if begun is not None:
        yield (begun, spans[-1][1])


def _is_term(text: str, start: int, end: int, below: int) -> bool:
    """Return whether a span is a short line, and what starts `below` is indented more."""
    is_line = (
        end - start <= _MAX_TERM and "\n" not in text[start:end] and text[end - 1] not in ".!?"
    )
    return is_line and find_indent(text, start) < find_indent(text, below)


class StrictSectionsChunker:
    """Sections as by `sections`, of which none is joined with another and no table is too long.

    A bare heading goes with its first subsection. A table above the size is cut between its rows.
    """

    def __init__(self, size: int, overlap: int, tokens: TokenSpans) -> None:
        self._sections = SectionsChunker(size, overlap, tokens, is_strict=True)

    def __call__(self, document: Document) -> Iterator[Span]:
        """Yield spans in order that cover the text."""
        return self._sections(document)
