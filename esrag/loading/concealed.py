"""Text of a web page that is hidden from a reader, by its elements or its style sheets."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from esrag.loading.colours import CLEAR, WHITE, find_colour, look_same, to_colour
from esrag.loading.folded import has_text, opens, unfold
from esrag.loading.layout import count_characters
from esrag.loading.style_sheets import has_other_sheet
from esrag.loading.styles import OFFSETS, Style, Styles

_NUMBER = re.compile(r"([-+]?\d{0,9}(?:\.\d{1,9})?)\s*([a-z%]*)")
# A size below cannot be read.
_SMALLEST = {"": 1.0, "px": 1.0, "pt": 1.0, "em": 0.1, "rem": 0.1, "%": 10.0}
_NOTHING = {**dict.fromkeys(_SMALLEST, 0.01), "%": 1.0}
_FAR = -900.0  # pixels: nothing is so far out of a page by accident
_AWAY = {"": _FAR, "px": _FAR, "pt": _FAR, "em": _FAR / 10, "rem": _FAR / 10}
_TRANSFORM = re.compile(r"(scale|translate)(?:x|y|3d)?\(([^()]*)\)")
_CLIP = re.compile(r"(inset|circle|ellipse|rect)\(([^()]*)\)")
_CUT_OFF = 100.0  # percent, from two opposite sides
_INHERITED = {"inherit", "unset", "currentcolor"}
_NOTHING_PAINTED = {"none", "initial", "unset", "inherit"}
_KEPT = {"html", "body", "head"}  # a page that hides all of itself is shown by its script
_NOT_TEXT = {"script", "style"}

_Piece = tuple[Any, Literal["text", "tail"]]  # of text: an element, and where it has the text


@dataclass(frozen=True, slots=True)
class _Paint:
    """The colour of a text and the colour behind it; "" for an unknown one."""

    ink: str
    ground: str

    @property
    def is_invisible(self) -> bool:
        """Return whether text in these colours cannot be seen."""
        return self.ink == CLEAR or look_same(self.ink, self.ground)


def remove_concealed(tree: Any) -> int:
    """Remove the hidden text of a page, and return how many characters it had."""
    concealed, inkless = _find_hidden(tree)
    characters = 0

    for element, place in inkless:
        characters += count_characters(getattr(element, place))
        setattr(element, place, "")
    for element in concealed:
        characters += sum(map(count_characters, _texts(element)))
        element.drop_tree()

    return characters


def _find_hidden(tree: Any) -> tuple[Sequence[Any], Sequence[_Piece]]:
    """Return the hidden elements, and the texts outside them in the colour behind them."""
    from lxml import etree  # type: ignore[import-untyped]

    concealed: list[Any] = []
    inkless: list[_Piece] = []
    folded: set[str] = set()  # ids of what the elements before open
    tabs = 0  # that are left to open a panel each
    styles = Styles(tree)
    # The page is white, unless a style sheet that is not read may paint it.
    paints = [_Paint("", "" if has_other_sheet(tree) else WHITE)]

    walker = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            style = styles.of(element)
            paints.append(_paint(element, style, paints[-1]))
            is_panel = element.get("role") == "tabpanel"
            if element.get("id") in folded or (is_panel and tabs > 0):
                unfold(element)
                tabs -= is_panel
            elif element is not tree and _is_concealed(element, style):
                concealed.append(element)
                walker.skip_subtree()
                continue
            folded |= opens(element)
            tabs += element.get("role") == "tab" and has_text(element)
            if paints[-1].is_invisible and _is_text(element.text, element.tag):
                inkless.append((element, "text"))
            continue

        if event == "end":
            paints.pop()
        if paints[-1].is_invisible and _is_text(element.tail):
            inkless.append((element, "tail"))

    return concealed, inkless


def _is_text(text: str | None, tag: str = "") -> bool:
    return bool(text and not text.isspace()) and tag not in _NOT_TEXT


def _texts(element: Any) -> Iterator[str]:
    """Yield the texts inside an element, without those of scripts and comments."""
    for inner in element.iter():
        if isinstance(inner.tag, str) and inner.tag not in _NOT_TEXT:
            yield inner.text or ""
        if inner is not element:
            yield inner.tail or ""


def _paint(element: Any, style: Style, around: _Paint) -> _Paint:
    """Return the colours of an element inside one with the colours `around`."""
    is_link = element.tag == "a" and element.get("href") is not None
    if not (style or is_link):
        return around

    # A link has a colour of its own.
    paint = _Paint(_ink(style, "" if is_link else around.ink), _ground(style, around.ground))
    return _Paint("", paint.ground) if element.tag in _KEPT and paint.is_invisible else paint


def _ink(style: Style, inherited: str) -> str:
    colour = style.get("color", "inherit")
    if colour == "initial" or style.get("background-clip") == "text":
        return ""  # in letters that clip a background, it is the background that is seen
    return inherited if colour in _INHERITED else to_colour(colour)


def _ground(style: Style, behind: str) -> str:
    if style.get("background-image", "none") not in _NOTHING_PAINTED:
        return ""
    colour = style.get("background-color", "none")
    found = CLEAR if colour in _NOTHING_PAINTED else find_colour(colour)
    return behind if found == CLEAR else found


def _is_concealed(element: Any, style: Style) -> bool:
    if element.tag in _KEPT:
        return False
    if (
        element.tag == "template"
        or element.get("hidden") is not None
        or (element.get("aria-hidden") or "").strip().lower() == "true"
    ):
        return True
    return bool(style) and (
        _is_not_shown(style) or _is_tiny(style) or _is_away(style) or _is_cut_off(style)
    )


def _is_not_shown(style: Style) -> bool:
    is_clear = _is_below(style.get("opacity", ""), _NOTHING)
    return (
        style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or is_clear
    )


def _is_tiny(style: Style) -> bool:
    """Return whether the text is too small to read, or scaled or cut to nothing."""
    if _is_below(style.get("font-size", ""), _SMALLEST):
        return True

    factors = [*style.get("scale", "").split(), *_arguments(style, "scale")]
    if any(_is_below(factor.lstrip("-"), _NOTHING) for factor in factors):
        return True

    is_cut = style.get("overflow", style.get("overflow-y", "")) in ("hidden", "clip")
    sizes = (style.get(name, "") for name in ("width", "height", "max-width", "max-height"))
    return is_cut and any(_is_below(size, _NOTHING) for size in sizes)


def _is_away(style: Style) -> bool:
    """Return whether the text is moved out of the page."""
    offsets = [style.get(name, "") for name in OFFSETS]
    offsets += [*style.get("translate", "").split(), *_arguments(style, "translate")]
    return any(_is_below(offset, _AWAY) for offset in offsets)


def _arguments(style: Style, function: str) -> Iterator[str]:
    """Yield the horizontal and vertical values of a function of `transform`."""
    for name, arguments in _TRANSFORM.findall(style.get("transform", "")):
        if name == function:
            yield from map(str.strip, arguments.split(",")[:2])


def _is_cut_off(style: Style) -> bool:
    """Return whether a clip path or a clip leaves nothing of the element."""
    clips = map(_CLIP.search, (style.get("clip-path", ""), style.get("clip", "")))
    return any(clip is not None and _leaves_nothing(clip[1], clip[2]) for clip in clips)


def _leaves_nothing(shape: str, arguments: str) -> bool:
    values = arguments.replace(",", " ").partition(" round ")[0].split()
    if shape == "rect":
        return len(set(values)) == 1 and values[0] != "auto"  # all sides are in one place
    if shape != "inset":
        radii = values[: 1 if shape == "circle" else 2]
        return any(_is_below(radius, _NOTHING) for radius in radii)

    shares = [number if unit == "%" else 0.0 for number, unit in map(_length, values)]
    if len(shares) == 3:  # noqa: PLR2004 -- top, both sides, bottom
        shares.append(shares[1])
    top, right, bottom, left = (shares * 4)[:4] or (0.0,) * 4
    return max(top + bottom, right + left) >= _CUT_OFF


def _length(value: str) -> tuple[float, str]:
    """Return the number and the unit of a length; of another value, not a number."""
    match = _NUMBER.fullmatch(value)
    if match is None or match[1] in ("", "+", "-"):
        return math.nan, ""
    return float(match[1]), match[2]


def _is_below(value: str, limits: Mapping[str, float]) -> bool:
    """Return whether a length is below the limit of its unit."""
    number, unit = _length(value)
    return unit in limits and number < limits[unit]
