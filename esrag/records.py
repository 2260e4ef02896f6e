"""The nouns, frozen. A stage takes records and returns new ones.

Offsets count characters of `Document.text`; a span is `text[start:end]`. Pages count from 1.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any, Literal

Scalar = str | int | float | bool
Metadata = Mapping[str, Scalar]
Method = Literal["vector", "keyword", "hybrid"]
Fusion = Literal["rrf", "weighted"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document; pages are in order and do not overlap."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """The text from a heading to the next one.

    `path` holds that heading and those above it, outermost first.
    """

    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table's rows that hold their text, title and id; "" is left to the loader.

    The other columns are metadata.
    """

    text: str = ""
    title: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Something to load: the bytes of one file, read once.

    `name` is its file name; `doc_id` is the id for its document. `keep_hidden` also asks for text
    that a reader of the file would not see. `columns` are those of a table.
    """

    doc_id: str
    name: str
    data: bytes = field(repr=False)
    keep_hidden: bool = False
    columns: Columns = Columns()


@dataclass(frozen=True, slots=True)
class Document:
    """One document: normalised text with pages, sections and tables as spans over it.

    `title` is a title found in the content, or "". `pages` is empty where the format has none.
    `tables` are to be kept whole. `kind` is the loader's name. `metadata` can be filtered by.
    `hidden` counts the characters of hidden text that were left out, white space aside.
    """

    doc_id: str
    kind: str
    text: str = field(repr=False)
    title: str = ""
    pages: tuple[Page, ...] = ()
    sections: tuple[Section, ...] = ()
    tables: tuple[Span, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Break:
    """Where another page or another section begins within a chunk, by the offset in the document.

    `section` is the path of headings joined by " > ".
    """

    start: int
    page: int
    section: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A true slice of a document: `document.text[start:end] == text`.

    `chunk_id` is readable: `NIST.FIPS.203::p0028::c001`, the first chunk that starts on page 28.
    `ordinal` counts a document's chunks from 0. `section` is the path of headings joined by " > ",
    for the text before the first of `breaks`. `keywords` are its technical words. `context` has the
    fields that are searched with its text.
    """

    chunk_id: str
    doc_id: str
    ordinal: int
    start: int
    end: int
    start_page: int
    end_page: int
    text: str
    title: str = ""
    section: str = ""
    keywords: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    context: str = ""
    breaks: tuple[Break, ...] = ()

    @property
    def headings(self) -> str:
        """Return the title and the section, each on a line."""
        return f"{self.title}\n{self.section}"

    @property
    def whole_text(self) -> str:
        """Return the text below its title and section."""
        return f"{self.headings}\n{self.text}"

    def find_place(self, start: int, end: int) -> tuple[int, int, str]:
        """Return the pages where a part of the chunk begins and ends, and its section.

        >>> breaks = Break(40, 1, "Rent > Pets"), Break(90, 2, "Rent > Pets")
        >>> chunk = Chunk("d::p0001::c001", "d", 0, 9, 99, 1, 2, "…", breaks=breaks)
        >>> chunk.find_place(9, 40), chunk.find_place(50, 91)
        ((1, 1, ''), (1, 2, 'Rent > Pets'))
        """
        if not self.breaks:
            return self.start_page, self.end_page, self.section
        first, last = self.find_break(start), self.find_break(end - 1)
        return first.page, last.page, first.section

    def find_break(self, offset: int) -> Break:
        """Return the last break up to an offset in the document, else the chunk's beginning."""
        at = bisect_right(self.breaks, offset, key=attrgetter("start"))
        return self.breaks[at - 1] if at else Break(self.start, self.start_page, self.section)

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag chunks --json` prints."""
        fields = asdict(self)
        lists = {name: [*fields[name]] for name in ("keywords", "breaks")}
        return {"schema": "esrag.chunk/1", **fields, **lists}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """How an index was made: with which model, and how documents were read and cut.

    `dimensions` is the width of its vectors, 0 without a model.
    """

    model: str
    dimensions: int
    chunker: str


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What an index stores about a document.

    `revision` fingerprints content, loader, chunker and model. `source` is the file's absolute
    path, `source_sha256` the hash of its bytes and `source_documents` how many documents it holds:
    if fewer are stored, an ingest was cut short. `rules` is a digest of the rules that enriched it.
    """

    doc_id: str
    source: str
    source_sha256: str
    revision: str
    kind: str
    title: str
    characters: int
    page_count: int
    chunk_count: int
    metadata: Metadata = field(default_factory=dict)
    source_documents: int = 1
    rules: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag docs --json` prints."""
        return {"schema": "esrag.document/1", **asdict(self)}


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk with its score, and its rank and score in each leg.

    Ranks count from 1; None means that the leg did not find it. The score is the sum of
    `fused_score`, the score of the fusion, and of all that rerankers `added`, by reason.
    """

    chunk: Chunk
    score: float
    keyword_rank: int | None = None
    vector_rank: int | None = None
    keyword_score: float | None = None
    vector_score: float | None = None
    added: Mapping[str, float] = field(default_factory=dict)
    fused_score: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage an answer may cite, under its key c1…cN.

    `kept` are the stretches of its text that a model is sent, where that is not all of it.
    `closeness` is its cosine with what was searched for, a neighbour's that of its hit; None where
    the vector leg did not find it.
    """

    key: str
    chunk: Chunk
    score: float
    kept: tuple[tuple[int, int], ...] = ()
    closeness: float | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A checked pointer from a sentence of an answer to its passage; `support` is 0..1.

    `quote` is what the sentence quotes of the passage, else the passage's sentence that comes
    nearest; `start` and `end` are its offsets in the document's text. Pages and `section` are those
    of the quote. `source` is the path or address of the document. Each is "" if it is not known.
    """

    key: str
    doc_id: str
    start_page: int
    end_page: int
    chunk_id: str
    start: int
    end: int
    quote: str
    support: float
    title: str = ""
    section: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A cited answer, or the refusal with its reason; `notes` say what was dropped and why."""

    text: str
    refused: bool
    reason: str = ""
    citations: tuple[Citation, ...] = ()
    notes: tuple[str, ...] = ()
