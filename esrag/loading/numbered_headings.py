"""Headings of a plain text that have the number of their section."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.loading.layout import Line, find_indent, join_lines
from esrag.loading.plain_titles import (
    are_centred,
    begins_title,
    ends_title,
    has_title_case,
    is_loud,
    is_title,
)

MAX_INDENT = 4  # of a heading below the first level
MAX_STOPPED_INDENT = 3  # of one with a full stop
MAX_LINES, MAX_WRAPPED = 3, 200  # lines of a heading, and its characters
MIN_FULL = 50  # characters of a line that goes on at the margin

_NUMBERED = re.compile(
    r"(?P<number>\d{1,3}(?:\.\d{1,3}){0,5}|[A-Z](?:\.\d{1,3}){1,4}"
    r"|(?P<part>Annexe?|Anhang|Appendix|Chapter|Chapitre|Kapitel)\s(?:[A-Z]|\d{1,3}))[.:]?\s{1,4}"
    r"(?P<title>.+)"
)
_ITEM = re.compile(r"\d{1,3}[.)]\s")
_REMARK = re.compile(r"\s{3,}(?=\S)|\s{1,2}(?=\()")

Mark = tuple[int, str]  # level, title


@dataclass(frozen=True, slots=True)
class Placed:
    """A line that is not blank, with its neighbours: whether they are blank, and what follows."""

    start: int
    text: str
    indent: int
    is_after_blank: bool
    is_before_blank: bool
    indent_below: int
    rest: tuple[str, ...]  # the lines up to the next blank one, as far as a heading may go on

    @property
    def is_above_text(self) -> bool:
        """Return whether the text below is indented further."""
        return self.indent < self.indent_below


def find_numbered(placed: Sequence[Placed]) -> dict[int, Mark]:
    """Return the headings with numbers among the lines, which come from the last to the first.

    A text that is indented as a whole has its margin there.
    """
    margin = min((line.indent for line in placed), default=0)
    return _drop_items(placed, {line.start: _read_number(line, margin) for line in placed})


def place_lines(lines: Sequence[Line]) -> Iterator[Placed]:
    """Yield the lines that are not blank, from the last to the first."""
    indent_below, is_blank_below = 0, True
    rest: tuple[str, ...] = ()
    for number in range(len(lines) - 1, -1, -1):
        start, line = lines[number]
        bare = line.strip()
        if bare:
            indent = find_indent(line)
            yield Placed(
                start=start,
                text=bare,
                indent=indent,
                is_after_blank=number == 0 or not lines[number - 1][1].strip(),
                is_before_blank=is_blank_below,
                indent_below=indent_below,
                rest=rest,
            )
            indent_below = indent
        rest = (line, *rest)[:MAX_LINES] if bare else ()
        is_blank_below = not bare


def _read_number(line: Placed, margin: int) -> Mark | None:
    """Return the level and title of a line with the number of a section; None for any other.

    In capitals it may be right above its text, and have a remark behind it.
    """
    if not line.is_after_blank:
        return None
    bare = _REMARK.split(line.text, maxsplit=1)[0]
    loud = _NUMBERED.fullmatch(bare)
    if loud and is_loud(loud["title"]) and (line.indent == 0 or _is_centred(line, loud["title"])):
        return loud["number"].count(".") + 1, join_lines(bare)

    found = _NUMBERED.fullmatch(line.text)
    if not found:
        return None
    level = found["number"].count(".") + 1
    if line.is_before_blank:
        is_heading = _is_heading(line, found, margin)
    else:
        is_heading = line.indent == margin and _is_wrapped(line, found)
    whole = join_lines(" ".join((line.text, *line.rest)))
    return (level, whole.removesuffix(".")) if is_heading else None


def _is_centred(line: Placed, title: str) -> bool:
    is_apart = line.is_before_blank and begins_title(title)
    return is_apart and are_centred([" " * line.indent + line.text])


def _is_heading(line: Placed, found: re.Match[str], margin: int) -> bool:
    """Return whether a line that stands alone is a heading, given what its number is.

    With a full stop, it is in title case, and its text is not indented further.
    """
    title = found["title"]
    is_stopped = _is_stopped(title) and not line.is_above_text
    if not is_title(title.removesuffix(".") if is_stopped else title):
        return False
    if "." in found["number"]:
        return line.indent <= margin + MAX_INDENT
    most = MAX_STOPPED_INDENT if is_stopped else 1
    return line.indent <= margin + most and (begins_title(title) or title.endswith("?"))


def _is_stopped(title: str) -> bool:
    """Return whether a title in title case has one full stop, at its end.

    >>> [_is_stopped(each) for each in ("Old Pans.", "Clean kettles.", "[1] Ann. Of Pans.")]
    [True, False, False]
    """
    return title.endswith(".") and ". " not in title and has_title_case(title)


def _is_wrapped(line: Placed, found: re.Match[str]) -> bool:
    r"""Return whether a block of two or three lines is a heading: further ones stand below it.

    >>> lines = ["2.1. Of kettles and", "     pans", "", "2. Clean the", "   kettle"]
    >>> placed = [each for each in place_lines(list(enumerate(lines))) if each.text[0] == "2"]
    >>> [_is_wrapped(each, _NUMBERED.fullmatch(each.text)) for each in placed]
    [False, True]
    """
    title = " ".join((found["title"], *map(str.strip, line.rest)))
    if len(line.rest) >= MAX_LINES or len(title) > MAX_WRAPPED or not ends_title(title):
        return False
    if any(_NUMBERED.match(each.lstrip()) for each in line.rest):
        return False
    indents = {*map(find_indent, line.rest)}
    is_hanging = indents == {line.indent + found.start("title")}
    is_full = indents == {line.indent} and len(line.text) >= MIN_FULL
    is_own = "." in found["number"] or found["part"] or title.endswith("?")
    is_named = begins_title(title) and bool(is_own or has_title_case(title))
    return (is_hanging or is_full) and is_named


def _drop_items(placed: Sequence[Placed], read: dict[int, Mark | None]) -> dict[int, Mark]:
    """Return the numbered lines except those right before another of their level: mere items.

    The last item of such a list is left out, too. The lines come from the last to the first.
    """
    kept: dict[int, Mark] = {}
    below: Mark | None = None
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
