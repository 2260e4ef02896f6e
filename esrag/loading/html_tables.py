"""Tables of a page: those that lay it out, and cells that trafilatura would lose."""

from collections.abc import Sequence
from typing import Any

_CELLS = ("td", "th")
_PARTS = ("caption", "tbody", "tfoot", "thead", "tr", *_CELLS)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(  # their text stands apart from what is around them
    ("blockquote", "br", "center", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "pre", "ul")
).union(_HEADINGS)
_PARAGRAPHS = _BLOCKS - {"br", "hr"}
MAX_LINKS = 0.9  # of a table's letters; more are a menu


def unfold_layout_tables(tree: Any) -> bool:
    """Make blocks of the tables that lay out a page; return whether there are any.

    These hold another table, a cell with a heading and more below it, or a row alone with several
    paragraphs in a cell.

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
            if element.tag == "table" and _is_box(table := opened.pop()):
                unfolded[id(table)] = table
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


def simplify_cells(tree: Any, hidden: Sequence[str]) -> bool:
    """Leave only text in the cells of tables; return whether there was anything else.

    Elements with a `hidden` tag go. Of most elements within cells, such as a list or a paragraph in
    a box, trafilatura loses the text. A table of nothing but links may be a menu, and stays.
    """
    from lxml import etree

    is_changed = False
    for table in tree.iter("table"):
        linked = sum(len("".join(link.itertext())) for link in table.iter("a"))
        if linked > MAX_LINKS * len("".join(table.itertext()).strip()):
            continue
        for cell in [each for each in table.iter(*_CELLS) if len(each)]:
            etree.strip_elements(cell, etree.Comment, *hidden, with_tail=False)
            for element in cell.iterdescendants():
                if element.tag in _BLOCKS:
                    element.text = f" {element.text or ''}"
                    element.tail = f" {element.tail or ''}"
            text = "".join(cell.itertext())
            etree.strip_elements(cell, "*")
            cell.text = text
            is_changed = True
    return is_changed


def _lays_out(element: Any, table: list[Any]) -> bool:
    """Return whether a table that holds a table or heading lays out a page."""
    if element.tag == "table":
        return True
    cell = next((each for each in reversed(table) if each.tag in _CELLS), None)
    return cell is not None and _words(element) != _words(cell)


def _is_box(table: list[Any]) -> bool:
    """Return whether a table is a note, say, of several paragraphs beside a sign."""
    rows = sum(element.tag == "tr" for element in table)
    return rows == 1 and any(
        sum(part.tag in _PARAGRAPHS for part in element) > 1
        for element in table
        if element.tag in _CELLS
    )


def _words(element: Any) -> list[str]:
    return "".join(element.itertext()).split()
