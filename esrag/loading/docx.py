"""Word documents: paragraphs and tables in order, with headings, text boxes and footnotes."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice, takewhile
from typing import Any

from esrag.loading import archive
from esrag.loading.attributes import read_number
from esrag.loading.equations import MATH, write_equation
from esrag.loading.headers import repeat_text
from esrag.loading.inheritance import inherit
from esrag.loading.layout import Layout, clean_title, count_characters, join_lines
from esrag.loading.numbering import Numbering
from esrag.loading.superscripts import separate_raised
from esrag.loading.typography import MAX_SHARE, REPEATED, is_heading
from esrag.loading.word import WORD, read_outline, read_value
from esrag.loading.word_symbols import read_sign
from esrag.records import Document, Source

_PARAGRAPH, _TABLE, _BOX = f"{WORD}p", f"{WORD}tbl", f"{WORD}txbxContent"
# The copy of a text box for older programs.
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEFT_OUT = {_BOX, _FALLBACK, f"{WORD}del", f"{WORD}moveFrom"}
_CHARACTERS = {
    f"{WORD}tab": "\t",
    f"{WORD}ptab": "\t",
    f"{WORD}br": "\n",
    f"{WORD}cr": "\n",
    f"{WORD}noBreakHyphen": "-",
}
MAX_COVER, MAX_TITLE, MIN_TITLE_SIZE = 12, 150, 32  # paragraphs, characters, half points
_NO = {"0", "false", "off", "none"}
_WHITE, _TINY = "FFFFFF", 2  # half points
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NOTES = (f"{_RELATED}/footnotes", f"{_RELATED}/endnotes")
_NUMBERING = f"{_RELATED}/numbering"
_NOTE_TAGS = (f"{WORD}footnote", f"{WORD}endnote")

_Note = tuple[str, str]  # its tag, and its id


class DocxLoader:
    """Word documents, opened by python-docx.

    Their XML is walked here, because the paragraphs of python-docx leave out insertions.
    """

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for an archive with a Word document in it, 0.5 for a damaged one by name."""
        return archive.recognise(name, data, ".docx", r"word/document\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError for a bomb or a damaged archive.
        """
        import docx

        archive.open_archive(source.data).close()
        document = docx.Document(BytesIO(source.data))
        styles = document.styles.element
        vanished = None if source.keep_hidden else _find_vanished(styles)
        layout = Layout()
        numbering = Numbering(_find_numbering(document.part), styles)
        _prepare(layout, document.element.body, vanished)
        notes = _read_notes(layout, document.part, vanished)
        titles = _write_body(layout, document.element.body, _read_levels(styles), numbering, notes)
        properties = document.core_properties
        title = join_lines(" ".join(titles)) or clean_title(properties.title)
        title = title or clean_title(_find_cover_title(document.element.body))
        yield layout.document(source, "docx", title, {"author": properties.author})


def _write_body(
    layout: Layout,
    body: Any,
    levels: dict[str, int],
    numbering: Numbering,
    notes: dict[_Note, str],
) -> list[str]:
    """Add the paragraphs and tables, and return the paragraphs in the style "Title".

    A note follows the section that refers to it.
    """
    blocks, titles = list(_blocks(body)), []
    found = {id(block): _level(block, levels) for block in blocks}
    if max(found.values(), default=0) <= 0:
        found |= dict.fromkeys(map(id, _find_bold(blocks)), 1)

    waiting: list[str] = []
    for block in blocks:
        level = found[id(block)]
        if level > 0:
            _add_all(layout, waiting)
        waiting += [notes.pop(note, "") for note in _find_notes(block)]

        if block.tag == _TABLE:
            layout.table(_rows(block, numbering))
        else:
            _write_paragraph(layout, block, level, numbering)
        if level == 0:
            titles.append(_text(block))

    _add_all(layout, [*waiting, *notes.values()])
    return titles


def _add_all(layout: Layout, texts: list[str]) -> None:
    for text in texts:
        layout.add(text)
    texts.clear()


def _find_bold(blocks: Sequence[Any]) -> list[Any]:
    """Return the paragraphs in bold that are the headings of a document without others."""
    lines = [(block, _text(block).strip()) for block in blocks if block.tag == _PARAGRAPH]
    bold = [(block, text) for block, text in lines if _is_bold(block) and is_heading(text)]
    times = Counter(text.casefold() for _, text in bold)
    found = [(block, text) for block, text in bold if times[text.casefold()] < REPEATED]
    share = sum(len(text) for _, text in found) / max(1, sum(len(text) for _, text in lines))
    return [block for block, _ in found] if share <= MAX_SHARE else []


def _is_bold(paragraph: Any) -> bool:
    """Return whether all text of a paragraph, which is no item, is set in bold."""
    if paragraph.find(f"{WORD}pPr/{WORD}numPr") is not None:
        return False
    runs = [run for run in paragraph.iter(f"{WORD}r") if "".join(run.itertext()).strip()]
    marks = [run.find(f"{WORD}rPr/{WORD}b") for run in runs]
    return bool(runs) and all(
        mark is not None and mark.get(f"{WORD}val", "") not in _NO for mark in marks
    )


def _find_cover_title(body: Any) -> str:
    """Return the first lines in the largest letters of a document's beginning; "" if none is large.

    A cover may be made of plain paragraphs.
    """
    first = islice((block for block in _blocks(body) if _text(block).strip()), MAX_COVER)
    cover = [(_read_size(block), _text(block)) for block in first]
    largest = max((size for size, _ in cover), default=0)
    if largest < MIN_TITLE_SIZE:
        return ""

    at = next(n for n, (size, _) in enumerate(cover) if size == largest)
    lines = [*takewhile(lambda line: line[0] == largest, cover[at:])]
    title = join_lines(" ".join(text for _, text in lines))
    return title if len(lines) < len(cover) and len(title) <= MAX_TITLE else ""


def _read_size(block: Any) -> int:
    """Return the size that a paragraph gives its letters, in half points; 0 if it gives none."""
    sizes = block.iterfind(f"{WORD}r/{WORD}rPr/{WORD}sz")
    return max((read_number(size.get(f"{WORD}val"), 0) for size in sizes), default=0)


def _read_notes(layout: Layout, part: Any, vanished: set[str] | None) -> dict[_Note, str]:
    """Return the texts of the footnotes and endnotes, in order."""
    notes: dict[_Note, str] = {}
    for root in _parts(part, *_NOTES):
        for note in root.iter(*_NOTE_TAGS):
            _prepare(layout, note, vanished)
            said = (_text(block) for block in _blocks(note) if block.tag == _PARAGRAPH)
            notes[note.tag, note.get(f"{WORD}id", "")] = " ".join(said)
    return notes


def _find_notes(block: Any) -> Iterator[_Note]:
    """Yield the notes that a block refers to, in order."""
    for tag in _NOTE_TAGS:
        for reference in block.iter(f"{tag}Reference"):
            yield tag, reference.get(f"{WORD}id", "")


def _prepare(layout: Layout, root: Any, vanished: set[str] | None) -> None:
    """Remove hidden text, and separate superscripts from the text before them."""
    layout.leave_out(_remove_hidden(root, vanished))
    separate_raised(_iter_raised(root))


def _write_paragraph(layout: Layout, block: Any, level: int, numbering: Numbering) -> None:
    text = _text(block)
    mark = numbering.mark(block) if text.strip() else None
    if level > 0:
        layout.heading(f"{mark.text} {text}" if mark else text, level)
    elif mark:
        layout.add(mark.write_item(text), "\n")
    else:
        layout.add(text)


def _level(block: Any, levels: dict[str, int]) -> int:
    """Return the level of a paragraph or of its style: 0 for a title, -1 for text."""
    return read_outline(block) or levels.get(read_value(block, "pPr/pStyle"), -1)


def _read_levels(styles: Any) -> dict[str, int]:
    """Return the heading level of each paragraph style, by its id.

    It is the level of the style's name, of its outline or of the styles it is based on. A title has
    level 0, and passes it on to none.

    Word keeps "heading 1" as the name in every language of the user interface.
    """
    own: dict[str, int | None] = {}
    parents: dict[str, str] = {}
    for style in styles.iter(f"{WORD}style"):
        key = style.get(f"{WORD}styleId", "")
        own[key] = _read_level(style)
        parents[key] = read_value(style, "basedOn")

    found = ((key, inherit(key, own, parents)) for key in own)
    return {key: level for key, level in found if level is not None and (level or own[key] == 0)}


def _read_level(style: Any) -> int | None:
    """Return the level by a style's name, else by its outline; None if it has neither."""
    match = re.fullmatch(r"heading (\d)|title", read_value(style, "name").casefold())
    return int(match[1] or 0) if match else read_outline(style)


def _blocks(element: Any) -> Iterator[Any]:
    """Yield paragraphs and tables in order.

    Those in content controls, insertions and text boxes are included.
    """
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
    """Return a paragraph's words without deleted ones; its text boxes are blocks of their own."""
    from lxml import etree  # type: ignore[import-untyped]

    pieces: list[str] = []
    walker = etree.iterwalk(paragraph, events=("start",))
    for _, element in walker:
        if element.tag in _LEFT_OUT:
            walker.skip_subtree()
        elif element.tag == f"{MATH}oMath":
            pieces.append(write_equation(element))
            walker.skip_subtree()
        elif element.tag == f"{WORD}t":
            pieces.append(element.text or "")
        else:
            pieces.append(_CHARACTERS.get(element.tag) or read_sign(element))
    return "".join(pieces).strip()


def _rows(table: Any, numbering: Numbering) -> Iterator[list[str]]:
    """Yield a table's rows; a table within a cell becomes a part of the cell's text.

    The text of a cell that covers several columns or rows is in each of them. A cell alone in its
    row is a title, and its text is not repeated.
    """
    above: list[str] = []
    for row in _iter_nearest(table, f"{WORD}tr"):
        own = list(_iter_nearest(row, f"{WORD}tc"))
        cells: list[str] = []
        for cell in own:
            is_covered = _is_covered(cell)
            text = _cell(cell, None if is_covered else numbering)
            if not text and is_covered:
                text = "".join(above[len(cells) : len(cells) + 1])
            cells += repeat_text(text, _width(cell)) if len(own) > 1 else [text]
        yield cells
        above = cells


def _width(cell: Any) -> int:
    """Return how many columns a cell covers."""
    return read_number(read_value(cell, "tcPr/gridSpan"), 1)


def _is_covered(cell: Any) -> bool:
    """Return whether a cell is part of one that covers several rows."""
    merge = cell.find(f"{WORD}tcPr/{WORD}vMerge")
    return merge is not None and merge.get(f"{WORD}val", "continue") == "continue"


def _cell(cell: Any, numbering: Numbering | None) -> str:
    """Return a cell's text with the numbers of its paragraphs; a covered one has no numbering."""
    blocks = (_say_in_cell(block, numbering) for block in _blocks(cell))
    return " ".join(block for block in blocks if block.strip())


def _say_in_cell(block: Any, numbering: Numbering | None) -> str:
    """Return a block as a part of its cell; an empty paragraph may be a column's number."""
    if numbering is None:
        return "" if block.tag == _TABLE else _text(block)
    if block.tag == _TABLE:
        return "; ".join(map(", ".join, _rows(block, numbering)))
    mark = numbering.mark(block)
    return f"{mark.text if mark else ''} {_text(block)}".strip()


def _iter_nearest(element: Any, tag: str) -> Iterator[Any]:
    """Yield descendants with the tag that are not below another one; content controls wrap rows."""
    for child in element.iterchildren("{*}*"):
        if child.tag == tag:
            yield child
        elif child.tag not in _LEFT_OUT:
            yield from _iter_nearest(child, tag)


def _find_numbering(part: Any) -> Any:
    """Return the root of the part that describes a document's lists, None if it has none."""
    return next(_parts(part, _NUMBERING), None)


def _parts(part: Any, *kinds: str) -> Iterator[Any]:
    """Yield the roots of the parts of these kinds that belong to a part."""
    for relation in part.rels.values():
        if relation.reltype in kinds and not relation.is_external:
            yield archive.parse_xml(relation.target_part.blob)


def _iter_raised(root: Any) -> Iterator[Any]:
    """Yield the runs with text that stand above the line."""
    for run in root.iter(f"{WORD}r"):
        has_text = run.find(f"{WORD}t") is not None
        if has_text and read_value(run, "rPr/vertAlign") == "superscript":
            yield run


def _find_vanished(styles: Any) -> set[str]:
    """Return the ids of the styles whose text is hidden, by themselves or by a parent style.

    "" stands for the default style.
    """
    own: dict[str, bool | None] = {}
    parents: dict[str, str] = {}
    default = styles.find(f"{WORD}docDefaults/{WORD}rPrDefault/{WORD}rPr")
    for style in styles.iter(f"{WORD}style"):
        key = style.get(f"{WORD}styleId", "")
        own[key] = _says_hidden(style.find(f"{WORD}rPr"))
        parents[key] = read_value(style, "basedOn")
        if _is_default(style):
            own.setdefault("", own[key])

    own[""] = own.get("") or _says_hidden(default)
    return {key for key in own if inherit(key, own, parents)}


def _is_default(style: Any) -> bool:
    """Return whether a style is that of paragraphs without one."""
    is_paragraph = style.get(f"{WORD}type") == "paragraph"
    return is_paragraph and style.get(f"{WORD}default") in ("1", "true")


def _says_hidden(properties: Any) -> bool | None:
    """Return whether properties of text hide it; None if they say nothing about it."""
    mark = None if properties is None else properties.find(f"{WORD}vanish")
    return None if mark is None else mark.get(f"{WORD}val", "1") not in _NO


def _remove_hidden(root: Any, vanished: set[str] | None) -> int:
    """Remove the hidden runs and rows, and return how many characters they held.

    Without styles nothing is removed.
    """
    if vanished is None:
        return 0

    rows = root.iter(f"{WORD}tr")
    hidden = [row for row in rows if row.find(f"{WORD}trPr/{WORD}hidden") is not None]
    hidden += [run for run in root.iter(f"{WORD}r") if _is_hidden(run, vanished)]
    return sum(map(_remove, hidden))


def _remove(element: Any) -> int:
    """Remove a run or a row with its texts, and return how many characters these held."""
    characters = 0
    for text in element.iter(f"{WORD}t"):
        characters += count_characters(text.text or "")
        text.text = ""
    element.getparent().remove(element)
    return characters


def _is_hidden(run: Any, vanished: set[str]) -> bool:
    """Return whether a run is hidden by itself or its styles, is white, or is too small to read."""
    properties = run.find(f"{WORD}rPr")
    said = _says_hidden(properties)
    if said is not None:
        return said

    paragraph = next(run.iterancestors(_PARAGRAPH), None)
    if not vanished.isdisjoint(_style_ids(properties, paragraph)):
        return True
    return properties is not None and (
        _is_tiny(properties) or _is_white(run, properties, paragraph)
    )


def _style_ids(properties: Any, paragraph: Any) -> list[str]:
    """Return the ids of a run's own style and of its paragraph's, "" for the default one."""
    of_paragraph = "" if paragraph is None else read_value(paragraph, "pPr/pStyle")
    of_run = "" if properties is None else read_value(properties, "rStyle")
    return [of_paragraph, of_run] if of_run else [of_paragraph]


def _is_tiny(properties: Any) -> bool:
    return read_number(read_value(properties, "sz"), _TINY + 1) <= _TINY


def _is_white(run: Any, properties: Any, paragraph: Any) -> bool:
    """Return whether a run is white on the page.

    Text in a table, a text box or a shading is not, since the colour behind it may be anything.
    """
    if read_value(properties, "color").upper() != _WHITE:
        return False

    boxed = next(run.iterancestors(_TABLE, _BOX), None) is not None
    marks = ("shd", "highlight")
    shaded = any(properties.find(f"{WORD}{mark}") is not None for mark in marks)
    styled = paragraph is not None and paragraph.find(f"{WORD}pPr/{WORD}pStyle") is not None
    behind = paragraph is not None and paragraph.find(f"{WORD}pPr/{WORD}shd") is not None
    page = run.getroottree().getroot().find(f"{WORD}background")
    return not (boxed or shaded or styled or behind or page is not None)
