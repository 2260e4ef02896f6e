"""HTML: the main part that a page marks, the main text by trafilatura, or the whole body."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from esrag.loading.attributes import read_number
from esrag.loading.bold import mark_headings
from esrag.loading.concealed import remove_concealed
from esrag.loading.decoding import decode, is_text
from esrag.loading.folded import show_folds
from esrag.loading.headers import Cell, spread_cells
from esrag.loading.html_tables import (
    count_covered,
    merge_header_rows,
    simplify_cells,
    unfold_layout_tables,
)
from esrag.loading.layout import Layout, clean_title, join_lines
from esrag.loading.main_part import find_main
from esrag.loading.numbering import DIGITS, Mark, write_number
from esrag.loading.own_links import remove_own_links
from esrag.loading.pagers import remove_pagers
from esrag.loading.plain import write_plain
from esrag.loading.plainer import HEADINGS, make_plainer
from esrag.loading.preformatted import read_preformatted
from esrag.loading.superscripts import separate_raised
from esrag.records import Document, Source
from esrag.text import normalise

# Possessive and atomic: what was read once is not read in another way, which would take exponential
# time.
_START = re.compile(
    rb"\s*+(?:(?><\?xml[^>]*+>|<!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_DECLARED = re.compile(
    rb"""<(?:meta|\?xml)[^<>]*?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_SELF_LINK = re.compile(r"(?<!\s)\s*+¶\s*$")  # that generators add to a block
_HEAD = 2048  # bytes in which a page says what it is
_HIDDEN_TAGS = (  # not shown, or around the content
    "script", "style", "noscript", "template", "svg", "head", "title", "iframe", "object",
    "select", "nav", "footer", "aside", "button", "menu", "dialog",
)  # fmt: skip
_HIDDEN = re.compile("|".join(_HIDDEN_TAGS))
_BLOCK = re.compile(  # the last six are trafilatura's
    "address|article|blockquote|body|caption|center|d[dlt]|details|div|fieldset|figcaption|figure"
    "|form|h[1-6]|header|hr"
    "|li|main|[uo]l|p|pre|section|summary|table|tbody|t[dhr]|tfoot|thead|head|item"
    "|list|quote|row|cell"
)
_NAME_AND_VALUE = ["th", "td"]
_ROWS, _CELLS, _ITEMS = {"tr", "row"}, {"td", "th", "cell"}, {"li", "item"}
_MAX_TERM = 80  # characters of what a definition list defines; more are a paragraph of their own
_LISTS = {"dl", "list", "ol", "pre", "table", "ul"}
_OWN_MARK = re.compile(r"\((?:\d{1,3}|[a-z]|[ivx]{1,5})\)")  # that an item's text begins with
# Of the words outside links, the headings and the rows. On the RFC series' own HTML trafilatura
# keeps none of the headings, which are links there and so look like menus; on pages with menus it
# rightly drops two or three, and boxes of facts. Of tables among quotations it keeps no row.
_MIN_KEPT, _MAX_HEADINGS_LOST, _MAX_ROWS_LOST = 0.5, 3, 10
_STRUCTURE = ("dt", "li", "pre", "table")
_MAX_LINKED = 0.3  # of a page's characters, unless menus are part of it
_MIN_FORM = 40  # characters of a form that is more than a field to search in
# Characters of text. What trafilatura takes from a page with less is a guess, and starting it takes
# longer than everything else that is done with such a page.
_MIN_TO_SELECT = 250


class HtmlLoader:
    """Web pages without their navigation; headings become sections, tables stay tables."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for a page that starts as one, 0.5 by name."""
        if not is_text(data):
            return 0.0
        if _START.match(data[:_HEAD].lstrip(b"\xef\xbb\xbf")):
            return 1.0
        return 0.5 if name.lower().endswith((".html", ".htm", ".xhtml")) else 0.0

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError if no encoding fits.
        """
        text = page_text(source.data)
        tree = parse_page(text)
        layout = Layout()
        title = ""

        if tree is not None:
            titles = (clean_title(found.text_content()) for found in tree.iter("title", "h1"))
            title = next(filter(None, titles), "")
            is_changed = any([remove_pagers(tree), remove_own_links(tree)])
            is_changed |= _prepare(layout, tree, keep_hidden=source.keep_hidden)
            largest = mark_headings(tree)
            if is_changed or largest is not None:
                text = as_text(tree)
            title = title or clean_title(largest or "")
            if plain := read_preformatted(body_of(tree)):
                found = write_plain(layout, plain)
                title = title or found
            else:
                write(layout, main_content(text, tree))
        yield layout.document(source, "html", title)


def page_text(data: bytes, told: str = "") -> str:
    """Return a page's characters, in the encoding it declares if its bytes are valid in it.

    An encoding that was told with the page goes first.

    Raises: ParsingError.
    """
    declared = _DECLARED.search(data[:_HEAD])
    # Characters that cannot be shown go before the parser, which would stop at some of them.
    return normalise(decode(data, told or (declared[1].decode("ascii") if declared else "")))


def parse_page(text: str) -> Any:
    """Return the root element, or None for an empty page; nothing is fetched."""
    import lxml.html  # type: ignore[import-untyped]
    from lxml import etree

    parser = lxml.html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        return etree.fromstring(text.encode(), parser)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        # Reported as a fault of the page.
        if getattr(error, "code", 0) == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        return None


def as_text(tree: Any) -> str:
    """Return the page of a tree."""
    from lxml import etree

    return str(etree.tostring(tree, method="html", encoding="unicode"))


def main_content(text: str, tree: Any) -> Any:
    """Return the element to write: a page's main part, what trafilatura finds, or the body.

    The main part is the one that the page marks, if that has most of its words. The body is
    written if the page is tiny, or if trafilatura would lose too much of it.
    """
    body = body_of(tree)
    length = len(body.text_content())
    if length < _MIN_TO_SELECT:
        return body

    words = _count(body)[0]
    part = find_main(tree)
    if part is not None and _count(part)[0] >= _MIN_KEPT * words:
        return part

    import trafilatura

    found = trafilatura.bare_extraction(
        text, include_comments=False, with_metadata=False, favor_recall=True
    )
    kept = getattr(found, "body", None)
    if kept is None:
        return body
    if sum(len(block.text_content()) for block in body.iter("pre")) > length // 2:
        return body  # trafilatura would make one line of it
    if _is_flattened(body, kept):
        for form in list(body.iter("form")):
            if len(form.text_content().strip()) < _MIN_FORM:
                form.clear(keep_tail=True)
        return body
    return body if _loses_much(body, kept) else kept


def _is_flattened(body: Any, kept: Any) -> bool:
    """Return whether trafilatura kept no heading of a page that has some, or only paragraphs.

    It does so where it finds no main part. Menus make a page unfit to be written as it is.
    """
    has_headings = next(body.iter(*HEADINGS), None) is not None
    has_more = has_headings or next(body.iter(*_STRUCTURE), None) is not None
    lacks_headings = has_headings and next(kept.iter("head"), None) is None
    is_flat = lacks_headings or (has_more and all(element.tag == "p" for element in kept))
    return is_flat and _count_linked(body) <= _MAX_LINKED * len(body.text_content())


def _count_linked(body: Any) -> int:
    return sum(len(link.text_content()) for link in body.iter("a") if link.get("href"))


def _loses_much(body: Any, kept: Any) -> bool:
    """Return whether too few of a page's words, headings or rows were kept."""
    words, headings, rows = _count(body)
    kept_words, kept_headings, kept_rows = _count(kept)
    return (
        kept_words < _MIN_KEPT * words
        or _are_lost(headings, kept_headings, _MAX_HEADINGS_LOST)
        or _are_lost(rows, kept_rows, _MAX_ROWS_LOST)
    )


def _are_lost(count: int, kept: int, most: int) -> bool:
    """Return whether more than `most` of several are lost, and more than should be kept."""
    return count - kept > max(most, (1 - _MIN_KEPT) * count)


def write_page(layout: Layout, tree: Any, *, keep_hidden: bool) -> None:
    """Write all of a page, as a book or a message has it: nothing there is navigation."""
    _prepare(layout, tree, keep_hidden=keep_hidden)
    write(layout, body_of(tree))


def _prepare(layout: Layout, tree: Any, *, keep_hidden: bool) -> bool:
    """Remove hidden elements and separate superscripts from the text before them.

    Return whether the page changed.
    """
    has_folds, hidden = show_folds(tree), 0
    if keep_hidden:
        for template in tree.iter("template"):
            template.tag = "div"  # or it would be left out below
    else:
        hidden = remove_concealed(tree)
    layout.leave_out(hidden)

    is_unfolded = unfold_layout_tables(tree)
    separate_raised(tree.iter("sup"))
    is_plainer = make_plainer(tree)

    is_simplified = simplify_cells(tree, _HIDDEN_TAGS)
    is_merged = merge_header_rows(tree)
    return bool(hidden or has_folds or is_unfolded or is_plainer or is_simplified or is_merged)


def body_of(tree: Any) -> Any:
    """Return the page's body, or the whole page if it has none."""
    body = tree.find(".//body")
    return tree if body is None else body


def write(layout: Layout, root: Any) -> None:
    """Write an element of a page or of trafilatura as headings, paragraphs, items and tables."""
    writer = _Writer(layout)
    for event, element in _walk(root):
        if event == "start":
            writer.start(element)
            writer.text(element.text)
        else:
            writer.end(element)
            writer.text(element.tail if element is not root else "")
    writer.flush()


def _walk(root: Any) -> Iterator[tuple[str, Any]]:
    """Yield start and end of each element, in order.

    Of an element that is not visible, or that surrounds the content, only the end is yielded.
    """
    from lxml import etree

    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walker:
        hidden = _is(element, _HIDDEN) and not (element.tag == "head" and element.get("rend"))
        if event == "start" and hidden and element is not root:
            walker.skip_subtree()
        elif event == "start":
            yield "start", element
        else:
            yield "end", element  # a comment has a tail too


def _count(root: Any) -> tuple[int, int, int]:
    """Return the number of words outside links, of headings, and of rows."""
    words = headings = rows = links = 0
    for event, element in _walk(root):
        links += {"start": 1, "end": -1}.get(event, 0) if element.tag in ("a", "ref") else 0
        piece = element.text if event == "start" else element.tail
        words += len(piece.split()) if piece and not links else 0
        headings += event == "start" and bool(_level(element))
        rows += event == "start" and element.tag in _ROWS
    return words, headings, rows


def _is(element: Any, tags: re.Pattern[str]) -> bool:
    # The tag of a comment is not a text.
    return isinstance(element.tag, str) and bool(tags.fullmatch(element.tag))


def _level(element: Any) -> int:
    """Return the level of a heading, else 0."""
    tag = element.get("rend", "") if element.tag == "head" else element.tag
    return int(tag[1]) if isinstance(tag, str) and re.fullmatch("h[1-6]", tag) else 0


def _is_code(element: Any) -> bool:
    """Return whether an element keeps its lines: `pre`, or what trafilatura makes of it."""
    if element.tag != "code":
        return bool(element.tag == "pre")
    around = element.getparent()
    is_block = around is not None and around.tag in ("body", "div", "item", "section", "quote")
    return is_block and any("\n" in text.strip() for text in element.itertext())


def _has_items(element: Any) -> bool:
    """Return whether an element is a list with bullets or numbers, no list of definitions."""
    return element.tag in ("ol", "ul") or (element.tag == "list" and element.get("rend") != "dl")


def _is_numbered(element: Any) -> bool:
    return bool(element.tag == "ol" or (element.tag == "list" and element.get("rend") == "ol"))


def _find_part(element: Any) -> str:
    """Return "dt" for a term and "dd" for a definition, also in trafilatura's form; else ""."""
    part = (element.get("rend") or "").partition("-")[0] if element.tag == "item" else element.tag
    return part if part in ("dt", "dd") else ""


class _Writer:
    """Collects inline text until a block begins or ends; in a table, blocks end in its cells.

    The terms of a definition list are written before their definition: "lid: It keeps heat."
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._inline: list[str] = []
        self._tables = self._preformatted = 0
        self._rows: list[list[str]] = []
        self._is_in_row = False
        self._covers: list[list[tuple[int, int]]] = []  # rows and columns that each cell covers
        self._lists = 0  # that are open
        self._tags: list[list[str]] = []  # of each row's cells: th or td
        self._numbers: list[int] = []  # of the last item of each numbered list
        self._prefix = ""
        self._is_term = False
        self._terms: list[str] = []  # whose definition follows

    def text(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._preformatted else re.sub(r"\s+", " ", text))

    def start(self, element: Any) -> None:
        tag = element.tag
        is_code = _is_code(element)
        if is_code or _is(element, _BLOCK):
            self.flush()
        self._start_part(element)
        if tag == "table":
            self._tables += 1
        elif tag in _ROWS and self._tables == 1:
            self._add_row()
        elif tag in _CELLS and self._tables == 1:
            self._add_cell(element)
        elif tag in ("br", "lb"):
            self._inline.append("\n")
        elif is_code:
            self._preformatted += 1

    def _start_part(self, element: Any) -> None:
        """Begin a list, a term or an item."""
        part = _find_part(element)
        if part == "dt":
            self._is_term = True
        elif element.tag in _LISTS:
            self._leave_terms()
        self._lists += _has_items(element)
        if _is_numbered(element):
            self._numbers.append(read_number(element.get("start"), 1) - 1)
        elif element.tag in _ITEMS and not part:
            self._prefix = self._mark(element)

    def _mark(self, item: Any) -> str:
        """Return the bullet or number of an item, with the indent of its list."""
        around = item.getparent()
        number = ""
        if self._numbers and _is_numbered(around):
            self._numbers[-1] = read_number(item.get("value"), self._numbers[-1] + 1)
            digits = DIGITS.get(around.get("type", ""), "decimal")
            number = f"{write_number(self._numbers[-1], digits)}."
        return Mark(number, max(0, self._lists - 1)).write_item("")

    def _add_cell(self, element: Any) -> None:
        if not self._is_in_row:
            self._add_row()  # as browsers do for a cell outside of rows
        self._rows[-1].append("")
        self._tags[-1].append(element.tag)
        self._covers[-1].append(count_covered(element))

    def end(self, element: Any) -> None:
        tag = element.tag
        is_code = _is_code(element)
        if level := _level(element):
            self.flush(level)
        elif is_code or _is(element, _BLOCK):
            self.flush()
        part = _find_part(element)
        if part == "dt":
            self._is_term = False
        elif part == "dd" or tag in _LISTS:
            self._leave_terms()
        if tag == "table":
            self._end_table()
        elif tag in _ROWS and self._tables == 1:
            self._is_in_row = False
        elif is_code:
            self._preformatted -= 1
        elif tag in _ITEMS:
            self._prefix = ""
        self._lists -= _has_items(element)
        if _is_numbered(element):
            self._numbers.pop()

    def _end_table(self) -> None:
        self._tables -= 1
        if not self._tables:
            tags = [tags for tags in self._tags if len(tags) > 1]
            is_form = len(tags) > 1 and all(each == _NAME_AND_VALUE for each in tags)
            self._layout.table(spread_cells(self._cells()), is_form=is_form)
            self._rows, self._covers, self._tags, self._is_in_row = [], [], [], False

    def flush(self, level: int = 0) -> None:
        """End the block that is being collected, as a heading if a level is given."""
        text = self._take_text()
        if not text.strip():
            return

        if self._tables:
            row = (self._rows or self._add_row())[-1]
            row[-1:] = [f"{row[-1]} {text}" if row else text]
        elif level:
            self._leave_terms()
            self._layout.heading(text, level)
        elif self._is_term:
            self._terms.append(text)
        else:
            self._add(text)

    def _add(self, text: str) -> None:
        """Write a block: after its bullet, or after the terms that it defines."""
        separator = "\n" if self._prefix else "\n\n"
        own = _OWN_MARK.match(text)
        if self._prefix and own:
            self._prefix = " " * (len(self._prefix) - len(self._prefix.lstrip()))
            text = f"{own[0]} {text[own.end() :].lstrip()}"
        term = ", ".join(each.rstrip(": ") for each in self._terms)
        if len(term) > _MAX_TERM or term.endswith((".", "?", "!")):
            self._leave_terms()
        elif self._terms:
            self._prefix = f"{term}: "
            self._terms.clear()
        self._layout.add(self._prefix + text, separator)
        self._prefix = ""

    def _leave_terms(self) -> None:
        """Write terms without a definition in words, or too long for its line, as a paragraph."""
        if self._terms:
            self._layout.add(", ".join(self._terms))
            self._terms.clear()

    def _take_text(self) -> str:
        """Return the text of the block that is being collected, and begin another."""
        text = _SELF_LINK.sub("", "".join(self._inline))
        self._inline.clear()
        if self._preformatted:
            return text
        return "\n".join(join_lines(line) for line in text.strip().split("\n"))

    def _add_row(self) -> list[list[str]]:
        self._rows.append([])
        self._covers.append([])
        self._tags.append([])
        self._is_in_row = True
        return self._rows

    def _cells(self) -> Iterator[list[Cell]]:
        for row, covers in zip(self._rows, self._covers, strict=True):
            yield [
                (text, *cover)
                for text, cover in zip_longest(row, covers[: len(row)], fillvalue=(1, 1))
            ]
