"""Stamps: words set large across every page, such as "Draft, do not quote", within its text."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from esrag.loading.typography import Line

LARGER = 1.5  # than the text of a page
EVERYWHERE, MIN_PAGES = 0.8, 4  # of the pages; on few pages it may be a title


def find_stamps(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the lines that stand once on nearly every page, and are larger than its text.

    >>> from esrag.loading.typography import Style
    >>> large, small = Style(24, False), Style(10, False)
    >>> find_stamps([[Line("Draft", large), *[Line(n, small)] * 3] for n in "abcd"])
    frozenset({'Draft'})
    """
    if len(pages) < MIN_PAGES:
        return frozenset()
    found = Counter(text for page in pages for text in _find_large(page))
    return frozenset(text for text, count in found.items() if count >= EVERYWHERE * len(pages))


def _find_large(page: Sequence[Line]) -> set[str]:
    sizes = [line.style.size for line in page if line.style]
    least = LARGER * median(sizes) if sizes else 0.0
    times = Counter(line.text for line in page)
    return {
        line.text
        for line in page
        if line.style and line.style.size >= least and times[line.text] == 1
    }


def without_stamps(page: Sequence[str], stamps: frozenset[str]) -> list[str]:
    """Return a page's lines without stamps, which may also stand at the end of one.

    >>> without_stamps(["It is new. Draft", "Draft", "It is red."], frozenset({"Draft"}))
    ['It is new.', 'It is red.']
    """
    kept = (line for line in page if line.strip() not in stamps)
    return [_cut(line, stamps) for line in kept]


def _cut(line: str, stamps: frozenset[str]) -> str:
    for stamp in stamps:
        line = line.removesuffix(stamp)
    return line.rstrip() if stamps else line
