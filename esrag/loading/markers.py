"""Marks of items in a PDF that its text has on lines of their own, such as behind the list."""

import re
from collections.abc import Sequence

from esrag.loading.placed import Marks, Piece
from esrag.text import MARKS

MAX_APART = 4.0  # heights of a letter of the item, from the mark to it
_MARK = re.compile(rf"[-—{MARKS}]|\(?(?:\d{{1,2}}|[a-z]|[ivx]{{1,5}})[.)]|\([A-Za-z]\)")


def find_markers(text: str, lines: Sequence[Sequence[Piece]]) -> Marks:
    """Return what moves each mark on a line of its own before the line that it stands beside."""
    marks = [
        (number, line[0])
        for number, line in enumerate(lines)
        if len(line) == 1 and _MARK.fullmatch(text, line[0].start, line[0].end)
    ]
    found: Marks = {}
    for number, mark in marks:
        item = _find_item(mark, number, lines) if len(marks) < len(lines) else None
        if item and item.start not in found:
            said = text[mark.start : mark.end]
            found[item.start] = (item.start, f"{said} ")
            found[mark.start] = (mark.end, "")
    return found


def _find_item(mark: Piece, number: int, lines: Sequence[Sequence[Piece]]) -> Piece | None:
    """Return the first word of the nearest line to the right of a mark at its height."""
    middle = (mark.bottom + mark.top) / 2
    beside = [
        line[0]
        for place, line in enumerate(lines)
        if line
        and place != number
        and line[0].bottom - 1 < middle < line[0].top + 1
        and 0 <= line[0].left - mark.right < MAX_APART * (line[0].top - line[0].bottom)
    ]
    return min(beside, key=lambda word: (word.left, word.start), default=None)
