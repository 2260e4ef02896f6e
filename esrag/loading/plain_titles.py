"""The title of a plain text, and what reads as a title in it."""

import re
from collections.abc import Sequence

from esrag.loading.layout import find_indent, join_lines

MAX_TITLE, MAX_WORDS = 90, 14  # of a heading
MAX_HEAD, MAX_TITLE_BLOCK = 5_000, 3  # characters and blocks in which a title is looked for
CENTRED = 8  # least indent
MIDDLE = 36  # of lines of 72 characters
OFF_MIDDLE = 2  # characters between the middles of centred lines
MAX_TITLE_LINES = 3
MAX_SMALL = 4  # letters of a word without a capital in a title: "with"

BEGINS = re.compile(r"[^\W\d_a-z]|[\"“(]")  # a title
CAPITALS = re.compile(r"(?:[^\W_a-z]|[ ,.'’&():–-])+")
GAP = re.compile(r"\s{3,}|\.{4}|(?:\. ){3}|\|")  # of columns, or dots that lead to a page
_TITLE = re.compile(r".*[^\W_][\"”’)]*(?:\?!?[\"”’)]*)?")  # it ends no sentence, unless it asks
_BLANK = re.compile(r"\n(?:[^\S\n]*\n)+")
_RULE = re.compile(r"[\W_]*")
_ADDRESS = re.compile(r"\s*\w{3,8}://\S+\s*")
_GOES_ON = ",:;-–—/"  # at the end of a line of a title, except the last
_HAS_CAPITAL = re.compile(r"\S{0,20}?[^\W\d_a-z]")  # in its first word: "iCalendar", "0-RTT"
_WORD = re.compile(r"[^\W\d_]{3}")


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
        is_placed = are_centred(shown, int(number == 0)) or (number == 0 and len(shown) == 1)
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
    if not 0 < len(lines) <= MAX_TITLE_LINES or not begins_title(lines[0]):
        return False
    *first, last = lines
    is_short = all(_is_short(line.rstrip(_GOES_ON)) for line in first) and _is_short(last)
    return is_short and _has_letters(" ".join(lines))


def are_centred(lines: Sequence[str], least: int = 1) -> bool:
    """Return whether lines are indented far, or have the middle of a memo's page as theirs.

    These are indented by `least` or more: 0 if one may be as wide as the page.

    >>> are_centred([" " * 9 + "Of Kettles"]), are_centred(["  Of Kettles", "  and Pans"])
    (True, False)
    >>> are_centred([" " * 5 + "The Care of Kettles and Pans in Small Vessels Under Sail"])
    False
    >>> are_centred([" " * 5 + "The Care of Kettles and Pans in Small Vessels Under Way at Sea"])
    True
    """
    indents = [*map(find_indent, lines)]
    middles = [
        (indent + len(line.rstrip())) / 2 for indent, line in zip(indents, lines, strict=True)
    ]
    if any(abs(middle - middles[0]) > OFF_MIDDLE for middle in middles):
        return False
    is_middle = all(abs(middle - MIDDLE) <= 1 for middle in middles)
    return min(indents, default=0) >= (least if is_middle else CENTRED)


def begins_title(text: str) -> bool:
    """Return whether the first word of a text has a capital, or a quote before it.

    >>> [begins_title(each) for each in ("iCalendar objects", "0-RTT data", "eggs", "2 Eggs")]
    [True, True, False, False]
    """
    return bool(BEGINS.match(text) or _HAS_CAPITAL.match(text))


def is_loud(title: str) -> bool:
    """Return whether a title is in capitals, and has a word.

    >>> is_loud("FISH PIE"), is_loud("Fish PIE"), is_loud("A4")
    (True, False, False)
    """
    return bool(CAPITALS.fullmatch(title) and _WORD.search(title)) and is_title(title)


def is_title(text: str) -> bool:
    """Return whether a line reads as a title.

    >>> [is_title(each) for each in ("How do I?", "A key opens it.", "Name     Size", "a lid")]
    [True, False, False, True]
    """
    return _is_short(text) and _has_letters(text)


def ends_title(text: str) -> bool:
    """Return whether a text ends no sentence, unless it asks.

    >>> ends_title("Keys (new)"), ends_title("Is it?!"), ends_title("It is."), ends_title("It is!")
    (True, True, False, False)
    """
    return bool(_TITLE.fullmatch(text))


def has_title_case(text: str) -> bool:
    """Return whether the words of a text have capitals, except short ones.

    >>> has_title_case("Care of Old Kettles."), has_title_case("Clean the old kettle.")
    (True, False)
    """
    words = [word.strip("\"“”'()[].,:;") for word in text.split()]
    return len(words) <= MAX_WORDS and all(
        len(word) <= MAX_SMALL or not word[0].islower() for word in words
    )


def _is_short(text: str) -> bool:
    return (
        len(text) <= MAX_TITLE
        and len(text.split()) <= MAX_WORDS
        and bool(_TITLE.fullmatch(text))
        and not GAP.search(text)
    )


def _has_letters(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= len(text) / 2
