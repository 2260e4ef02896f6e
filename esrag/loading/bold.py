"""Headings of a web page that marks none as such: bold lines that stand alone, as in reports.

A page is read by the styles of its elements; style sheets are not.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from esrag.loading.layout import join_lines
from esrag.loading.typography import (
    MAX_CHARACTERS,
    MAX_SHARE,
    MIN_WEIGHT,
    PART,
    REPEATED,
    Style,
    is_heading,
)

MAX_LEVEL = 6  # of a heading in HTML
_DEFAULT = Style(12.0, is_bold=False)  # in points
_HEADINGS = tuple(f"h{level}" for level in range(1, MAX_LEVEL + 1))
_LINES = {"p", "div", "center"}  # elements that may be a line of their own
_OTHER = {"table", "ul", "ol", "dl", "pre", "blockquote", "li", "form"}  # no headings in these
_SIZE = re.compile(r"font-size:\s*(\d{1,3}(?:\.\d{1,3})?)(pt|px)", re.IGNORECASE)
_WEIGHT = re.compile(r"font-weight:\s*(\w+)", re.IGNORECASE)
_PX_PER_PT = 4 / 3
_NUMBERED = re.compile(r"(?:(?:item|section|article|note)\s+|§\s?)?\d+[A-Z]?[.:]?\s", re.IGNORECASE)


@dataclass(slots=True)
class _Line:
    """An element that is a line of its own, and the styles of its text."""

    element: Any
    text: list[str] = field(default_factory=list)
    styles: set[Style] = field(default_factory=set)
    is_plain: bool = True  # nothing that could be no heading is in it

    @property
    def title(self) -> str:
        return join_lines(" ".join("".join(self.text).split()))

    @property
    def stands_out(self) -> bool:
        return self.is_plain and bool(self.styles) and all(style.is_bold for style in self.styles)

    @property
    def size(self) -> float:
        return max(style.size for style in self.styles)


def mark_headings(tree: Any) -> str | None:
    """Make headings of the bold lines of a page that has no heading.

    Return the line that is set larger than all others, "" if none is; None without headings.
    """
    if next(tree.iter(*_HEADINGS), None) is not None:
        return None

    lines = [line for line in _iter_lines(tree) if line.title]
    bold = [line for line in lines if line.stands_out and len(line.title) <= MAX_CHARACTERS]
    found = [line for line in bold if is_heading(line.title)]
    times = Counter(line.title.casefold() for line in found)
    found = [line for line in found if times[line.title.casefold()] < REPEATED]
    if not found or len(found) > MAX_SHARE * len(lines):
        return None

    ranks = sorted({_prominence(line) for line in found}, reverse=True)
    levels = {id(line): min(ranks.index(_prominence(line)) + 1, MAX_LEVEL) for line in found}
    for before, line in pairwise([None, *lines]):
        level = levels.get(id(line))
        # Of two lines alike the second says more of the first, such as its date.
        if line and level and (before is None or levels.get(id(before)) != level):
            line.element.tag = f"h{level}"
    return _find_title(bold)


def _iter_lines(tree: Any) -> Iterator[_Line]:
    """Yield the elements that are lines of their own, in order; others lie in these."""
    from lxml import etree  # type: ignore[import-untyped]

    styles, lines = [_DEFAULT], list[_Line]()
    inside = 0  # of elements without headings
    for event, element in etree.iterwalk(tree, events=("start", "end")):
        if not isinstance(element.tag, str):
            continue
        if event == "start":
            inside += _is_other(element)
            styles.append(_style(element, styles[-1]))
            if element.tag in _LINES:
                if lines:
                    lines[-1].is_plain = False
                lines.append(_Line(element, is_plain=not inside))
            elif lines and _is_other(element):
                lines[-1].is_plain = False
            _note(lines, element.text, styles[-1])
            continue

        styles.pop()
        inside -= _is_other(element)
        if element.tag in _LINES:
            yield lines.pop()
        _note(lines, element.tail, styles[-1])


def _is_other(element: Any) -> bool:
    is_link = element.tag == "a" and element.get("href") is not None  # of a menu or of contents
    return is_link or element.tag in _OTHER


def _note(lines: Sequence[_Line], text: str | None, style: Style) -> None:
    if lines and text and text.strip():
        lines[-1].text.append(text)
        lines[-1].styles.add(style)
    elif lines and text:
        lines[-1].text.append(" ")


def _style(element: Any, inherited: Style) -> Style:
    """Return the size in points and whether the text is bold, as the element says or inherits."""
    size, is_bold = inherited.size, inherited.is_bold
    said = element.get("style") or ""
    if found := _SIZE.search(said):
        size = float(found[1]) / (_PX_PER_PT if found[2].lower() == "px" else 1)
    if found := _WEIGHT.search(said):
        weight = found[1].lower()
        is_bold = weight.startswith("bold") or (weight.isdigit() and int(weight) >= MIN_WEIGHT)
    elif element.tag in ("b", "strong"):
        is_bold = True
    return Style(size, is_bold)


def _prominence(line: _Line) -> tuple[int, float, bool]:
    """Return what a line's level depends on: a number, its size, and capitals."""
    title = line.title
    numbered = 2 if PART.match(title) else int(bool(_NUMBERED.match(title)))
    return numbered, line.size, title.isupper()


def _find_title(bold: Sequence[_Line]) -> str:
    """Return the line that is larger than all others, "Acme, Inc." too, "" if there is none."""
    largest = max(line.size for line in bold)
    titles = [line.title for line in bold if line.size == largest]
    return titles[0] if len(titles) == 1 < len(bold) else ""
