"""Numbers of OpenDocument's lists and headings, which programs count: the text lacks them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from esrag.loading.attributes import read_number
from esrag.loading.inheritance import inherit
from esrag.loading.numbering import DIGITS, MAX_DIGITS, CountedList, Level, Mark

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a list, and how deep they are, from 0."""

    style: str
    counted: CountedList
    level: int

    def mark(self, item: Any, block: Any) -> Mark:
        """Count the item that a paragraph begins, and return its mark."""
        if start := read_number(item.get(f"{_TEXT}start-value"), 0, MAX_DIGITS):
            self.counted.numbers[self.level] = start - 1
        self.counted.count(self.level)
        own = block.findtext(f"{_TEXT}number")
        return Mark(self.counted.write(self.level) if own is None else own.strip(), self.level)


class OdtLists:
    """The lists of a document and its headings, counted in their order."""

    def __init__(self, parts: Iterable[Any]) -> None:
        """Read the styles of the lists, of the headings and of their paragraphs."""
        self._styles: dict[str, Mapping[int, Level]] = {}
        self._headings = CountedList({})
        self._own: dict[str, str | None] = {}  # the list that a paragraph's style names
        self._parents: dict[str, str] = {}
        self._last: dict[str, CountedList] = {}  # by style, and by the ids of lists
        for part in parts:
            self._read(part)

    def open(self, element: Any, inside: Items | None) -> Items:
        """Return the items of a list, which may continue another, or is in an item of `inside`."""
        style = element.get(f"{_TEXT}style-name") or (inside.style if inside else "")
        level = inside.level + 1 if inside else 0
        counted = inside.counted if inside and inside.style == style else None
        if counted is None:
            counted = self._find_continued(element, style)
        counted = counted or CountedList(self._styles.get(style, {}))
        self._last[f"style {style}"] = self._last[f"id {element.get(_ID)}"] = counted
        return Items(style, counted, level)

    def number_heading(self, heading: Any) -> str:
        """Count a heading outside of lists, and return its number; "" for one without."""
        own = heading.findtext(f"{_TEXT}number")
        style = heading.get(f"{_TEXT}style-name", "")
        is_bare = heading.get(f"{_TEXT}is-list-header") == "true"
        if is_bare or inherit(style, self._own, self._parents) == "":
            return ""

        level = max(1, read_number(heading.get(f"{_TEXT}outline-level"), 1, 1)) - 1
        self._headings.count(level)
        return self._headings.write(level) if own is None else own.strip()

    def _find_continued(self, element: Any, style: str) -> CountedList | None:
        """Return the list whose numbers another one continues."""
        named = element.get(f"{_TEXT}continue-list")
        if named is not None:
            return self._last.get(f"id {named}")
        goes_on = element.get(f"{_TEXT}continue-numbering") == "true"
        return self._last.get(f"style {style}") if goes_on else None

    def _read(self, part: Any) -> None:
        for style in part.iter(f"{_TEXT}list-style"):
            self._styles[style.get(f"{_STYLE}name", "")] = _read_levels(style)
        for style in part.iter(f"{_TEXT}outline-style"):
            self._headings = CountedList(_read_levels(style))
        for style in part.iter(f"{_STYLE}style"):
            name = style.get(f"{_STYLE}name", "")
            self._own[name] = style.get(f"{_STYLE}list-style-name")
            self._parents[name] = style.get(f"{_STYLE}parent-style-name", "")


def _read_levels(style: Any) -> dict[int, Level]:
    """Return how each level of a list counts, from 0."""
    found: dict[int, Level] = {}
    for element in style.iterchildren("{*}*"):
        level = read_number(element.get(f"{_TEXT}level"), 0, 1) - 1
        if level >= 0:
            found[level] = _read_level(element, level, found)
    return found


def _read_level(element: Any, level: int, above: Mapping[int, Level]) -> Level:
    """Return how a level counts: a bullet if it has no digits.

    Its number begins with those of some levels above that have digits.
    """
    start = read_number(element.get(f"{_TEXT}start-value"), 1, MAX_DIGITS)
    digits = DIGITS.get(element.get(f"{_STYLE}num-format", ""), "none")
    shown = read_number(element.get(f"{_TEXT}display-levels"), 1, 1)
    first = max(0, level + 1 - shown)
    numbers = [
        place for place in range(first, level) if place in above and above[place].digits != "none"
    ]
    places = ".".join(f"%{place + 1}" for place in (*numbers, level))
    before, after = (element.get(f"{_STYLE}num-{name}", "") for name in ("prefix", "suffix"))
    return Level(start, digits, f"{before}{places}{after}")
