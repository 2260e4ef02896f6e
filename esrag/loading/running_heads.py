"""Running heads and feet: what pages begin and end with, and the sections that heads name."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from esrag.loading.layout import join_lines

_EDGE = 3  # lines at the top and at the bottom of a page among which a running line is looked for
# Left and right pages may differ, and some have none, so a line may be on far under half of them.
_REPEATED, _MIN_PAGES = 0.35, 3
_EVERYWHERE = 0.8  # of the pages; a head on so many names the document, and no section
_NAMED = 0.6  # of the pages with a head, where its second line is a name
_AGAIN = 1.5  # times that each name begins a section; more do left and right pages
_FIRST = 3  # pages on which a document has its title
_MIN_TITLE = 4  # characters
_MAX_LENGTH = 300  # characters of a running line
_MAX_FORM = 110  # the same of one known by its form; a line of text may have a foot at its end
_NUMBER = re.compile(r"\d{1,6}")

_LAST_NUMBER = re.compile(r"(?<=\s)\d{1,6}\Z")
_PART = re.compile(r"([^\W\d_]{4,20}) (?:\d{1,3}|[A-Z])\. \S")  # "CHAPTER 1. KETTLES"
_MIN_WORDS = 3  # of a line that has the page number on two pages
_WORD = re.compile(r"[^\W\d_]{3,}")

Marks = Sequence[tuple[int, int, str]]  # page index, level from 1, title


def without_running_lines(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the pages' lines without those that many pages begin or end with.

    Lines that differ only in their page number count as the same. A line below a running head is
    one as well if it comes back there.
    """
    return [body for _, body in _split(pages)]


def find_bodies(pages: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return the first line of each page below its running head, and the one after its last.

    A page without any has (0, 0).

    >>> find_bodies([["On kettles", "", "a"], ["On kettles", "", "b"], ["", "On kettles", "c", ""]])
    [(2, 3), (2, 3), (2, 3)]
    """
    bodies: list[tuple[int, int]] = []
    for page, (heads, body) in zip(pages, _split(pages), strict=True):
        shown = [number for number, line in enumerate(page) if line.strip()]
        own = shown[len(heads) :][: len(body)]
        bodies.append((own[0], own[-1] + 1) if own else (0, 0))
    return bodies


def find_running_titles(pages: Sequence[Sequence[str]]) -> Marks:
    """Return the sections that running heads name, each at the first page that has its name.

    A name that comes back after another one begins a section again, unless left and right pages
    have different names.

    >>> pages = [[f"{n} On kettles", f"Part {'AB'[n // 3]}", "x" * n + "y"] for n in range(6)]
    >>> find_running_titles(pages)
    [(0, 1, 'Part A'), (3, 1, 'Part B')]
    """
    heads = [join_lines(heads[-1]) if heads else "" for heads, _ in _split(pages)]
    places: dict[str, list[int]] = {}
    for number, head in enumerate(heads):
        places.setdefault(head, []).append(number)
    names = {
        head
        for head, found in places.items()
        if re.search(r"[^\W\d_]{2}", head)
        and not _NUMBER.search(head)
        and _is_section(found, len(pages))
        and _count_pages(head, pages) < _EVERYWHERE * len(pages)
    }
    named = [(number, head) for number, head in enumerate(heads) if head in names]
    runs = [next(run) for _, run in groupby(named, key=itemgetter(1))]
    if len(runs) > _AGAIN * len(names):
        runs = sorted((places[name][0], name) for name in names)
    return [(number, 1, name) for number, name in runs]


def find_running_title(pages: Sequence[Sequence[str]]) -> str:
    """Return the running head with page numbers whose words are on the first pages, else "".

    One that is a line of them comes first: on the others, the title may be shortened.

    >>> pages = [["On kettles", "x"], *([f"{n} On kettles", "x" * n] for n in range(1, 6))]
    >>> find_running_title(pages)
    'On kettles'
    """
    first = [join_lines(line) for page in pages[:_FIRST] for line in page]
    split = _split(pages)
    bare = Counter(join_lines(_NUMBER.sub(" ", head)) for heads, _ in split for head in heads)
    known = {word for _, body in split[:_FIRST] for line in body for word in _words(line)}
    shortened = sorted(
        (line for line in bare if len(line.split()) > 1 and known.issuperset(_words(line))),
        key=lambda line: (-bare[line], line),
    )
    titles = (
        line
        for line in (*first, *shortened)
        if len(line) >= _MIN_TITLE
        and bare[line] >= _MIN_PAGES
        and _count_pages(line, pages) < _MIN_PAGES
    )
    return next(titles, "")


def _words(line: str) -> list[str]:
    """Return the words of a line without the commas and full stops at their ends."""
    return [word.rstrip(",.") for word in line.split()]


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
    common = _find_common(whole)
    heads = [_count(page[:_EDGE], number, common) for number, page in enumerate(whole)]
    names = _find_names(whole, heads)

    split: list[tuple[list[str], list[str]]] = []
    for number, page in enumerate(whole):
        named = [n for n, line in enumerate(page[:_EDGE], 1) if join_lines(line) in names]
        start = max(heads[number], *named[:1], 0)
        end = len(page) - _count(page[start:][: -_EDGE - 1 : -1], number, common)
        split.append((page[:start], page[start:end]))
    # Pages that are all alike have no running lines.
    return split if any(body for _, body in split) else [([], page) for page in whole]


def _find_common(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the lines that are at an edge of many pages, as keys."""
    counts: Counter[str] = Counter()
    for number, page in enumerate(pages):
        edges = [*page[:_EDGE], *page[_EDGE:][-_EDGE:]]
        keys = set[str]().union(*(_keys(line, number) for line in edges))
        counts.update(keys.union(*(_read_form(line, number) for line in {*page[:1], *page[-1:]})))
    least = max(_MIN_PAGES, _REPEATED * len(pages))
    return {
        key
        for key, count in counts.items()
        if count >= least or (count > 1 and 4 * count > len(pages) and _is_counted(key))
    }


def _is_counted(key: str) -> bool:
    """Return whether a line of several words has the page number: "42 Kettle 60, user manual"."""
    return "page #" in key or ("#" in key and len(_WORD.findall(key)) >= _MIN_WORDS)


def _count(lines: Sequence[str], page: int, common: set[str]) -> int:
    """Return how many of the lines, from the edge on, are common."""
    is_common = [not common.isdisjoint(_keys(line, page)) for line in lines]
    if lines and not common.isdisjoint(_read_form(lines[0], page)):
        is_common[0] = True
    return [*is_common, False].index(False)


def _find_names(pages: Sequence[Sequence[str]], heads: Sequence[int]) -> set[str]:
    """Return the second lines of running heads, which name parts of a document.

    They come on three pages; on two if most pages with a head have such a name.
    """
    headed = [
        [*map(join_lines, page[1 : min(count + 1, _EDGE)])]
        for page, count in zip(pages, heads, strict=True)
        if count
    ]
    counts = Counter(line for lines in headed for line in {*lines})
    names = {line for line in counts if counts[line] < _EVERYWHERE * len(pages)}
    frequent = {line for line in names if counts[line] >= _MIN_PAGES}
    named = sum(not frequent.isdisjoint(lines) for lines in headed)
    least = _MIN_PAGES - 1 if named > _NAMED * len(headed) else _MIN_PAGES
    return {line for line in names if counts[line] >= least}


def _keys(line: str, page: int) -> Iterator[str]:
    """Yield the line, and variants with one number replaced by its distance to the page number.

    A long line yields nothing.
    """
    if len(line) > _MAX_LENGTH:
        return
    yield join_lines(line).casefold()
    for match in _NUMBER.finditer(line):
        distance = f"#{int(match[0]) - page}"
        yield join_lines(line[: match.start()] + distance + line[match.end() :]).casefold()


def _read_form(line: str, page: int) -> Iterator[str]:
    """Yield what the first or last line of a page has in common with those of other parts.

    Such a line has the page number at its end, or is in capitals and counts its part. A number at
    its start may be that of a heading.

    >>> [*_read_form("Chapter 3: On kettles 41", 40)], [*_read_form("41 Lids", 40)]
    (['… #1'], [])
    >>> [*_read_form("CHAPTER 1. KETTLES 1.2. LIDS", 40)]
    ['CHAPTER # …']
    """
    if len(line) > _MAX_FORM or not _WORD.search(line):
        return
    if found := _LAST_NUMBER.search(line):
        yield f"… #{int(found[0]) - page}"
    if line.isupper() and (found := _PART.match(line)):
        yield f"{found[1]} # …"
