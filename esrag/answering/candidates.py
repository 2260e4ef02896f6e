"""Candidates: the sentences and table rows of the evidence that an extractive answer can be made of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from esrag.records import Evidence
from esrag.text import sentence_spans

MIN_CHARACTERS, MAX_CHARACTERS = 12, 700  # shorter is a heading or a page number, longer is not read as one sentence

_CAPTION = re.compile(r"(?:Table|Tab\.)\s+[\w.-]+")
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
            said = _MARKER.sub(r"(\1)", " ".join(text.split()))  # a document's own [c1] must not read as our marker
            if MIN_CHARACTERS <= len(said) <= MAX_CHARACTERS and said not in seen:
                seen.add(said)
                found.append(Candidate(item.key, len(found), said))
    return found


def _statements(text: str) -> Iterator[str]:
    """Sentences as they stand; a row of a table with the table's caption and header before it."""
    caption = header = ""  # of the table that is being read
    for start, end in sentence_spans(text):
        span = text[start:end]
        if "|" in span:
            yield ": ".join(part for part in (caption, header, span) if part)
            header = header or span
        elif _CAPTION.match(span):
            caption, header = span.split("\n")[0], ""
            yield from _rows(span.split("\n"))
        else:
            caption = header = ""
            yield span


def _rows(lines: Sequence[str]) -> Iterator[str]:
    """`Table 3. Sizes`, `key ciphertext`, `A 800 768`, … → each row after caption and header."""
    if len(lines) <= 2:  # noqa: PLR2004 -- a caption and one line: no rows to tell apart
        yield " ".join(lines)
    for row in lines[2:]:
        yield f"{lines[0]}: {lines[1]}: {row}"
