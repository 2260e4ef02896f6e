"""Signs that Word documents name by a font or a field, and do not hold as text."""

from typing import Any

from esrag.loading.word import WORD, read_value

_EMPTY, _TICKED = "☐☑"
_GREEK = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
# The characters of each font by their codes, in hexadecimal digits.
_FONTS = {
    "wingdings": "6C● 6E■ 6F☐ 78☒ A7▪ A8☐ DF← E0→ E8→ F0⇒ FB✗ FC✓ FD☒ FE☑",
    "wingdings 2": "4F✗ 50✓ 51☒ 52☑ 53☒ 54☒ A3☐",
    "symbol": "44Δ 53Σ 57Ω A3≤ A5∞ AE→ B0° B1± B3≥ B4× B7• B8÷ B9≠ BB≈ D6√ "
    + " ".join(f"{code:X}{letter}" for code, letter in enumerate(_GREEK, start=0x61)),
}
_SIGNS = {
    font: {int(pair[:2], 16): pair[2:] for pair in pairs.split()} for font, pairs in _FONTS.items()
}
_PRIVATE, _LAST = 0xF000, 0xF8FF
_LAST_PLAIN = 0xD7FF  # below the halves of pairs
_NO = {"0", "false", "off"}


def read_sign(element: Any) -> str:
    """Return what Word shows for an element without text: a symbol or a checkbox; "" for others."""
    if element.tag == f"{WORD}sym":
        return _read_symbol(element.get(f"{WORD}font", ""), element.get(f"{WORD}char", ""))
    if element.tag == f"{WORD}checkBox":
        return _TICKED if _is_checked(element) else _EMPTY
    return ""


def _read_symbol(font: str, code: str) -> str:
    """Return the character with a code, in hexadecimal digits, of a font; "" for unknown ones.

    >>> [_read_symbol("Wingdings", code) for code in ("F0FC", "00FC", "F04A", "?")]
    ['✓', '✓', '', '']
    >>> _read_symbol("Symbol", "F06D"), _read_symbol("Segoe UI Symbol", "2610")
    ('μ', '☐')
    """
    try:
        number = int(code[:4], 16)
    except ValueError:
        return ""
    known = _SIGNS.get(font.casefold())
    if known is not None or _PRIVATE <= number <= _LAST:
        return (known or {}).get(number & 0xFF, "")
    return chr(number) if ord(" ") <= number <= _LAST_PLAIN else ""


def _is_checked(box: Any) -> bool:
    """Return whether a checkbox of a form is checked, or is so before anyone has filled it in."""
    for name in ("checked", "default"):
        if box.find(f"{WORD}{name}") is not None:
            return (read_value(box, name) or "1") not in _NO
    return False
