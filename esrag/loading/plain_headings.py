"""The title of plain text, and its headings.

These are underlined, numbered, in capitals, above an indented text, or questions.

Text has no marks for them, so a heading has to stand alone, be short, and look like a title.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.loading.layout import Line, join_lines, split_lines
from esrag.loading.rst import headings as underlined
from esrag.text import ASKED

MAX_TITLE, MAX_WORDS = 90, 14  # of a heading
MAX_INDENT, MAX_NUMBERED_INDENT = 8, 4
MAX_ASKED_LINES = 4
MAX_HEAD, MAX_TITLE_BLOCK = 5_000, 3  # characters and blocks in which a title is looked for
CENTRED = 8  # least indent
MIDDLE = 36  # of lines of 72 characters
OFF_MIDDLE = 2  # characters between the middles of centred lines
MAX_TITLE_LINES = 3
ASKED_LEVEL = 9  # below all others

_NUMBERED = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,4}|Appendix [A-Z])\.?\s{1,4}"
    r"(?P<title>.+)"
)
_ITEM = re.compile(r"\d{1,3}[.)]\s")
_TITLE = re.compile(r".*[^\W_][\"”)?]*")  # it ends no sentence, unless it asks
_BLANK = re.compile(r"\n(?:[^\S\n]*\n)+")
_RULE = re.compile(r"[\W_]*")
_ADDRESS = re.compile(r"\s*\w{3,8}://\S+\s*")
_GOES_ON = ",:;-–—/"  # at the end of a line of a title, except the last
_BEGINS = re.compile(r"[^\W\d_a-z]|[\"“(]")  # a title
_HAS_CAPITAL = re.compile(r"\S{0,20}?[^\W\d_a-z]")  # in its first word: "iCalendar", "0-RTT"
_CAPITALS = re.compile(r"(?:[^\W_a-z]|[ ,.'’&():–-])+")
_REMARK = re.compile(r"\s{3,}(?=\S)|\s{1,2}(?=\()")
_WORD = re.compile(r"[^\W\d_]{3}")
_GAP = re.compile(r"\s{3,}|\.{4}|(?:\. ){3}|\|")  # of columns, or dots that lead to a page

Heading = tuple[int, int, str]  # start, level, title


@dataclass(frozen=True, slots=True)
class _Placed:
    """A line that is not blank, with its neighbours: whether they are blank, and what follows."""

    start: int
    text: str
    indent: int
    is_after_blank: bool
    is_before_blank: bool
    indent_below: int

    @property
    def is_above_text(self) -> bool:
        """Return whether the text below is indented further."""
        return self.indent < self.indent_below


def find_headings(text: str) -> list[Heading]:
    r"""Return the headings of a text in order, as (start, level, title).

    >>> find_headings("1. PIE     for four\n2 eggs, flour\n\n2. TEA\nleaves, water")
    [(0, 1, '1. PIE'), (35, 1, '2. TEA')]
    >>> find_headings("1. Keys\n\n   A key opens.\n\n  1.1. Sizes\n\n   Any.\n\nNOTES\n\nNone.")
    [(0, 1, '1. Keys'), (26, 2, '1.1. Sizes'), (49, 1, 'NOTES')]
    """
    lines = split_lines(text)
    placed = list(_place(lines))
    asked = dict(_iter_asked(lines))
    places = {start: number for number, (start, _) in enumerate(lines)}
    found = {
        start: (level, title.strip(" |"))
        for start, level, title in underlined(lines)
        if not _has_columns(lines[places[start] : places[start] + 2])
    }
    numbered = _drop_items(placed, {each.start: _read_number(each) for each in placed})
    plain = _rank_indents([each for each in placed if _is_plain_heading(each)])

    for marks in (numbered, plain, asked):
        for start, mark in marks.items():
            found.setdefault(start, mark)
    return [(start, *found[start]) for start in sorted(found)]


def find_title(text: str) -> str:
    r"""Return the title of a text, "" without one: its first line if that stands alone.

    Or the first centred lines above the text, as in a memo with names and a date at the top.

    >>> find_title("To: all\nFrom: me\n\n             Of Kettles\n\nThey boil.")
    'Of Kettles'
    >>> find_title("Kettles\n=======\n\nThey boil."), find_title("They boil.\n\nAlways.")
    ('Kettles', '')
    >>> find_title("To: all\nFrom: me\n\n        Of 3 Kettles:\n          Oil, 2026\n\nThey.")
    'Of 3 Kettles: Oil, 2026'
    """
    blocks = [block for block in _BLANK.split(text[:MAX_HEAD].expandtabs()) if block.strip()]
    for number, block in enumerate(blocks[:MAX_TITLE_BLOCK]):
        shown = [line for line in block.split("\n") if not _is_beside_title(line)]
        lines = [line.strip(" |") for line in shown]
        is_placed = _are_centred(shown, int(number == 0)) or (number == 0 and len(shown) == 1)
        if is_placed and _are_title(lines):
            return join_lines(" ".join(lines))
    return ""


def _is_beside_title(line: str) -> bool:
    """Return whether a line has no words, or is only an address of a page."""
    return bool(_RULE.fullmatch(line) or _ADDRESS.fullmatch(line))


def _are_title(lines: Sequence[str]) -> bool:
    """Return whether a few lines read as one title.

    >>> _are_title(["Care of Kettles (CK):", "3 of 1984"]), _are_title(["Care of Kettles (CK):"])
    (True, False)
    """
    if not 0 < len(lines) <= MAX_TITLE_LINES or not _begins_title(lines[0]):
        return False
    *first, last = lines
    is_short = all(_is_short(line.rstrip(_GOES_ON)) for line in first) and _is_short(last)
    return is_short and _has_letters(" ".join(lines))


def _are_centred(lines: Sequence[str], least: int = 1) -> bool:
    """Return whether lines are indented far, or have the middle of a memo's page as theirs.

    These are indented by `least` or more: 0 if one may be as wide as the page.

    >>> _are_centred([" " * 9 + "Of Kettles"]), _are_centred(["  Of Kettles", "  and Pans"])
    (True, False)
    >>> _are_centred([" " * 5 + "The Care of Kettles and Pans in Small Vessels Under Sail"])
    False
    >>> _are_centred([" " * 5 + "The Care of Kettles and Pans in Small Vessels Under Way at Sea"])
    True
    """
    indents = [len(line) - len(line.lstrip()) for line in lines]
    middles = [
        (indent + len(line.rstrip())) / 2 for indent, line in zip(indents, lines, strict=True)
    ]
    if any(abs(middle - middles[0]) > OFF_MIDDLE for middle in middles):
        return False
    is_middle = all(abs(middle - MIDDLE) <= 1 for middle in middles)
    return min(indents, default=0) >= (least if is_middle else CENTRED)


def _has_columns(lines: Sequence[Line]) -> bool:
    """Return whether one of the lines has columns: the header of a table is no heading."""
    return any(_GAP.search(line.strip(" |")) for _, line in lines)


def _place(lines: Sequence[Line]) -> Iterator[_Placed]:
    """Yield the lines that are not blank, from the last to the first."""
    indent_below, is_blank_below = 0, True
    for number in range(len(lines) - 1, -1, -1):
        start, line = lines[number]
        bare = line.strip()
        if bare:
            indent = len(line) - len(line.lstrip())
            yield _Placed(
                start=start,
                text=bare,
                indent=indent,
                is_after_blank=number == 0 or not lines[number - 1][1].strip(),
                is_before_blank=is_blank_below,
                indent_below=indent_below,
            )
            indent_below = indent
        is_blank_below = not bare


def _read_number(line: _Placed) -> tuple[int, str] | None:
    """Return the level and title of a line with the number of a section; None for any other.

    In capitals it may be right above its text, and have a remark behind it.
    """
    bare = _REMARK.split(line.text, maxsplit=1)[0]
    loud = _NUMBERED.fullmatch(bare)
    if line.is_after_blank and line.indent == 0 and loud and _is_loud(loud["title"]):
        return loud["number"].count(".") + 1, join_lines(bare)
    found = _NUMBERED.fullmatch(line.text)
    if not (found and line.is_after_blank and line.is_before_blank and _is_title(found["title"])):
        return None
    level = found["number"].count(".") + 1
    if level == 1 and not (_begins_title(found["title"]) or line.text.endswith("?")):
        return None
    most = 1 if level == 1 else MAX_NUMBERED_INDENT
    return (level, join_lines(line.text)) if line.indent <= most else None


def _begins_title(text: str) -> bool:
    """Return whether the first word of a text has a capital, or a quote before it.

    >>> [_begins_title(each) for each in ("iCalendar objects", "0-RTT data", "eggs", "2 Eggs")]
    [True, True, False, False]
    """
    return bool(_BEGINS.match(text) or _HAS_CAPITAL.match(text))


def _is_loud(title: str) -> bool:
    """Return whether a title is in capitals, and has a word.

    >>> _is_loud("FISH PIE"), _is_loud("Fish PIE"), _is_loud("A4")
    (True, False, False)
    """
    return bool(_CAPITALS.fullmatch(title) and _WORD.search(title)) and _is_title(title)


def _drop_items(
    placed: Sequence[_Placed], read: dict[int, tuple[int, str] | None]
) -> dict[int, tuple[int, str]]:
    """Return the numbered lines except those right before another of their level: mere items.

    The last item of such a list is none either. The lines come from the last to the first.
    """
    kept: dict[int, tuple[int, str]] = {}
    below: tuple[int, str] | None = None
    last, text_below = -1, ""
    for line in placed:
        own = read[line.start]
        if own and not line.is_before_blank and _ITEM.match(text_below):
            own = None
        if own and below and own[0] == below[0]:
            kept.pop(last, None)
        elif own:
            kept[line.start] = own
        below, last, text_below = own, line.start, line.text
    return kept


def _is_plain_heading(line: _Placed) -> bool:
    """Return whether a line without a number is a heading: in capitals, or above indented text."""
    is_apart = line.is_after_blank and line.indent <= MAX_INDENT
    if not (is_apart and _BEGINS.match(line.text) and _is_title(line.text)):
        return False
    if _CAPITALS.fullmatch(line.text):
        return line.is_before_blank or line.is_above_text
    return line.is_before_blank and line.is_above_text


def _is_title(text: str) -> bool:
    """Return whether a line reads as a title.

    >>> [_is_title(each) for each in ("How do I?", "A key opens it.", "Name     Size", "a lid")]
    [True, False, False, True]
    """
    return _is_short(text) and _has_letters(text)


def _is_short(text: str) -> bool:
    return (
        len(text) <= MAX_TITLE
        and len(text.split()) <= MAX_WORDS
        and bool(_TITLE.fullmatch(text))
        and not _GAP.search(text)
    )


def _has_letters(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= len(text) / 2


def _rank_indents(headings: Sequence[_Placed]) -> dict[int, tuple[int, str]]:
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
            yield start + len(line) - len(line.lstrip()), (ASKED_LEVEL, title)
