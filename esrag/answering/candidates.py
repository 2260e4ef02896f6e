"""Candidates: the sentences and table rows of the evidence that an extractive answer can be made of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.records import Evidence
from esrag.text import sentence_spans

LEAST_WORDS, MOST_CHARACTERS = 3, 700  # less is a heading or a page number, more is not read as one sentence

_CAPTION = re.compile(r"(?:Table|Tab\.)\s+[\w.-]+")
_HEADING = re.compile(r"#{1,6}\s|[^\n]*\n([-=~^\"'`#*+.:_])\1{2,}\s*\Z")  # ATX; or a line that is underlined
_RULE = re.compile(r"[\s|:+=-]+")  # the line between a table's header and its rows
_BULLET = re.compile(r"\A(?:[-*•–]|\d{1,2}[.)])\s+")
_MARKER = re.compile(r"\[(c\d+)\]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that can be said of one passage: `text` on one line; `order` is its place in the evidence."""

    key: str
    order: int
    text: str


def candidates(evidence: Sequence[Evidence]) -> list[Candidate]:
    """Every sentence and table row of the evidence, in order, each text once."""
    seen: set[str] = set()
    found: list[Candidate] = []
    for item in evidence:
        for text in _statements(item.chunk.text):
            said = _said(text)
            if len(said.split()) >= LEAST_WORDS and len(said) <= MOST_CHARACTERS and said not in seen:
                seen.add(said)
                found.append(Candidate(item.key, len(found), said))
    return found


def _said(text: str) -> str:
    r"""A statement on one line, without its bullet; a document's own [c1] must not read as our marker.

    >>> _said("- It boils\nin three minutes [c4].")
    'It boils in three minutes (c4).'
    """
    return _MARKER.sub(r"(\1)", " ".join(_BULLET.sub("", text).split()))


def _statements(text: str) -> Iterator[str]:
    """Sentences as they stand; a row of a table with the table's caption and header; no headings."""
    caption = ""  # of the table that is being read
    header: tuple[str, ...] = ()
    for start, end in sentence_spans(text):
        span = text[start:end]
        if "|" in span:
            cells = _cells(span)
            if header and not _RULE.fullmatch(span):
                yield ": ".join(part for part in (caption, _row(header, cells)) if part)
            header = header or cells
        elif _CAPTION.match(span):
            caption, header = span.split("\n")[0], ()
            yield from _captioned(span.split("\n"))
        else:
            caption, header = "", ()
            if not _HEADING.match(span):
                yield span


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _row(header: Sequence[str], cells: Sequence[str]) -> str:
    """A row that can be read by itself.

    >>> _row(["Kettle", "litres"], ["A", "1.7"])
    'Kettle: A, litres: 1.7'
    """
    if len(header) != len(cells):
        return " | ".join(cells)
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=True) if cell)


def _captioned(lines: Sequence[str]) -> Iterator[str]:
    """`Table 3. Sizes`, `key ciphertext`, `A 800 768`, … → each row after caption and header."""
    if len(lines) <= 2:  # noqa: PLR2004 -- a caption and one line: no rows to tell apart
        yield " ".join(lines)
    for row in lines[2:]:
        yield f"{lines[0]}: {lines[1]}: {row}"
