"""The part of a web page that its author marks as the main one, without menus among its texts."""

import re
from typing import Any

_MAIN = (".//main | .//*[@role='main']", ".//article", ".//*[@id='main-content']")
_MENUS = (
    "banner", "complementary", "contentinfo", "doc-pagelist", "doc-toc", "menu", "menubar",
    "navigation", "search", "toolbar",
)  # fmt: skip
# Words of classes and ids, as the common site generators give them to what stands around a text.
_AROUND = re.compile(
    r"(?:article-|page-|post-|mw-|md-|theme-)?(?:breadcrumbs?|comments?(?:-list)?|cookie\S*"
    r"|edit(?:-page|-this-page|section)|feedback|headerlink|newsletter\S*|pager|pagination\S*"
    r"|related-?(?:articles|content|links|pages|posts|products|topics)?|share\S*|sidebar\S*"
    r"|skip-?(?:link|to-content)\S*|social\S*|table-of-contents|toc|toctree-wrapper"
    r"|jump-?link|catlinks|navbox|interlanguage-link|mw-portlet\S*|vector-(?:dropdown|menu|toc)\S*"
    r"|footnote-back\S*|votes?)"
)
_MIN_WORDS = 4  # of a box beside a text


def find_main(tree: Any) -> Any:
    """Return the main part of a page, or None where its author marks none or several.

    What stands around texts is removed from it: menus, comments, ways to share. Boxes of facts
    beside it are moved to its end.
    """
    found: list[Any] = next(filter(None, map(tree.xpath, _MAIN)), [])
    if len(found) != 1:
        return None

    part = found[0]
    for aside in list(tree.iter("aside")):
        _drop_around(aside)
        boxes = list(aside.iterchildren("*"))
        for box in filter(_has_facts, boxes if len(boxes) > 1 else [aside]):
            box.tag = "div"
            box.attrib.clear()
            part.append(box)
    _drop_around(part)
    return part


def _drop_around(part: Any) -> None:
    for element in [each for each in part.iterdescendants() if _is_around(each)]:
        if element.getparent() is not None:
            element.drop_tree()


def _has_facts(box: Any) -> bool:
    """Return whether a box beside a text says something with figures, and is not mostly links."""
    if box.tag == "nav" or (box.tag != "aside" and _is_around(box)):
        return False
    said = "".join(box.text_content().split())
    linked = sum(len("".join(link.text_content().split())) for link in box.iter("a"))
    has_words = len(box.text_content().split()) >= _MIN_WORDS
    return has_words and bool(re.search(r"\d", said)) and 2 * linked <= len(said)


def _is_around(element: Any) -> bool:
    """Return whether an element is navigation by its role, its class, or by what is in it."""
    if not isinstance(element.tag, str):
        return False
    if element.tag == "form" or element.get("role") in _MENUS:
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}".lower().split()
    return any(map(_AROUND.fullmatch, names)) or _is_contents(element)


def _is_contents(element: Any) -> bool:
    """Return whether a list has nothing but links to places of its page."""
    if element.tag not in ("ol", "ul"):
        return False

    links = list(element.iter("a"))
    inside = sum(len("".join(link.text_content().split())) for link in links)
    return (
        len(links) > 1
        and all(link.get("href", "").startswith("#") for link in links)
        and inside == len("".join(element.text_content().split()))
    )
