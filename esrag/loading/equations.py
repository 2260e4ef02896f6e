"""Write the equations of Office documents on one line: (a+b)/2, x^2, √(y)."""

from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

# What stands before a part of an equation: a superscript, a subscript, a denominator, a root.
_SIGNS = {f"{MATH}sup": "^", f"{MATH}sub": "_", f"{MATH}den": "/"}
_GROUPED = {*_SIGNS, f"{MATH}num"}


def write_equation(element: Any) -> str:
    """Return the text of an equation, or of a part of one; "" for properties of its look."""
    if element.tag == f"{MATH}t":
        return element.text or ""

    text = "".join(write_equation(child) for child in element.iterchildren(f"{MATH}*"))
    if element.tag == f"{MATH}nary":
        sign = element.find(f"{MATH}naryPr/{MATH}chr")
        return ("∫" if sign is None else sign.get(f"{MATH}val", "")) + text
    if element.tag == f"{MATH}rad":
        return f"√({text})"
    if element.tag == f"{MATH}d":
        return f"({text})"
    return _SIGNS.get(element.tag, "") + _group(text) if element.tag in _GROUPED else text


def _group(text: str) -> str:
    """Return a part of an equation in brackets, unless it is one number or word."""
    return text if text.isalnum() or not text else f"({text})"
