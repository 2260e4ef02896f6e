"""Read the XML of Word documents."""

from typing import Any

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def read_value(element: Any, path: str) -> str:
    """Return the value of a property, such as "pPr/pStyle"; "" for an element without it."""
    found = element.find("/".join(f"{WORD}{name}" for name in path.split("/")))
    return "" if found is None else str(found.get(f"{WORD}val", ""))


def read_outline(element: Any) -> int | None:
    """Return the level of headings, from 1, that a paragraph or a style says it has."""
    outline = read_value(element, "pPr/outlineLvl")
    return int(outline) + 1 if outline in [*"012345678"] else None
