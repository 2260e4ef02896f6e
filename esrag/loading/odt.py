"""OpenDocument text."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from esrag.errors import ParsingError
from esrag.loading import archive
from esrag.loading.attributes import read_number
from esrag.loading.headers import Cell, limit_cover, spread_cells
from esrag.loading.inheritance import inherit
from esrag.loading.layout import Layout, clean_title, count_characters
from esrag.loading.odt_lists import Items, OdtLists
from esrag.loading.superscripts import separate_raised
from esrag.records import Document, Source

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"
_MIMETYPE = b"mimetypeapplication/vnd.oasis.opendocument.text"  # the first member, stored as it is
_LEFT_OUT = {
    *(f"{_TEXT}tracked-changes", f"{_OFFICE}annotation", f"{_TEXT}note", f"{_TEXT}number"),
    *(f"{_SVG}title", f"{_SVG}desc"),  # of a picture, for those who do not see it
}
_CHARACTERS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}


class OdtLoader:
    """OpenDocument text, as LibreOffice writes it."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for an archive that says it is one, 0.5 for a damaged one by name."""
        if data.startswith(b"PK") and _MIMETYPE in data[:128]:
            return 1.0
        return min(archive.recognise(name, data, ".odt", r"content\.xml"), 0.5)

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError for a bomb, an encrypted or a damaged archive.
        """
        content, styles, meta = _read_parts(source.data)
        body = content.find(f"{_OFFICE}body/{_OFFICE}text")
        if body is None:
            raise ParsingError("is an OpenDocument file without a text")

        layout, parts = Layout(), [content, *([] if styles is None else [styles])]
        if not source.keep_hidden:
            layout.leave_out(_remove_hidden(body, _find_hidden_styles(parts)))
        separate_raised(_iter_raised(body, _find_raised_styles(parts)))
        writer = _Writer(layout, OdtLists(parts))
        writer.write(body)
        writer.write_notes()
        title = "" if meta is None else meta.findtext(f".//{_DUBLIN_CORE}title", "")
        yield layout.document(source, "odt", clean_title(title))


def _read_parts(data: bytes) -> tuple[Any, Any, Any]:
    """Return the content, the styles and the properties; None for those that are missing.

    Raises: ParsingError.
    """
    with archive.open_archive(data) as files:
        if b"encryption-data" in _member(files, "META-INF/manifest.xml"):
            raise ParsingError("is encrypted: needs a password, save it without one")
        content = archive.read_xml(files, "content.xml")
        styles, meta = (
            archive.read_xml(files, name) if name in files.namelist() else None
            for name in ("styles.xml", "meta.xml")
        )
    return content, styles, meta


def _iter_raised(body: Any, styles: set[str]) -> Iterator[Any]:
    """Yield the spans that stand above the line."""
    for span in body.iter(f"{_TEXT}span"):
        if span.get(f"{_TEXT}style-name") in styles:
            yield span


def _find_hidden_styles(parts: Iterable[Any]) -> set[str]:
    """Return the names of the styles whose text is hidden, by themselves or by their parents."""
    own: dict[str, str | None] = {}
    parents: dict[str, str] = {}
    for style in (style for part in parts for style in part.iter(f"{_STYLE}style")):
        properties = style.find(f"{_STYLE}text-properties")
        name = style.get(f"{_STYLE}name", "")
        own[name] = None if properties is None else properties.get(f"{_TEXT}display")
        parents[name] = style.get(f"{_STYLE}parent-style-name", "")

    return {name for name in own if inherit(name, own, parents) == "none"}


def _find_raised_styles(parts: Iterable[Any]) -> set[str]:
    """Return the names of the styles whose text stands above the line."""
    found: set[str] = set()
    for style in (style for part in parts for style in part.iter(f"{_STYLE}style")):
        properties = style.find(f"{_STYLE}text-properties")
        position = "" if properties is None else properties.get(f"{_STYLE}text-position", "")
        if re.match("super|[1-9]", position):
            found.add(style.get(f"{_STYLE}name", ""))
    return found


def _remove_hidden(body: Any, styles: set[str]) -> int:
    """Remove what is hidden; how many characters it held."""
    characters = 0
    for element in [element for element in body.iter("{*}*") if _is_hidden(element, styles)]:
        characters += count_characters("".join(element.itertext("{*}*")))
        tail = element.tail
        element.clear()
        element.tail = tail
    return characters


def _is_hidden(element: Any, styles: set[str]) -> bool:
    if element.get(f"{_TEXT}style-name") in styles or element.get(f"{_TEXT}display") == "none":
        return True
    if element.get(f"{_TABLE}visibility", "visible") != "visible":
        return True
    marks = (element, *element.iterchildren(f"{_TEXT}hidden-paragraph"))
    return any(mark.get(f"{_TEXT}is-hidden") == "true" for mark in marks)


def _member(files: Any, name: str) -> bytes:
    return bytes(files.read(name)) if name in files.namelist() else b""


class _Writer:
    """Adds the parts of a text to a layout; a note follows the section that refers to it."""

    def __init__(self, layout: Layout, lists: OdtLists) -> None:
        """Begin without notes."""
        self._layout, self._lists = layout, lists
        self._notes: list[str] = []

    def write(self, element: Any, inside: Items | None = None) -> None:
        """Add an element's headings, paragraphs, lists and tables; `inside` is the list around."""
        item = element if element.tag == f"{_TEXT}list-item" else None
        for child in element.iterchildren("{*}*"):
            if child.tag in (f"{_TEXT}h", f"{_TEXT}p"):
                item = None if self._write_paragraph(child, item, inside) else item
            elif child.tag == f"{_TABLE}table":
                self._take_notes(child)
                self._layout.table(spread_cells(_rows(child)))
            elif child.tag == f"{_TEXT}list":
                self.write(child, self._lists.open(child, inside))
            elif child.tag not in _LEFT_OUT:
                self.write(child, inside)

    def write_notes(self) -> None:
        """Add the notes that wait."""
        for note in self._notes:
            self._layout.add(note)
        self._notes.clear()

    def _write_paragraph(self, block: Any, item: Any, inside: Items | None) -> bool:
        """Add a heading or a paragraph, and return whether it has text.

        The first one of an item has the number of the item, or a bullet.
        """
        text = _text(block)
        if not text.strip():
            self._take_notes(block)
            return False

        mark = None if item is None or inside is None else inside.mark(item, block)
        if block.tag == f"{_TEXT}h":
            self.write_notes()
            number = mark.text if mark else self._lists.number_heading(block)
            level = max(1, read_number(block.get(f"{_TEXT}outline-level"), 1))
            self._layout.heading(f"{number} {text}".lstrip(), level)
        else:
            said = mark.write_item(text) if mark else text
            self._layout.add(said, "\n\n" if inside is None else "\n")
        self._take_notes(block)
        return True

    def _take_notes(self, block: Any) -> None:
        for body in block.iter(f"{_TEXT}note-body"):
            self._notes.append(" ".join(_text(body).split()))


def _text(element: Any) -> str:
    """Return an element's words; spaces, tabs and line ends are elements of their own."""
    pieces = [_collapse(element.text)]
    for child in element.iterchildren():
        if isinstance(child.tag, str) and child.tag not in _LEFT_OUT:
            pieces.append(_text_of_child(child))
        pieces.append(_collapse(child.tail))
    return "".join(pieces)


def _text_of_child(child: Any) -> str:
    """Return an element's words as a part of the text around it."""
    inner = _text(child)
    if inner and child.tag == f"{_TEXT}p":
        return f" {inner} "
    if child.tag == f"{_TEXT}s":
        return " " * min(read_number(child.get(f"{_TEXT}c"), 1), 99) + inner
    return _CHARACTERS.get(child.tag, "") + inner


def _collapse(text: str | None) -> str:
    return re.sub(r"\s+", " ", text or "")


def _rows(table: Any) -> Iterator[list[Cell]]:
    """Yield a table's rows; a table within a cell becomes a part of the cell's text."""
    for row in table.iter(f"{_TABLE}table-row"):
        if next(row.iterancestors(f"{_TABLE}table")) is table:
            yield [_read_cell(cell) for cell in row.iterchildren(f"{_TABLE}table-cell")]


def _read_cell(cell: Any) -> Cell:
    text = " ".join(map(_text, cell.iterchildren("{*}*")))
    rows = read_number(cell.get(f"{_TABLE}number-rows-spanned"), 1)
    columns = read_number(cell.get(f"{_TABLE}number-columns-spanned"), 1)
    return text, *limit_cover(rows, columns)
