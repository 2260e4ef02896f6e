"""Lines: the sentences, lists and table rows of a passage, each on one line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter

from esrag.citations import MARKERS
from esrag.evidence.shown import drop_fences, find_end_of_shown
from esrag.evidence.tables import Row, TableReader, iter_captioned_rows, parse_named_row
from esrag.text import ASKED, ITEM, MARKS, block_spans, sentence_spans
from esrag.text.captions import CAPTION
from esrag.text.lists import (
    MAX_CHARACTERS,
    UNDERLINE,
    ItemList,
    find_indent,
    introduces,
    read_first_items,
    read_headed_list,
    read_heading,
    read_list,
)
from esrag.text.terms import STOP_WORDS

MIN_QUOTE_WORDS = 3  # fewer are a heading or a page number
MAX_QUOTED_ITEM = 450  # characters of a list item that is quoted as a whole
MAX_DEFINED = 60  # characters of a term above its definition
FIELD = re.compile(r"\A[A-Z][\w-]{1,20}: +(?=\S)")  # "Title: A File"

_HEADING = re.compile(  # ATX, an underlined line, or an algorithm's
    rf"#{{1,6}}\s|[^\n]*{UNDERLINE}|Algorithm\s+\d{{1,3}}[.:]?\s+\S+\s*\Z"
)
# Dots that lead to a page, in a table of contents.
_LEADERS = re.compile(
    r"(?:(?:\s\.){4}|\.{5})[ .]{0,200}(?:[\divxlc]{1,6}\s*)?(?:$|[A-Z])", re.MULTILINE
)
_WORD = re.compile(r"[^\W\d_]{3}")  # without one it is a listing of bytes, say
_MIN_TICKS = 5
_TICKS = re.compile(rf"(?:\d{{1,4}} ){{{_MIN_TICKS},}}")
_DATED = re.compile(r"v?\d\S* (?:19|20)\d\d-[01]\d-[0-3]\d")  # the date of a version
_INTRODUCED = re.compile(
    r"(?:Added|Available|Deprecated|Introduced|New|Removed|Since)(?: (?:in|since))?"
    r"(?: version)?:? v?\d+(?:\.\d+)+"
)
# A value: "max_size=7", "Default: true", "IP: 10.0.0.1"
_ASSIGNED = re.compile(
    r"(?:[\w.-]{1,40} ){0,2}[\w.-]{2,60} ?= ?\S{1,60}|Default: +\S{1,60}"
    r"|(?!Page|Part|Section|Table|Figure)[A-Za-z][\w.-]{1,40}: [^\s\w]{0,3}(?!\d{4}-)\d\S{0,40}"
)
_EMPTY = re.compile(r"\A[A-Z][\w-]{1,20}:\s*\Z")
_CLAUSE = re.compile(r"\b(?:is|are|has|have|may|must|can|cannot|will|shall|should)\b")
_BULLET = re.compile(rf"\A(?:[-{MARKS}]|\d{{1,2}}[.)])\s+")
_NOTES = re.compile(r"\A(?:\[\d{1,3}\])+\s+(?=[A-Z])")  # of the sentence before
# A term, and its definition below it: indented or, as in Markdown, after a colon.
_DEFINITION = re.compile(r"\A([^\n|]{1,60})\n([^\S\n]{2,}|:[^\S\n]+)(?=[A-Z]|means )")
# The name of a setting or function, such as "max_size (int)", "--force" or "readLine()".
_IDENTIFIER = re.compile(
    r"(?:--?\w[\w-]{0,50}|\w{1,50}_\w{1,50}|[a-z]\w{0,50}[A-Z]\w{0,50}|[\w.]{1,50}(?=\())"
    r"(?:\s?\([^()]{0,60}\))?"
)
_CHOICE = re.compile(r"\[[^\[\]\n]{0,60}\]")  # of a command: [-q|--quiet]
_SUBJECTS = {"He", "It", "She", "These", "They", "This", "We", "You"}  # of a sentence, no terms
_REPLY = re.compile(r"\AA(?:nswer)?[:.]\s+")
_REMARK = re.compile(r"\[[^\[\]]{1,80}\]")
_CLOSERS = "\"'”’)"


@dataclass(frozen=True, slots=True)
class Line:
    """A statement of a passage, its original span on one line, and its row or list if it is one.

    `start` is the offset of the span in the passage. A list is headed if nothing before it says
    that a list follows. `under` is the heading right above a statement, or the question that it
    replies to, or "".
    """

    text: str
    source: str
    row: Row | None = None
    listed: ItemList | None = None
    is_headed: bool = False
    under: str = ""
    start: int = 0


@lru_cache(maxsize=128)  # a question's passages are read for several reasons
def lines(text: str) -> tuple[Line, ...]:
    """Return sentences as they are, and table rows with caption and header.

    Headings and tables of contents are left out.

    A list is a statement with the sentence or heading that introduces it, and its items are also
    statements of their own.
    """
    return tuple(_iter_lines(text))


def _iter_lines(text: str) -> Iterator[Line]:
    reader = TableReader(text)
    spans = list(iter_spans(text))
    heading = under = asked = ""

    for number, (start, end) in enumerate(spans):
        span = text[start:end]
        heading, under = read_heading(span), heading
        source = " ".join(span.split())
        if heading or (ASKED.match(span) and span.endswith("?")):
            asked = "" if heading else source
        if "|" in _CHOICE.sub("", span):
            rows = reader.read(start, end)
            said = (_as_reply(Line(row_text, source, row)) for row_text, row in rows)
        elif CAPTION.match(span):
            caption, *rest = span.split("\n")
            reader.pass_caption(caption, end)
            named = iter_captioned_rows([caption, *rest])
            said = (Line(row_text, source, row) for row_text, row in named)
        else:
            reader.pass_by(start, end)
            told = () if _LEADERS.search(span) else _iter_said(text, spans, number, source)
            above = heading if heading.endswith("?") else under  # of a list that replies to it
            said = (_put_under(line, above, asked) for line in told)
        yield from (replace(line, start=start) for line in said)


def _as_reply(line: Line) -> Line:
    """Return a row of a question and its answer as the answer, under the question.

    >>> row = Row("", (("Question", "Who may play?"), ("Answer", "All members may.")))
    >>> _as_reply(Line("Question: Who may play?, Answer: All members may.", "", row)).text
    'All members may.'
    """
    cells = [cell.strip() for _, cell in line.row.cells] if line.row else []
    question, answer = cells if len(cells) == 2 else ("", "")  # noqa: PLR2004
    is_reply = question.endswith("?") and can_be_quoted(answer)
    return replace(line, text=answer, under=question) if is_reply else line


def _put_under(line: Line, heading: str, asked: str) -> Line:
    r"""Return a line with the heading above it, or else as a reply to a question.

    >>> _put_under(Line("How big it is.", ""), "max_size (int)", "").text
    'max_size (int): How big it is.'
    """
    named = _IDENTIFIER.fullmatch(heading)
    if named and not (line.listed or line.row or heading.split(maxsplit=1)[0] in line.text):
        return replace(line, text=f"{heading}: {line.text}", under=heading)
    if heading or not asked:
        return replace(line, under=heading)
    return replace(line, text=_REPLY.sub("", line.text), under=asked)


def _iter_said(
    text: str, spans: Sequence[tuple[int, int]], number: int, source: str
) -> Iterator[Line]:
    """Yield a sentence, and the list that it or a heading introduces."""
    start, end = spans[number]
    span = text[start:end]
    if introduces(span):
        found = read_list(text, spans, number)
        said = found.render()[0]
        yield Line(_name_term(text, start, said), source, listed=found)
        return

    if not _HEADING.match(span):
        yield Line(_name_term(text, start, span), source, parse_named_row(span))
    if headed := read_headed_list(text, spans, number):
        heading = read_heading(span)
        says = heading.endswith("?") or _CLAUSE.search(heading)
        yield Line(headed.render()[0], source, listed=headed, is_headed=not says)


def _name_term(text: str, start: int, said: str) -> str:
    r"""Return a statement with a colon after its first line, if that is a term above a definition.

    >>> _name_term("key\n    A secret.", 0, "key\n    A secret."), _name_term("a\n b", 0, "a\n b")
    ('key: A secret.', 'a\n b')
    >>> _name_term("key\n: A secret.", 0, "key\n: A secret.")
    'key: A secret.'
    """
    found, before = _DEFINITION.match(said), text[:start].rpartition("\n")[2]
    if not found or before.strip() or len(before) >= len(found[2]) or FIELD.match(said):
        return said
    words = found[1].split()
    is_open = words[-1].lower() in STOP_WORDS or words[0] in _SUBJECTS
    return said if is_open else f"{found[1]}: {said[found.end() :]}"


def iter_spans(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the spans of sentences, with short list items and definitions as one.

    >>> text = "- `size`: The limit. It is 5.\n\n  key\n      A secret. Keep it."
    >>> [text[start:end] for start, end in iter_spans(text)]
    ['- `size`: The limit. It is 5.', 'key\n      A secret.', 'Keep it.']
    """
    spans = sentence_spans(text)
    items = {start: end for start, end in block_spans(text) if _is_short_item(text, start, end)}
    number = 0

    while number < len(spans):
        start, end = spans[number]
        end = items.get(start, end)
        if number + 1 < len(spans) and _is_defined(text, start, end, spans[number + 1]):
            end = spans[number + 1][1]
        end = find_end_of_shown(text, start, end)
        yield from _split_fields(text, start, end)
        while number < len(spans) and spans[number][0] < end:
            number += 1


def _split_fields(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    r"""Yield each field of a span that has nothing but fields, or the span itself.

    A field goes on in indented lines, and may be empty.

    >>> text = "Title: Keys\nAuthor: Ada,\n  Ben\nReplaces:"
    >>> [text[first:last] for first, last in _split_fields(text, 0, len(text))]
    ['Title: Keys', 'Author: Ada,\n  Ben', 'Replaces:']
    """
    fields = re.split(r"\n(?!\s)", text[start:end])
    if len(fields) == 1 or not all(FIELD.match(each) or _EMPTY.match(each) for each in fields):
        yield start, end
        return
    for field in fields:
        yield start, start + len(field)
        start += len(field) + 1


def _is_short_item(text: str, start: int, end: int) -> bool:
    return end - start <= MAX_QUOTED_ITEM and bool(ITEM.match(text, start))


def _is_defined(text: str, start: int, end: int, following: tuple[int, int]) -> bool:
    """Return whether a line is a term, and the sentence below it, indented further, defines it."""
    between = text[end : following[0]]
    indent = find_indent(text, start)
    return (
        between[:1] == "\n"
        and between.count("\n") == 1
        and len(between) - 1 > indent
        and end - start <= MAX_DEFINED
        and not ITEM.match(text, start)
        and (text[end - 1].isalnum() or text[end - 1] in _CLOSERS)
        and (text[following[0]].isupper() or text.startswith("means ", following[0]))
    )


def can_be_quoted(text: str) -> bool:
    """Return whether a text is neither a heading, a page number or a remark, nor too long.

    Neither is it the axis of a chart.

    >>> texts = "It is old.", "Page 7", "2.7.9 2014-12-10", "max_size=7", "[last revised in May]"
    >>> [can_be_quoted(text) for text in texts]
    [True, False, True, True, False]
    >>> can_be_quoted("0 2 4 6 8 Size (g)"), can_be_quoted("Introduced 2.12")
    (False, True)
    """
    if _is_axis(text):
        return False
    is_said = len(text.split()) >= MIN_QUOTE_WORDS and _WORD.search(text)
    is_remark = _REMARK.fullmatch(text)
    is_value = _DATED.fullmatch(text) or _ASSIGNED.fullmatch(text) or _INTRODUCED.fullmatch(text)
    return len(text) <= MAX_CHARACTERS and bool((is_said and not is_remark) or is_value)


def _is_axis(text: str) -> bool:
    """Return whether a text begins with numbers in equal steps, such as 0 2 4 6 8."""
    ticks = _TICKS.match(text)
    numbers = [int(each) for each in ticks[0].split()[:_MIN_TICKS]] if ticks else []
    return len({after - before for before, after in pairwise(numbers)}) == 1


def iter_list_forms(text: str) -> Iterator[str]:
    """Yield the lists of a passage in all forms, and the items that go on with another's list.

    The first cells of a table are a list too.
    """
    found = list(lines(text))
    lists = [line.listed for line in found if line.listed]
    for listed in (*lists, read_first_items(text, tuple(iter_spans(text)))):
        yield from (join_lines(form) for (form,) in listed.iter_forms())
    for header, names in iter_first_cells(found):
        said = "; ".join(names)
        yield from (said, f"{header}: {said}")


def iter_first_cells(found: Iterable[Line]) -> Iterator[tuple[str, tuple[str, ...]]]:
    r"""Yield the header of each table's first column, and the cells below it.

    >>> text = "Name | Use\n--- | ---\nlid | keeps heat\nspout | pours"
    >>> list(iter_first_cells(lines(text)))
    [('Name', ('lid', 'spout'))]
    """
    rows = (line.row.cells for line in found if line.row and len(line.row.cells) > 1)
    for header, cells in groupby((row[0] for row in rows), key=itemgetter(0)):
        names = tuple(dict.fromkeys(to_line(cell) for _, cell in cells))
        if header:
            yield to_line(header), names


def to_line(text: str) -> str:
    r"""Return a statement on one line, without its bullet and the markers of the document itself.

    >>> to_line("- It boils\nin three minutes [c4]."), to_line("[24][25] It is hot.")
    ('It boils in three minutes (c4).', 'It is hot.')
    """
    return join_lines(drop_fences(_NOTES.sub("", _BULLET.sub("", text))))


def join_lines(text: str) -> str:
    """Return a text on one line, without our markers."""
    return strip_markers(" ".join(text.split()))


def strip_markers(text: str) -> str:
    """Return the text with anything that looks like our markers in round brackets.

    >>> strip_markers("See [c4] and [C1, c2].")
    'See (c4) and (C1, c2).'
    """
    return MARKERS.sub(lambda marker: f"({marker[0][1:-1]})", text)
