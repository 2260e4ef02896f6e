"""Tables of a page: those that lay it out, and cells that trafilatura would lose."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from esrag.loading.attributes import read_number
from esrag.loading.headers import MAX_HEADER_ROWS, Cell, join_header, limit_cover, spread_cells
from esrag.loading.plainer import HEADINGS

_CELLS = ("td", "th")
_PARTS = ("caption", "tbody", "tfoot", "thead", "tr", *_CELLS)
_BLOCKS = frozenset(  # their text stands apart from what is around them
    ("blockquote", "br", "center", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "pre", "ul")
).union(HEADINGS)
_PARAGRAPHS = _BLOCKS - {"br", "hr"}
MAX_NAME, MAX_VALUE = 40, 200  # characters of a line such as "Meeting: 869 16"
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

    tags = ("table", *_PARTS, *HEADINGS)
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
            if element.tag == "tr":
                _join_pair(element)
            element.tag = "div"
    return bool(unfolded)


def _join_pair(row: Any) -> None:
    """Write a row of two short cells, a name and what it names, as a line, as letters have them.

    >>> from lxml import etree
    >>> row = etree.fromstring("<tr><td><b>Meeting</b></td><td>869 16</td></tr>")
    >>> _join_pair(row)
    >>> etree.tostring(row).decode()
    '<tr><td>Meeting: 869 16</td></tr>'
    """
    cells = [each for each in row if each.tag in _CELLS]
    if len(cells) != len(row) or len(cells) != 2:  # noqa: PLR2004 -- a name and a value
        return
    if any(part.tag in {"a", "img", "table", *_BLOCKS} for part in row.iter()):
        return

    name, value = (" ".join(_words(cell)) for cell in cells)
    is_named = any(map(str.isalpha, name)) and len(name) <= MAX_NAME
    if is_named and 0 < len(value) <= MAX_VALUE:
        cells[0][:], cells[0].text = [], f"{name.rstrip(' :')}: {value}"
        row.remove(cells[1])


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


def merge_header_rows(tree: Any) -> bool:
    """Make one row of several rows of header cells above each table; return whether any had some.

    Of these trafilatura takes only the first for a header.

    >>> from lxml import etree
    >>> rows = ["<th/><th>In</th>", "<th>City</th><th>2023</th>", "<td>Kiel</td><td>5</td>"]
    >>> page = etree.fromstring(f"<a><table>{''.join(f'<tr>{r}</tr>' for r in rows)}</table></a>")
    >>> merge_header_rows(page), [cell.text for cell in page.iter("th")]
    (True, ['City', 'In 2023'])
    """
    merged = [_merge_header_rows(table) for table in tree.iter("table")]
    return any(merged)


def _merge_header_rows(table: Any) -> bool:
    from lxml import etree

    rows = [*table.iter("tr")]
    header = [*takewhile(_is_header, rows)]
    if len(header) in (0, 1, len(rows)) or _reaches_below(header):
        return False

    grid = [*spread_cells([_read_cell(cell) for cell in row] for row in header)]
    titles = sum(1 for _ in takewhile(lambda row: not any(row[1:]), grid))
    header = header[titles:]
    if not 1 < len(header) <= MAX_HEADER_ROWS:
        return False

    first, *others = header
    first[:] = []
    for name in join_header(grid[titles:]):
        etree.SubElement(first, "th").text = name
    for row in others:
        row.getparent().remove(row)
    return True


def _is_header(row: Any) -> bool:
    return len(row) > 0 and all(cell.tag == "th" for cell in row)


def _reaches_below(header: Sequence[Any]) -> bool:
    """Return whether a cell of a header covers rows below it, which would move without it."""
    return any(
        count_covered(cell)[0] > len(header) - number
        for number, row in enumerate(header)
        for cell in row
    )


def _read_cell(cell: Any) -> Cell:
    return " ".join("".join(cell.itertext()).split()), *count_covered(cell)


def count_covered(cell: Any) -> tuple[int, int]:
    """Return how many rows and columns a cell covers, including its own."""
    rows, columns = (read_number(cell.get(name), 1) for name in ("rowspan", "colspan"))
    return limit_cover(rows, columns)


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
