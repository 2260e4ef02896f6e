"""Links that lead from page to page of a manual, and menus above a text: neither is text."""

import re
from dataclasses import dataclass
from typing import Any

from esrag.loading.plainer import HEADINGS

_TURNS = {
    "prev", "previous", "next", "up", "home", "start", "contents", "index", "first", "last",
}  # fmt: skip
_KEYS = {"n", "p", "u", "h"}  # that manuals give to the next page, the one before, and those above
_NAV = re.compile(
    r"(?:[a-z]{1,12}[-_]?)?nav(?:bar|footer|header|igation|links)?(?:[-_][a-z]{1,12})?"
)
_BLOCKS = {"center", "div", "nav", "p"}
_LISTS = {"ol", "table", "ul"}
_ROWS = {"li", "tr"}
_TEXTS = {"dl", "pre", "textarea"}  # that no pager has
_SKIPPED = ("noscript", "script", "style", "template", "title")
_MAX_LETTERS, _MAX_ROWS, _MIN_TURNS = 400, 5, 2  # of a pager
_MIN_LINKED = 0.5  # of a pager's letters, and of a menu's:
_MIN_MENU = 0.8
_MIN_LINKS, _MAX_ABOVE = 3, 100  # links of a menu above a text, and letters above it


@dataclass(slots=True)
class _Part:
    """An element, and what is in it so far."""

    element: Any
    letters: int = 0
    linked: int = 0  # letters in links
    links: int = 0
    turns: int = 0  # links that lead from page to page
    rows: int = 0
    has_blocks: bool = False  # paragraphs, lists or tables
    has_text: bool = False  # headings or code

    def take(self, other: "_Part") -> None:
        """Add what is in an element to the one around it."""
        self.letters += other.letters
        self.linked += other.linked
        self.links += other.links
        self.turns += other.turns
        self.rows += other.rows
        tag = other.element.tag
        self.has_blocks |= other.has_blocks or tag in _LISTS or tag == "p"
        self.has_text |= other.has_text or tag in HEADINGS or tag in _TEXTS


def remove_pagers(tree: Any) -> bool:
    """Remove blocks of links to the pages around a page, and menus above its first heading.

    Return whether there were some. Such links are known by their `rel` or their access key.

    >>> from lxml import html
    >>> pager = "<p>Next: <a rel='next' href='lids.html'>Lids</a></p>"
    >>> page = html.fromstring(f"<div>{pager}<p>It boils.</p></div>")
    >>> remove_pagers(page), page.text_content()
    (True, 'It boils.')
    """
    finder = _Finder(tree)
    _walk(tree, finder)
    found = finder.pagers + (finder.menus if finder.has_heading else [])
    for element in found:
        element.clear(keep_tail=True)  # removing them would join their tails, one by one
        element.tag = "div"
    return bool(found)


class _Finder:
    """Counts what is in each element of a page, and collects pagers and menus, some in others."""

    def __init__(self, tree: Any) -> None:
        self.pagers: list[Any] = []
        self.menus: list[Any] = []  # above the first heading, if there is any
        self.has_heading = False
        self._above = 0  # letters outside links so far
        self._links = 0  # that are open
        self._parts = [_Part(tree)]

    def start(self, element: Any) -> None:
        part = _Part(element, rows=int(element.tag in _ROWS))
        if element.tag == "a" and element.get("href") is not None:
            relations = set(element.get("rel", "").lower().split())
            is_turn = _TURNS & relations or element.get("accesskey", "").lower() in _KEYS
            part.links, part.turns = 1, int(bool(is_turn))
        self._links += part.links
        self._parts.append(part)
        self.has_heading |= element.tag in HEADINGS

    def end(self, element: Any) -> None:
        part = self._parts.pop()
        self._links -= element.tag == "a" and element.get("href") is not None
        if _is_pager(part):
            self.pagers.append(element)
        elif not self.has_heading and self._above <= _MAX_ABOVE and _is_menu(part):
            self.menus.append(element)
        self._parts[-1].take(part)

    def text(self, text: str | None) -> None:
        letters = sum(map(str.isalnum, text)) if text else 0
        self._parts[-1].letters += letters
        if self._links:
            self._parts[-1].linked += letters
        else:
            self._above += letters


def _walk(tree: Any, finder: _Finder) -> None:
    """Show a finder all elements and texts of a page, in order."""
    from lxml import etree  # type: ignore[import-untyped]

    walker = etree.iterwalk(tree, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        if event == "start":
            finder.start(element)
            if element.tag in _SKIPPED:
                walker.skip_subtree()
            else:
                finder.text(element.text)
            continue
        if event == "end":
            finder.end(element)
        finder.text(element.tail)


def _is_pager(part: _Part) -> bool:
    """Return whether a block, or a small table or list, is there for its links to other pages."""
    tag = part.element.tag
    if part.has_text or part.letters > _MAX_LETTERS or not part.links:
        return False

    is_nav = _is_nav(part.element)
    if is_nav and part.linked >= _MIN_MENU * part.letters:
        return tag in _LISTS or tag in _BLOCKS
    if tag in _LISTS:
        turns = part.turns + is_nav
        return turns >= _MIN_TURNS and part.rows <= _MAX_ROWS and not part.has_blocks
    is_linked = is_nav or part.linked >= _MIN_LINKED * part.letters
    return tag in _BLOCKS and part.turns > 0 and is_linked


def _is_menu(part: _Part) -> bool:
    """Return whether a list or block has nothing but links."""
    is_block = part.element.tag in _LISTS or part.element.tag in _BLOCKS
    return is_block and part.links >= _MIN_LINKS and 0 < part.letters == part.linked


def _is_nav(element: Any) -> bool:
    """Return whether a page calls an element its navigation."""
    names = f"{element.get('class', '')} {element.get('id', '')}".lower().split()
    return any(map(_NAV.fullmatch, names))
