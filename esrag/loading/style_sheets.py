"""The `style` elements of a web page: their rules, and the elements that a rule may apply to.

Selectors of one part are understood: `tag`, `.class`, `#id`, `tag.class` and `tag#id`. Each is its
own key, by which the rules of an element are found in a time that does not depend on their number.
"""

import re
from collections.abc import Iterator
from typing import Any

DOUBT = 500  # the specificity of what may apply: above that of selectors, below an inline style

_NOISE = re.compile(r"""/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|"[^"\n]*"|'[^'\n]*'|<!--|-->""")
_NAME = r"[.#](?:[\w-]|\\.)+"
_SIMPLE = re.compile(rf"(?!\Z)(\*|[a-zA-Z][\w-]*)?({_NAME})?")
_PART = re.compile(rf"{_NAME}|[a-zA-Z][\w-]*")
_CONDITION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|(?<!\\):(?!root)[\w-]+")
_GENERATED = re.compile(r"::|:(?:before|after)\b")  # content with a style of its own
_SCREEN = re.compile(r"@media\s+(?:only\s+)?(?:all|screen)|@layer\b[^()]*")
_ELSEWHERE = re.compile(r"@(?:media\s+print|page|font-face|(?:-\w+-)?keyframes)\b")


def read_rules(tree: Any) -> Iterator[tuple[str, str, bool]]:
    """Yield selectors, declarations, and whether they are certain to apply on a screen."""
    for element in tree.xpath(".//style[not(parent::noscript or parent::template)]"):
        scope = _scope(f"@media {element.get('media') or 'all'}".lower(), (True, True))
        yield from _split(_NOISE.sub(" ", element.text or ""), scope)


def has_other_sheet(tree: Any) -> bool:
    """Return whether a page has a style sheet in another file."""
    links = (link.get("rel") or "" for link in tree.iter("link"))
    sheets = (element.text or "" for element in tree.iter("style"))
    return any("stylesheet" in rel.lower() for rel in links) or any("@import" in x for x in sheets)


def find_key(selector: str, *, is_certain: bool = True) -> tuple[str, int]:
    r"""Return a key of the elements that a selector may apply to, and its specificity.

    The key is "" for a selector of no element.

    >>> [find_key(selector) for selector in ("P", "div.Note", "*.a", "#b", r".sm\:c")]
    [('p', 1), ('div.Note', 11), ('.a', 10), ('#b', 100), ('.sm:c', 10)]
    >>> [find_key(selector) for selector in ("p > a.b:hover", "#a P", ":root", "p::before")]
    [('.b', 500), ('p', 500), ('html', 500), ('', 500)]
    """
    match = _SIMPLE.fullmatch(selector) if is_certain else None
    if match:
        tag, name = (match[1] or "*").lower(), (match[2] or "").replace("\\", "")
        specificity = (tag != "*") + {".": 10, "#": 100}.get(name[:1], 0)
        return (name if name and tag == "*" else tag + name), specificity

    if _GENERATED.search(selector):
        return "", DOUBT
    last = re.split(r"[\s>+~]", _CONDITION.sub("", selector).strip())[-1].replace(":root", "html")
    parts = _PART.findall(last)
    names = [part.replace("\\", "") for part in parts if part[0] in ".#"]
    return [*names, *map(str.lower, parts), "*"][0], DOUBT


def _split(css: str, scope: tuple[bool, bool]) -> Iterator[tuple[str, str, bool]]:
    """Yield the rules of a style sheet without comments and quotations."""
    opened: list[tuple[str, tuple[bool, bool]]] = []
    pieces = re.split("([{}])", css + "}")  # the last rule need not be closed

    for text, brace in zip(pieces[::2], pieces[1::2], strict=False):
        if brace == "{":
            head = text.rpartition(";")[2].strip()
            opened.append((head, scope))
            scope = _scope(head.lower(), scope)
        elif opened:
            head, scope = opened.pop()
            if scope[0] and not head.startswith("@"):
                yield head, text, scope[1]


def _scope(head: str, around: tuple[bool, bool]) -> tuple[bool, bool]:
    """Return whether rules inside the braces after a head may apply, and whether they all do."""
    may_apply = around[0] and not _ELSEWHERE.match(head)
    return may_apply, around[1] and bool(_SCREEN.fullmatch(head))
