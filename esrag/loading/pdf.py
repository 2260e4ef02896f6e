"""PDF by pypdfium2: pages, outline or headings, running lines, hyphens at line ends, and tables."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile
from typing import Any

from esrag.errors import ParsingError
from esrag.loading.exponents import with_exponents
from esrag.loading.gaps import find_gaps, with_gaps
from esrag.loading.layout import Layout, clean_title, join_lines, sections
from esrag.loading.ligatures import Ligatures, find_ligatures, write_ligatures
from esrag.loading.pages import report_page
from esrag.loading.painted import order_texts
from esrag.loading.placed import GAP, TABLE_CAPTION
from esrag.loading.rules import read_rules
from esrag.loading.running_heads import (
    Marks,
    find_running_title,
    find_running_titles,
    without_running_lines,
)
from esrag.loading.stamps import find_stamps, without_stamps
from esrag.loading.typography import Line, find_headings, find_title, measure_lines
from esrag.loading.unmapped import read_text
from esrag.records import Document, Page, Source
from esrag.text import format_count, normalise

_MARKED = 10  # pages, for which an outline has at least one mark
_MAX_CAPTION = 2  # lines below the first one of a caption
_MAX_TABLE = 60  # lines: a page holds no more
_NUMBER = re.compile(r"[($]?[-+]?\d[\d.,]*%?\)?")
_FUNCTION_WORDS = {
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on",
    "or", "that", "the", "this", "to", "was", "with",
}  # fmt: skip
_MIN_PROSE = 6  # words
# pdfium marks a cut word by U+FFFE.
_HYPHENATED = re.compile("\\b(\\w++)(?:[\x02\ufffe]|[\xad\u2010][ \t]*\r?\n)(\\w*)")
# What a font of TeX (in the encoding T1) has at these places, if it does not say so in Unicode.
# Word has marks of items in Symbol and Wingdings there, in Unicode's area for private use.
_OF_FONTS = str.maketrans(
    {"\x10": "“", "\x11": "”", "\x15": "–", "\x16": "—"}
    | {"\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl"}
    | {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf0fb": "✗", "\uf0a8": "□"}
    | {"\uf0fe": "☑", "\uf0fd": "☒", "\uf0e0": "→", "\uf0f0": "⇒", "\uf076": "❖"}
)
# Before the title of an outline's mark, on the page: "3.2 " or "Appendix A ".
_NUMBERED = r"^[ ]*(?:(?:Appendix|Annex|Chapter|Part|Section)\s+)?(?:[\w.]{1,12}[ .:]\s*)?"
# A mark may have the quotes of a typewriter, and of TeX's input, where the page has printed ones.
_QUOTES = re.compile("[\"'`´\u2018-\u201e\u2032\u2033]{1,2}")
# A page that ends otherwise breaks off within a sentence.
_ENDS = (".", "!", "?", ":", ";", "”", ")")
_FIGURE = re.compile(r"[^\w\s]{0,3}\d(?!\d{3}$)")  # at the start of a cell; a year is none
_LEADERS = re.compile(r"(?: ?\.){4,}")  # from a name to its figure
_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD


class PdfLoader:
    """PDF with text; page numbers are physical and count from 1."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 1.0 for a signature at the start, 0.5 by name with one in the first kilobyte."""
        if data[:16].lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"%PDF-"):
            return 1.0
        return 0.5 if name.lower().endswith(".pdf") and b"%PDF-" in data[:1024] else 0.0

    def load(self, source: Source) -> Iterator[Document]:
        """Yield one document.

        Raises: ParsingError if it is encrypted, damaged or holds no text.
        """
        pages, outline, properties = _read(source)
        texts, hidden = [page.text for page in pages], sum(page.hidden for page in pages)
        if not any(text.strip() for text in texts):
            raise ParsingError(_explain_missing_text(len(texts), hidden))

        layout = Layout()
        layout.leave_out(hidden)
        stamps = find_stamps([page.lines for page in pages])
        lines = [
            without_stamps(normalise(text).split("\n"), stamps) for text in without_hyphens(texts)
        ]
        _write_pages(layout, without_running_lines(lines))
        title = (
            clean_title(properties.get("Title", ""))
            or find_running_title(lines)
            or find_title(pages[0].lines)
        )
        author = properties.get("Author", "")
        document = layout.document(source, "pdf", title, {"author": author})
        marks = outline or find_headings([page.lines for page in pages])
        headings = _place(marks, document.text, document.pages) or [
            (document.pages[index].start, level, name)
            for index, level, name in find_running_titles(lines)
        ]
        yield replace(document, sections=sections(headings, len(document.text)))


@dataclass(frozen=True, slots=True)
class _Page:
    """A page's text, how many hidden characters it lacks, and its lines if these are wanted."""

    text: str
    hidden: int
    lines: Sequence[Line]


def _read(source: Source) -> tuple[list[_Page], Marks, Mapping[str, str]]:
    """Return the pages, the outline and the properties.

    An outline that marks few of the pages is ignored, and then all pages have lines. The first one
    always has.

    Raises: ParsingError.
    """
    with closing(_open(source.data)) as pdf:
        outline = _read_outline(pdf)
        if len(outline) * _MARKED < len(pdf):
            outline = []
        pages = [
            _read_page(pdf, index, source, with_lines=not (outline and index))
            for index in range(len(pdf))
        ]
        return pages, outline, pdf.get_metadata_dict()


def _open(data: bytes) -> Any:
    import pypdfium2  # type: ignore[import-untyped]

    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _WRONG_PASSWORD:
            raise ParsingError("is encrypted: needs a password, save it without one") from error
        raise ParsingError("is not a whole PDF (truncated or damaged?)") from error


def _explain_missing_text(pages: int, hidden: int) -> str:
    """Return why no text of a PDF is left."""
    if hidden:
        return (
            f"has only hidden text on its {format_count(pages, 'page')}: "
            "loading.hidden=keep reads it"
        )
    return f"has no text on its {format_count(pages, 'page')} (scanned?): run OCR first"


def _write_pages(layout: Layout, pages: Sequence[Sequence[str]]) -> None:
    """Add the pages; a sentence may continue on the next one."""
    separator, before = "\n\n", list[str]()
    for number, each in enumerate(pages, start=1):
        lines = with_header(before, each)
        layout.page(number)
        _write(layout, lines, separator)
        separator = "\n\n" if not lines or lines[-1].endswith((*_ENDS, GAP)) else "\n"
        before = lines


def _read_page(pdf: Any, index: int, source: Source, *, with_lines: bool) -> _Page:
    found = _parse_page(pdf, index, keep_hidden=source.keep_hidden, with_lines=with_lines)
    report_page(index + 1, len(pdf))
    return found


def _parse_page(pdf: Any, index: int, *, keep_hidden: bool, with_lines: bool) -> _Page:
    """Return a page as pdfium reads it. The marks of hyphens are still in the text."""
    import pypdfium2

    from esrag.loading.invisible import remove_invisible  # it imports NumPy, other loaders do not

    try:
        page = pdf[index]
        hidden = 0 if keep_hidden else remove_invisible(page)
        order_texts(page)
        characters = page.get_textpage()
        plain = read_text(characters).replace(GAP, " ")
        marked = with_exponents(characters, plain)
        text = with_gaps(plain, marked, find_gaps(characters, plain, read_rules(page)))
        lines = measure_lines(characters, plain, marked) if with_lines else []
        ligatures = find_ligatures(characters, plain)
        page.close()
    except pypdfium2.PdfiumError as error:
        raise ParsingError(f"has a damaged page {index + 1}") from error
    written = _write_letters("\n".join(line.text for line in lines), ligatures).split("\n")
    lines = [replace(line, text=each) for line, each in zip(lines, written, strict=False)]
    return _Page(_write_letters(text, ligatures), hidden, lines)


def _write_letters(text: str, ligatures: Ligatures) -> str:
    """Return a page's text with the letters that its fonts mean."""
    return write_ligatures(text, ligatures).translate(_OF_FONTS)


def _read_outline(pdf: Any) -> Marks:
    """Return the bookmarks that lead somewhere."""
    marks = []
    for mark in pdf.get_toc():
        target = mark.get_dest()
        index = target.get_index() if target else None
        if index is not None and (title := join_lines(normalise(mark.get_title()))):
            marks.append((index, mark.level + 1, title))
    return marks


def without_hyphens(texts: Sequence[str]) -> list[str]:
    r"""Return the texts with words whole that a line end had cut.

    The texts' own words tell which hyphens are real.

    >>> text = "key encap\ufffesulation, human\ufffereadable, human, readable"
    >>> without_hyphens([text, "ML\ufffeKEM"])
    ['key encapsulation, human-readable, human, readable', 'ML-KEM']
    """
    whole = (_HYPHENATED.sub(" ", text) for text in texts)
    known = {word for text in whole for word in re.findall(r"[\w-]+", text.casefold())}

    def joined(match: re.Match[str]) -> str:
        before, after = match[1], match[2]
        return f"{before}-{after}" if _is_compound(before, after, known) else before + after

    return [_HYPHENATED.sub(joined, text) for text in texts]


def _is_compound(before: str, after: str, known: set[str]) -> bool:
    first, second = before.casefold(), after.casefold()
    if first + second in known:
        return False
    named = bool(re.search(r"[A-Z\d]$", before) or re.match(r"[A-Z\d]", after))
    both_words = min(len(first), len(second)) > 2 and first in known and second in known  # noqa: PLR2004 -- "al", "re"
    return named or both_words or f"{first}-{second}" in known


def _write(layout: Layout, lines: Sequence[str], separator: str) -> None:
    """Add a page's lines, with its tables apart."""
    done = 0
    for start, end in (*table_blocks(lines), (len(lines), len(lines))):
        if layout.add("\n".join(lines[done:start]), separator):
            separator = "\n\n"
        if any(GAP in line for line in lines[start:end]):
            _write_columns(layout, lines[start:end], separator)
            separator = "\n\n"
        elif span := layout.add("\n".join(lines[start:end]), separator):
            layout.mark_table(span)
            separator = "\n\n"
        done = end


def with_header(before: Sequence[str], lines: Sequence[str]) -> list[str]:
    r"""Return a page's lines, with the header of a table that goes on from the page before.

    >>> [table, rest] = [[f"Key{GAP}Bytes", f"A{GAP}8"], [f"B{GAP}9", "The end."]]
    >>> with_header(table, rest) == [table[0], *rest]
    True
    """
    above = [*takewhile(lambda line: GAP in line, dropwhile(_is_empty, reversed(before)))]
    below = [*dropwhile(_is_empty, lines)]
    header = above[-1] if above else ""
    is_continued = bool(below) and header != below[0] and header.count(GAP) == below[0].count(GAP)
    names = [*filter(None, header.split(GAP))]
    is_header = len(names) > 1 and not any(map(_FIGURE.match, names))
    return [header, *below] if is_continued and is_header else [*lines]


def _write_columns(layout: Layout, lines: Sequence[str], separator: str) -> None:
    """Add a table whose cells are apart; what is above its first row is a caption."""
    first = next(n for n, line in enumerate(lines) if GAP in line)
    layout.add("\n".join(lines[:first]), separator)
    layout.table(_LEADERS.sub(" ", line).split(GAP) for line in lines[first:])


def table_blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    r"""Return captions with the rows below them, as line indices.

    A table ends at the last row of numbers before prose begins, or at the last one with cells.

    >>> table = ["Table 3. Sizes in bytes", "key ciphertext", "ML-KEM-512 800 768"]
    >>> table_blocks([*table, "The sizes are in the table."])
    [(0, 3)]
    """
    blocks: list[tuple[int, int]] = []
    for start, line in enumerate(lines):
        if blocks and start < blocks[-1][1]:
            continue
        if GAP in line:
            blocks.append((start, _end_of_columns(lines, start)))
        elif TABLE_CAPTION.match(line) and (end := _end_of_captioned(lines, start)) > start:
            blocks.append((start, end + 1))
    return blocks


def _end_of_columns(lines: Sequence[str], start: int) -> int:
    """Return where a run of lines with cells ends; there may be a short line between two."""
    end = start
    while end < len(lines) and (GAP in lines[end] or _is_between_columns(lines, end)):
        end += 1
        if _is_empty(lines[end - 1]):
            break
    return end


def _is_empty(line: str) -> bool:
    """Return whether a line has no text: a row of empty cells ends a table with rules."""
    return not line.strip(GAP)


def _is_between_columns(lines: Sequence[str], index: int) -> bool:
    is_followed = any(GAP in line for line in lines[index + 1 : index + 2])
    return is_followed and not _is_prose(lines[index]) and not TABLE_CAPTION.match(lines[index])


def _end_of_captioned(lines: Sequence[str], start: int) -> int:
    """Return the last line of a table below its caption; `start` if it has no rows."""
    for index in range(start + 1, min(len(lines), start + 1 + _MAX_CAPTION)):
        if GAP in lines[index]:
            return _end_of_columns(lines, index) - 1
        if TABLE_CAPTION.match(lines[index]):
            return start

    end = start
    for index in range(start + 1, min(len(lines), start + _MAX_TABLE)):
        if _is_prose(lines[index]) or TABLE_CAPTION.match(lines[index]):
            break
        if sum(bool(_NUMBER.fullmatch(word)) for word in lines[index].split()) > 1:
            end = index
    return end


def _is_prose(line: str) -> bool:
    words = line.casefold().split()
    if len(words) < _MIN_PROSE:
        return False
    return sum(word in _FUNCTION_WORDS for word in words) > 1 or line.endswith((".", ";"))


def _place(marks: Marks, text: str, pages: Sequence[Page]) -> list[tuple[int, int, str]]:
    """Return marks whose title starts a line of their page, as (start, level, title).

    A line that is the title goes before one that begins with it, and one with its number before
    one without: each section may begin with a "Purpose".
    """
    found: dict[int, tuple[int, int, str]] = {}
    for index, level, title in marks:
        page = pages[index] if index < len(pages) else None
        if page and (match := _find_title(title, text, page)):
            found.setdefault(match.start(), (match.start(), level, title))
    return [found[start] for start in sorted(found)]


def _find_title(title: str, text: str, page: Page) -> re.Match[str] | None:
    words = title.split()
    bare = re.sub(r"^(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+", "", title).split()
    whole, numbered = (r"\s*".join(map(_spell, each)) for each in (words, bare))
    patterns = (
        rf"^[ ]*{whole}[ ]*$",
        rf"{_NUMBERED}{whole}[ ]*$",
        rf"{_NUMBERED}{numbered}[ ]*$",
        rf"{_NUMBERED}{numbered}(?!\w)",
    )
    flags = re.MULTILINE | re.IGNORECASE
    found = (re.compile(each, flags).search(text, page.start, page.end) for each in patterns)
    return next(filter(None, found), None)


def _spell(word: str) -> str:
    """Return a pattern for a word of an outline's mark, with the quotes that a page may have."""
    pieces = _QUOTES.split(word)
    return _QUOTES.pattern.join(map(re.escape, pieces))
