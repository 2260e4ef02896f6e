"""PDF by pypdfium2: pages, outline, running heads and feet, hyphens at line ends, and tables."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any

from esrag.errors import ParsingError
from esrag.loading.exponents import with_exponents
from esrag.loading.gaps import GAP, find_gaps, with_gaps
from esrag.loading.layout import Layout, clean_title, join_lines, sections
from esrag.loading.pages import report_page
from esrag.records import Document, Page, Source
from esrag.text import format_count, normalise

_EDGE = 3  # lines at the top and at the bottom of a page among which a running head is looked for
# Left and right pages may differ, so a head may be on under half of them.
_REPEATED, _MIN_PAGES = 0.4, 3
_CAPTION = re.compile(r"Table [A-Z]?\d[\w.-]*[.:]?\s+\S")
_MAX_CAPTION = 2  # lines below the first one of a caption
_MAX_TABLE = 60  # lines: a page holds no more
_NUMBER = re.compile(r"[($]?[-+]?\d[\d.,]*%?\)?")
_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "was",
        "with",
    ]
)
_MIN_PROSE = 6  # words
# pdfium marks a cut word by U+FFFE.
_HYPHENATED = re.compile("\\b(\\w++)(?:[\x02\ufffe]|\xad[ \t]*\r?\n)(\\w*)")
# A page that ends otherwise breaks off within a sentence.
_ENDS = (".", "!", "?", ":", ";", "”", ")")
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
        texts, hidden = [text for text, _ in pages], sum(count for _, count in pages)
        if not any(text.strip() for text in texts):
            raise ParsingError(_explain_missing_text(len(texts), hidden))

        layout = Layout()
        layout.leave_out(hidden)
        _write_pages(layout, texts)
        title, author = clean_title(properties.get("Title", "")), properties.get("Author", "")
        document = layout.document(source, "pdf", title, {"author": author})
        headings = _place(outline, document.text, document.pages)
        yield replace(document, sections=sections(headings, len(document.text)))


def _read(
    source: Source,
) -> tuple[list[tuple[str, int]], list[tuple[int, int, str]], Mapping[str, str]]:
    """Return each page's text with its hidden characters, the outline and the properties.

    Raises: ParsingError.
    """
    with closing(_open(source.data)) as pdf:
        keep_hidden = source.keep_hidden
        pages = [_read_page(pdf, index, keep_hidden=keep_hidden) for index in range(len(pdf))]
        return pages, _read_outline(pdf), pdf.get_metadata_dict()


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


def _write_pages(layout: Layout, texts: Sequence[str]) -> None:
    """Add the pages; a sentence may go on from one to the next."""
    separator = "\n\n"
    for number, lines in enumerate(_page_lines(texts), start=1):
        layout.page(number)
        _write(layout, lines, separator)
        separator = "\n\n" if not lines or lines[-1].endswith(_ENDS) else "\n"


def _page_lines(texts: Sequence[str]) -> list[list[str]]:
    """Return each page's lines, with whole words and without running heads."""
    return without_running_lines([normalise(text).split("\n") for text in without_hyphens(texts)])


def _read_page(pdf: Any, index: int, *, keep_hidden: bool) -> tuple[str, int]:
    found = _page_text(pdf, index, keep_hidden=keep_hidden)
    report_page(index + 1, len(pdf))
    return found


def _page_text(pdf: Any, index: int, *, keep_hidden: bool) -> tuple[str, int]:
    """Return a page's text as pdfium reads it, and how much hidden text was left out.

    The marks of hyphens are still in the text.
    """
    import pypdfium2

    from esrag.loading.invisible import remove_invisible  # it imports NumPy, other loaders do not

    try:
        page = pdf[index]
        hidden = 0 if keep_hidden else remove_invisible(page)
        characters = page.get_textpage()
        plain = characters.get_text_range().replace(GAP, " ")
        marked = with_exponents(characters, plain)
        text = with_gaps(plain, marked, find_gaps(characters, plain))
        page.close()
    except pypdfium2.PdfiumError as error:
        raise ParsingError(f"has a damaged page {index + 1}") from error
    return text, hidden


def _read_outline(pdf: Any) -> list[tuple[int, int, str]]:
    """Return the bookmarks that lead somewhere, as (page index, level from 1, title)."""
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


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the pages' lines without those that most pages begin or end with.

    Lines that differ only in their page number count as the same.
    """
    whole = [[line.rstrip() for line in page if line.strip()] for page in pages]
    filled = list(whole)
    least = max(_MIN_PAGES, _REPEATED * len(pages))

    for edge in (slice(None, _EDGE), slice(-1, -_EDGE - 1, -1)):
        keys = [[_keys(line, number) for line in page[edge]] for number, page in enumerate(filled)]
        counts = Counter(key for page in keys for key in set().union(*page))
        for index, page in enumerate(keys):
            repeated = [any(counts[key] >= least for key in line) for line in page]
            count = [*repeated, False].index(False)
            filled[index] = _cut(filled[index], count, edge)

    return filled if any(filled) else whole  # pages that are all alike have no running lines


def _cut(page: list[str], count: int, edge: slice) -> list[str]:
    """Return a page's lines without so many of the first, or of the last."""
    return page[count:] if edge.step is None else page[: len(page) - count]


def _keys(line: str, page: int) -> set[str]:
    """Return the line, and variants with one number replaced by its distance to the page number."""
    keys = {join_lines(line).casefold()}
    for match in re.finditer(r"\d{1,6}", line):
        distance = f"#{int(match[0]) - page}"
        keys.add(join_lines(line[: match.start()] + distance + line[match.end() :]).casefold())
    return keys


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


def _write_columns(layout: Layout, lines: Sequence[str], separator: str) -> None:
    """Add a table whose cells are apart; what is above its first row is a caption."""
    first = next(n for n, line in enumerate(lines) if GAP in line)
    layout.add("\n".join(lines[:first]), separator)
    layout.table(line.split(GAP) for line in lines[first:])


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
        elif _CAPTION.match(line) and (end := _end_of_captioned(lines, start)) > start:
            blocks.append((start, end + 1))
    return blocks


def _end_of_columns(lines: Sequence[str], start: int) -> int:
    """Return where a run of lines with cells ends, with a short line between two of them."""
    end = start
    while end < len(lines) and (GAP in lines[end] or _is_between_columns(lines, end)):
        end += 1
    return end


def _is_between_columns(lines: Sequence[str], index: int) -> bool:
    is_followed = any(GAP in line for line in lines[index + 1 : index + 2])
    return is_followed and not _is_prose(lines[index]) and not _CAPTION.match(lines[index])


def _end_of_captioned(lines: Sequence[str], start: int) -> int:
    """Return the last line of a table below its caption; `start` if it has no rows."""
    for index in range(start + 1, min(len(lines), start + 1 + _MAX_CAPTION)):
        if GAP in lines[index]:
            return _end_of_columns(lines, index) - 1
        if _CAPTION.match(lines[index]):
            return start

    end = start
    for index in range(start + 1, min(len(lines), start + _MAX_TABLE)):
        if _is_prose(lines[index]) or _CAPTION.match(lines[index]):
            break
        if sum(bool(_NUMBER.fullmatch(word)) for word in lines[index].split()) > 1:
            end = index
    return end


def _is_prose(line: str) -> bool:
    words = line.casefold().split()
    if len(words) < _MIN_PROSE:
        return False
    return sum(word in _FUNCTION_WORDS for word in words) > 1 or line.endswith((".", ";"))


def _place(
    outline: Sequence[tuple[int, int, str]], text: str, pages: Sequence[Page]
) -> list[tuple[int, int, str]]:
    """Return bookmarks whose title starts a line of their page, as (start, level, title)."""
    found: dict[int, tuple[int, int, str]] = {}
    for index, level, title in outline:
        page = pages[index] if index < len(pages) else None
        words = re.sub(r"^(?:[A-Z]|\d+)(?:\.\d+)*\.?\s+", "", title).split()
        pattern = r"^[ ]*(?:[\w.]{1,12}[ .:]\s*)?" + r"\s*".join(map(re.escape, words)) + r"(?!\w)"
        match = page and re.compile(pattern, re.MULTILINE | re.IGNORECASE).search(
            text, page.start, page.end
        )
        if match:
            found.setdefault(match.start(), (match.start(), level, title))
    return [found[start] for start in sorted(found)]
