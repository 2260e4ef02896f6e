"""Links of a page to its own places: marks behind headings, and lists of all headings."""

import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from esrag.loading.plainer import HEADINGS

_LISTS = ("dl", "ol", "ul")
_TITLED = {"caption", "dt", *HEADINGS}
_MAX_AROUND = 3  # elements between a mark and its heading, or a list and what is above it
_MAX_LISTS = 50  # that may be contents
_MIN_LINKS = 3
_MAX_SIBLINGS = 3  # of a list in a box that is called contents
_MAX_TITLE = 40  # characters
_CONTENTS = re.compile(r"_?(?:short-?|sec_)?(?:table[-_]?of[-_]?)?contents(?:-heading)?|toc")
_TITLE = re.compile(
    r"(?:short )?(?:table of )?contents:?|index|(?:on|in) this (?:article|document|page)",
    re.IGNORECASE,
)


def remove_own_links(tree: Any) -> bool:
    """Remove marks such as "#" behind headings, and contents whose places are all on the page.

    Return whether there were some. The contents are known by their title, or by what the page
    calls them.

    >>> from lxml import html
    >>> page = html.fromstring("<div><h1 id='a'>Lids<a href='#a'>#</a></h1></div>")
    >>> remove_own_links(page), page.text_content()
    (True, 'Lids')
    """
    found = [*filter(_is_mark, tree.iter("a")), *_find_contents(tree)]
    for element in found:
        element.clear(keep_tail=True)
        element.tag = "span" if element.tag == "a" else "div"
    return bool(found)


def _is_mark(link: Any) -> bool:
    text = (link.text or "").strip()
    is_sign = len(text) == 1 and not text.isalnum() and not len(link)
    if not is_sign or not link.get("href", "").startswith("#"):
        return False
    return any(around.tag in _TITLED for around in islice(link.iterancestors(), _MAX_AROUND))


def _find_contents(tree: Any) -> Iterator[Any]:
    """Yield lists of links to the page's own places, and their titles."""
    places = {each.get("id") or each.get("name") for each in tree.iter("*")} - {None}
    lists = (each for each in tree.iter(*_LISTS) if next(each.iterancestors(*_LISTS), None) is None)

    for listed in islice(lists, _MAX_LISTS):
        if not _leads_to(listed, places):
            continue
        title = _find_above(listed)
        is_titled = title is not None and bool(_TITLE.fullmatch(_read_title(title)))
        if not is_titled and not _is_marked(listed):
            continue
        yield listed
        if title is not None and (is_titled or _is_called(title)):
            yield title


def _leads_to(listed: Any, places: Collection[str]) -> bool:
    """Return whether a list has nothing but links to these places, and perhaps numbers."""
    links = [link for link in listed.iter("a") if link.get("href")]
    parts = [link.get("href").partition("#") for link in links]
    if len(links) < _MIN_LINKS or len({page for page, _, _ in parts}) > 1:
        return False

    linked = sum(_count_letters(link) for link in links)
    return linked == _count_letters(listed) and all(place in places for _, _, place in parts)


def _find_above(listed: Any) -> Any:
    """Return the element that stands right above a list, or None."""
    for element in (listed, *islice(listed.iterancestors(), _MAX_AROUND)):
        before = element.getprevious()
        while before is not None and not _read_title(before) and not (before.tail or "").strip():
            before = before.getprevious()
        if before is not None:
            return None if (before.tail or "").strip() else before
        above = element.getparent()
        if above is None or (above.text or "").strip():
            return None
    return None


def _read_title(element: Any) -> str:
    """Return an element's text, or of a long one its beginning."""
    if not isinstance(element.tag, str):
        return ""
    pieces = islice(filter(None, map(str.strip, element.itertext())), _MAX_TITLE)
    return " ".join(" ".join(pieces).split())[: _MAX_TITLE + 1]


def _is_marked(listed: Any) -> bool:
    """Return whether the page calls a list contents, or a box with little more than it."""
    around = islice(listed.iterancestors(), _MAX_AROUND)
    boxes = [box for box in around if len(box) <= _MAX_SIBLINGS]
    return any(map(_is_called, (listed, *boxes)))


def _is_called(element: Any) -> bool:
    names = f"{element.get('class', '')} {element.get('id', '')}".lower().split()
    return any(map(_CONTENTS.fullmatch, names))


def _count_letters(element: Any) -> int:
    return sum(map(str.isalpha, element.text_content()))
