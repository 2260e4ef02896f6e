"""Write the equations of Office documents on one line: (a+b)/2, x^2, √(y)."""

from collections.abc import Iterator
from typing import Any

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

# What stands before a part of an equation: a superscript, a subscript, a denominator.
_SIGNS = {f"{MATH}sup": "^", f"{MATH}sub": "_", f"{MATH}den": "/"}
_GROUPED = {*_SIGNS, f"{MATH}num"}
_RUNS = (f"{MATH}r", f"{MATH}t")
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def write_equation(element: Any) -> str:
    """Return the text of an equation, or of a part of one; "" for properties of its look."""
    if element.tag == f"{MATH}t":
        return element.text or ""
    if element.tag == f"{MATH}rad":
        return _write_root(element)
    if element.tag == f"{MATH}d":
        parts = _read_sign(element, "sepChr", "|").join(_iter_parts(element))
        return f"{_read_sign(element, 'begChr', '(')}{parts}{_read_sign(element, 'endChr', ')')}"

    text = _join(element)
    if element.tag == f"{MATH}nary":
        return _read_sign(element, "chr", "∫") + text
    return _SIGNS.get(element.tag, "") + _group(text) if element.tag in _GROUPED else text


def _write_root(element: Any) -> str:
    degree = "".join(map(write_equation, element.iterchildren(f"{MATH}deg")))
    return f"{_ROOTS.get(degree) or f'{_group(degree)}√'}({''.join(_iter_parts(element))})"


def _iter_parts(element: Any) -> Iterator[str]:
    """Yield the parts that a root covers, or that stand in brackets."""
    yield from map(write_equation, element.iterchildren(f"{MATH}e"))


def _read_sign(element: Any, name: str, otherwise: str) -> str:
    """Return a sign that the properties of a part of an equation name."""
    sign = element.find(f"{element.tag}Pr/{MATH}{name}")
    return otherwise if sign is None else str(sign.get(f"{MATH}val", ""))


def _join(element: Any) -> str:
    """Return the parts below an element, with a blank where they would read as one number or word.

    That is "1/n x" for a fraction before a letter, but letters of one run after another are a word.
    """
    text, was_run = "", False
    for child in element.iterchildren(f"{MATH}*"):
        piece, is_run = write_equation(child), child.tag in _RUNS
        touches = text[-1:].isalnum() and (piece[:1].isalnum() or child.tag == f"{MATH}rad")
        text += f" {piece}" if touches and not (is_run and was_run) else piece
        was_run = is_run
    return text


def _group(text: str) -> str:
    """Return a part of an equation in brackets, unless it is one number or word."""
    return text if text.isalnum() or not text else f"({text})"
