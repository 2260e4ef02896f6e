"""Presentations: a slide is a page and a section, with its tables and notes."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from esrag.loading import archive
from esrag.loading.layout import Layout, sensible_title
from esrag.records import Document, Source


class PptxLoader:
    """PowerPoint presentations, by python-pptx."""

    def recognises(self, name: str, data: bytes) -> float:
        """1.0 for an archive with a presentation in it, 0.5 for a damaged one by name."""
        return archive.recognised(name, data, ".pptx", r"ppt/presentation\d*\.xml")

    def load(self, source: Source) -> Iterator[Document]:
        """One document. Raises: ParsingError for a bomb or a damaged archive."""
        import pptx

        archive.opened(source.data).close()
        presentation = pptx.Presentation(BytesIO(source.data))
        layout = Layout()
        for number, slide in enumerate(presentation.slides, start=1):
            layout.page(number)
            title = slide.shapes.title
            if title is not None and title.has_text_frame:
                layout.heading(title.text_frame.text, 1)
            _write(layout, (shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id))
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                layout.add(slide.notes_slide.notes_text_frame.text)
        properties = presentation.core_properties
        yield layout.document(source, "pptx", sensible_title(properties.title), {"author": properties.author})


def _write(layout: Layout, shapes: Iterable[Any]) -> None:
    """Adds the shapes' texts and tables, groups taken apart."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            _write(layout, shape.shapes)
        elif getattr(shape, "has_table", False):
            layout.table([cell.text_frame.text for cell in row.cells] for row in shape.table.rows)
        elif shape.has_text_frame:
            layout.add(shape.text_frame.text)
