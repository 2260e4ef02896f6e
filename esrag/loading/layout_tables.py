"""Tables that lay out a page or a message: menus beside texts, and boxes within boxes."""

from typing import Any

_CELLS = ("td", "th")
_PARTS = ("caption", "tbody", "tfoot", "thead", "tr", *_CELLS)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def unfold_layout_tables(tree: Any) -> bool:
    """Make blocks of the tables that lay out a page; return whether there are any.

    These hold another table, or a cell with a heading and more below it.

    >>> from lxml import etree
    >>> page = etree.fromstring("<a><table><tr><td><h1>Keys</h1>Keep.</td></tr></table></a>")
    >>> unfold_layout_tables(page), etree.tostring(page).decode()
    (True, '<a><div><div><div><h1>Keys</h1>Keep.</div></div></div></a>')
    """
    from lxml import etree  # type: ignore[import-untyped]

    opened: list[list[Any]] = []  # of each table: itself, and its own rows and cells so far
    unfolded: dict[int, list[Any]] = {}

    tags = ("table", *_PARTS, *_HEADINGS)
    for event, element in etree.iterwalk(tree, events=("start", "end"), tag=tags):
        if event == "end":
            if element.tag == "table":
                opened.pop()
            continue
        if opened and element.tag in _PARTS:
            opened[-1].append(element)
        elif opened and id(opened[-1]) not in unfolded and _lays_out(element, opened[-1]):
            unfolded[id(opened[-1])] = opened[-1]
        if element.tag == "table":
            opened.append([element])

    for elements in unfolded.values():
        for element in elements:
            element.tag = "div"
    return bool(unfolded)


def _lays_out(element: Any, table: list[Any]) -> bool:
    """Return whether a table that holds a table or heading lays out a page."""
    cell = next((each for each in reversed(table) if each.tag in _CELLS), None)
    return element.tag == "table" or (cell is not None and _words(element) != _words(cell))


def _words(element: Any) -> list[str]:
    return "".join(element.itertext()).split()
