"""Lines of Markdown: which of them are code, and which are headings."""

import re
from collections.abc import Iterator, Sequence

from esrag.loading.inline import without_entities
from esrag.loading.layout import join_lines

Line = tuple[int, str, bool]  # start, text, and whether it is code

_MAX_TITLE = 1000  # characters of a heading that are looked at; its text stays whole
ATX = re.compile(r" {0,3}(#{1,6})[ \t]++(.*)")
SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r"[ \t]{0,12}(`{3,}|~{3,})")  # indented below an item
_NO_PARAGRAPH = re.compile(
    r"\s*$| {4,}|\t|\s*(?:[-*+>|#]|\d+[.)])(?:\s|$)"
)  # no setext heading under these lines


def iter_lines(text: str) -> Iterator[Line]:
    """Yield lines as (start, text, whether it belongs to a fenced block of code)."""
    start, fence = 0, ""
    for line in text.split("\n"):
        fence, is_code = read_fence(line, fence)
        yield start, line, is_code
        start += len(line) + 1


def read_fence(line: str, fence: str) -> tuple[str, bool]:
    """Return the fence that is open after a line, and whether the line is code."""
    mark = _FENCE.match(line)
    if not fence:
        return (mark[1], True) if mark else ("", False)
    closes = mark and mark[1].startswith(fence) and not line[mark.end() :].strip()
    return "" if closes else fence, True


def find_headings(lines: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """Yield ATX and setext headings outside code, as (start, level, title)."""
    before = (0, "", True)
    for start, line, code in lines:
        if code:
            before = (start, "", True)
            continue
        if (match := ATX.fullmatch(line)) and (title := _without_closing(match[2])):
            yield start, len(match[1]), read_title(title)
        elif (match := SETEXT.fullmatch(line)) and not _NO_PARAGRAPH.match(before[1]):
            yield before[0], 1 if match[1][0] == "=" else 2, read_title(before[1])
        before = (start, "" if match else line, False)


def _without_closing(title: str) -> str:
    """Return a title without the number signs that may close it."""
    title = title.rstrip(" \t")
    bare = title.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else title


def read_title(text: str) -> str:
    """Return a heading's words without the marks of links, code, emphasis and attributes.

    >>> read_title("1. The `k-NN` [index](index.md) {#knn}")
    '1. The k-NN index'
    """
    text = re.sub(r"\{ ?[:#.][^{}]*\}|<[^<>]*>", "", text[:_MAX_TITLE])
    text = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?", r"\1", text)
    return join_lines(without_entities(re.sub(r"`|\*\*|__", "", text)).strip("* "))
