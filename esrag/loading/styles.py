"""The styles of a web page's elements, as far as they decide what a reader sees."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from esrag.loading.style_sheets import DOUBT, find_key, read_rules

Style = Mapping[str, str]
_Ranked = tuple[bool, int, int, str]  # is it important, specificity, order of its rule, value

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_MAX_VALUE = 200  # characters that are looked at; an image may be written out in a value
_IMPORTANT = re.compile(r"!\s{0,9}important\b")
_IMAGE = re.compile(r"url\(|gradient\(|image")
_OVERFLOW = ("overflow", "overflow-y")
_SIZES = ("font-size", "width", "height", "max-width", "max-height")
OFFSETS = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")
_SHAPES = ("transform", "scale", "translate", "clip", "clip-path")
_COLOURS = ("color", "background-color", "background-image", "background-clip")
_NAMES = {*("display", "visibility", "opacity", *_OVERFLOW, *_SIZES, *OFFSETS, *_SHAPES, *_COLOURS)}
_STYLED = {"style", "color", "bgcolor", "background"}  # attributes
_LEAST, _MOST = -1, 1000  # specificities of attributes and of inline styles


class Styles:
    """The styles of a page's elements: of old attributes, of style sheets, and of their own.

    A value that is not certain is "".
    """

    def __init__(self, tree: Any) -> None:
        self._rules: dict[str, dict[str, _Ranked]] = {}  # by key and property

        for order, (selectors, block, is_certain) in enumerate(read_rules(tree)):
            style = _rank(block, 0, order)
            for selector in set(selectors.split(",")) if style else ():
                key, specificity = find_key(selector.strip(), is_certain=is_certain)
                rules = self._rules.setdefault(key, {})
                for name, (is_important, _, _, value) in style.items():
                    is_doubt = specificity == DOUBT
                    ranked = (is_important, specificity, order, value)
                    _keep(rules, name, (False, DOUBT, order, "") if is_doubt else ranked)

    def of(self, element: Any) -> Style:
        """Return the style of an element, as far as its properties matter."""
        if not self._rules and _STYLED.isdisjoint(element.keys()):
            return {}

        found = {name: (False, _LEAST, 0, value) for name, value in _old_attributes(element)}
        for key in _keys(element) if self._rules else ():
            for name, ranked in self._rules.get(key, {}).items():
                _keep(found, name, ranked)
        for name, ranked in _rank(element.get("style") or "", _MOST).items():
            _keep(found, name, ranked)
        return {name: value for name, (*_, value) in found.items()}


def _keep(found: dict[str, _Ranked], name: str, ranked: _Ranked) -> None:
    found[name] = max(found.get(name, ranked), ranked)


def _keys(element: Any) -> Iterator[str]:
    """Yield the selectors of one part that apply to an element."""
    names = [f".{name}" for name in (element.get("class") or "").split()]
    names += [f"#{element.get('id')}"] if element.get("id") else []
    yield from ("*", element.tag, *names, *(f"{element.tag}{name}" for name in names))


def _old_attributes(element: Any) -> Iterator[tuple[str, str]]:
    """Yield what old attributes of an element say of colours."""
    found = {
        "color": element.get("color"),
        "background-color": element.get("bgcolor"),
        "background-image": element.get("background") and "url()",
    }
    yield from ((name, _simplify(value)) for name, value in found.items() if value)


def _rank(text: str, specificity: int, order: int = 0) -> dict[str, _Ranked]:
    """Return the declarations that matter; an important one counts, else the last one."""
    found: dict[str, _Ranked] = {}
    for name, is_important, value in _declarations(text) if text else ():
        if is_important or not found.get(name, (False,))[0]:
            found[name] = (is_important, specificity, order, value)
    return found


def _declarations(text: str) -> Iterator[tuple[str, bool, str]]:
    """Yield the properties that matter, whether they are important, and their values."""
    for declaration in _COMMENT.sub("", text).split(";"):
        name, _, raw = declaration.partition(":")
        name = name.strip().lower().removeprefix("-webkit-")
        if name not in _NAMES and name != "background":
            continue

        bare, marks = _IMPORTANT.subn("", _simplify(raw))
        value, is_important = bare.rstrip(), bool(marks)
        if name == "background":
            yield "background-image", is_important, value if _IMAGE.search(value) else "none"
            name = "background-color"
        if value:
            yield name, is_important, value


def _simplify(value: str) -> str:
    """Return the start of a value in lower case, with single spaces."""
    return " ".join(value[:_MAX_VALUE].lower().split())
