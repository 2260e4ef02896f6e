"""Directives of reStructuredText and Sphinx, as a reader of the finished page sees them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from esrag.loading.layout import Line, find_indent, split_lines
from esrag.text import ITEM

_DIRECTIVE = re.compile(r"(\s*)\.\. (?:[a-z]{1,10}:)?([a-z][a-z-]{0,30})::(?:\s+(\S.*))?")
_OPTION = re.compile(r"\s+:([a-z][a-z-]{0,30}):(?:\s+(\S.*))?")
_TARGET = re.compile(r"\s*\.\. _[^\s:`][^:`]{0,200}:\s*")
_FIELD = re.compile(
    r"\A(\s+):(?:(?:param|parameter|arg|argument|key|keyword) (?:[^\s:]{1,80} ){0,3}([^\s:]{1,80})"
    r"|(returns?|raises?(?: [^\s:]{1,80})?|rtype)):\s{1,9}(?=\S)"
)
# What documents a name: its description follows, indented.
_DESCRIBES = re.compile(
    "attribute|class|classmethod|cmdoption|confval|data|decorator|describe|directive|django-admin"
    "|enum|enumerator|envvar|exception|function|macro|member|method|object|option|property|role"
    "|setting|staticmethod|struct|type|var"
)
_SHOWN_OPTIONS = ("default", "type")
_VERSIONS = {
    "deprecated": "Deprecated since version",
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
}
_NOTES = re.compile("attention|caution|danger|error|hint|important|note|tip|warning")
_UNSEEN = re.compile(
    "codeauthor|currentmodule|default-domain|default-role|highlight|index|module|program"
    "|sectionauthor"
)


def write_directives(text: str) -> str:
    r"""Return the text with what a directive describes before its description, on the same line.

    Notes and versions become words. What a reader does not see, such as targets of links, is left
    out. Other directives, and those in literal blocks, stay as they are.

    >>> write_directives(".. _size:\n.. option:: size\n\n   How *big*.\n   Or small.")
    'size: How *big*.\n   Or small.'
    >>> write_directives(".. confval:: lid\n   :default: ``False``\n\n   If true, it shuts.")
    'lid (default: ``False``): If true, it shuts.'
    >>> write_directives(".. note:: Keep it.\n.. versionadded:: 3.2\n   The lid.\n.. image:: a.png")
    'Note: Keep it.\nNew in version 3.2: The lid.\n.. image:: a.png'
    """
    lines = split_lines(text)
    literal = find_literal(lines)
    are_literal = [start in literal for start, _ in lines]
    return "\n".join(_iter_lines([line for _, line in lines], are_literal))


def find_literal(lines: Sequence[Line]) -> set[int]:
    """Return where each line of literal blocks and directives, indented below an opener, starts."""
    found: set[int] = set()
    outer: int | None = None  # the indent of the line that opened the block

    for start, line in lines:
        if not line.strip():
            continue
        indent = find_indent(line)
        if outer is not None and indent > outer:
            found.add(start)
        else:
            outer = indent if _opens_literal(line) else None

    return found


def _opens_literal(line: str) -> bool:
    """Return whether what is indented below a line is literal, and no description or note."""
    directive = _DIRECTIVE.fullmatch(line)
    said = (directive[3] or "") if directive and _is_written(directive) else line
    starts = (".. code", ".. sourcecode", ">>> ")
    return said.rstrip().endswith("::") or said.lstrip().startswith(starts)


def _iter_lines(lines: Sequence[str], are_literal: Sequence[bool]) -> Iterator[str]:
    number = 0
    while number < len(lines):
        line, is_literal = lines[number], are_literal[number]
        number += 1
        found = None if is_literal else _DIRECTIVE.fullmatch(line)
        if not is_literal and (_TARGET.fullmatch(line) or (found and _UNSEEN.fullmatch(found[2]))):
            continue
        if found and _is_written(found):
            line, number = _write(found, lines, number)
        yield line if is_literal else _FIELD.sub(_write_field, line)


def _is_written(directive: re.Match[str]) -> bool:
    """Return whether a directive becomes words."""
    name, argument = directive[2], directive[3]
    is_described = argument and _DESCRIBES.fullmatch(name)
    return bool(is_described or _NOTES.fullmatch(name) or name in _VERSIONS or name == "seealso")


def _write(directive: re.Match[str], lines: Sequence[str], number: int) -> tuple[str, int]:
    """Return the first line of what a directive shows, and the number of the line after it."""
    indent, name, argument = directive[1], directive[2], (directive[3] or "").strip()
    options = read_options(_iter_from(lines, number))
    number += len(options)
    blank = sum(1 for _ in takewhile(_is_blank, _iter_from(lines, number)))
    body = next(_iter_from(lines, number + blank), "")
    has_words = find_indent(body) > len(indent) and _is_prose(body)

    if _NOTES.fullmatch(name) or name == "seealso":
        said = ["See also" if name == "seealso" else name.capitalize(), argument]
    elif name in _VERSIONS:
        version, _, rest = argument.partition(" ")
        said = [f"{_VERSIONS[name]} {version}".strip(), rest]
    else:
        shown = [f"{key}: {value}" for key, value in options if key in _SHOWN_OPTIONS and value]
        said = [f"{argument} ({', '.join(shown)})" if shown else argument]

    first, *rest = filter(None, said)
    if has_words:
        rest.append(body.strip())
        number += blank + 1
    return indent + ": ".join(filter(None, (first, " ".join(rest)))), number


def read_options(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names and values of the options that lines begin with; "" for one without.

    >>> read_options(["   :widths: 1 2", "   :hidden:", "", "   :not: one"])
    [('widths', '1 2'), ('hidden', '')]
    """
    found = map(_OPTION.fullmatch, lines)
    return [(option[1], option[2] or "") for option in takewhile(bool, found) if option]


def _iter_from(lines: Sequence[str], number: int) -> Iterator[str]:
    return (lines[n] for n in range(number, len(lines)))


def _is_blank(line: str) -> bool:
    return not line.strip()


def _is_prose(line: str) -> bool:
    """Return whether a line begins a paragraph, not a list, a field, a table or a directive."""
    said = line.strip()
    return not (ITEM.match(said) or said.startswith((".. ", ":", "+--", "===", ">>>")))


def _write_field(field: re.Match[str]) -> str:
    """Return the beginning of a field of a description, such as that of a parameter."""
    return f"{field[1]}{field[2] or field[3].capitalize()}: "
