"""Word documents: paragraphs and tables in document order, with their headings, text boxes and footnotes."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from esrag.loading import archive
from esrag.loading.layout import Layout, one_line, sensible_title
from esrag.records import Document, Source

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH, _TABLE, _BOX = f"{_WORD}p", f"{_WORD}tbl", f"{_WORD}txbxContent"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # a text box, said a second time
_LEFT_OUT = {_BOX, _FALLBACK, f"{_WORD}del", f"{_WORD}moveFrom"}
_CHARACTERS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"


class DocxLoader:
    """Word documents; python-docx opens them, and their XML is walked, since its paragraphs leave out insertions."""

    def recognises(self, name: str, data: bytes) -> float:
        """1.0 for an archive with a Word document in it, 0.5 for a damaged one by name."""
        return archive.recognised(name, data, ".docx", r"word/document\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """One document. Raises: ParsingError for a bomb or a damaged archive."""
        import docx

        archive.opened(source.data).close()
        document = docx.Document(BytesIO(source.data))
        levels = _levels(document.styles.element)
        layout = Layout()
        titles: list[str] = []
        for block in _blocks(document.element.body):
            _write(layout, block, levels, titles)
        for note in _footnotes(document.part):
            layout.add(note)
        properties = document.core_properties
        title = one_line(" ".join(titles)) or sensible_title(properties.title)
        yield layout.document(source, "docx", title, {"author": properties.author})


def _write(layout: Layout, block: Any, levels: dict[str, int], titles: list[str]) -> None:
    """Adds a paragraph or a table; a paragraph in the style "Title" is collected as well."""
    if block.tag == _TABLE:
        layout.table(_rows(block))
        return
    text = _text(block)
    style = block.find(f"{_WORD}pPr/{_WORD}pStyle")
    level = levels.get(style.get(f"{_WORD}val"), -1) if style is not None else -1
    if level > 0:
        layout.heading(text, level)
    elif block.find(f"{_WORD}pPr/{_WORD}numPr") is not None and text.strip():
        layout.add(f"- {text}", "\n")
    else:
        layout.add(text)
    if level == 0:
        titles.append(text)


def _levels(styles: Any) -> dict[str, int]:
    """Heading level of each paragraph style, by its id: its name's, its outline level's or its parent's; a title has 0.

    Word keeps "heading 1" as the name in every language of the user interface.
    """
    levels: dict[str, int] = {}
    parents: dict[str, str] = {}
    for style in styles.iter(f"{_WORD}style"):
        key = style.get(f"{_WORD}styleId", "")
        name, outline, parent = (style.find(f"{_WORD}{path}") for path in ("name", f"pPr/{_WORD}outlineLvl", "basedOn"))
        called = "" if name is None else name.get(f"{_WORD}val", "").casefold()
        if match := re.fullmatch(r"heading (\d)|title", called):
            levels[key] = int(match[1] or 0)
        elif outline is not None and (number := outline.get(f"{_WORD}val", "9")) in "012345678":
            levels[key] = int(number) + 1
        elif parent is not None:
            parents[key] = parent.get(f"{_WORD}val", "")
    inherited = {key: levels[parent] for key, parent in parents.items() if levels.get(parent, 0) > 0}
    return inherited | levels


def _blocks(element: Any) -> Iterator[Any]:
    """Paragraphs and tables in order, those in content controls, insertions and text boxes among them."""
    for child in element.iterchildren("{*}*"):
        if child.tag == _TABLE:
            yield child
        elif child.tag == _PARAGRAPH:
            yield child
            for box in child.iter(_BOX):
                if next(box.iterancestors(_FALLBACK), None) is None:
                    yield from _blocks(box)
        elif child.tag not in _LEFT_OUT:
            yield from _blocks(child)


def _text(paragraph: Any) -> str:
    """A paragraph's words, deleted ones left out; its text boxes are blocks of their own."""
    from lxml import etree  # type: ignore[import-untyped]

    pieces: list[str] = []
    walker = etree.iterwalk(paragraph, events=("start",))
    for _, element in walker:
        if element.tag in _LEFT_OUT:
            walker.skip_subtree()
        elif element.tag == f"{_WORD}t":
            pieces.append(element.text or "")
        else:
            pieces.append(_CHARACTERS.get(element.tag, ""))
    return "".join(pieces).strip()


def _rows(table: Any) -> Iterator[list[str]]:
    """A table's rows; a table within a cell becomes a part of the cell's text."""
    for row in _nearest(table, f"{_WORD}tr"):
        yield [_cell(cell) for cell in _nearest(row, f"{_WORD}tc")]


def _cell(cell: Any) -> str:
    blocks = ("; ".join(map(", ".join, _rows(b))) if b.tag == _TABLE else _text(b) for b in _blocks(cell))
    return " ".join(block for block in blocks if block.strip())


def _nearest(element: Any, tag: str) -> Iterator[Any]:
    """Descendants with the tag that are not below another of them: rows may be wrapped in content controls."""
    for child in element.iterchildren("{*}*"):
        if child.tag == tag:
            yield child
        elif child.tag not in _LEFT_OUT:
            yield from _nearest(child, tag)


def _footnotes(part: Any) -> Iterator[str]:
    """The texts of the footnotes, in order."""
    from lxml import etree

    for relation in part.rels.values():
        if relation.reltype == _FOOTNOTES and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
            for note in etree.fromstring(relation.target_part.blob, parser).iter(f"{_WORD}footnote"):
                yield " ".join(_text(block) for block in _blocks(note) if block.tag == _PARAGRAPH)
