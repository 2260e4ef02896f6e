"""A document's sections as stretches that tile its text."""

from esrag.records import Document, Section


def is_below(second: Section, first: Section) -> bool:
    """Return whether a section is a subsection of another, perhaps of one without a heading."""
    return len(second.path) > len(first.path) and second.path[: len(first.path)] == first.path


def is_lead(text: str, first: Section, second: Section) -> bool:
    """Return whether a section is a bare heading over its first subsection."""
    is_bare = bool(first.path) and "\n" not in text[first.start : first.end].strip()
    return is_bare and is_below(second, first)


def outline(document: Document) -> list[Section]:
    r"""Return sections in order that cover the whole text; text before the first one has no path.

    >>> outline(Document("d", "plain", "By me.\nKeys", sections=(Section(("Keys",), 7, 11),)))
    [Section(path=(), start=0, end=7), Section(path=('Keys',), start=7, end=11)]
    """
    begun = [
        Section((), 0, 0),
        *sorted(document.sections, key=lambda section: (section.start, len(section.path))),
    ]
    ends = [*(section.start for section in begun[1:]), len(document.text)]
    return [
        Section(part.path, part.start, end)
        for part, end in zip(begun, ends, strict=True)
        if end > part.start
    ]
