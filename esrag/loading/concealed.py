"""Text of a web page that its elements hide from a reader; style sheets are not read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from esrag.loading.layout import count_characters

_COMMENT = re.compile(r"/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)")
_NUMBER = re.compile(r"([-+]?\d{0,9}(?:\.\d{1,9})?)\s*([a-z%]*)")
_HEX = re.compile(r"#([0-9a-f]{3,8})")
_CLEAR = re.compile(r"transparent|(?:rgba|hsla)\([^()]*,\s*0?(?:\.0*)?%?\s*\)")
_NAMES = {
    "white": "#ffffff",
    "black": "#000000",
    "rgb(255,255,255)": "#ffffff",
    "rgb(0,0,0)": "#000000",
}
# A size below cannot be read.
_SMALLEST = {"": 1.0, "px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "%": 10.0}
_FAR = -900.0  # pixels: nothing is so far out of a page by accident
_OFFSETS = ("left", "top", "right", "bottom", "margin-left", "margin-top", "text-indent")
_KEPT = {"html", "body", "head"}  # a page that hides all of itself is shown by its script


def remove_concealed(tree: Any) -> int:
    """Remove the hidden elements of a page, and return how many characters of text they held."""
    concealed = [
        element
        for element in tree.iter()
        if isinstance(element.tag, str) and _is_concealed(element)
    ]
    characters = 0
    for element in concealed:
        if element.getparent() is not None:
            characters += sum(map(count_characters, _texts(element)))
            element.drop_tree()
    return characters


def _texts(element: Any) -> Iterator[str]:
    """Yield the texts inside an element, without those of scripts and comments."""
    for inner in element.iter():
        if isinstance(inner.tag, str) and inner.tag not in ("script", "style"):
            yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _is_concealed(element: Any) -> bool:
    if element.tag in _KEPT:
        return False
    if (
        element.tag == "template"
        or element.get("hidden") is not None
        or (element.get("aria-hidden") or "").strip().lower() == "true"
    ):
        return True

    style = _declarations(element)
    return bool(style) and (
        _is_not_shown(style) or _is_tiny(style) or _is_away(style) or _is_inkless(element, style)
    )


def _declarations(element: Any) -> Mapping[str, str]:
    """Return the inline style of an element, including colours that old attributes give it.

    The last declaration of each name counts.
    """
    style = _COMMENT.sub("", element.get("style") or "").lower()
    pairs = (declaration.partition(":")[::2] for declaration in style.split(";"))
    found = {
        name.strip(): " ".join(value.replace("!important", "").split())
        for name, value in pairs
        if value
    }
    colours = {"color": element.get("color"), "background-color": element.get("bgcolor")}
    return {name: value.lower() for name, value in colours.items() if value} | found


def _is_not_shown(style: Mapping[str, str]) -> bool:
    is_clear = _below(style.get("opacity", ""), {"": 0.01, "%": 1.0})
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or is_clear
    )


def _is_tiny(style: Mapping[str, str]) -> bool:
    if _below(style.get("font-size", ""), _SMALLEST):
        return True
    is_cut = style.get("overflow", style.get("overflow-y", "")) in ("hidden", "clip")
    sizes = (style.get(name, "") for name in ("width", "height", "max-width", "max-height"))
    return is_cut and any(_below(size, dict.fromkeys(_SMALLEST, 0.01)) for size in sizes)


def _is_away(style: Mapping[str, str]) -> bool:
    """Return whether the text is moved out of the page."""
    return any(
        _below(style.get(name, ""), {"": _FAR, "px": _FAR, "pt": _FAR, "em": _FAR / 10})
        for name in _OFFSETS
    )


def _is_inkless(element: Any, style: Mapping[str, str]) -> bool:
    """Return whether the text has the colour of the background that the page itself gives it."""
    colour = _colour(style.get("color", ""))
    if not colour:
        return False

    for place in (element, *element.iterancestors()):
        declared = _declarations(place)
        behind = _colour(declared.get("background-color", declared.get("background", "")))
        if behind and behind != "clear":
            return colour in ("clear", behind)

    return colour == "clear"


def _colour(value: str) -> str:
    """Return a colour in one spelling, "clear" for a transparent one, or "" for an unknown one."""
    value = value.replace(", ", ",").replace("( ", "(").replace(" )", ")")
    if _CLEAR.fullmatch(value):
        return "clear"

    value = _NAMES.get(value, value)
    digits = _HEX.fullmatch(value)
    if not digits:
        return value if re.fullmatch(r"[a-z]+|rgb\([\d,%]+\)", value) else ""
    return f"#{''.join(2 * digit for digit in digits[1]) if len(digits[1]) == 3 else digits[1]}"  # noqa: PLR2004


def _below(value: str, limits: Mapping[str, float]) -> bool:
    """Return whether a length is below the limit of its unit."""
    match = _NUMBER.fullmatch(value)
    if match is None or match[1] in ("", "+", "-") or match[2] not in limits:
        return False
    return float(match[1]) < limits[match[2]]
