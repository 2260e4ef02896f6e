"""Sum up a document with its own sentences: of its abstract, else of its main sections."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from esrag.evidence.lines import lines, to_line
from esrag.records import Chunk
from esrag.text import get_heading

MAX_READ = 60  # chunks of a document; a summary is at its beginning, its main sections follow
MAX_LEAD = 4  # chunks of an abstract
MIN_WORDS, MAX_CHARACTERS = 8, 600  # of a sentence that can be read by itself
MIN_SMALL = 0.6  # share of a sentence's words in lower case; a title page has fewer

_LEAD = (
    r"(?:executive |management )?(?:abstract|summary|syllabus|overview|introduction|synopsis"
    r"|purpose(?: and scope)?|scope|preface|foreword)"
)
_HEADING = re.compile(rf"\W*(?:\d{{1,2}}(?:\.\d{{1,2}})?\.?\s+)?{_LEAD}\W*", re.IGNORECASE)
_RANKS = ("abstract", "summary", "syllabus", "synopsis", "overview", "introduction")
# The sentence that says what a text is for, or what it comes to.
_PURPOSE = re.compile(
    r"(?:held|holding|summary|conclusion):\s"
    r"|(?:in this|this|the present) (?:\w+ ){0,2}?(?:paper|document|standard|memo|memorandum"
    r"|specification|guide|guideline|report|article|pep|manual|policy|publication|section"
    r"|recommendation|page|handbook|chapter|act|law|regulation"
    r"|agreement|study|book|note)s?,? (?:\w+ ){0,2}?(?:specif|describ|defin|propos"
    r"|provid|present|explain|giv|introduc|document|outlin|summari|cover|contain|we )"
    r"|we (?:propose|present|show|find|found|conclude|hold|introduce|describe)\b",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"copyright|©|\ball rights\b|rights reserved|distribution of this|is unlimited|\bisbn\b"
    r"|https?://|\bdoi\b|table of contents|\w@\w|\btrademarks?\b|printed in|for sale by"
    r"|this page (?:was|is intentionally)|no part of this",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a document with its passage."""

    text: str
    chunk: Chunk


def sum_up(chunks: Sequence[Chunk], most: int) -> str:
    """Return at most `most` sentences that sum up these chunks of a document.

    Without any sentence, as in a table, it is the beginning of their text.
    """
    read = chunks[:MAX_READ]
    chosen = choose_sentences(find_lead(read), read, most)
    return " ".join(each.text for each in chosen) or _begin(read)


def _begin(chunks: Sequence[Chunk]) -> str:
    """Return the first words of chunks."""
    words = " ".join(chunk.text for chunk in chunks[:1]).split()
    return " ".join(words)[:MAX_CHARACTERS].strip()


def choose_sentences(
    lead: Sequence[Sentence], chunks: Sequence[Chunk], most: int
) -> list[Sentence]:
    """Return the sentences of a summary in the order of the document.

    The first ones of the abstract, and what it comes to. Without an abstract, what the document
    says of itself, and the first sentence of each main section.
    """
    sentences = list(_iter_sentences(chunks))
    pool = lead or [*_iter_openings(sentences), *sentences]
    telling = [each for each in lead or sentences if _PURPOSE.match(each.text)]

    chosen = {each.text: each for each in telling[: max(1, most // 2)]}
    for each in pool:
        if len(chosen) >= most:
            break
        chosen.setdefault(each.text, each)

    order: dict[str, int] = {}
    for each in sentences:
        order.setdefault(each.text, len(order))
    return sorted(chosen.values(), key=lambda each: order.get(each.text, 0))


def find_lead(chunks: Sequence[Chunk]) -> list[Sentence]:
    """Return the sentences of the abstract or introduction, the former before the latter."""
    by_heading: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        if heading := _heading_of(chunk):
            by_heading.setdefault(heading, []).append(chunk)

    if by_heading:
        return list(_iter_sentences(by_heading[min(by_heading, key=_rank)][:MAX_LEAD]))
    return _follow_heading_line(chunks)


def _heading_of(chunk: Chunk) -> str:
    """Return the last heading of a chunk if it is one of an abstract or introduction, else ""."""
    last = get_heading(chunk.section)
    return last.casefold() if _HEADING.fullmatch(last) else ""


def _rank(heading: str) -> int:
    """Return 0 for an abstract, more for what says less of the whole document."""
    return next((n for n, word in enumerate(_RANKS) if word in heading), len(_RANKS))


def _follow_heading_line(chunks: Sequence[Chunk]) -> list[Sentence]:
    """Return what follows a line that is such a heading, in a document without headings."""
    for n, chunk in enumerate(chunks):
        written = chunk.text.split("\n")
        for place, line in enumerate(written):
            if _HEADING.fullmatch(line):
                rest = _iter_prose("\n".join(written[place + 1 :]), chunk)
                return [*rest, *_iter_sentences(chunks[n + 1 : n + MAX_LEAD])]
    return []


def _iter_openings(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the first sentence of each main section, and of each passage outside of them."""
    seen = set[str]()
    for _, said in groupby(sentences, key=lambda each: each.chunk.chunk_id):
        first = next(said)
        section = " > ".join(first.chunk.section.split(" > ")[:2])
        if section not in seen or not section:
            seen.add(section)
            yield first


def _iter_sentences(chunks: Iterable[Chunk]) -> Iterator[Sentence]:
    """Yield the sentences of chunks that can be read by themselves."""
    for chunk in chunks:
        yield from _iter_prose(chunk.text, chunk)


def _iter_prose(text: str, chunk: Chunk) -> Iterator[Sentence]:
    """Yield the sentences of a part of a chunk that can be read by themselves."""
    for said in lines(text):
        line = to_line(said.text)
        if said.row is None and _is_prose(line):
            yield Sentence(line, chunk)


def _is_prose(line: str) -> bool:
    """Return whether a line is a whole sentence, and not a heading, a row or boilerplate.

    >>> _is_prose("The Fulmar sails every hour from May until the end of September.")
    True
    >>> _is_prose("This page describes how the ferry sails from May to September.")
    True
    >>> _is_prose("OFFICIAL REPORTS OF THE SUPREME COURT February 22, 2023.")
    False
    """
    words = line.split()
    if not (len(words) >= MIN_WORDS and len(line) <= MAX_CHARACTERS):
        return False
    small = sum(word[0].islower() for word in words)
    return (
        line[-1] in ".!?"
        and (line[0].isupper() or line[0].isdigit())
        and small >= MIN_SMALL * len(words)
        and "|" not in line
        and not _BOILERPLATE.search(line)
    )
