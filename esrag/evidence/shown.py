"""What a sentence shows below its colon: a command, a setting, a few lines of code."""

import re

from esrag.text import ITEM
from esrag.text.lists import find_indent

MAX_SHOWN, MAX_LINES = 300, 6  # characters and lines of what is shown
_FENCED = re.compile(
    r"\s{0,80}?\n[^\S\n]{0,20}(```|~~~)[^\n`]{0,40}\n(.{1,400}?)\n[^\S\n]{0,20}\1", re.DOTALL
)
_PARAGRAPH = re.compile(
    r"[^\S\n]{0,40}\n(?:[^\S\n]{0,40}\n){1,3}((?:[^\n]{1,200}(?:\n(?=[^\S\n]*\S)|\Z|(?=\n))){1,7})"
)
_FENCE = re.compile(r"(?:```|~~~)[\w+-]{0,20}(?=\s|\Z)")
_COLONS = re.compile(r"::(?=\s|\Z)")  # of reStructuredText
_CODE = re.compile(r"[=<>{}()$\\/_]|\A--?\w")
_ENDS = re.compile(r"[.?!:;,]\s*\Z")


def find_end_of_shown(text: str, start: int, end: int) -> int:
    r"""Return where the code ends that a sentence shows; the end of the sentence if it shows none.

    Code is between fences, is indented further than the sentence, or is a line of its own with
    signs that words do not have.

    >>> text = "Set the size:\n\n    size = 5\n\nThen start it:\n\nStarting\n\nIt starts."
    >>> text[: find_end_of_shown(text, 0, 13)], find_end_of_shown(text, 29, 43) == 43
    ('Set the size:\n\n    size = 5', True)
    """
    if text[end - 1] != ":" or ITEM.match(text, start):
        return end
    if fenced := _FENCED.match(text, end):
        return fenced.end() if len(fenced[2]) <= MAX_SHOWN else end

    found = _PARAGRAPH.match(text, end)
    if not found:
        return end
    said, first = found[1].rstrip(), found.start(1)
    lines = said.split("\n")
    is_short = len(said) <= MAX_SHOWN and len(lines) <= MAX_LINES
    place = first + len(said) - len(said.lstrip())
    line = text[text.rfind("\n", 0, end) + 1 : end]
    is_deeper = find_indent(text, place) > len(line) - len(line.lstrip()) + 1
    is_line = len(lines) == 1 and bool(_CODE.search(said.strip())) and not _ENDS.search(said)
    is_plain = not ITEM.match(text, place) and "|" not in said
    return first + len(said) if is_short and is_plain and (is_deeper or is_line) else end


def drop_fences(text: str) -> str:
    r"""Return a text without the marks of code.

    >>> drop_fences("Start it::\n\n```bash\nrun\n```").split()
    ['Start', 'it:', 'run']
    """
    return _COLONS.sub(":", _FENCE.sub(" ", text))
