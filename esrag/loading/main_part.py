"""The part of a web page that its author marks as the main one, without menus among its texts."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from esrag.loading.layout import count_characters

_MAIN = (".//main | .//*[@role='main']", ".//article", ".//*[@id='main-content']")
_MENUS = (
    "banner", "complementary", "contentinfo", "doc-pagelist", "doc-toc", "menu", "menubar",
    "navigation", "search", "toolbar",
)  # fmt: skip
# Words of classes, as the common site generators give them to what stands around a text. Ids are no
# such words: that of a section about paging is "pagination".
_AROUND = re.compile(
    r"(?:article-|page-|post-|mw-|md-|theme-)?(?:breadcrumbs?|comments?(?:-(?:area|list))?"
    r"|cookie-?(?:banner|bar|consent|notice)\S*|edit(?:-page|-this-page|section)|feedback|headerlink"
    r"|newsletter(?:-\S*)?|pager|pagination(?:-\S*)?"
    r"|related-?(?:articles|content|links|pages|posts|products|topics)?"
    r"|shar(?:e|ing)(?:-\S*)?|sharethis\S*|sidebar\S*|skip-?(?:link|to-content)\S*"
    r"|social-(?:icons|links|media|shar)\S*"
    r"|jump-?link|catlinks|navbox|interlanguage-link|mw-portlet\S*|vector-(?:dropdown|menu|toc)\S*"
    r"|footnote-back\S*|votes?)"
)
_CONTENTS = re.compile(r"table-of-contents|toc|toctree-wrapper")
_MIN_WORDS = 4  # of a box beside a text


def find_main(tree: Any) -> Any:
    """Return the main part of a page, or None where its author marks none or several.

    What stands around texts is removed from it: menus, comments, ways to share. It is no main part
    if that is most of it. Boxes of facts beside it are moved to its end.
    """
    found: list[Any] = next(filter(None, map(tree.xpath, _MAIN)), [])
    part = found[0] if len(found) == 1 else None
    if part is None:
        return None

    around = list(_find_around(part))
    if 2 * sum(map(_count_letters, around)) > _count_letters(part):
        return None
    _drop(around)
    asides = [
        each for each in tree.iter("aside") if next(each.iterancestors("aside"), None) is None
    ]
    for aside in asides:
        _drop(_find_around(aside))
        boxes = list(aside.iterchildren("*"))
        for box in filter(_has_facts, boxes if len(boxes) > 1 else [aside]):
            box.tag = "div"
            box.attrib.clear()
            part.append(box)
    return part


def _find_around(part: Any) -> Iterator[Any]:
    """Yield the outermost elements in a part that stand around its text, but no asides."""
    from lxml import etree  # type: ignore[import-untyped]

    walker = etree.iterwalk(part, events=("start",))
    for _, element in walker:
        if element is part:
            continue
        if element.tag == "aside":
            walker.skip_subtree()
        elif _is_around(element):
            walker.skip_subtree()
            yield element


def _drop(elements: Iterable[Any]) -> None:
    for element in list(elements):
        element.drop_tree()


def _count_letters(element: Any) -> int:
    return count_characters(element.text_content())


def _has_facts(box: Any) -> bool:
    """Return whether a box beside a text says something with figures, and is not mostly links."""
    if box.tag == "nav" or (box.tag != "aside" and _is_around(box)):
        return False
    said = box.text_content()
    has_words = len(said.split()) >= _MIN_WORDS and bool(re.search(r"\d", said))
    return has_words and 2 * sum(map(_count_letters, box.iter("a"))) <= _count_letters(box)


def _is_around(element: Any) -> bool:
    """Return whether an element is navigation by its role, its class, or by what is in it."""
    if element.tag == "form" or element.get("role") in _MENUS:
        return True
    names = element.get("class", "").lower().split()
    if any(map(_CONTENTS.fullmatch, names)):
        return _is_linked(element)  # a manual on one page may be within what lists its chapters
    return any(map(_AROUND.fullmatch, names)) or _is_contents(element)


def _is_linked(element: Any) -> bool:
    """Return whether at least half of an element's letters are in links."""
    return 2 * sum(map(_count_letters, element.iter("a"))) >= _count_letters(element)


def _is_contents(element: Any) -> bool:
    """Return whether a list, in no other one, has nothing but links to places of its page."""
    if element.tag not in ("ol", "ul") or next(element.iterancestors("ol", "ul"), None) is not None:
        return False

    links = list(element.iter("a"))
    are_inside = all(link.get("href", "").startswith("#") for link in links)
    return (
        len(links) > 1 and are_inside and sum(map(_count_letters, links)) == _count_letters(element)
    )
