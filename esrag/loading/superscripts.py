"""Superscripts: a power, a footnote mark or an ordinal ending, recognised by the text before it."""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any

_LAST_WORD = re.compile(r"(?<!\w)\w*+\Z")
_POWER = re.compile(r"[-+−]?\w{1,20}")
_ENDING = re.compile("st|nd|rd|th|er|re|ère|nde|ème", re.IGNORECASE)
_SIGNS = "™®©℠"
_UNIT_LETTERS = (
    2  # of a unit or a variable, which is raised to a power; a longer word has a footnote
)
_LINE_CHARACTERS = 40  # looked at of what stands before
_LINE_PIECES = 5
_INLINE = re.compile(
    "a|abbr|b|bdi|big|cite|code|em|font|i|kbd|mark|q|r|s|samp|small|span|strong|sub|tt|u|var"
)


def choose_joint(before: str, mark: str, *, is_link: bool = False) -> str:
    """Return what separates a text from what is raised behind it, so that two words stay two.

    >>> choose_joint("10", "2"), choose_joint("9 m", "2")
    ('^', '^')
    >>> choose_joint("the system", "1"), choose_joint("the 19", "th")
    (' ', '')
    >>> choose_joint("", "1")
    ''
    """
    is_apart = not before or before[-1].isspace() or not mark.strip() or mark[0].isspace()
    if is_apart or mark.strip() in _SIGNS:
        return ""

    word = _LAST_WORD.search(before[-_LINE_CHARACTERS:].rstrip(")"))
    letters = word[0] if word else ""
    if letters[-1:].isdigit() and _ENDING.fullmatch(mark.strip()):
        return ""
    is_base = before.endswith(")") or letters[-1:].isdigit() or 0 < len(letters) <= _UNIT_LETTERS
    return "^" if is_base and not is_link and _POWER.fullmatch(mark.strip()) else " "


def separate_raised(elements: Iterable[Any]) -> None:
    """Put what belongs there before each of the elements, which are raised."""
    raised = list(elements)  # references are kept, since lxml would recreate the others
    known = set(raised)
    joints = [(element, _joint(element, known)) for element in raised]
    for element, between in joints:
        place = next(element.iter("{*}t"), element)  # a run's text is in an element of its own
        place.text = between + (place.text or "")


def _joint(element: Any, raised: AbstractSet[Any]) -> str:
    is_link = next(element.iter("a"), None) is not None
    return choose_joint(_before(element, raised), _text(element), is_link=is_link)


def _before(element: Any, raised: AbstractSet[Any]) -> str:
    """Return the end of the text that stands before an element on the same line."""
    pieces: list[str] = []
    for piece in _pieces_before(element, raised):
        pieces.insert(0, piece[-_LINE_CHARACTERS:])
        if len(pieces) == _LINE_PIECES or any(map(str.isspace, piece)):
            break
    return "".join(pieces)


def _pieces_before(element: Any, raised: AbstractSet[Any]) -> Iterator[str]:
    """Yield the text before an element, nearest first; nothing if it continues a superscript."""
    for sibling in element.itersiblings(preceding=True):
        yield sibling.tail or ""
        if isinstance(sibling.tag, str):
            if sibling in raised or not _INLINE.fullmatch(sibling.tag.rpartition("}")[2]):
                return
            yield _text(sibling)

    parent = element.getparent()
    if parent is not None:
        yield parent.text or ""


def _text(element: Any) -> str:
    """Return an element's words.

    Some elements of python-docx have a `text` of their own, which would count twice.
    """
    from lxml import etree  # type: ignore[import-untyped]

    return str(etree.tostring(element, method="text", encoding="unicode", with_tail=False))
