"""The lines that are drawn on a page of a PDF, as grids: what a table has between its cells."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from ctypes import byref, c_float, c_int
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

MAX_PATHS, MAX_STROKES = 5_000, 20_000  # that are looked at, of a page
MAX_SEGMENTS = 400  # of a path; longer ones are pictures
MAX_RULES = 600  # of a page, with the pieces of each one joined
MIN_RULES, MAX_SIDE = 3, 60  # of a grid, in either direction: two rows and two columns
RECTANGLE = (4, 5)  # segments
MAX_SHADED = 100.0  # points: the height of a row
THICK, REACH, SHORT = 3.0, 3.0, 5.0  # points: a rule's width, what its ends may miss, its length

Box = tuple[float, float, float, float]  # left, bottom, right, top
Rule = tuple[float, float, float]  # how far right or up it is; where it starts and ends
Place = tuple[int, int]  # row and column, from the top and the left


@dataclass(frozen=True, slots=True)
class Grid:
    """The rules of a table: `xs` from left to right, `ys` from top to bottom, in points.

    A cell may have several places: `cells` has the first one of each, by all of them.
    """

    xs: Sequence[float]
    ys: Sequence[float]
    cells: dict[Place, Place]

    def find(self, x: float, y: float) -> Place | None:
        """Return the first place of the cell at a point; None beside the table."""
        if not (self.xs[0] < x < self.xs[-1] and self.ys[-1] < y < self.ys[0]):
            return None
        row = bisect(self.ys, -y, key=lambda each: -each) - 1
        return self.cells.get((row, bisect(self.xs, x) - 1))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules on a page: horizontal ones, vertical ones, and the edges of shaded areas."""

    across: Sequence[Rule]
    down: Sequence[Rule]
    edges: Sequence[Rule]


def read_rules(page: Any) -> Rules:
    """Return the rules on one of pdfium's pages; none if it has very many, as maps do."""
    across: list[Rule] = []
    down: list[Rule] = []
    edges: list[Rule] = []
    for left, bottom, right, top in _boxes(page):
        if top - bottom < THICK and right - left > SHORT:
            across.append(((bottom + top) / 2, left, right))
        elif right - left < THICK and top - bottom > SHORT:
            down.append(((left + right) / 2, bottom, top))
        elif right - left > SHORT:
            edges += [(top, left, right), (bottom, left, right)]
    rules = Rules(_join(across), _join(down), _join(edges))
    if len(rules.across) + len(rules.down) > MAX_RULES:
        return Rules([], [], [])
    return rules if len(rules.edges) <= MAX_RULES else replace(rules, edges=[])


def find_grids(across: Sequence[Rule], down: Sequence[Rule]) -> list[Grid]:
    """Return the grids that horizontal and vertical rules make."""
    return [grid for parts in _connect(across, down) if (grid := _to_grid(*parts))]


def _boxes(page: Any) -> Iterator[Box]:
    """Yield where straight strokes, thin areas and rectangles of one color are."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    paths = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=1)
    room = MAX_STROKES
    for path in islice(paths, MAX_PATHS):
        left, bottom, right, top = path.get_bounds()
        if min(right - left, top - bottom) < THICK:
            yield left, bottom, right, top
            continue
        count = pdfium.FPDFPath_CountSegments(path.raw)
        if count <= min(MAX_SEGMENTS, room):
            room -= count
            if _is_stroked(path):
                yield from _strokes(path)
            elif count in RECTANGLE and top - bottom < MAX_SHADED:
                yield left, bottom, right, top


def _is_stroked(path: Any) -> bool:
    import pypdfium2.raw as pdfium

    fill, stroke = c_int(), c_int()
    pdfium.FPDFPath_GetDrawMode(path.raw, byref(fill), byref(stroke))
    return bool(stroke.value)


def _strokes(path: Any) -> Iterator[Box]:
    """Yield where the lines of a path are."""
    import pypdfium2.raw as pdfium

    matrix = path.get_matrix()
    first = last = (0.0, 0.0)
    for n in range(pdfium.FPDFPath_CountSegments(path.raw)):
        segment = pdfium.FPDFPath_GetPathSegment(path.raw, n)
        x, y = c_float(), c_float()
        pdfium.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = matrix.on_point(x.value, y.value)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            first = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield _box(last, point)
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield _box(point, first)
        last = point


def _box(one: tuple[float, float], other: tuple[float, float]) -> Box:
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[0], other[0]),
        max(one[1], other[1]),
    )


def _join(rules: Sequence[Rule]) -> list[Rule]:
    """Return rules with the pieces of each one joined.

    >>> _join([(5.0, 0.0, 40.0), (5.1, 41.0, 80.0), (5.0, 200.0, 240.0)])
    [(5.0, 0.0, 80.0), (5.0, 200.0, 240.0)]
    """
    joined: list[Rule] = []
    for group in _cluster(rules):
        place = group[0][0]
        for start, end in sorted((start, end) for _, start, end in group):
            if joined and joined[-1][0] == place and start <= joined[-1][2] + REACH:
                joined[-1] = (place, joined[-1][1], max(joined[-1][2], end))
            else:
                joined.append((place, start, end))
    return joined


def _cluster(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Yield the rules that are at the same place, as far as can be seen."""
    group: list[Rule] = []
    for rule in sorted(rules):
        if group and rule[0] - group[0][0] > REACH:
            yield group
            group = []
        group.append(rule)
    if group:
        yield group


def _connect(
    across: Sequence[Rule], down: Sequence[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield the horizontal and the vertical rules that touch each other, of each table."""
    left = {*range(len(across))}
    touched = [
        {n for n, rule in enumerate(across) if _touch(rule, other)} for other in down
    ]  # by each vertical rule
    while left:
        rows, columns = {left.pop()}, set[int]()
        found = rows
        while found:
            more = {n for n, other in enumerate(touched) if n not in columns and other & found}
            columns |= more
            found = {row for n in more for row in touched[n]} - rows
            rows |= found
        left -= rows
        yield [across[n] for n in sorted(rows)], [down[n] for n in sorted(columns)]


def _touch(across: Rule, down: Rule) -> bool:
    y, left, right = across
    x, bottom, top = down
    return left - REACH < x < right + REACH and bottom - REACH < y < top + REACH


def _to_grid(across: Sequence[Rule], down: Sequence[Rule]) -> Grid | None:
    rows, columns = [*_cluster(across)][::-1], [*_cluster(down)]
    if not MIN_RULES <= min(len(rows), len(columns)) <= max(len(rows), len(columns)) <= MAX_SIDE:
        return None

    ys, xs = [rules[0][0] for rules in rows], [rules[0][0] for rules in columns]
    cells: dict[Place, Place] = {}
    for row, (top, bottom) in enumerate(pairwise(ys)):
        for column, (left, right) in enumerate(pairwise(xs)):
            if column and not _reach(columns[column], (bottom + top) / 2):
                cells[row, column] = cells[row, column - 1]
            elif row and not _reach(rows[row], (left + right) / 2):
                cells[row, column] = cells[row - 1, column]
            else:
                cells[row, column] = (row, column)
    return Grid(xs, ys, cells)


def _reach(rules: Sequence[Rule], place: float) -> bool:
    return any(start < place < end for _, start, end in rules)
