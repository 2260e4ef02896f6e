"""Headings of a PDF without an outline: lines that are set larger or bolder than the text.

The levels come from the numbers of the headings, as in "3.4 The state", and from their sizes.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import median, mode
from typing import Any

from esrag.loading.layout import join_lines
from esrag.loading.placed import count_wide, measure_loosely, read_font
from esrag.text import normalise

MAX_CHARACTERS = 120  # of a heading, over all its lines
MAX_LINES = 3
LARGER = 1.07  # than the text
NUMBERED = 0.5  # of the headings; a style of which fewer have numbers is that of call-outs then
REPEATED = 3  # times that a running head or a call-out occurs, and a heading does not
MAX_SHARE = 0.2  # of the lines; if more stand out, they are not headings

HYPHEN = "\ufffe"  # pdfium's mark of a cut word
_LINE = re.compile(r"[^\r\n]+")
_NUMBER = re.compile(
    r"(?P<parts>(?:\d{1,3}|[A-Z](?=\.\d))(?:\.\d{1,3}){0,5})(?:\.\s*|\s+)(?=[/~\"“'(<]?[^\W\d_])"
)
PART = re.compile(r"(?:Appendix|Annex|Chapter|Part)\s+(?:\d+|[A-Z]|[IVXL]+)\b", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r" \d{1,3}\Z")
_WORD = re.compile(r"(?<!\w)[^\W\d_]{2,}(?!\w)")
_MIN_WORDS = 6  # of a line of the text
_LETTERS = re.compile(r"[^\W\d_]{2}")
_NO_HEADING = re.compile(
    r"(?:Figure|Fig\.|Table|Tab\.|Listing|Exhibit|Chart|Box|Equation|Algorithm)\s*[A-Z]?\d|.*\.{4}"
    r"|.*(?:\. ){4}|.*[.,;]\Z|[•▪●–*-]",
    re.IGNORECASE,
)
_FORCE_BOLD = 1 << 18
_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_NOT_BOLD = re.compile(
    r"\A(?:Courier|Helvetica)\Z|-(?:roman|regu|light|book|ital|obli)", re.IGNORECASE
)
MIN_WEIGHT = 600


@dataclass(frozen=True, slots=True)
class Style:
    """How text is set: the height of its letters on the page, to half a point, and its weight."""

    size: float
    is_bold: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page, and its style; None if it cannot be measured."""

    text: str
    style: Style | None


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading with its page from 0, its style, and the depth of its number (0 without one)."""

    page: int
    title: str
    style: Style
    depth: int


def measure_lines(page: Any, text: str, marked: str) -> list[Line]:
    """Return the lines of one of pdfium's text pages with their styles.

    `marked` is the text with marks of exponents, which the lines have.
    """
    lines: list[Line] = []
    wide = done = 0  # characters that are two units each for pdfium
    for match, written in zip(_LINE.finditer(text), _LINE.findall(marked), strict=True):
        shown = match[0].strip()
        start = match.start() + match[0].index(shown)
        wide += count_wide(text[done:start])
        done = start
        if shown:
            lines.append(Line(written.strip(), _measure(page, shown, start + wide)))
    return lines


def find_title(first: Sequence[Line]) -> str:
    """Return the lines of the first page that are set largest, if they follow each other.

    Among several that are set alike, none can be told to be the title.

    >>> small, large = Style(10, False), Style(20, False)
    >>> find_title([Line("Of Kettles", large), Line("and Pans", large), Line("1950", small)])
    'Of Kettles and Pans'
    >>> find_title([Line("Report", large), Line("by me", small), Line("Kettles", large)])
    ''
    """
    sizes = [line.style.size if line.style else 0.0 for line in first]
    largest = max(sizes, default=0.0)
    own = [number for number, size in enumerate(sizes) if size == largest]
    is_apart = len(own) < len(first) and own[-1] - own[0] < len(own) <= MAX_LINES
    if not is_apart or largest < LARGER * sorted(sizes)[-len(own) - 1]:
        return ""
    title = _join([first[n].text for n in own])
    return title if is_heading(title[:1].upper() + title[1:]) else ""


def find_headings(pages: Sequence[Sequence[Line]]) -> list[tuple[int, int, str]]:
    """Return the headings of a document as (page index, level from 1, title), in order."""
    body = _find_body(pages)
    if body is None:
        return []

    found = [each for page, lines in enumerate(pages) for each in _iter_headings(page, lines, body)]
    count = sum(map(len, pages))
    if len(found) > MAX_SHARE * count:
        found = [each for each in found if each.depth]
    if len(found) > MAX_SHARE * count:
        return []

    once = _drop_odd(_drop_repeated(found))
    if len({each.page for each in once}) == 1 < len(pages):  # a cover
        return []
    level = _rank(once)
    return [(each.page, level(each), each.title) for each in once]


def _drop_repeated(headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings without running heads, call-outs, and the lines of a table of contents.

    What has a number is the heading where it comes first.
    """
    times = Counter(_to_words(each.title) for each in headings)
    seen: Counter[str] = Counter()
    kept: list[_Heading] = []
    for each in headings:
        words = _to_words(each.title)
        seen[words] += 1
        is_repeated = times[words] >= REPEATED and not (each.depth and seen[words] == 1)
        is_listed = _PAGE_NUMBER.search(each.title) and times[_without_page(each.title)]
        if not (is_repeated or is_listed):
            kept.append(each)
    return kept


def _to_words(title: str) -> str:
    return " ".join(re.findall(r"\w+", title.casefold()))


def _without_page(title: str) -> str:
    return _to_words(_PAGE_NUMBER.sub("", title))


def _drop_odd(headings: Sequence[_Heading]) -> list[_Heading]:
    """Return the headings; if most have numbers, without those that are set in another way."""
    numbered = Counter(each.style for each in headings if each.depth)
    if numbered.total() <= NUMBERED * len(headings):
        return [*headings]
    of_style = Counter(each.style for each in headings)
    return [
        each
        for each in headings
        if each.depth or numbered[each.style] > NUMBERED * of_style[each.style]
    ]


def _measure(page: Any, shown: str, start: int) -> Style | None:
    """Return the style of a line by its first, middle and last letter; it is bold if all are."""
    letters = [n for n, character in enumerate(shown) if character.isalnum()]
    if not letters:
        return None
    places = (letters[0], letters[len(letters) // 2], letters[-1])
    offsets = [place + count_wide(shown[:place]) for place in places]
    styles = [
        style
        for place, offset in zip(places, offsets, strict=True)
        if (style := _style(page, start + offset, shown[place]))
    ]
    if len(styles) < len(places):
        return None
    return Style(median(style.size for style in styles), all(style.is_bold for style in styles))


def _style(page: Any, index: int, character: str) -> Style | None:
    """Return the style of a character; None if pdfium has another one at the index."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    if pdfium.FPDFText_GetUnicode(page, index) != ord(character):
        return None
    box = measure_loosely(page, index)
    if box is None:
        return None
    name, flags = read_font(page, index)
    is_marked = bool(flags & _FORCE_BOLD)
    weight = pdfium.FPDFText_GetFontWeight(page, index)
    height = abs(box.top - box.bottom)
    return Style(
        round(2 * height) / 2 if math.isfinite(height) else 0.0,
        is_marked or _is_bold(name.decode("utf-8", "replace"), weight),
    )


def _is_bold(font: str, weight: int) -> bool:
    """Return whether a font is bold by its name, or by its weight if the name does not tell.

    pdfium guesses the weight of a font that is not embedded, and guesses high.

    >>> _is_bold("Times-Bold", 0), _is_bold("Times-Roman", 695), _is_bold("AdvOT86", 700)
    (True, False, True)
    """
    return bool(_BOLD.search(font)) or (weight >= MIN_WEIGHT and not _NOT_BOLD.search(font))


def _find_body(pages: Sequence[Sequence[Line]]) -> Style | None:
    """Return the style that most characters of whole lines have; not those of codes and cells."""
    counts: Counter[Style] = Counter()
    for line in (line for lines in pages for line in lines):
        if line.style and len(_WORD.findall(line.text)) >= _MIN_WORDS:
            counts[line.style] += len(line.text)
    return max(counts, key=lambda style: (counts[style], style.size), default=None)


def _iter_headings(page: int, lines: Sequence[Line], body: Style) -> Iterator[_Heading]:
    """Yield the headings of a page; lines of one style that follow each other are one."""
    runs = [
        (style, [line.text for line in run])
        for style, run in groupby(lines, key=lambda line: _stands_out(line, body))
    ]
    for (style, texts), (_, after) in pairwise([*runs, (None, [""])]):
        parts = [*_split_run(texts)] if style else []
        for part in parts:
            title = _join(part)
            is_named = _depth(title) and _is_larger(style, body)
            goes_on = part is parts[-1] and after[0][:1].islower() and not is_named
            if style and len(part) <= MAX_LINES and is_heading(title) and not goes_on:
                yield _Heading(page=page, title=title, style=style, depth=_depth(title))


def _join(texts: Sequence[str]) -> str:
    """Return the lines of a heading as one, with the words whole that they cut."""
    return join_lines(normalise(" ".join(texts).replace(HYPHEN, "")))


def _stands_out(line: Line, body: Style) -> Style | None:
    """Return the style of a line that is larger or bolder than the text, else None."""
    style = line.style
    if style is None or style.size < body.size - 1:
        return None
    return style if _is_larger(style, body) or (style.is_bold and not body.is_bold) else None


def _is_larger(style: Style | None, body: Style) -> bool:
    return style is not None and style.size > LARGER * body.size


def _split_run(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each heading of a run: a number begins one, a page number ends one."""
    heading: list[str] = []
    for text in texts:
        is_ended = heading and (_PAGE_NUMBER.search(heading[-1]) or _depth(text))
        if is_ended or (heading and _NO_HEADING.match(text)):
            yield heading
            heading = []
        heading.append(text)
    yield heading


def is_heading(title: str) -> bool:
    """Return whether a line could be a heading by its text: short, and no sentence or caption."""
    is_short = len(title) <= MAX_CHARACTERS and bool(_LETTERS.search(title))
    return is_short and not _NO_HEADING.match(title) and not title[0].islower()


def _depth(title: str) -> int:
    """Return how deep the number of a heading is; 0 without one.

    >>> [_depth(title) for title in ("3.4.1 Keys", "B.2 Keys", "Appendix B", "2 Keys", "Keys")]
    [3, 2, 1, 1, 0]
    """
    if number := _NUMBER.match(title):
        return number["parts"].count(".") + 1
    return 1 if PART.match(title) else 0


def _rank(headings: Sequence[_Heading]) -> Callable[[_Heading], int]:
    """Return what gives a heading its level: the depth of its number, else that of its style.

    Without any number the largest style is level 1, and so on.
    """
    numbered: dict[Style, list[int]] = {}
    for each in headings:
        if each.depth:
            numbered.setdefault(each.style, []).append(each.depth)
    depths = {style: mode(sorted(found)) for style, found in numbered.items()}
    styles = sorted({each.style for each in headings}, key=_prominence, reverse=True)

    def level(heading: _Heading) -> int:
        if heading.depth or not depths:
            return heading.depth or styles.index(heading.style) + 1
        above = [depths[each] for each in depths if _prominence(each) > _prominence(heading.style)]
        return depths.get(heading.style, max(above, default=0) + 1)

    return level


def _prominence(style: Style) -> tuple[float, bool]:
    return style.size, style.is_bold
