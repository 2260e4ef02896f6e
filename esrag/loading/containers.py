"""Boxes, tabs and components of Markdown's dialects.

Material for MkDocs writes them with "!!!", "???" and "===", Docusaurus, VitePress and Quarto with
":::", Docusaurus and Mintlify with components, GitBook and Hugo with tags of their templates.
Readers see a title and a content.
"""

import re
from collections.abc import Iterator, Sequence

from esrag.loading.markdown_lines import ATX, Line

_MARGIN = 4  # blanks before the content of a box of MkDocs
_MAX_BOXES = 8  # within each other
_MAX_LEVEL = 6  # of a heading
_BOX = re.compile(
    r"(?:!!!|\?\?\?\+?)[ \t]{1,9}(?:[\w-]{1,40}(?:[ \t]{1,9}(?=[\w\"'])|[ \t]{0,9}$)){0,5}"
    r"(?:\"([^\"]{0,300})\"|'([^']{0,300})')?[ \t]{0,9}"
)
_TAB = re.compile(r"===[!+]?[ \t]{1,9}(?:\"([^\"]{1,300})\"|'([^']{1,300})')[ \t]{0,9}")
_FENCED = re.compile(
    r":{3,9}[ \t]{0,9}(?:\{[^{}]{0,200}\}|[\w-]{1,40})?"
    r"(?:\[([^\[\]]{1,300})\]|[ \t]{1,9}([^\s{:].{0,300}))?(?:\{[^{}]{0,200}\})?[ \t]{0,9}"
)
_TEMPLATE = re.compile(
    r"[ \t]{0,12}\{(?:%|\{[<%])[ \t]{0,9}(/?)[ \t]{0,9}([a-z][\w-]{0,40})\b(.{0,600}?)[%>]\}{1,2}"
    r"[ \t]{0,9}"
)
_COMPONENT = re.compile(r"<(/?)([A-Z][a-z]\w{0,40})((?:\s(?:[^<>`]|=>){0,600})?)>")
_CODE_OR_COMPONENT = re.compile(rf"`[^`]{{1,400}}`|{_COMPONENT.pattern}")
_NAMED = re.compile(r"\b(?:title|label|header|name|summary|text)\s?=\s?(?:\"([^\"]+)\"|'([^']+)')")
_QUOTED = re.compile(r"[ \t]{0,9}(?:\"([^\"]{1,300})\"|'([^']{1,300})')")
_TITLED = re.compile(r"tab|step|accordion|expand|details|collapse|card|panel", re.IGNORECASE)
_SEVERAL = re.compile(r"tabs|steps|tabpane|code-?group|cardgroup|accordiongroup", re.IGNORECASE)
_IMPORT = re.compile(
    r"import[ \t](?:[^'\"\n]{1,300}[ \t]from[ \t])?(?:\"[^\"]{1,300}\"|'[^']{1,300}');?[ \t]{0,9}"
)


def open_containers(lines: Sequence[Line]) -> str:
    r"""Return the text with the titles of boxes as bold lines and those of tabs as headings.

    What only opens or closes them is left out, as are the imports of components. Code is kept.

    >>> print(open_containers([(0, '=== "Linux"', False), (12, "    Use apt.", False)]).strip())
    ## Linux
    <BLANKLINE>
    Use apt.
    """
    closed = _find_closed(lines)
    kept: list[str] = []
    level = 1
    for line, is_code in _without_margins(lines):
        if is_code:
            kept.append(line)
            continue
        if heading := ATX.match(line):
            level = len(heading[1])
        kept += _read_line(line, level, closed)
    return "\n".join(kept)


def _find_closed(lines: Sequence[Line]) -> frozenset[str]:
    """Return the names of components that are closed somewhere; "<Name>" may be a placeholder."""
    found = (
        match[2]
        for _, line, is_code in lines
        if not is_code and "</" in line
        for match in _CODE_OR_COMPONENT.finditer(line)
        if match[1]
    )
    return frozenset(found)


def _without_margins(lines: Sequence[Line]) -> Iterator[tuple[str, bool]]:
    """Yield each line, without the blanks before the content of a box, and whether it is code."""
    margins: list[int] = []  # of the open boxes
    for _, line, is_code in lines:
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        while margins and bare.strip() and not is_code and indent < margins[-1]:
            margins.pop()
        yield line[min(indent, _MARGIN * len(margins)) :], is_code
        is_box = not is_code and bool(_BOX.fullmatch(bare) or _TAB.fullmatch(bare))
        if is_box and len(margins) < _MAX_BOXES:
            margins.append(indent + _MARGIN)


def _read_line(line: str, level: int, closed: frozenset[str]) -> list[str]:
    """Return a line as it is, or what a reader sees of one that opens or closes a container."""
    bare = line.lstrip(" ")
    if tab := _TAB.fullmatch(bare):
        return _head(_choose(tab), level)
    if box := _BOX.fullmatch(bare) or _FENCED.fullmatch(bare):
        return _embolden(_choose(box), line[: len(line) - len(bare)])
    if tag := _TEMPLATE.fullmatch(line):
        return _read_template(line, tag, level)
    if _IMPORT.fullmatch(line):
        return []
    return _read_components(line, level, closed) if closed and "<" in line else [line]


def _read_template(line: str, tag: re.Match[str], level: int) -> list[str]:
    is_closing, name, rest = tag.groups()
    named = _QUOTED.match(rest) or _NAMED.search(rest)
    if named and not is_closing and _is_titled(name):
        return _head(_choose(named), level)
    return [""] if line.lstrip().startswith("{{") else [line]


def _read_components(line: str, level: int, closed: frozenset[str]) -> list[str]:
    """Return a line without the tags of components, with the titles of some before it."""
    titles: list[str] = []

    def read(tag: re.Match[str]) -> str:
        is_closing, name, rest = tag.groups()
        if not name or not (name in closed or rest.endswith("/")):
            return tag[0]
        named = _NAMED.search(rest)
        if named and not is_closing:
            title = _choose(named)
            titles.extend(_head(title, level) if _is_titled(name) else _embolden(title))
        return ""

    bare = _CODE_OR_COMPONENT.sub(read, line)
    return [*titles, bare if bare == line else bare.strip()]


def _is_titled(name: str) -> bool:
    return bool(_TITLED.search(name)) and not _SEVERAL.fullmatch(name)


def _choose(found: re.Match[str]) -> str:
    """Return the title, whichever of two groups has it."""
    return " ".join((found[1] or found[2] or "").split())


def _head(title: str, level: int) -> list[str]:
    return ["", f"{'#' * min(level + 1, _MAX_LEVEL)} {title}", ""]


def _embolden(title: str, indent: str = "") -> list[str]:
    return ["", f"{indent}**{title}**", ""] if title else [""]
