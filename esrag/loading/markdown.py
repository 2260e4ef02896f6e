"""Markdown: blocks as they are written, without inline marks; comments count as hidden text."""

import re
from collections.abc import Iterator, Sequence
from itertools import count, groupby
from operator import itemgetter
from string import ascii_lowercase
from typing import Any

import yaml

from esrag.loading import Skipped
from esrag.loading.containers import open_containers
from esrag.loading.decoding import decode, is_text
from esrag.loading.footnotes import place_footnotes
from esrag.loading.inline import add_without_marks, strip_marks
from esrag.loading.layout import Layout, count_characters, join_lines, split_rows
from esrag.loading.markdown_lines import (
    SETEXT,
    Line,
    find_headings,
    iter_lines,
    read_fence,
    read_title,
)
from esrag.loading.markdown_tables import merge_header, write_aligned, write_embedded
from esrag.records import Document, Source, Span
from esrag.text import normalise
from esrag.text.captions import read_caption

_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)
_MAX_FRONT_MATTER = 65_536  # YAML is read at about 100 kB a second
_MAX_ABOVE = 1000  # characters above a table in which its caption is looked for
_COMMENT_MARK = re.compile(r"(<!--|-->|`)")
_DIRECTIVE = re.compile(
    r"\A\s*+(?>(?:\{%[^%\n]{1,200}+%\}|\{:[^{}\n]{1,100}+\})\s*+)++\Z"
    r"|(?<=\))\{(?::| ?(?:[.#]|\w{1,20}=))[^{}\n]{1,100}+\}"
    r"|(?<=\S)[ \t]{1,3}+\{:? ?[.#]\w[^{}\n]{0,100}+\}\s*+\Z"
)
# "[guide]: https://a.example 'Guide'", and "[the guide][guide]", "[guide][]" or "[guide]"
_TARGET = re.compile(
    r" {0,3}\[([^\[\]^]{1,200})\]:[ \t]{0,9}(?=\S{0,800}[/.#:@<])\S{1,800}"
    r"(?:[ \t]{1,9}[\"'(].{0,300})?"
)
_REFERENCE = re.compile(r"(?<![\w\]\\])!?\[([^\[\]]{1,400})\](?:\[([^\[\]]{0,200})\])?(?![(\[:])")
_HTML_HEADING = re.compile(
    r"^[ \t]{0,9}<h([1-6])\b[^<>]{0,300}>((?:[^<]|<(?!/?h[1-6]\b)){1,600})</h\1>[ \t]{0,9}$",
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED = re.compile(r"(?: {0,3}> ?)++")
_ALERT = re.compile(r"\[!\w{1,20}\]\s*")
_LIST_TAG = re.compile(r"<(/?)(ol|ul|li)\b([^<>]{0,200})>", re.IGNORECASE)
_FIRST_TAGS = re.compile(
    r"[ \t]*(?:</?[ou]l\b[^<>]{0,200}>[ \t]*)*+<li\b[^<>]{0,200}>[ \t]*", re.IGNORECASE
)
_NEXT_ITEM = re.compile(r"(?<=</li>)[ \t]*(?=<li\b)", re.IGNORECASE)
_START = re.compile(r"\bstart\s?=\s?[\"']?(\d{1,4})\b")
_LETTERED = re.compile(r"\btype\s?=\s?[\"']?a\b")
_INDENT, _MAX_DEPTH = "   ", 9  # of a list below an item
_DELIMITER_ROW = re.compile(r" {0,3}\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*")


class MarkdownLoader:
    """Markdown with YAML front matter, fenced code and pipe tables."""

    def recognises(self, name: str, data: bytes) -> float:
        """Return 0.5 by name, if the bytes are text."""
        return 0.5 if name.lower().endswith(_SUFFIXES) and is_text(data) else 0.0

    def load(self, source: Source) -> Iterator[Document | Skipped]:
        """Yield one document.

        Front matter becomes metadata, or stays in the text if it is broken.
        """
        text = normalise(decode(source.data))
        metadata, body, problem = front_matter(text)
        if problem:
            yield Skipped("front matter", problem)
        layout = Layout()
        if not source.keep_hidden:
            body, hidden = _without_comments(body)
            layout.leave_out(hidden)
        body = open_containers([*iter_lines(place_footnotes([*iter_lines(body)]))])
        body = _without_quote_marks(_without_directives(_without_targets(_mark_headings(body))))
        body, hidden = write_embedded(iter_lines(body), source)
        layout.leave_out(hidden)
        body = write_aligned([*iter_lines(_mark_items(body))])
        first = _write(layout, _write_tables(body))
        yield layout.document(source, "markdown", str(metadata.get("title") or first), metadata)


def _write(layout: Layout, body: str) -> str:
    """Add the text, and return the first heading of the first level, or ""."""
    lines = list(iter_lines(body))
    found = list(find_headings(lines))
    kept = [(line, code) for _, line, code in lines]
    add_without_marks(layout, kept, strip_marks, found, tables(lines))
    return next((title for _, level, title in found if level == 1), "")


def _without_comments(body: str) -> tuple[str, int]:
    r"""Return the lines without comments outside code, and how many characters these had.

    >>> _without_comments("Write `<!--` <!-- or not -->here.<!--\n```\n--> So.")
    ('Write `<!--` here.\n\n So.', 8)
    """
    kept: list[str] = []
    hidden, start, last = 0, 0, body.rfind("-->")
    fence, is_inside = "", False

    for line in body.split("\n"):
        piece, is_code, is_quoted = "", False, False
        if not is_inside:  # what begins a block of code elsewhere does not in a comment
            fence, is_code = read_fence(line, fence)

        for part in [line] if is_code else _COMMENT_MARK.split(line):
            if is_inside:
                is_inside = part != "-->"
                hidden += count_characters(part) if is_inside else 0
            elif part == "<!--" and not is_quoted and start + len(part) <= last:
                is_inside = True
            else:
                piece += part
                is_quoted ^= part == "`"
            start += len(part)

        kept.append(piece)
        start += 1  # the line end

    return "\n".join(kept), hidden


def _without_directives(body: str) -> str:
    r"""Return the text without what tells a site generator how to render it, except in code.

    Those are lines of Liquid tags, and the attributes of kramdown and Python-Markdown.

    >>> _without_directives("{% include copy.html %}\nA note.\n{: .note}\n[a](b){:target='_blank'}")
    '\nA note.\n\n[a](b)'
    """
    return "\n".join(
        line if code else _DIRECTIVE.sub("", line) for _, line, code in iter_lines(body)
    )


def _mark_headings(body: str) -> str:
    r"""Return the text with HTML's headings, except in code, marked as Markdown's.

    >>> _mark_headings("<h1 align='center'>\n  Kettle\n</h1>\n<h2><img src='a.png'></h2>")
    "# Kettle\n<h2><img src='a.png'></h2>"
    """
    kept: list[str] = []
    for is_code, group in groupby(iter_lines(body), key=itemgetter(2)):
        block = "\n".join(line for _, line, _ in group)
        kept.append(block if is_code else _HTML_HEADING.sub(_mark_heading, block))
    return "\n".join(kept)


def _mark_heading(found: re.Match[str]) -> str:
    title = " ".join(found[2].split())
    return f"{'#' * int(found[1])} {title}" if read_title(title) else found[0]


def _without_targets(body: str) -> str:
    r"""Return the text without the targets of references, and with the words that refer to them.

    >>> _without_targets("See [the guide][g] and a[i][j], [G].\n\n[g]: https://a.example")
    'See the guide and a[i][j], G.\n'
    """
    found = {
        number: match[1].casefold()
        for number, (_, line, code) in enumerate(iter_lines(body))
        if not code and (match := _TARGET.fullmatch(line))
    }
    labels = {*found.values()}

    def refer(reference: re.Match[str]) -> str:
        return reference[1] if (reference[2] or reference[1]).casefold() in labels else reference[0]

    lines = enumerate(iter_lines(body))
    kept = [(line, code) for number, (_, line, code) in lines if number not in found]
    return "\n".join(
        line if code or not labels else _REFERENCE.sub(refer, line) for line, code in kept
    )


def _without_quote_marks(body: str) -> str:
    r"""Return the text with block quotations as paragraphs of their own, without the label of any.

    >>> _without_quote_marks("It says:\n> [!NOTE]\n> Keep it.\n\n```\n> make\n```")
    'It says:\n\n\nKeep it.\n\n```\n> make\n```'
    """
    kept: list[str] = []
    was_quoted = False
    for _, line, code in iter_lines(body):
        mark = None if code else _QUOTED.match(line)
        begins, ends = bool(mark) and not was_quoted, was_quoted and not mark
        # Below a quotation a line of dashes underlines nothing.
        is_apart = begins or (ends and SETEXT.fullmatch(line))
        if is_apart and kept and kept[-1].strip():
            kept.append("")
        bare = line[mark.end() :] if mark else line
        kept.append("" if mark and _ALERT.fullmatch(bare) else bare)
        was_quoted = bool(mark)
    return "\n".join(kept)


def _mark_items(body: str) -> str:
    r"""Return the text with the marks of Markdown before items of HTML's lists that begin a line.

    >>> print(_mark_items("<ol>\n<li>Press.<ul>\n<li>Hard.</li></ul>\n<li>Wait.\n</ol>"))
    <ol>
    1. Press.<ul>
       - Hard.</li></ul>
    2. Wait.
    </ol>
    """
    body = "\n".join(
        line if code or "|" in line else _NEXT_ITEM.sub("\n", line)
        for _, line, code in iter_lines(body)
    )
    kept: list[str] = []
    lists: list[tuple[str, Iterator[int]]] = []  # the marks of the open lists, and their numbers

    for _, line, code in iter_lines(body):
        first = None if code or "|" in line else _FIRST_TAGS.match(line)
        mark = ""
        for tag in () if code else _LIST_TAG.finditer(line):
            closes, name, attributes = tag.groups()
            if name.lower() != "li":
                _open_or_close(lists, name.lower(), attributes, closes=bool(closes))
            elif not closes:
                item = _next_mark(lists)
                mark = item if first and tag.start() < first.end() else mark
        kept.append(f"{mark}{line[first.end() :]}" if first and mark else line)

    return "\n".join(kept)


def _open_or_close(
    lists: list[tuple[str, Iterator[int]]], name: str, attributes: str, *, closes: bool
) -> None:
    if closes:
        del lists[-1:]
        return
    start = _START.search(attributes)
    numbered = "a" if _LETTERED.search(attributes) else "1"
    lists.append(("-" if name == "ul" else numbered, count(int(start[1]) if start else 1)))


def _next_mark(lists: Sequence[tuple[str, Iterator[int]]]) -> str:
    """Return the mark of the next item, indented as its list is; "" outside of lists."""
    if not lists:
        return ""
    kind, numbers = lists[-1]
    number = next(numbers)
    letter = ascii_lowercase[(number - 1) % len(ascii_lowercase)]
    mark = {"-": "-", "a": f"{letter}.", "1": f"{number}."}[kind]
    return f"{_INDENT * (min(len(lists), _MAX_DEPTH) - 1)}{mark} "


def front_matter(text: str) -> tuple[dict[str, Any], str, str]:
    r"""Return the fields of the front matter, the text after it, and what is wrong with it.

    >>> front_matter("---\ntitle: A\n---\nb\n")
    ({'title': 'A'}, 'b\n', '')
    """
    match = _FRONT_MATTER.match(text)
    if match is None or match.end() > _MAX_FRONT_MATTER:
        return {}, text, ""

    try:
        fields = yaml.safe_load(match[1] or "")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # ValueError: a date such as 2024-13-01.
        return {}, text, f"is not YAML: {join_lines(str(error))[:120]}"
    if fields is not None and not isinstance(fields, dict):
        return {}, text, ""  # a thematic break, not front matter
    return fields or {}, text[match.end() :], ""


def tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Yield pipe tables outside code: a row, a row of dashes, and the rows that follow."""
    index = 0
    while index + 1 < len(lines):
        (start, line, code), (_, below, _) = lines[index : index + 2]
        index += 1
        if code or "|" not in line or "|" not in below or not _DELIMITER_ROW.fullmatch(below):
            continue
        while index < len(lines) and "|" in lines[index][1]:
            index += 1
        last, text, _ = lines[index - 1]
        yield Span(start, last + len(text))


def _write_tables(body: str) -> str:
    """Return the text with tables whose rows have spaces around their bars.

    Long tables are continued in others, with the caption and header again.
    """
    pieces: list[str] = []
    done = 0
    for table in tables(list(iter_lines(body))):
        first, rule, *others = map(_space_bars, body[table.start : table.end].split("\n"))
        header, *rows = merge_header(first, others)
        before = body[max(table.start - _MAX_ABOVE, 0) : table.start]
        above = [line for line in before.split("\n") if line.strip()]
        parts = list(split_rows([header, *rows], strip_marks(read_caption(above))))
        is_long = len(parts) > 1 and header.count("|") > 1
        tiles = (
            [_with_rule(part, header, rule) for part in parts]
            if is_long
            else ["\n".join([header, rule, *rows])]
        )
        pieces.extend((body[done : table.start], "\n\n".join(tiles)))
        done = table.end
    return "".join([*pieces, body[done:]])


def _space_bars(row: str) -> str:
    r"""Return a row of a table with spaces around its bars, unless it begins with one.

    >>> _space_bars(r"a\|b|c"), _space_bars("| a|b|")
    ('a\\|b | c', '| a|b|')
    """
    return row if row.lstrip().startswith("|") else re.sub(r"(?<!\\)\s?\|\s?", " | ", row).rstrip()


def _with_rule(part: Sequence[str], header: str, rule: str) -> str:
    """Return the lines of a table with the rule below the header, and a caption apart."""
    at = part.index(header)
    caption = [part[0], ""] if at else []
    return "\n".join([*caption, header, rule, *part[at + 1 :]])
