"""Text of a PDF that was painted out of order, put where a reader finds it on the page.

Programs that print web pages paint floats first, and links, emphasised words and boxes last.
pdfium reads text as it was painted.
"""

import math
import re
from collections.abc import Iterator, Sequence
from ctypes import c_float
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from itertools import chain, groupby, pairwise
from statistics import median
from typing import Any

from esrag.loading.placed import Marks, Piece

MAX_TEXTS = 3_000  # of a page that is looked at
SHARED = 0.5  # of the lower height: what texts of a line have in common
TOUCH = 0.6  # heights of a letter: between two words of a line
TALL = 60.0  # points: text that is turned, or a watermark
FLOAT = 2.5  # the same, to the text beside a float or the number of an item
FAR = 4.0  # the same, to a line that was painted between the parts of another one
LEADING = 0.8  # heights of a letter, between two lines of a column
ABOVE = 1.0  # heights of a letter, from a text to one further up that was painted later
COLUMN = 6  # the same, up to the next column of a page
SPACE, FITTING = 0.12, 0.1  # heights of a letter: between words, and what they may overlap
BINS = 200  # stretches of a page's width in which texts stand below each other
LEVEL = 0.3  # of the height: how far words of a line are from its base
_WORD = re.compile(r"\w")
_CLOSING = ".,;:)]"
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")


@dataclass(frozen=True, slots=True)
class Painted:
    """A stretch of text as it was painted, or several of a line, with their place on the page."""

    numbers: tuple[int, ...]  # in the order of painting
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        """Return the height of the letters."""
        return self.top - self.bottom


def order_texts(page: Any) -> None:
    """Put the text objects of a page in memory into the order of reading.

    A page that was painted in order stays as it is, and so does one with texts in forms.
    """
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    count = pdfium.FPDFPage_CountObjects(page)
    objects = [pdfium.FPDFPage_GetObject(page, number) for number in range(count)]
    kinds = [*map(pdfium.FPDFPageObj_GetType, objects)]
    texts = [o for o, kind in zip(objects, kinds, strict=True) if kind == pdfium.FPDF_PAGEOBJ_TEXT]
    if pdfium.FPDF_PAGEOBJ_FORM in kinds or len(texts) > MAX_TEXTS:
        return

    order = find_order([*map(_bounds, texts)])
    if order == [*range(len(texts))]:
        return
    for number in order:
        pdfium.FPDFPage_RemoveObject(page, texts[number])
        pdfium.FPDFPage_InsertObject(page, texts[number])


def _bounds(handle: Any) -> tuple[float, float, float, float]:
    import pypdfium2.raw as pdfium

    sides = [c_float() for _ in range(4)]
    pdfium.FPDFPageObj_GetBounds(handle, *sides)
    left, bottom, right, top = (side.value for side in sides)
    return left, bottom, right, top


def find_order(boxes: Sequence[tuple[float, float, float, float]]) -> list[int]:
    """Return the order in which texts with these boxes are read: left, bottom, right and top.

    >>> find_order([(0, 50, 40, 60), (60, 50, 90, 60), (0, 0, 90, 9), (43, 50, 57, 60)])
    [0, 3, 1, 2]
    """
    if not all(map(math.isfinite, chain.from_iterable(boxes))):
        return [*range(len(boxes))]
    texts = [Painted((number,), *box) for number, box in enumerate(boxes)]
    lines = _join_strays(texts)
    return [number for line in _merge_runs(lines) for number in line.numbers]


def _join_strays(texts: Sequence[Painted]) -> list[Painted]:
    """Return the texts in order, those that belong to a line painted elsewhere in that line."""
    found = dict(enumerate(texts))

    for line in _group_lines(texts):
        for chunk in _iter_chunks(line, texts):
            place = _find_main(chunk)
            if place is None or not _is_torn(chunk, texts):
                continue
            for text in chunk:
                del found[text.numbers[0]]
            found[place] = _join(chunk)
    return [found[place] for place in sorted(found)]


def _find_main(chunk: Sequence[Painted]) -> int | None:
    """Return the first text of what was painted in one go of a chunk, and is widest.

    Returns None if that is all of it, or if it does not go from left to right.
    """
    by_number = sorted(chunk, key=lambda text: text.numbers)
    runs = [
        [text for _, text in run]
        for _, run in groupby(enumerate(by_number), key=lambda pair: pair[1].numbers[0] - pair[0])
    ]
    main = max(runs, key=lambda run: sum(text.right - text.left for text in run))
    is_ordered = all(one.left <= other.left for one, other in pairwise(main))
    return main[0].numbers[0] if len(runs) > 1 and is_ordered else None


def _join(chunk: Sequence[Painted]) -> Painted:
    return Painted(
        numbers=tuple(number for text in chunk for number in text.numbers),
        left=min(text.left for text in chunk),
        bottom=min(text.bottom for text in chunk),
        right=max(text.right for text in chunk),
        top=max(text.top for text in chunk),
    )


def _group_lines(texts: Sequence[Painted]) -> Iterator[list[Painted]]:
    """Yield the texts at each height, from left to right."""
    line: list[Painted] = []
    for text in sorted(texts, key=lambda text: -(text.bottom + text.top)):
        if text.height > TALL:
            continue
        shared = min(line[0].top, text.top) - max(line[0].bottom, text.bottom) if line else 0.0
        if line and shared <= SHARED * min(line[0].height, text.height):
            yield sorted(line, key=lambda text: text.left)
            line = []
        line.append(text)
    yield sorted(line, key=lambda text: text.left)


def _iter_chunks(line: Sequence[Painted], texts: Sequence[Painted]) -> Iterator[list[Painted]]:
    """Yield the texts of a line that touch each other, and those beside a float with it."""
    chunk: list[Painted] = []
    right = 0.0
    for text in line:
        height = max(chunk[-1].height, text.height) if chunk else 0.0
        gap = text.left - right
        is_next = gap < TOUCH * height or (gap < FLOAT * height and _is_float(chunk, texts))
        if chunk and not is_next:
            yield chunk
            chunk = []
        right = max(right, text.right) if chunk else text.right
        chunk.append(text)
    if chunk:
        yield chunk


def _is_float(chunk: Sequence[Painted], texts: Sequence[Painted]) -> bool:
    """Return whether a part of a line was painted apart from the lines above and below it."""
    numbers = sorted(text.numbers[0] for text in chunk)
    if numbers[-1] - numbers[0] >= len(numbers):
        return False
    float_ = _join(chunk)
    beside = [*texts[max(numbers[0] - 1, 0) : numbers[0]], *texts[numbers[-1] + 1 :][:1]]
    return not any(_is_beside(text, float_) for text in beside)


def _is_beside(text: Painted, float_: Painted) -> bool:
    """Return whether a text is on the same line, or on the next one of a column."""
    apart = max(text.bottom - float_.top, float_.bottom - text.top)
    is_below = text.left < float_.right + FLOAT * float_.height and float_.left < text.right
    return apart < 0 or (apart < LEADING * float_.height and is_below)


def _is_torn(chunk: Sequence[Painted], texts: Sequence[Painted]) -> bool:
    """Return whether a line far away was painted between parts of one.

    The parts of a formula jump about, too, and so do the cells of a table.
    """
    own, numbers = _join(chunk), [text.numbers[0] for text in chunk]
    between = texts[min(numbers) : max(numbers)]
    low, high = own.bottom - FAR * own.height, own.top + FAR * own.height
    return any(text.top < low or text.bottom > high for text in between)


def _merge_runs(lines: Sequence[Painted]) -> list[Painted]:
    """Return lines from top to bottom where some were painted after others below them.

    Those of a page with columns stay as they are.
    """
    runs = [*_iter_runs(lines)]
    if len(runs) < 2 or _has_columns(runs):  # noqa: PLR2004
        return [*lines]

    main = max(runs, key=len)  # exponents of one of its lines come behind it
    queues = [
        [(SHARED * line.height * (run is not main) - line.top, line) for line in run]
        for run in runs
    ]
    heads = [(queue[0][0], number, 0) for number, queue in enumerate(queues)]
    heapify(heads)
    merged: list[Painted] = []
    while heads:
        _, number, place = heads[0]
        queue = queues[number]
        merged.append(queue[place][1])
        if place + 1 < len(queue):
            heapreplace(heads, (queue[place + 1][0], number, place + 1))
        else:
            heappop(heads)
    return merged


def _iter_runs(lines: Sequence[Painted]) -> Iterator[list[Painted]]:
    """Yield runs of lines without any that is above one before it."""
    left = min((line.left for line in lines), default=0.0)
    width = max((line.right for line in lines), default=0.0) - left + BINS
    run: list[Painted] = []
    lowest = [math.inf] * BINS  # the top of a line in each bin

    for line in lines:
        first = math.ceil((line.left - left) / width * BINS)
        last = max(first, int((line.right - left) / width * BINS) - 1)
        if line.bottom > min(lowest[first : last + 1]) + ABOVE * line.height:
            yield run
            run, lowest = [], [math.inf] * BINS
        run.append(line)
        lowest[first : last + 1] = [min(line.top, low) for low in lowest[first : last + 1]]
    yield run


def _has_columns(runs: Sequence[Sequence[Painted]]) -> bool:
    """Return whether a line, or a run, is far above the line before it, and beside it."""
    inner = (pair for run in runs for pair in pairwise(run))
    outer = (
        (one[-1], replace(_join(other), bottom=other[0].bottom)) for one, other in pairwise(runs)
    )
    return any(
        other.bottom - one.top > COLUMN * one.height
        and (other.left >= one.right or other.right <= one.left)
        for one, other in chain(inner, outer)
    )


def sort_words(text: str, line: Sequence[Piece]) -> Marks:
    """Return what puts words of a line into order that fill gaps between others.

    A text object has such gaps where a page's links are painted later.

    >>> places = ((0, 3, 10, 28), (4, 7, 50, 60), (8, 12, 30, 48))  # in the text, on the page
    >>> sort_words("See for RFCs", [Piece(*place, bottom=0, top=8) for place in places])
    {0: (12, 'See RFCs for')}
    """
    words = sorted(line, key=lambda word: word.left)
    if not words or words == [*line] or _RIGHT_TO_LEFT.search(text, line[0].start, line[-1].end):
        return {}
    height = max(word.top - word.bottom for word in words)
    base = median(word.bottom for word in words)
    is_level = all(
        abs(word.bottom - base) < LEVEL * height or not _WORD.match(text, word.start)
        for word in words
    )
    fits = all(one.right - other.left < FITTING * height for one, other in pairwise(words))
    if not (is_level and fits):
        return {}

    after = dict(pairwise(line))  # what pdfium has read as two words
    written = text[words[0].start : words[0].end]
    for one, other in pairwise(words):
        is_apart = other.left - one.right > SPACE * height and text[other.start] not in _CLOSING
        space = " " if is_apart or after.get(one) == other else ""
        written += space + text[other.start : other.end]
    return {line[0].start: (line[-1].end, written)}
