"""Numbers and bullets that Word counts itself: a document's text does not have them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from esrag.loading.attributes import read_number
from esrag.loading.inheritance import inherit
from esrag.loading.word import WORD, read_value
from esrag.text import ITEM

_SINGLE, _SEVERAL = re.compile(r"\d{1,3}\."), re.compile(r"(?:\d{1,3}\.){1,5}\d{1,3}\.?")
_LETTER = re.compile(r"\A(\(?[a-z]{1,5})\.\Z")
_PLACE = re.compile(r"%([1-9])")
_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)
_MAX_NUMBER, MAX_DIGITS, _MAX_INDENT = 9_999, 4, 8
# How web pages and OpenDocument call the digits that Word calls so.
DIGITS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}
_LETTERS = 26

Numbered = tuple[str, int]  # the id of a list, and the level in it


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands before a paragraph, "" for a bullet, and how deep its list is, from 0."""

    text: str
    level: int

    def write_item(self, text: str) -> str:
        """Return a paragraph as an item: after its number, if that is known as one, or a bullet.

        >>> Mark("", 1).write_item("a saw"), Mark("2.1", 1).write_item("Saw it.")
        ('  - a saw', '2.1 Saw it.')
        >>> Mark("b.", 0).write_item("Saw it."), Mark("Art. 2", 0).write_item("Saw it.")
        ('b) Saw it.', '- Art. 2 Saw it.')
        """
        mark = _LETTER.sub(r"\1)", self.text)
        if _SEVERAL.fullmatch(mark):
            return f"{mark} {text}"
        is_known = _SINGLE.fullmatch(mark) or ITEM.fullmatch(f"{mark} ")
        item = f"{mark} {text}" if is_known else f"- {f'{mark} {text}'.lstrip()}"
        return "  " * min(self.level, _MAX_INDENT) + item


@dataclass(frozen=True, slots=True)
class Level:
    """How a level counts: from which number, in which digits, and what is written around them."""

    start: int
    digits: str
    text: str


@dataclass(slots=True)
class CountedList:
    """A list's levels, and the numbers of its last paragraph."""

    levels: Mapping[int, Level]
    numbers: dict[int, int] = field(default_factory=dict)

    def count(self, level: int) -> None:
        """Count a paragraph: levels below begin anew, and those above that have none begin."""
        self.numbers = {key: number for key, number in self.numbers.items() if key <= level}
        for above in range(level):
            self.numbers.setdefault(above, self._start(above))
        self.numbers[level] = self.numbers.get(level, self._start(level) - 1) + 1

    def write(self, level: int) -> str:
        """Return what Word shows before a paragraph that was just counted; "" for a bullet."""
        form = self.levels.get(level)
        if form is None or form.digits in ("bullet", "none"):
            return ""
        return _PLACE.sub(lambda place: self._show(int(place[1]) - 1), form.text).strip()

    def _start(self, level: int) -> int:
        return self.levels[level].start if level in self.levels else 1

    def _show(self, level: int) -> str:
        digits = self.levels[level].digits if level in self.levels else "decimal"
        return write_number(self.numbers.get(level, 0), digits)


class Numbering:
    """The numbers of a document's paragraphs, counted in their order."""

    def __init__(self, root: Any, styles: Any) -> None:
        """Read the lists of a document's numbering part, if it has one, and those of styles."""
        self._lists: dict[str, CountedList] = {}  # by the id of their definition
        self._definitions: dict[str, str] = {}  # by the id that paragraphs name
        self._starts: dict[Numbered, int] = {}  # of lists that begin anew
        if root is not None:
            self._read_lists(root)
        self._styles, self._parents = _read_styles(styles)

    def mark(self, paragraph: Any) -> Mark | None:
        """Return what Word writes before a paragraph, None if it is no item of a list."""
        found = self._find(paragraph)
        if found is None:
            return None

        name, level = found
        counted = self._lists.get(self._definitions.get(name, ""))
        if counted is None:
            return Mark("", level)
        if start := self._starts.pop(found, None):
            counted.numbers[level] = start - 1
        counted.count(level)
        return Mark(counted.write(level), level)

    def _find(self, paragraph: Any) -> Numbered | None:
        """Return the list and level of a paragraph, or of its style; None outside of lists."""
        key = read_value(paragraph, "pPr/pStyle")
        own = _read_properties(paragraph.find(f"{WORD}pPr/{WORD}numPr"))
        by_style = inherit(key, self._styles, self._parents)

        name = (own and own[0]) or (by_style and by_style[0]) or ""
        level = own or by_style
        return None if name in ("", "0") or level is None else (name, level[1])

    def _read_lists(self, root: Any) -> None:
        for definition in root.iter(f"{WORD}abstractNum"):
            levels = {
                _own_level(level): _read_level(level) for level in definition.iter(f"{WORD}lvl")
            }
            self._lists[definition.get(f"{WORD}abstractNumId", "")] = CountedList(levels)

        for number in root.iter(f"{WORD}num"):
            name = number.get(f"{WORD}numId", "")
            self._definitions[name] = read_value(number, "abstractNumId")
            for override in number.iter(f"{WORD}lvlOverride"):
                if override.find(f"{WORD}startOverride") is not None:
                    level = _own_level(override)
                    self._starts[name, level] = _read_int(override, "startOverride", 1)


def write_number(number: int, digits: str) -> str:
    """Return a number in the digits that Word calls so; others than the usual ones are decimal.

    >>> [write_number(28, digits) for digits in ("decimal", "lowerLetter", "upperRoman")]
    ['28', 'bb', 'XXVIII']
    """
    number = max(0, min(number, _MAX_NUMBER))
    kind = digits.removeprefix("lower").removeprefix("upper")
    if kind not in ("Letter", "Roman") or not number:
        return f"{number:02}" if digits == "decimalZero" else str(number)
    written = _write_letters(number) if kind == "Letter" else _write_roman(number)
    return written.upper() if digits.startswith("upper") else written


def _write_letters(number: int) -> str:
    times, letter = divmod(number - 1, _LETTERS)
    return chr(ord("a") + letter) * (times + 1)


def _write_roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        written += letters * count
    return written


def _read_styles(
    styles: Any,
) -> tuple[dict[str, Numbered | None], dict[str, str]]:
    """Return the list and level of each paragraph style, and the style that each is based on."""
    own: dict[str, Numbered | None] = {}
    parents: dict[str, str] = {}
    for style in styles.iter(f"{WORD}style"):
        key = style.get(f"{WORD}styleId", "")
        own[key] = _read_properties(style.find(f"{WORD}pPr/{WORD}numPr"))
        parents[key] = read_value(style, "basedOn")
    return own, parents


def _read_properties(properties: Any) -> Numbered | None:
    if properties is None:
        return None
    return read_value(properties, "numId"), _read_int(properties, "ilvl")


def _read_level(level: Any) -> Level:
    digits = "decimal" if level.find(f"{WORD}isLgl") is not None else read_value(level, "numFmt")
    return Level(_read_int(level, "start", 1), digits or "decimal", read_value(level, "lvlText"))


def _read_int(element: Any, name: str, otherwise: int = 0) -> int:
    return read_number(read_value(element, name), otherwise, MAX_DIGITS)


def _own_level(element: Any) -> int:
    """Return the level that an element of a list's definition describes."""
    return read_number(element.get(f"{WORD}ilvl"), 0, MAX_DIGITS)
