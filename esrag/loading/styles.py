"""The styles of a web page's elements, as far as they decide what a reader sees."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Style = Mapping[str, str]

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_MAX_VALUE = 200  # characters that are looked at; an image may be written out in a value
_IMPORTANT = re.compile(r"\s*!\s*important\b")
_IMAGE = re.compile(r"url\(|gradient\(|image")
_OVERFLOW = ("overflow", "overflow-y")
_SIZES = ("font-size", "width", "height", "max-width", "max-height")
_PLACES = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")
_SHAPES = ("transform", "scale", "translate", "clip", "clip-path")
_COLOURS = ("color", "background-color", "background-image", "background-clip")
_NAMES = {*("display", "visibility", "opacity", *_OVERFLOW, *_SIZES, *_PLACES, *_SHAPES, *_COLOURS)}

_STYLED = {"style", "color", "bgcolor", "background"}  # attributes


def has_style_sheet(tree: Any) -> bool:
    """Return whether a style sheet, of the page or of another file, may paint a page."""
    links = (link.get("rel") or "" for link in tree.iter("link"))
    sheet = next(tree.iter("style"), None)
    return sheet is not None or any("stylesheet" in rel.lower() for rel in links)


def style_of(element: Any) -> Style:
    """Return the style that an element has by itself, including colours of old attributes."""
    if _STYLED.isdisjoint(element.keys()):
        return {}
    return _attributes(element) | _inline(element)


def _attributes(element: Any) -> dict[str, str]:
    """Return what old attributes of an element say of colours."""
    found = {
        "color": element.get("color"),
        "background-color": element.get("bgcolor"),
        "background-image": element.get("background") and "url()",
    }
    return {name: _plain(value) for name, value in found.items() if value}


def _inline(element: Any) -> dict[str, str]:
    """Return the inline style of an element; an important value counts, else the last one."""
    text = element.get("style")
    found: dict[str, tuple[bool, str]] = {}
    for name, is_important, value in _declarations(text) if text else ():
        if is_important or not found.get(name, (False, ""))[0]:
            found[name] = (is_important, value)
    return {name: value for name, (_, value) in found.items()}


def _declarations(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the properties that matter, whether they are important, and their values."""
    for declaration in _COMMENT.sub("", text).split(";"):
        name, _, raw = declaration.partition(":")
        name = name.strip().lower().removeprefix("-webkit-")
        if name not in _NAMES and name != "background":
            continue

        value, marks = _IMPORTANT.subn("", _plain(raw))
        is_important = bool(marks)
        if name == "background":
            yield "background-image", is_important, value if _IMAGE.search(value) else "none"
            name = "background-color"
        if value:
            yield name, is_important, value


def _plain(value: str) -> str:
    """Return the start of a value in lower case, with single spaces."""
    return " ".join(value[:_MAX_VALUE].lower().split())
