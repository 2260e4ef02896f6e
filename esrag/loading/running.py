"""Running heads and feet of a PDF: what pages begin and end with, and sections named by heads."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from esrag.loading.layout import join_lines

_EDGE = 3  # lines at the top and at the bottom of a page among which a running line is looked for
# Left and right pages may differ, and some have none, so a line may be on far under half of them.
_REPEATED, _MIN_PAGES = 0.35, 3
_EVERYWHERE = 0.8  # of the pages; a head on so many names the document, and no section
_FIRST = 3  # pages on which a document has its title
_MIN_TITLE = 4  # characters
_NUMBER = re.compile(r"\d{1,6}")

Marks = Sequence[tuple[int, int, str]]  # page index, level from 1, title


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the pages' lines without those that most pages begin or end with.

    Lines that differ only in their page number count as the same. A line below a running head is
    one as well if it is on three pages.
    """
    return [body for _, body in _split(pages)]


def find_running_titles(pages: Sequence[Sequence[str]]) -> Marks:
    """Return the sections that running heads name, each at the first page that has its name.

    >>> pages = [[f"{n} On kettles", f"Part {'AB'[n // 3]}", "x" * n + "y"] for n in range(6)]
    >>> find_running_titles(pages)
    [(0, 1, 'Part A'), (3, 1, 'Part B')]
    """
    places: dict[str, list[int]] = {}
    for number, (heads, _) in enumerate(_split(pages)):
        for head in map(join_lines, heads):
            if re.search(r"[^\W\d_]{2}", head) and not _NUMBER.search(head):
                places.setdefault(head, []).append(number)
    return sorted(
        (found[0], 1, head)
        for head, found in places.items()
        if _is_section(found, len(pages)) and _count_pages(head, pages) < _EVERYWHERE * len(pages)
    )


def find_running_title(pages: Sequence[Sequence[str]]) -> str:
    """Return the running head with page numbers that is a line of the first pages too, else "".

    >>> pages = [["On kettles", "x"], *([f"{n} On kettles", "x" * n] for n in range(1, 6))]
    >>> find_running_title(pages)
    'On kettles'
    """
    first = [join_lines(line) for page in pages[:_FIRST] for line in page]
    bare = Counter(
        join_lines(_NUMBER.sub(" ", head)) for heads, _ in _split(pages) for head in heads
    )
    titles = (line for line in first if len(line) >= _MIN_TITLE and bare[line] >= _MIN_PAGES)
    return next((line for line in titles if _count_pages(line, pages) < _MIN_PAGES), "")


def _count_pages(line: str, pages: Sequence[Sequence[str]]) -> int:
    """Return how many pages have a line as it is; a watermark may be anywhere on them."""
    return sum(line in map(join_lines, page) for page in pages)


def _is_section(found: Sequence[int], pages: int) -> bool:
    """Return whether a head is on pages that follow each other, left and right ones or both."""
    span = found[-1] - found[0] + 1
    return len(found) > 1 and span <= 2 * len(found) and span < _EVERYWHERE * pages


def _split(pages: Sequence[Sequence[str]]) -> list[tuple[list[str], list[str]]]:
    """Return the running heads of each page, and what is left without heads and feet."""
    whole = [[line.rstrip() for line in page if line.strip()] for page in pages]
    common, tops = _count(whole)
    least = max(_MIN_PAGES, _REPEATED * len(pages))

    split: list[tuple[list[str], list[str]]] = []
    for number, page in enumerate(whole):

        def is_common(line: str, number: int = number) -> bool:
            return any(common[key] >= least for key in _keys(line, number))

        start = _count_heads(page, is_common, tops)
        feet = [is_common(line) for line in page[start:][: -_EDGE - 1 : -1]]
        end = len(page) - [*feet, False].index(False)
        split.append((page[:start], page[start:end]))
    # Pages that are all alike have no running lines.
    return split if any(body for _, body in split) else [([], page) for page in whole]


def _count(pages: Sequence[Sequence[str]]) -> tuple[Counter[str], Counter[str]]:
    """Return on how many pages each line is at an edge, and at the top as it is."""
    common: Counter[str] = Counter()
    tops: Counter[str] = Counter()
    for number, page in enumerate(pages):
        edges = [*page[:_EDGE], *page[_EDGE:][-_EDGE:]]
        common.update(set[str]().union(*(_keys(line, number) for line in edges)))
        tops.update({join_lines(line) for line in page[:_EDGE]})
    return common, tops


def _count_heads(page: Sequence[str], is_common: Callable[[str], bool], tops: Counter[str]) -> int:
    """Return how many lines at the top are running heads."""
    count = 0
    for line in page[:_EDGE]:
        is_below = count > 0 and tops[join_lines(line)] >= _MIN_PAGES
        if not (is_below or is_common(line)):
            break
        count += 1
    return count


def _keys(line: str, page: int) -> Iterator[str]:
    """Yield the line, and variants with one number replaced by its distance to the page number."""
    yield join_lines(line).casefold()
    for match in _NUMBER.finditer(line):
        distance = f"#{int(match[0]) - page}"
        yield join_lines(line[: match.start()] + distance + line[match.end() :]).casefold()
