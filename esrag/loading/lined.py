"""Tables of a PDF with rules between their rows alone: where their columns and rows are.

Columns are where cells stand below each other. Rows are told by the order of the text: after the
last cell of a row comes the first one of the next, which is further left.
"""

import math
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise, product

from esrag.loading.placed import TABLE_CAPTION, Piece, join_pieces
from esrag.loading.rules import MAX_SIDE, REACH, Grid, Place, Rule

MIN_RULES = 2
MIN_ROWS = 3  # with several cells, the header's among them
MIN_GAP = 0.8  # heights of a letter, between two cells
MIN_MONOSPACED_GAP = 1.5  # the same if there are no spaces as narrow as a proportional font's
MAX_SPACE = 0.6
MIN_SPACE = 0.5  # between two cells where a column ends
SAME_END = 4.0  # points, between the ends of a table's rules
NEAR = 2.2  # heights of a letter, from a header without a rule above it to the first rule
SHARED = 0.2  # of the lower height: what words of a line have in common
MAX_HEADER, MAX_LAST = 4, 3  # lines of a header, and of a last row, that has no rule there
MAX_BELOW = 50.0  # points, from the last rule to the last row
WIDE = 0.5  # of a table: a line of prose
NEXT_RULES = 3  # of a table: above and below its header, and at its end
FULL, PARAGRAPH = 0.8, 3  # the same of a paragraph, and its lines

_CODE = re.compile(r"\d{1,2}:\s|<[/?]?[A-Za-z!]")  # of an algorithm, or XML

_Line = list[Piece]  # words at the same height, or cells of them
_Column = tuple[float, float]  # its left and right end


def find_lined(
    text: str, words: Sequence[Piece], rules: Sequence[Rule], grids: Sequence[Grid]
) -> list[Grid]:
    """Return the tables between horizontal rules of a page as grids, without what is in others."""
    free = [rule for rule in rules if not any(_is_in(rule, grid) for grid in grids)]
    found = (
        _read_table(text, words, part, free)
        for same in _group(free)
        for part in _split(text, words, same)
    )
    return [grid for grid in found if grid]


def _are_near(ends: Sequence[float], others: Sequence[float]) -> bool:
    return all(abs(one - other) < SAME_END for one, other in zip(ends, others, strict=True))


def _is_in(rule: Rule, grid: Grid) -> bool:
    y, left, right = rule
    return grid.ys[-1] - 1 < y < grid.ys[0] + 1 and left < grid.xs[-1] and grid.xs[0] < right


def _group(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield rules with the same ends, each group from top to bottom."""
    left = sorted(rules, key=lambda rule: -rule[0])
    while left:
        _, start, end = left[0]
        same = [rule for rule in left if _are_near(rule[1:], (start, end))]
        left = [rule for rule in left if rule not in same]
        if len(same) >= MIN_RULES:
            yield same


def _split(text: str, words: Sequence[Piece], rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield runs of rules between which there are no paragraphs, captions or titles of a table."""
    part = [rules[0]]
    for number, (upper, lower) in enumerate(pairwise(rules), start=1):
        lines = _read_lines(_between(words, upper, lower[0]))
        is_title = [len(line) for line in lines] == [1] and (
            _have_other_columns(words, part, rules[number : number + NEXT_RULES])
        )
        is_caption = any(TABLE_CAPTION.match(text, line[0].start) for line in lines)
        if is_title or is_caption or _is_prose(lines, upper):
            yield part
            part = []
        part.append(lower)
    yield part


def _have_other_columns(
    words: Sequence[Piece], above: Sequence[Rule], below: Sequence[Rule]
) -> bool:
    """Return whether what is between some rules and between others below has other columns."""
    left, right = (
        _find_columns(_read_lines(_between(words, rules[0], rules[-1][0])))
        for rules in (above, below)
    )
    over = [
        (m, n)
        for (m, one), (n, other) in product(enumerate(left), enumerate(right))
        if one[0] < other[1] and other[0] < one[1]
    ]
    return min(len(left), len(right)) > 1 and over != [(n, n) for n in range(len(left))]


def _between(words: Sequence[Piece], rule: Rule, bottom: float) -> list[Piece]:
    """Return the words below a rule, and above a height."""
    top, left, right = rule
    return [
        word
        for word in words
        if bottom < (word.bottom + word.top) / 2 < top
        and left - SAME_END < (word.left + word.right) / 2 < right + SAME_END
    ]


def _is_prose(lines: Sequence[_Line], rule: Rule) -> bool:
    """Return whether lines are text between two tables.

    Most of these are one wide piece from the left, or several below each other are as wide as a
    paragraph, or none has several cells.
    """
    _, left, right = rule
    widths = [
        (line[0].right - line[0].left) / (right - left)
        if len(line) == 1 and line[0].left < left + (right - left) / 4
        else 0.0
        for line in lines
    ]
    wide = sum(width > WIDE for width in widths)
    full = [len([*run]) for is_full, run in groupby(width > FULL for width in widths) if is_full]
    is_single = len(lines) > 1 and all(len(line) == 1 for line in lines)
    return is_single or 2 * wide > max(len(lines), 2) or max(full, default=0) >= PARAGRAPH


def _find_gap(words: Sequence[Piece]) -> float:
    """Return the least gap between two cells, in heights of a letter."""
    gaps = [
        (other.left - one.right) / height
        for line in _group_lines(words)
        if (height := max(word.top - word.bottom for word in line)) > 0
        for one, other in pairwise(sorted(line, key=lambda word: word.left))
    ]
    is_monospaced = MAX_SPACE < min(gaps, default=0.0) < MIN_MONOSPACED_GAP
    return MIN_MONOSPACED_GAP if is_monospaced else MIN_GAP


def _read_lines(words: Sequence[Piece], gap: float = MIN_GAP) -> list[_Line]:
    """Return the cells at each height, from top to bottom; each from left to right."""
    return [_read_cells(line, gap) for line in _group_lines(words)]


def _group_lines(words: Sequence[Piece]) -> list[_Line]:
    """Return the words at each height, from top to bottom."""
    lines: list[_Line] = []
    low = high = 0.0
    for word in sorted(words, key=lambda word: -(word.bottom + word.top)):
        shared = min(high, word.top) - max(low, word.bottom)
        if lines and shared > SHARED * min(high - low, word.top - word.bottom):
            lines[-1].append(word)
            low, high = min(low, word.bottom), max(high, word.top)
        else:
            lines.append([word])
            low, high = word.bottom, word.top
    return lines


def _read_cells(words: _Line, gap: float) -> _Line:
    """Return the words of a line with those of each cell joined, given the gap between cells."""
    height = max(word.top - word.bottom for word in words)
    cells: _Line = []
    for word in sorted(words, key=lambda word: word.left):
        if cells and word.left - cells[-1].right < gap * height:
            cells[-1] = join_pieces(cells[-1], word)
        else:
            cells.append(word)
    return cells


def _read_table(
    text: str, words: Sequence[Piece], rules: Sequence[Rule], others: Sequence[Rule]
) -> Grid | None:
    """Return the grid of a table with these rules, from top to bottom; others are of parts."""
    if not rules:
        return None
    first, last = rules[0], rules[-1]
    found = _between(words, first, last[0])
    gap = _find_gap(found)
    inside = _read_lines(found, gap)
    above = _read_above(words, first, others, gap)
    if len(above) == 1 and inside and not _is_near(first[0], inside[0]):
        above = []  # a running head
    columns = _find_columns([*inside, *above[-1:]])
    if not 1 < len(columns) < MAX_SIDE or _is_code(text, inside):
        return None

    xs = _place_borders(columns, first)
    top = _find_top(above, first[0], xs)
    if not top and len(rules) <= MIN_RULES and any(len(line) == 1 for line in inside):
        return None  # a box
    bottom = _find_bottom(_read_below(words, last, gap), last[0], xs)
    heights = [y for y in (top, *(rule[0] for rule in rules), bottom) if y]
    rows = [
        row
        for upper, lower in pairwise(heights)
        for row in _split_rows(_between(words, (upper, xs[0], xs[-1]), lower), xs)
    ]
    return _to_grid(rows, xs, heights, others)


def _is_code(text: str, lines: Sequence[_Line]) -> bool:
    return sum(bool(_CODE.match(text, line[0].start)) for line in lines) > 1


def _read_above(
    words: Sequence[Piece], rule: Rule, others: Sequence[Rule], gap: float
) -> list[_Line]:
    """Return the lines above a rule, up to the next one."""
    y, left, right = rule
    upper = (other for other, start, end in others if start < right and left < end)
    top = min((other for other in upper if other > y + REACH), default=math.inf)
    return _read_lines(_between(words, (top, left, right), y), gap)


def _read_below(words: Sequence[Piece], rule: Rule, gap: float) -> list[_Line]:
    """Return the lines right below a rule, also as far as they reach beyond its ends."""
    y, left, right = rule
    lines = _read_lines(_between(words, (y, -math.inf, math.inf), y - MAX_BELOW), gap)
    inside = ([cell for cell in line if cell.right > left and cell.left < right] for line in lines)
    return [*filter(None, inside)][:MAX_LAST]


def _place_borders(columns: Sequence[_Column], rule: Rule) -> list[float]:
    """Return where columns end, in the middle between them, and where the table does."""
    _, left, right = rule
    inner = [(one[1] + other[0]) / 2 for one, other in pairwise(columns)]
    return [min(left, columns[0][0]) - SAME_END, *inner, max(right, columns[-1][1]) + SAME_END]


def _is_near(height: float, line: _Line) -> bool:
    """Return whether a line is right below a height."""
    letter = max(cell.top - cell.bottom for cell in line)
    return height - max(cell.top for cell in line) < NEAR * letter


def _find_top(above: Sequence[_Line], rule: float, xs: Sequence[float]) -> float:
    """Return the top of a header that has no rule above it, else 0."""
    top, below = 0.0, rule
    for line in reversed(above[-MAX_HEADER:]):
        height = max(cell.top - cell.bottom for cell in line)
        bottom = min(cell.bottom for cell in line)
        is_near = bottom - below < NEAR * height
        if not is_near or not any(_find_column(cell, xs) for cell in line):
            break
        if len(line) == 1 and any(line[0].left < x < line[0].right for x in xs):
            break  # a title
        below = max(cell.top for cell in line)
        top = below + 1
    return top


def _find_bottom(below: Sequence[_Line], rule: float, xs: Sequence[float]) -> float:
    """Return the bottom of a last row that has no rule below it, else 0."""
    last, filled = rule, set[int]()
    for line in below:
        height = max(cell.top - cell.bottom for cell in line)
        columns = {_find_column(cell, xs) for cell in line}
        is_near = last - max(cell.top for cell in line) < (NEAR if last == rule else 1) * height
        is_inside = all(xs[0] < cell.left and cell.right < xs[-1] for cell in line)
        if not (is_near and is_inside) or len(columns) < len(line):
            break
        filled |= columns
        last = min(cell.bottom for cell in line)
    return last - 1 if 0 in filled and len(filled) > max(1, (len(xs) - 1) / 2) else 0.0


def _find_columns(lines: Sequence[_Line]) -> list[_Column]:
    """Return where the columns are, as the lines with most cells have them.

    A cell over several of them belongs to none.
    """
    columns: list[_Column] = []
    for line in sorted(lines, key=len, reverse=True):
        for cell in line if len(line) > 1 else ():
            over = [each for each in columns if cell.left < each[1] and each[0] < cell.right]
            if len(over) > 1:
                continue
            if over:
                columns.remove(over[0])
            left, right = over[0] if over else (cell.left, cell.right)
            columns.append((min(left, cell.left), max(right, cell.right)))
        if len(columns) > MAX_SIDE:
            return []
    return _without_doubtful(sorted(columns), lines)


def _without_doubtful(columns: Sequence[_Column], lines: Sequence[_Line]) -> list[_Column]:
    """Return columns with those joined between which more lines have a cell than a gap."""
    kept: list[_Column] = []
    for left, right in columns:
        place = (kept[-1][1] + left) / 2 if kept else 0.0
        over = sum(any(cell.left < place < cell.right for cell in line) for line in lines)
        parted = sum(
            any(one.right <= place <= other.left for one, other in pairwise(line)) for line in lines
        )
        if kept and over >= parted:
            kept[-1] = (kept[-1][0], right)
        else:
            kept.append((left, right))
    return kept


def _find_column(word: Piece, xs: Sequence[float]) -> int:
    return bisect(xs, (word.left + word.right) / 2) - 1


def _split_rows(words: Sequence[Piece], xs: Sequence[float]) -> Iterator[list[Piece]]:
    """Yield the words of each row between two rules, in the order of the text."""
    row: list[Piece] = []
    last = 0
    for word in sorted(words, key=lambda word: word.start):
        column = _find_column(word, xs)
        if row and column < last:
            yield from _part_titles(row, xs)
            row, last = [], 0
        row.append(word)
        last = max(last, column)
    if row:
        yield from _part_titles(row, xs)


def _part_titles(row: Sequence[Piece], xs: Sequence[float]) -> Iterator[list[Piece]]:
    """Yield lines of the first column that stand above its row, and the rest.

    The other cells are at the height of the row's first line, or of its middle.
    """
    first = [word for word in row if _find_column(word, xs) == 0]
    others = row[len(first) :]
    lines = _split_lines(first)
    if not others or len(lines) < 2:  # noqa: PLR2004
        yield [*row]
        return

    middle = (others[0].bottom + others[0].top) / 2
    below = sum(max(word.top for word in line) < middle for line in lines)
    ends = [(min(w.bottom for w in line), max(w.top for w in line)) for line in lines]
    at = [n for n, (bottom, top) in enumerate(ends) if bottom <= middle <= top]
    begin = at[0] - below if at else len(lines) - 2 * below
    titles = lines[: max(0, at[0] if at and not below else begin)]
    yield from titles
    yield [*row[sum(map(len, titles)) :]]


def _split_lines(words: Sequence[Piece]) -> list[list[Piece]]:
    """Return the lines of words that are in the order of the text: each goes on to the right."""
    lines: list[list[Piece]] = []
    for word in words:
        if lines and word.left >= lines[-1][-1].right:
            lines[-1].append(word)
        else:
            lines.append([word])
    return lines


def _to_grid(
    rows: Sequence[Sequence[Piece]],
    xs: Sequence[float],
    heights: Sequence[float],
    rules: Sequence[Rule],
) -> Grid | None:
    """Return a grid with these rows; None if few have several cells, or not below each other."""
    tops = [max(word.top for word in row) for row in rows]
    bottoms = [min(word.bottom for word in row) for row in rows]
    is_ordered = all(bottom > top - 1 for bottom, top in zip(bottoms, tops[1:], strict=False))
    wide = sum(len({_find_column(word, xs) for word in row}) > 1 for row in rows)
    if not is_ordered or wide < max(MIN_ROWS, len(rows) / 2) or len(rows) > MAX_SIDE:
        return None

    middles = [(bottom + top) / 2 for bottom, top in zip(bottoms, tops[1:], strict=False)]
    ys = [max(heights[0], tops[0] + 1), *middles, min(heights[-1], bottoms[-1] - 1)]
    below = [
        [rule for rule in rules if bottom - 2 < rule[0] < top]
        for bottom, top in zip(ys[1:], tops, strict=True)
    ]
    over = [_find_crossed(row, xs, each) for row, each in zip(rows, below, strict=True)]
    over[0] |= _find_spread(rows[0], xs)
    if 2 * sum(map(bool, over[1:])) > len(rows):
        return None

    cells: dict[Place, Place] = {}
    for place in product(range(len(rows)), range(len(xs) - 1)):
        row, column = place
        cells[place] = cells[row, column - 1] if column in over[row] else place
    return Grid(xs, ys, cells)


def _find_crossed(row: Sequence[Piece], xs: Sequence[float], below: Sequence[Rule]) -> set[int]:
    """Return the columns into which a cell of a row reaches from the left.

    So does one with a rule below it that reaches so far.
    """
    lines = _group_lines(row)
    narrow = [cell for line in lines for cell in _read_cells(line, MIN_SPACE)]
    wide = [cell for line in lines for cell in _read_cells(line, MIN_GAP)]
    spans = [(cell.left, cell.right) for cell in narrow]
    spans += [
        (left + REACH, right - REACH) for _, left, right in below if _are_one(wide, left, right)
    ]
    return _find_inner(spans, xs)


def _find_inner(spans: Sequence[_Column], xs: Sequence[float]) -> set[int]:
    inner = range(1, len(xs) - 1)
    return {n for n in inner if any(left < xs[n] < right for left, right in spans)}


def _are_one(cells: Sequence[Piece], left: float, right: float) -> bool:
    """Return whether a rule underlines one cell alone, and nothing is beside it there."""
    return sum(left < (cell.left + cell.right) / 2 < right for cell in cells) == 1


def _find_spread(row: Sequence[Piece], xs: Sequence[float]) -> set[int]:
    """Return the columns of a header's names but the first of each.

    There are as many for each name, which is in their middle.
    """
    cells = [cell for line in _group_lines(row) for cell in _read_cells(line, MIN_GAP)]
    names = sorted((c.left, c.right) for c in cells if (c.left + c.right) / 2 > xs[1])
    count, rest = divmod(len(xs) - 2, max(1, len(names)))
    if not names or rest or count < 2:  # noqa: PLR2004
        return set()

    over = [(xs[n], xs[n + count]) for n in range(1, len(xs) - 1, count)]
    is_middle = all(
        abs(left + right - low - high) < (high - low) / 2
        for (left, right), (low, high) in zip(names, over, strict=True)
    )
    return _find_inner([(low + 1, high - 1) for low, high in over], xs) if is_middle else set()
