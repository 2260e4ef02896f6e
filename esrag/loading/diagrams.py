"""Diagrams that Office calls SmartArt: their texts are in a part of their own."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from esrag.loading.attributes import read_number

_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def find_diagram(frame: Any) -> str:
    """Return the id of the part with the data of a frame's diagram; "" if it has none."""
    found = next(frame.iter(f"{_DIAGRAM}relIds"), None)
    return "" if found is None else found.get(f"{_RELATED}dm", "")


def read_diagram(root: Any) -> Iterator[tuple[int, str]]:
    """Yield the texts of a diagram from top to bottom, each with its level, from 0."""
    points = {point.get("modelId", ""): point for point in root.iter(f"{_DIAGRAM}pt")}
    below = _find_children(root)
    begin = [key for key, point in points.items() if point.get("type") == "doc"]
    waiting = [(-1, key) for key in begin]

    while waiting:
        level, key = waiting.pop()
        point = points.pop(key, None)  # once, even where lines lead round in a circle
        if point is None:
            continue
        if text := _text(point):
            yield max(level, 0), text
        waiting += [(level + 1, child) for child in reversed(below[key])]


def _find_children(root: Any) -> dict[str, list[str]]:
    """Return the points below each point, in order."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for line in root.iter(f"{_DIAGRAM}cxn"):
        if line.get("type", "parOf") == "parOf":
            place = read_number(line.get("srcOrd"), 0)
            found[line.get("srcId", "")].append((place, line.get("destId", "")))

    children: dict[str, list[str]] = defaultdict(list)
    for key, lines in found.items():
        children[key] = [child for _, child in sorted(lines)]
    return children


def _text(point: Any) -> str:
    """Return the words of a point on one line."""
    paragraphs = (
        "".join(text.text or "" for text in paragraph.iter(f"{_DRAWING}t"))
        for paragraph in point.iter(f"{_DRAWING}p")
    )
    return " ".join(" ".join(paragraphs).split())
