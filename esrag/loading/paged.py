"""Plain text that was printed in pages, as memos are, without the running lines of the pages."""

import re
from collections.abc import Sequence

from esrag.loading.layout import find_indent
from esrag.loading.running_heads import find_bodies

_FEED = "\f"  # the end of a page
# A copy may lack the form feeds, but not the foot: "Ann                [Page 12]".
_FOOT = re.compile(r"^(?=\S)[^\n]{0,100}\[Page \d{1,4}\]$", re.MULTILINE)
_ENDS = re.compile(r"[.!?:;][)\]\"”']{0,3}\Z")


def join_pages(text: str) -> str:
    r"""Return a text without the running heads and feet of its pages, and with paragraphs whole.

    A text without such lines comes back as it is.

    >>> parts = enumerate(("It is so", "and so.", "Is it?"), 1)
    >>> join_pages("\f".join(f"Kettles\n\n  {part}\n\nAnn [Page {n}]" for n, part in parts))
    '  It is so\n  and so.\n\n  Is it?'
    """
    marked = text if _FEED in text else _FOOT.sub(rf"\g<0>{_FEED}", text)
    pages = [page.split("\n") for page in marked.split(_FEED)]
    bodies = find_bodies(pages)
    if not any(_lacks_lines(page, body) for page, body in zip(pages, bodies, strict=True)):
        return text

    joined: list[str] = []
    for page, (start, end) in zip(pages, bodies, strict=True):
        if start < end and joined and not _goes_on(joined[-1], page[start]):
            joined.append("")
        joined.extend(page[start:end])
    return "\n".join(joined)


def _lacks_lines(page: Sequence[str], body: tuple[int, int]) -> bool:
    """Return whether a page has lines with text outside its body."""
    start, end = body
    return any(line.strip() for line in (*page[:start], *page[end:]))


def _goes_on(last: str, first: str) -> bool:
    """Return whether a paragraph or a block goes on from one page to the next.

    >>> _goes_on(" The lid of the", " Kettle"), _goes_on(" It ends.", " The"), _goes_on("a", " B")
    (True, False, False)
    """
    if _ENDS.search(last):
        return False
    return find_indent(last) == find_indent(first) or first.lstrip()[:1].islower()
