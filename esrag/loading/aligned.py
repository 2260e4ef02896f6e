"""Tables in plain text whose columns are aligned with spaces, as the rows that they show.

A table needs a header. Its columns are those of its frame or of a line of dashes below it, or
stretches that are blank in every row. Without dashes for each column, most of its cells are figures
or a few letters, as "None" and "20 feet" are: in other text, such as code or verse, aligned words
are no table.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from esrag.loading.framed import read_framed
from esrag.loading.layout import join_lines, split_rows, table_lines, trim
from esrag.records import Span
from esrag.text.captions import read_caption

MAX_COLUMNS = 40
MAX_ROWS = 2_000  # that are looked at together
MIN_GUTTER = 2  # blanks between two columns
MAX_SHORT = 7  # letters of a short cell
MAX_ABOVE = 20  # lines in which a caption is looked for

_GAP = re.compile(r" {2,}")
_PIECE = re.compile(r"\S+(?: \S+)*")
_WORD = re.compile(r"\S+")
_RULE = re.compile(r"\s{0,40}(?:(?:[-=~_]{2,120}|[:|+])\s{1,40}){1,40}(?:[-=~_]{2,120}|[:|+])\s*")
# Over the whole width: below a header of up to three lines, above a total, and at the end.
_LINE = re.compile(r"\s{0,40}[-=_]{10,200}\s*")
MAX_HEADER = 3  # lines
_DASHES = re.compile(r"[-=~_]{2,}")
_MARK = re.compile(r"[:|]?")
_FIGURE, _NAME = re.compile(r"\d"), re.compile(r"[^\W\d_]|\A(?:19|20)\d\d(?:/\d\d)?\Z")
_YEARS = re.compile(r"\s*(?:(?:19|20)\d\d(?:/\d\d)?(?:\s+|\Z)){2,40}")
_BETWEEN = "\n\n"

Extent = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a table has at least: rows, columns, and a share of cells that are short or figures.

    The first cell of a row does not count as one of these.
    """

    rows: int
    columns: int
    short: float


# Without dashes, below a line of dashes over the whole width, and below dashes for each column.
PLAIN, DIVIDED, RULED = Limits(3, 3, 0.6), Limits(3, 3, 0.3), Limits(2, 2, 0.0)
# Below a line of dashes over the whole width, if each row has several cells.
FILLED = Limits(2, 3, 0.0)


@dataclass(frozen=True, slots=True)
class Aligned:
    """A table in lines `first` to `last`, without the latter, and its rows with the header."""

    first: int
    last: int
    rows: tuple[tuple[str, ...], ...]


def find_aligned(lines: Sequence[str]) -> Iterator[Aligned]:
    """Yield the tables of lines, in order.

    >>> lines = ["Tank    Fuel  Water", "", "bow       40    120", "aft       60     80",
    ...          "keel       5     90"]
    >>> [table.rows for table in find_aligned(lines)]
    [(('Tank', 'Fuel', 'Water'), ('bow', '40', '120'), ('aft', '60', '80'), ('keel', '5', '90'))]
    """
    shown = [line.expandtabs().rstrip() for line in lines]
    free = 0  # the first line that no table has
    for start, end in _find_blocks(shown):
        if marked := _read_marked(shown[start:end]):
            free = start + marked.last
            yield replace(marked, first=start + marked.first, last=free)
            continue
        if any(map(_RULE.fullmatch, shown[start:end])):
            continue
        body = _find_rows(shown, start, end)
        header = _find_header(shown, body, free)
        if header is None or body[0] == body[1] or _is_continued(shown, header):
            continue
        rows_shown = shown[body[0] : body[1]]
        if rows := _read_table([shown[header]], rows_shown, _read_columns(rows_shown), PLAIN):
            yield Aligned(header, body[1], rows)
            free = body[1]


def write_aligned(text: str) -> tuple[str, list[Span]]:
    r"""Return a text with its tables as rows of cells with bars between, and where these are.

    >>> text = "Tanks:\n\n  Tank    Fuel  Water\n  bow       40    120\n  aft       60     80\n"
    >>> whole, spans = write_aligned(f"{text}  keel       5     90")
    >>> [whole[span.start : span.end].split("\n") for span in spans]
    [['Tank | Fuel | Water', 'bow | 40 | 120', 'aft | 60 | 80', 'keel | 5 | 90']]
    """
    whole: list[str] = []
    spans: list[Span] = []
    length = 0
    for piece, is_table in _split(text.split("\n")):
        start = length + (len(_BETWEEN) if whole else 0)
        length = start + len(piece)
        whole.append(piece)
        if is_table:
            spans.append(Span(start, length))
    return _BETWEEN.join(whole), spans


def _split(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield what stands between tables, and their parts, each with whether it is a table."""
    done = 0
    for table in find_aligned(lines):
        if before := trim("\n".join(lines[done : table.first])):
            yield before, False
        above = lines[max(table.first - MAX_ABOVE, 0) : table.first]
        paragraphs = [join_lines(each) for each in "\n".join(above).split("\n\n")]
        caption = read_caption([*filter(None, paragraphs)])
        for part in split_rows(table_lines(table.rows), caption):
            yield "\n".join(part), True
        done = table.last
    if (rest := trim("\n".join(lines[done:]))) or not done:
        yield rest, False


def _find_blocks(lines: Sequence[str]) -> Iterator[Extent]:
    """Yield the stretches of lines that are not blank."""
    start = 0
    for number, line in enumerate([*lines, ""]):
        if line and number - start < MAX_ROWS:
            continue
        if number > start:
            yield start, number
        start = number if line else number + 1


def _read_marked(block: Sequence[str]) -> Aligned | None:
    """Return the table that has a frame, or a line of dashes below its header, or None."""
    if framed := read_framed(block):
        first, last, rows = framed
        return Aligned(first, last, tuple(map(tuple, rows)))
    return _read_below_dashes(block)


def _read_below_dashes(block: Sequence[str]) -> Aligned | None:
    """Return the table whose header is above a line of dashes, or None.

    It ends with the block, or at the last line of dashes, below which there may be a note.

    >>> block = ["Lamp   Oil  Sold", "        ml", "-" * 16, "A       40    12", "B       60     8",
    ...          "C        5    90", "-" * 16]
    >>> _read_below_dashes([*block, "All without tax."]).rows[:2]
    (('Lamp', 'Oil ml', 'Sold'), ('A', '40', '12'))
    >>> dashes = "----  ---------"
    >>> block = [dashes, "Key   Meaning", dashes, "oil   how much", "      it has", "lid   or cap"]
    >>> _read_below_dashes(block).rows
    (('Key', 'Meaning'), ('oil', 'how much it has'), ('lid', 'or cap'))
    """
    dashes = {n for n, each in enumerate(block) if _is_dashes(each)}
    line = min((n for n in dashes if n), default=0)
    if not line:
        return None

    start = max(line - MAX_HEADER, int(0 in dashes))
    for end in dict.fromkeys((len(block), max(dashes) + 1)):
        body = [block[n] for n in range(line + 1, end) if n not in dashes]
        tables = (
            Aligned(first, end, rows)
            for columns, limits in _iter_columns(block[line], body)
            for first in range(start, line)
            if (rows := _read_table(block[first:line], body, columns, limits))
        )
        if table := next(tables, None):
            return table
    return None


def _is_dashes(line: str) -> bool:
    return bool(_LINE.fullmatch(line) or _RULE.fullmatch(line))


def _find_rows(lines: Sequence[str], start: int, end: int) -> Extent:
    """Return the longest stretch of lines that have two gaps and figures."""
    best = (start, start)
    first = start
    for number in range(start, end + 1):
        if number < end and len(_GAP.findall(lines[number].strip())) >= PLAIN.columns - 1:
            continue
        best = max(best, (first, number), key=lambda each: each[1] - each[0])
        first = number + 1
    figures = sum(bool(_FIGURE.search(line)) for line in lines[best[0] : best[1]])
    # With no figures at all, the first row may be one like the others.
    top = lines[best[0]]
    is_header = figures > 1 and bool(_YEARS.fullmatch(top) or not _FIGURE.search(top))
    return (best[0] + is_header, best[1])


def _find_header(lines: Sequence[str], body: Extent, free: int) -> int | None:
    """Return the line above the rows, or above a blank line there; None if there is none."""
    return next((n for n in (body[0] - 1, body[0] - 2) if n >= free and lines[n]), None)


def _is_continued(lines: Sequence[str], header: int) -> bool:
    """Return whether the line above a header has names of columns too."""
    return header > 0 and bool(_GAP.search(lines[header - 1].strip()))


def _iter_columns(dashes: str, rows: Sequence[str]) -> Iterator[tuple[list[Extent], Limits]]:
    """Yield the columns by dashes above rows, if each has its own, and by the rows alone.

    A cell may be longer than the dashes above it. With each come the limits of such a table.
    """
    if not rows:
        return
    if _RULE.fullmatch(dashes):
        yield _read_rule(dashes), RULED
        yield _read_columns(rows), PLAIN
    else:
        columns = _read_columns(rows)
        yield columns, DIVIDED
        yield columns, FILLED


def _read_rule(rule: str) -> list[Extent]:
    return [found.span() for found in _DASHES.finditer(rule)]


def _read_columns(rows: Sequence[str]) -> list[Extent]:
    """Return where the columns are: between stretches that are blank in each row."""
    width = max(map(len, rows))
    is_used = [False] * (width + MIN_GUTTER)
    for word in _iter_words(rows):
        is_used[word.start() : word.end()] = [True] * len(word[0])

    columns: list[Extent] = []
    for number in (n for n in range(width) if is_used[n]):
        if columns and number - columns[-1][1] < MIN_GUTTER:
            columns[-1] = (columns[-1][0], number + 1)
        else:
            columns.append((number, number + 1))
    return columns


def _read_table(
    header: Sequence[str], body: Sequence[str], columns: Sequence[Extent], limits: Limits
) -> tuple[tuple[str, ...], ...]:
    """Return header and rows, or () if this is no table."""
    if any("|" in line for line in header) or not limits.columns <= len(columns) <= MAX_COLUMNS:
        return ()
    edges = [(left[1] + right[0]) // 2 for left, right in pairwise(columns)]
    if any(word.start() < edge < word.end() for word in _iter_words(body) for edge in edges):
        return ()
    lines = [_read_header(line, edges) for line in header]
    names = [" ".join(filter(None, parts)) for parts in zip(*lines, strict=True)]
    cells = [_cut(row, edges) for row in body]
    if limits == RULED:
        cells = _join_wrapped(cells)
    kept = [n for n in range(len(columns)) if not all(_MARK.fullmatch(row[n]) for row in cells)]
    rows = [tuple(row[n] for n in kept) for row in cells]
    named = tuple(names[n] for n in kept)
    is_large = len(kept) >= limits.columns and len(rows) >= limits.rows
    is_filled = is_large and (limits != FILLED or _are_filled(named, rows))
    is_table = is_filled and _is_plausible(named, rows, limits.short)
    return (named, *rows) if is_table else ()


def _are_filled(names: Sequence[str], rows: Iterable[Sequence[str]]) -> bool:
    """Return whether each row has several cells, and the header does not begin as a row of figures.

    >>> _are_filled(["Key", "Use"], [["a", "b"]]), _are_filled(["Key", "Use"], [["a", ""]])
    (True, False)
    """
    return not names[0][:1].isdigit() and all(sum(map(bool, row)) > 1 for row in rows)


def _iter_words(rows: Sequence[str]) -> Iterator[re.Match[str]]:
    return chain.from_iterable(map(_WORD.finditer, rows))


def _cut(row: str, edges: Sequence[int]) -> list[str]:
    """Return the cells of a row."""
    cells: list[list[str]] = [[] for _ in range(len(edges) + 1)]
    for word in _WORD.finditer(row):
        cells[_find_column(word, edges)].append(word[0])
    return [" ".join(words).strip(":|").strip() for words in cells]


def _join_wrapped(rows: Iterable[list[str]]) -> list[list[str]]:
    """Return rows in which one without a first cell goes on with the one before.

    >>> _join_wrapped([["a", "1", "so"], ["", "", "and so"], ["b", "2", ""]])
    [['a', '1', 'so and so'], ['b', '2', '']]
    """
    joined: list[list[str]] = []
    for row in rows:
        if row[0] or not joined:
            joined.append(row)
        else:
            joined[-1] = [
                f"{one} {more}".strip() for one, more in zip(joined[-1], row, strict=True)
            ]
    return joined


def _find_column(word: re.Match[str], edges: Sequence[int]) -> int:
    """Return the number of the column in which the middle of a word is."""
    return sum(edge <= (word.start() + word.end()) / 2 for edge in edges)


def _read_header(header: str, edges: Sequence[int]) -> list[str]:
    """Return the name of each column, "" for one without.

    Words with single spaces between them are names, too, if each stands over a column of its own.
    """
    words = list(_WORD.finditer(header))
    places = [_find_column(word, edges) for word in words]
    is_single = len({*places}) == len(places) >= len(edges)
    names = [""] * (len(edges) + 1)
    for piece in words if is_single else _PIECE.finditer(header):
        column = _find_column(piece, edges)
        names[column] = f"{names[column]} {piece[0]}".strip()
    return names


def _is_plausible(names: Sequence[str], rows: Sequence[Sequence[str]], least_short: float) -> bool:
    """Return whether the header names the columns, and enough cells are short or figures."""
    beside = [cell for row in rows for cell in row[1:] if cell]
    short = [cell for cell in beside if len(cell) <= MAX_SHORT or _FIGURE.match(cell)]
    is_named = all(map(_NAME.search, names[1:])) and len({*names}) == len(names)
    is_whole = all(row[0] for row in rows)
    has_figures = any(_FIGURE.search(cell) for cell in beside) or len(short) == len(beside)
    is_short = not least_short or (has_figures and len(short) >= least_short * len(beside))
    is_clear = not any("|" in cell for row in rows for cell in row)
    return is_named and is_whole and is_clear and is_short
