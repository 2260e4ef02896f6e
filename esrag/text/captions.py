"""Captions: what the text above a table says about all of its rows."""

import re
from collections.abc import Sequence

from esrag.text import ITEM, sentence_spans
from esrag.text.terms import is_year

MAX_TITLE = 120  # characters of a line that can be a table's title
MAX_INTRODUCTION = 300  # characters of a sentence that introduces a table
MAX_TITLES = 2  # above the last one

CAPTION = re.compile(r"(?:Table|Tab\.)\s+[\w.-]+")
_INTRODUCES = re.compile(r"\b(?:tables?|following|follows|below)\b", re.IGNORECASE)
_HEADING_MARKS = re.compile(r"#{1,6}\s+")
_LINK_MARKS = re.compile(r"\[|\]\([^()\s]{0,200}\)")
_LONG, _HEADING_SHARE = 4, 0.5  # letters; share of the long words that begin with a capital
_EMPHASIS = "*_ "
_ENDS = ".:;"


def read_caption(spans: Sequence[str]) -> str:
    """Return the caption of a table below these sentences and titles, else "".

    >>> read_caption(["It boils.", "Balance sheets", "In 2021, assets were as follows:"])
    'Balance sheets: In 2021, assets were as follows'
    >>> read_caption(["Kettles", "All of them are red."])
    ''
    """
    found: list[str] = []
    for span in reversed(spans):
        text = _last_sentence(span)
        if text.isdecimal() and not is_year(text):  # a page number
            continue
        if not _belongs(text, is_last=not found):
            break
        found.insert(0, to_title(text))
        if len(found) > MAX_TITLES or CAPTION.match(text):
            break
        if sum(map(len, found)) > MAX_TITLE:
            break
    return ": ".join(dict.fromkeys(found))


def is_title(text: str) -> bool:
    """Return whether a span may be a title: a line of words, but not a sentence or a list item."""
    return (
        len(text) <= MAX_TITLE
        and "\n" not in text
        and "|" not in text
        and text[-1:] not in set(".!?;,")
        and (any(map(str.isalpha, text)) or is_year(text))
        and not ITEM.match(text)
    )


def to_title(text: str) -> str:
    """Return a title without its marks and the colon at its end."""
    text = _LINK_MARKS.sub("", _HEADING_MARKS.sub("", text, count=1))
    return text.strip(_EMPHASIS).rstrip(_ENDS).strip(_EMPHASIS)


def _belongs(text: str, *, is_last: bool) -> bool:
    """Return whether a span is part of a caption; above its last span only headings are."""
    if is_last:
        return is_title(text) or _introduces(text)
    words = [word for word in text.split() if len(word) >= _LONG]
    capitals = sum(not word[:1].islower() for word in words)
    return is_title(text) and capitals >= _HEADING_SHARE * len(words)


def _introduces(text: str) -> bool:
    """Return whether a sentence introduces what is below it."""
    if len(text) > MAX_INTRODUCTION or "|" in text:
        return False
    return text.endswith(":") or bool(CAPTION.match(text) or _INTRODUCES.search(text))


def _last_sentence(span: str) -> str:
    """Return the last sentence of a span on one line; "" if the span is long."""
    end = span[-2 * MAX_INTRODUCTION :].strip()
    start, stop = (sentence_spans(end) or [(0, 0)])[-1]
    return " ".join(end[start:stop].split())
