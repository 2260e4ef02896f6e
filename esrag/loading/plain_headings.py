"""The headings of plain text.

These are underlined, numbered, in capitals, above an indented text, or questions.

Text has no marks for them, so a heading has to stand alone, be short, and look like a title.
"""

import re
from collections.abc import Iterator, Sequence

from esrag.loading.layout import Line, find_indent, join_lines, split_lines
from esrag.loading.numbered_headings import Placed, find_numbered, place_lines
from esrag.loading.plain_titles import BEGINS, CAPITALS, GAP, is_title
from esrag.loading.rst import headings as underlined
from esrag.text import ASKED

MAX_INDENT = 8
MAX_ASKED_LINES = 4
ASKED_LEVEL = 9  # below all others

# In a first line, for an editor: then lines of stars begin a heading, "** Lids".
_OUTLINE = re.compile(r"[^\n]{0,200}-\*- (?:mode: ?)?(?:org|outline)\b")
_STARS = re.compile(r"(\*{1,8}) {1,4}(\S.*)")

# What a line ends with that goes on in the text below it: "The values are", an example or a list.
_GOES_ON = re.compile(
    r".*\b(?:an?|and|are|by|do|from|has|have|if|is|may|must|of|or|shall|should|such as|that|the|via"
    r"|was|were|where|will|with)"
)

Heading = tuple[int, int, str]  # start, level, title


def find_headings(text: str) -> list[Heading]:
    r"""Return the headings of a text in order, as (start, level, title).

    >>> find_headings("1. PIE     for four\n2 eggs, flour\n\n2. TEA\nleaves, water")
    [(0, 1, '1. PIE'), (35, 1, '2. TEA')]
    >>> find_headings("1. Keys\n\n   A key opens.\n\n  1.1. Sizes\n\n   Any.\n\nNOTES\n\nNone.")
    [(0, 1, '1. Keys'), (26, 2, '1.1. Sizes'), (49, 1, 'NOTES')]
    >>> find_headings("NEWS  -*- outline -*-\n\n* 1.2\n\n** Lids\n\n** They shut.")
    [(23, 1, '1.2'), (30, 2, 'Lids')]
    """
    lines = split_lines(text)
    placed = list(place_lines(lines))
    asked = dict(_iter_asked(lines))
    places = {start: number for number, (start, _) in enumerate(lines)}
    found = {
        start: (level, title.strip(" |"))
        for start, level, title in underlined(lines)
        if not _has_columns(lines[places[start] : places[start] + 2])
    }
    outlined = dict(_iter_outlined(placed)) if _OUTLINE.match(text) else {}
    numbered = find_numbered(placed)
    plain = _rank_indents([each for each in placed if _is_plain_heading(each)])

    for marks in (outlined, numbered, plain, asked):
        for start, mark in marks.items():
            found.setdefault(start, mark)
    return [(start, *found[start]) for start in sorted(found)]


def _has_columns(lines: Sequence[Line]) -> bool:
    """Return whether one of the lines has columns: the header of a table is no heading."""
    return any(GAP.search(line.strip(" |")) for _, line in lines)


def _iter_outlined(placed: Sequence[Placed]) -> Iterator[tuple[int, tuple[int, str]]]:
    """Yield the lines that begin with stars, with their marks; others are items."""
    for line in placed:
        found = _STARS.fullmatch(line.text) if line.is_before_blank and not line.indent else None
        if found and not line.text.endswith("."):
            yield line.start, (len(found[1]), join_lines(found[2]))


def _is_plain_heading(line: Placed) -> bool:
    """Return whether a line without a number is a heading: in capitals, or above indented text."""
    is_apart = line.is_after_blank and line.indent <= MAX_INDENT
    if not (is_apart and BEGINS.match(line.text) and is_title(line.text)):
        return False
    if CAPITALS.fullmatch(line.text):
        return line.is_before_blank or line.is_above_text
    return line.is_before_blank and line.is_above_text and not _GOES_ON.fullmatch(line.text)


def _rank_indents(headings: Sequence[Placed]) -> dict[int, tuple[int, str]]:
    """Return headings with levels by their indent: 1 for none."""
    indents = sorted({each.indent for each in headings} | {0})
    return {
        each.start: (indents.index(each.indent) + 1, join_lines(each.text)) for each in headings
    }


def _iter_asked(lines: Sequence[Line]) -> Iterator[tuple[int, tuple[int, str]]]:
    r"""Yield the questions that stand alone, with their marks.

    >>> dict(_iter_asked(split_lines("Q: Is it\n   a key?\n\nA: No.")))
    {0: (9, 'Is it a key?')}
    """
    for number, (start, line) in enumerate(lines):
        mark = ASKED.match(line.lstrip())
        if not mark:
            continue
        block: list[str] = []
        for _, each in lines[number : number + MAX_ASKED_LINES]:
            if not each.strip():
                break
            block.append(each)
        title = join_lines(" ".join(block))[mark.end() :]
        if title.endswith("?"):
            yield start + find_indent(line), (ASKED_LEVEL, title)
