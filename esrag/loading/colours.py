"""Colours of a web page in one spelling, so that text in the colour behind it is found."""

import re

CLEAR = "clear"
WHITE = "#ffffff"

_NAMES = {
    **dict.fromkeys(("white", "rgb(100%,100%,100%)", "hsl(0,0%,100%)"), WHITE),
    **dict.fromkeys(("black", "rgb(0%,0%,0%)", "hsl(0,0%,0%)"), "#000000"),
    "transparent": CLEAR,
}
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB = re.compile(r"rgba?\((\d{1,3}),(\d{1,3}),(\d{1,3})(?:,(?:1|1\.0+|100%))?\)")
_CLEAR = re.compile(r"[a-z]+\((?:[^(),]*,){3}0?(?:\.0*)?%?\)")  # the fourth value is the alpha
_SPELLED = re.compile(r"[a-z]+|(?:rgb|hsl)\([\d,.%]+\)")
_SEPARATOR = re.compile(r"(?<=[\d%])\s{0,9}[ ,/]\s{0,9}(?=[\d.])")
_SAME = 10  # of 255: the eye does not tell such colours apart
_MAX_SHORT = 4  # digits of a colour with one digit a channel


def to_colour(value: str) -> str:
    """Return a colour in one spelling, "clear" for a transparent one, or "" for an unknown one.

    >>> [to_colour(value) for value in ("white", "#fff", "rgb(255 255 255 / 1)", "#fffd", "var(x)")]
    ['#ffffff', '#ffffff', '#ffffff', '', '']
    >>> to_colour("rgba(1, 2, 3, 0)"), to_colour("#1230"), to_colour("red"), to_colour("a b")
    ('clear', 'clear', 'red', '')
    """
    value = _SEPARATOR.sub(",", value).replace("( ", "(").replace(" )", ")")
    if value in _NAMES:
        return _NAMES[value]
    if _CLEAR.fullmatch(value):
        return CLEAR
    if match := _RGB.fullmatch(value):
        return "#{:02x}{:02x}{:02x}".format(*(min(int(channel), 255) for channel in match.groups()))
    if match := _HEX.fullmatch(value):
        return _from_digits(match[1])
    return value if _SPELLED.fullmatch(value) else ""


def find_colour(value: str) -> str:
    """Return the colour in a CSS `background`, which may also name a place and an image.

    >>> find_colour("#fff none"), find_colour("red"), find_colour("top"), find_colour("red top")
    ('#ffffff', 'red', 'top', '')
    """
    colours = map(to_colour, [value, *value.split()])
    return next((colour for colour in colours if is_known(colour)), to_colour(value))


def is_known(colour: str) -> bool:
    """Return whether the channels of a colour are known."""
    return colour.startswith("#")


def look_same(one: str, other: str) -> bool:
    """Return whether two known colours, or two of one spelling, cannot be told apart.

    >>> look_same("#ffffff", "#fefefe"), look_same("#ffffff", "#eeeeee"), look_same("", "")
    (True, False, False)
    """
    if not (is_known(one) and is_known(other)):
        return one == other != ""
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    return all(abs(a - b) <= _SAME for a, b in pairs)


def _from_digits(digits: str) -> str:
    digits = "".join(2 * digit for digit in digits) if len(digits) <= _MAX_SHORT else digits
    alpha = digits[6:]
    if alpha == "00":
        return CLEAR
    return f"#{digits[:6]}" if alpha in ("", "ff") else ""
