"""Inline marks of Markdown and reStructuredText: the text as a reader sees it, line by line.

Marks of blocks (headings, items, rows, fences) stay: chunks and sentences are recognised by them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from html import unescape
from itertools import accumulate, groupby

from esrag.loading.layout import Layout, trim
from esrag.loading.superscripts import choose_joint
from esrag.records import Span
from esrag.text import normalise

# Every quantifier is bounded, so that no line takes long.
_CODE = re.compile(r"(?<!`)(?:``((?:[^`]|`(?!`)){1,400})``|`([^`]{1,400})`)(?!`)")
_LINK = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]{0,200}\]){0,400})\]"
    r"\((?:<[^<>]{0,500}>|(?:[^()\s{}]|\{\{[^{}]{0,100}\}\}|\([^()\s]{0,100}\)){0,800})"
    r"(?:\s{1,3}(?:\"[^\"]{0,300}\"|'[^']{0,300}'))?\)"
)
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]{1,800})>")
_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_RAISED = re.compile(r"(\w{0,40}[^\w\s]?)<sup>([^<>]{1,20})</sup>", re.IGNORECASE)
_TAG = re.compile(  # of HTML alone: <your-name> is a word that a reader needs
    r"</?(?:a|abbr|b|big|blockquote|center|code|dd|del|details|div|dl|dt|em|figcaption|figure|font"
    r"|h[1-6]|hr|i|img|ins"
    r"|kbd|li|mark|nobr|ol|p|picture|pre|q|s|samp|section|small|source|span|strike|strong|sub"
    r"|summary|sup|table|tbody"
    r"|td|tfoot|th|thead|tr|tt|u|ul|var|video)(?:\s[^<>]{0,600})?/?>",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"(\*\*|__)(?=\S)(?!(?<=__)[a-z0-9_]{1,40}__)((?:(?!\1).){1,600})(?<=\S)\1", re.DOTALL
)
_EMPHASIS = re.compile(r"(?<![\w*\\])([*_])(?=[^\s*_])([^*_\n]{1,300})(?<=\S)\1(?![\w*])")
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]{1,30}|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")
_ESCAPED = re.compile(r"\\([*_`\[\]<>#~&$.!+:'\"-])")
_KEPT = "\ue000"  # placeholder for a piece of code until the rest is done; its number follows
_HELD = re.compile(f"{_KEPT}(\\d+){_KEPT}")
_NOTE = re.compile(r" ?\[(?:\d{1,4}|#[\w-]{0,40}|\*)\]_(?!\w)")  # a mark that leads to a footnote
_ROLE = re.compile(r":[a-z][\w:+-]{0,40}:`([^`]{1,400})`")
_QUOTED = re.compile(r"(?<![`\w])`([^`\s](?:[^`]{0,400}[^`\s])?)`(?:__?)?(?![`\w])")
_TARGET = re.compile(r"(?<!\s)\s*+<[^<>]{1,400}>\Z")
_LITERAL = re.compile(r"(?<!`)``([^`](?:[^`]|`(?!`)){0,400})``(?!`)")


def add_without_marks(
    layout: Layout,
    lines: Sequence[tuple[str, bool]],
    plain: Callable[[str], str],
    headings: Iterable[tuple[int, int, str]],
    tables: Iterable[Span],
) -> None:
    """Add lines to an empty layout without their inline marks, those that are code as they are.

    Headings and tables are given by where they stand among the lines as they were written.
    """
    cleaned = _clean(lines, plain)
    text = "\n".join(cleaned)
    layout.add(text)

    starts = _map_starts([line for line, _ in lines], cleaned)
    whole = len(trim(text))
    for start, level, title in headings:
        layout.mark_heading(min(whole, starts[start]), level, title)
    for table in tables:  # its end is that of a line
        layout.mark_table(Span(starts[table.start], min(whole, starts[table.end + 1] - 1)))


def _clean(lines: Sequence[tuple[str, bool]], plain: Callable[[str], str]) -> list[str]:
    """Return as many lines, those of prose without marks."""
    cleaned: list[str] = []
    for is_prose, group in groupby(lines, key=lambda line: bool(line[0].strip()) and not line[1]):
        block = [line for line, _ in group]
        if is_prose:
            changed = [line.rstrip() for line in normalise(plain("\n".join(block))).split("\n")]
            block = changed if len(changed) == len(block) else block
        cleaned += block
    return cleaned


def _map_starts(lines: Sequence[str], cleaned: Sequence[str]) -> dict[int, int]:
    """Return where each line starts in the text of a layout, by where it was written.

    The layout drops the line ends at the beginning.
    """
    text = "\n".join(cleaned)
    gone = len(text) - len(text.lstrip("\n"))
    before = accumulate((len(line) + 1 for line in lines), initial=0)
    after = accumulate((len(line) + 1 for line in cleaned), initial=0)
    return {start: max(0, now - gone) for start, now in zip(before, after, strict=True)}


def strip_marks(text: str) -> str:
    r"""Return a paragraph without its inline marks; it has as many lines as before.

    >>> strip_marks("**Never** run `rm **`<br>as *root* &mdash; see [it](a.md), 10 m<sup>2</sup>")
    'Never run rm ** as root — see it, 10 m^2'
    """
    held: list[str] = []

    def hold(code: re.Match[str]) -> str:
        held.append((code[1] or code[2]).strip(" "))
        return f"{_KEPT}{len(held) - 1}{_KEPT}"

    text = _CODE.sub(hold, text.replace(_KEPT, ""))
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", _AUTOLINK.sub(r"\1", text)))  # a badge is in a link
    text = _RAISED.sub(_separate, _BREAK.sub(" ", text))
    text = _TAG.sub("", text)
    text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    text = _ESCAPED.sub(r"\1", without_entities(text))
    return _HELD.sub(lambda mark: held[int(mark[1])], text)


def without_entities(text: str) -> str:
    """Return the text with HTML's entities decoded."""
    return _ENTITY.sub(_decode, text)


def strip_rst_marks(text: str) -> str:
    r"""Return a paragraph of reStructuredText without its inline marks, in as many lines.

    >>> strip_rst_marks("**Read** ``__doc__`` and :pep:`8`, :func:`~os.open` or `more`_")
    'Read __doc__ and PEP 8, open or more'
    >>> strip_rst_marks("See `the guide <https://a.example>`_, as Ada [1]_ and Ben [#b]_ say.")
    'See the guide, as Ada and Ben say.'
    """
    held: list[str] = []

    def hold(code: str) -> str:
        held.append(code)
        return f"{_KEPT}{len(held) - 1}{_KEPT}"

    text = _LITERAL.sub(lambda code: hold(code[1]), text.replace(_KEPT, ""))
    text = _NOTE.sub("", text)
    text = _ROLE.sub(lambda role: hold(_role(role)), text)
    text = _QUOTED.sub(lambda quoted: _TARGET.sub("", quoted[1]) or quoted[1], text)
    text = _EMPHASIS.sub(_without_stars, _STRONG.sub(_without_stars, text))
    return _HELD.sub(lambda mark: held[int(mark[1])], text)


def _without_stars(match: re.Match[str]) -> str:
    """Return text without the stars of emphasis; underscores are kept."""
    return match[2] if match[1].startswith("*") else match[0]


def _role(match: re.Match[str]) -> str:
    """Return what Sphinx shows of a role.

    That is the title before a target, the last name after ~, or the number of a PEP.
    """
    shown = _TARGET.sub("", match[1]) or match[1]
    if match[0].lower().startswith((":pep:", ":rfc:")) and shown.isdecimal():
        return f"{match[0][1:4].upper()} {shown}"
    return shown.rpartition(".")[2] if shown.startswith("~") else shown.removeprefix("!")


def _separate(match: re.Match[str]) -> str:
    """Return a superscript, separated from the text before it."""
    return match[1] + choose_joint(match[1], match[2]) + match[2]


def _decode(entity: re.Match[str]) -> str:
    """Return the character of an entity.

    Every blank becomes a plain space, and no new table cell begins.
    """
    character = unescape(entity[0])
    return entity[0] if character == "|" else " ".join(character.split()) or " "
