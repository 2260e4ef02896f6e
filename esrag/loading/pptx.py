"""Presentations: a slide is a page and a section, with its tables and notes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any

from esrag.loading import archive
from esrag.loading.diagrams import find_diagram, read_diagram
from esrag.loading.headers import Cell, limit_cover, spread_cells
from esrag.loading.layout import Layout, clean_title, count_characters
from esrag.loading.number_formats import format_number
from esrag.loading.numbering import Mark
from esrag.loading.superscripts import separate_raised
from esrag.loading.typography import is_heading
from esrag.records import Document, Source

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_TEXT, _RUN = f"{_DRAWING}t", f"{_DRAWING}r"
_FORMAT = "{*}formatCode"
_DAY = re.compile(r"[1-9][0-9]{0,5}(?:\.[0-9]{1,9})?")  # a date as Excel counts
_IN_THOUSANDS = re.compile(r"[#0?],{1,9}(?![#0?,])")
_NO, _YES = ("0", "false"), ("1", "true")
# What python-pptx raises for a chart whose parts are missing or of another kind.
_BROKEN = (AttributeError, LookupError, TypeError, ValueError)


class PptxLoader:
    """PowerPoint presentations, by python-pptx."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for an archive with a presentation in it, 0.5 for a damaged one by name."""
        return archive.recognise(name, data, ".pptx", r"ppt/presentation\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError for a bomb or a damaged archive.
        """
        import pptx

        archive.open_archive(source.data).close()
        presentation = pptx.Presentation(BytesIO(source.data))
        area = (presentation.slide_width or 0, presentation.slide_height or 0)
        layout = Layout()
        for number, slide in enumerate(presentation.slides, start=1):
            layout.page(number)
            if source.keep_hidden or _remove_hidden(layout, slide, area):
                _write_slide(layout, slide)
        properties = presentation.core_properties
        title = clean_title(properties.title)
        yield layout.document(source, "pptx", title, {"author": properties.author})


def _remove_hidden(layout: Layout, slide: Any, area: tuple[int, int]) -> bool:
    """Empty what is hidden of a slide, and return whether the slide is shown."""
    is_shown = slide.element.get("show") not in _NO
    hidden = list(_iter_hidden(slide.shapes, area)) if is_shown else [slide]
    layout.leave_out(sum(_empty(it.element) for it in hidden))
    return is_shown


def _write_slide(layout: Layout, slide: Any) -> None:
    """Add a slide's title, shapes and notes."""
    separate_raised(_iter_raised(slide.element))
    title = slide.shapes.title or _find_title(slide.shapes)
    if title is not None and title.has_text_frame:
        layout.heading(title.text_frame.text, 1)

    own_id = None if title is None else title.shape_id
    _write(layout, (shape for shape in slide.shapes if shape.shape_id != own_id))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        layout.add(slide.notes_slide.notes_text_frame.text)


def _find_title(shapes: Iterable[Any]) -> Any:
    """Return the topmost text of a slide without a title if it could be one, else None."""
    texts = [shape for shape in shapes if shape.has_text_frame and shape.text_frame.text.strip()]
    first = min(texts, key=lambda shape: (shape.top or 0, shape.left or 0), default=None)
    is_title = first is not None and len(texts) > 1 and is_heading(first.text_frame.text.strip())
    return first if is_title else None


def _write(layout: Layout, shapes: Iterable[Any]) -> None:
    """Add the texts and tables of the shapes, including those in groups."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            _write(layout, shape.shapes)
        elif getattr(shape, "has_table", False):
            layout.table(spread_cells(_read_cells(row) for row in shape.table.rows))
        elif getattr(shape, "has_chart", False):
            _write_chart(layout, shape.chart)
        elif diagram := find_diagram(shape.element):
            _write_diagram(layout, shape.part, diagram)
        elif shape.has_text_frame:
            _write_paragraphs(layout, shape)


def _read_cells(row: Any) -> list[Cell]:
    """Return the cells of a row without those that others cover."""
    return [
        (cell.text_frame.text, *limit_cover(cell.span_height, cell.span_width))
        for cell in row.cells
        if not cell.is_spanned
    ]


def _write_paragraphs(layout: Layout, shape: Any) -> None:
    """Add a shape's text: as items below one another where it has several in a slide's body."""
    paragraphs = [each for each in shape.text_frame.paragraphs if each.text.strip()]
    is_body = shape.is_placeholder and shape.placeholder_format.type in _bodies()
    is_list = len(paragraphs) > 1 and is_body
    for number, paragraph in enumerate(paragraphs):
        if _is_item(paragraph, is_list=is_list):
            layout.add(Mark("", paragraph.level).write_item(paragraph.text), "\n")
        else:
            layout.add(paragraph.text, "\n" if number else "\n\n")


def _bodies() -> tuple[Any, ...]:
    """Return the kinds of placeholders whose paragraphs have bullets."""
    from pptx.enum.shapes import PP_PLACEHOLDER

    return PP_PLACEHOLDER.BODY, PP_PLACEHOLDER.OBJECT


def _is_item(paragraph: Any, *, is_list: bool) -> bool:
    """Return whether a paragraph has a bullet or number of its own, or is in a list of bullets."""
    properties = paragraph._p.pPr  # noqa: SLF001 -- python-pptx does not tell of bullets
    if properties is None:
        return is_list
    has_own = (
        properties.find("{*}buChar") is not None or properties.find("{*}buAutoNum") is not None
    )
    return has_own or (is_list and properties.find("{*}buNone") is None)


def _write_chart(layout: Layout, chart: Any) -> None:
    """Add a chart's title, and its values as a table with a column for each series."""
    try:
        if chart.has_title and chart.chart_title.has_text_frame:
            layout.add(chart.chart_title.text_frame.text)
        for plot in chart.plots:
            series = list(plot.series)
            layout.table([["", *(each.name for each in series)], *_read_points(plot, series)])
    except _BROKEN:
        return  # its values are in no form that python-pptx knows


def _read_points(plot: Any, series: Sequence[Any]) -> Iterator[list[str]]:
    """Yield each category with the values that the series have for it."""
    columns = [_read_values(each) for each in series]
    dates = _find_format(next(plot._element.iter("{*}cat"), None))  # noqa: SLF001 -- as below
    for name, values in zip(plot.categories, zip(*columns, strict=False), strict=False):
        yield [_read_category(str(name), dates), *values]


def _read_values(series: Any) -> list[str]:
    """Return the values of a series in the format of their numbers; "" for none.

    One that shows thousands or millions would put their unit after the whole number.
    """
    shown = _find_format(series._element.find("{*}val"))  # noqa: SLF001 -- python-pptx has no formats
    shown = "" if _IN_THOUSANDS.search(shown) else shown
    return ["" if value is None else format_number(value, shown) for value in series.values]


def _find_format(data: Any) -> str:
    """Return the format of the numbers of a series or of its categories; "" for the usual one."""
    return "" if data is None else next((each.text or "" for each in data.iter(_FORMAT)), "")


def _read_category(name: str, shown: str) -> str:
    """Return the name of a category, a date as in ISO 8601.

    >>> _read_category("45292.0", "m/d/yyyy"), _read_category("45292.0", "0")
    ('2024-01-01', '45292.0')
    """
    from openpyxl.styles.numbers import is_date_format  # type: ignore[import-untyped]
    from openpyxl.utils.datetime import from_excel  # type: ignore[import-untyped]

    if not (is_date_format(shown) and _DAY.fullmatch(name)):
        return name
    return str(from_excel(float(name)).date())


def _write_diagram(layout: Layout, part: Any, key: str) -> None:
    """Add the texts of a diagram as items; the data of a damaged one may be missing."""
    relation = part.rels.get(key)
    if relation is None or relation.is_external:
        return
    for number, (level, text) in enumerate(
        read_diagram(archive.parse_xml(relation.target_part.blob))
    ):
        layout.add(Mark("", level).write_item(text), "\n" if number else "\n\n")


def _iter_raised(root: Any) -> Iterator[Any]:
    """Yield the runs that stand above the line."""
    for run in root.iter(_RUN):
        properties = run.find("{*}rPr")
        offset = "" if properties is None else properties.get("baseline", "")
        if re.fullmatch("[1-9][0-9]{0,8}%?", offset):
            yield run


def _iter_hidden(shapes: Iterable[Any], area: tuple[int, int]) -> Iterator[Any]:
    """Yield the shapes that are hidden, are in a hidden group, or are wholly outside the slide."""
    width, height = area
    for shape in shapes:
        mark = next(shape.element.iter("{*}cNvPr"), None)
        if (mark is not None and mark.get("hidden") in _YES) or _is_beside(shape, width, height):
            yield shape
        elif hasattr(shape, "shapes"):  # what is in a group is placed in units of its own
            yield from _iter_hidden(shape.shapes, (0, 0))


def _is_beside(shape: Any, width: int, height: int) -> bool:
    if not width or not height or None in (shape.left, shape.top, shape.width, shape.height):
        return False
    right, bottom = shape.left + shape.width, shape.top + shape.height
    return bool(right <= 0 or bottom <= 0 or shape.left >= width or shape.top >= height)


def _empty(element: Any) -> int:
    """Empty the texts of a shape, and return how many characters they held.

    Those of a chart or a diagram are in other parts, of which the shape forgets the ids.
    """
    characters = 0
    for text in element.iter(_TEXT):
        characters += count_characters(text.text or "")
        text.text = ""
    for data in element.iter(f"{_DRAWING}graphicData"):
        data.clear()
        data.set("uri", "")
    return characters
