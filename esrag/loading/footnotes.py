"""Footnotes of Markdown: a note stands below the section that first refers to it."""

import re
from collections.abc import Sequence

from esrag.loading.markdown_lines import Line, find_headings

_MAX_NOTES = 10_000
_NOTE = re.compile(r" {0,3}\[\^([^\[\]\s^]{1,60})\]:[ \t]{0,9}(.*)")
_CODE_OR_MARK = re.compile(r"`[^`]{1,400}`|\s?\[\^([^\[\]\s^]{1,60})\](?!:)")


def place_footnotes(lines: Sequence[Line]) -> str:
    r"""Return the text without the marks of footnotes, these below the sections with the marks.

    Notes that nothing refers to stand at the end. A mark without a note stays.

    >>> from esrag.loading.markdown_lines import iter_lines
    >>> body = "# Fees\nEntry is 5 €.[^1]\n\nHours\n-----\n9 to 5.\n[^1]: Children 3 €."
    >>> print(place_footnotes([*iter_lines(body)]))
    # Fees
    Entry is 5 €.
    <BLANKLINE>
    <BLANKLINE>
    Children 3 €.
    <BLANKLINE>
    Hours
    -----
    9 to 5.
    """
    lines, notes = _take_notes(lines)
    if not notes:
        return "\n".join(line for _, line, _ in lines)

    kept: list[str] = []
    referred: dict[str, None] = {}  # by the section so far, in order

    def refer(found: re.Match[str]) -> str:
        if found[1] is None or found[1] not in known:
            return found[0]
        referred[found[1]] = None
        return ""

    known = frozenset(notes)
    heads = {start for start, _, _ in find_headings(lines)}
    for start, line, is_code in lines:
        if start in heads:
            kept += _write(notes, referred)
        kept.append(line if is_code or "[^" not in line else _CODE_OR_MARK.sub(refer, line))
    kept += _write(notes, referred)
    return "\n".join([*kept, *_write(notes, dict.fromkeys(notes))])


def _take_notes(lines: Sequence[Line]) -> tuple[list[Line], dict[str, list[str]]]:
    """Return the lines without the notes, and the lines of each note by its mark."""
    kept: list[Line] = []
    notes: dict[str, list[str]] = {}
    note: list[str] | None = None
    for one in lines:
        _, line, is_code = one
        found = None if is_code else _NOTE.fullmatch(line)
        if found and found[1] not in notes and len(notes) < _MAX_NOTES:
            note = notes[found[1]] = [found[2]]
        elif note is not None and not is_code and line.strip() and line.startswith(("  ", "\t")):
            note.append(line.strip())
        else:
            note = None
            kept.append(one)
    return kept, notes


def _write(notes: dict[str, list[str]], referred: dict[str, None]) -> list[str]:
    """Return the notes referred to that stand nowhere yet, and forget them."""
    found = [notes.pop(mark) for mark in referred if mark in notes]
    referred.clear()
    return [line for note in found for line in ("", *note, "")]
