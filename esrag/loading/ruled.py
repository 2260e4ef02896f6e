"""Tables of a PDF with rules between their cells: the marks that part these, row by row."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from esrag.loading.placed import GAP, Marks, Piece
from esrag.loading.rules import Grid, Place

MIN_ROWS, MIN_CELLS = 2, 2  # rows that have so many filled cells
MIN_FILLED = 0.5  # share of the cells
MAX_CELL = 150  # characters of a cell on average; more are paragraphs that a table lays out
_HYPHENS = ("\ufffe", "-")  # at the end of a line; the first one is pdfium's
_NEW_ROW = "\n"
_END = f"\n{GAP}\n"  # a row of empty cells

_Word = tuple[Piece, Place]  # and the first place of its cell


@dataclass(frozen=True, slots=True)
class Ruled:
    """A table between `start` and `end` of a page's text, with the marks that part its cells."""

    start: int
    end: int
    marks: Marks


def mark_ruled(text: str, words: Sequence[Piece], grid: Grid) -> Ruled | None:
    """Return the table in a grid of a page with this text.

    A header that covers several columns is in each of them, and so is a cell of several rows.
    Returns None for a grid that is no table, or that pdfium does not read row by row.
    """
    found = [(word, place) for word in words if (place := _find(grid, word))]
    if not found:
        return None

    start, end = found[0][0].start, found[-1][0].end
    is_whole = len(found) == sum(start <= word.start < end for word in words)
    places = [place for _, place in found]
    if not is_whole or places != sorted(places) or not _is_table(found, grid):
        return None
    return Ruled(start, end, _Cells(text, found, grid).mark())


def _find(grid: Grid, word: Piece) -> Place | None:
    return grid.find((word.left + word.right) / 2, (word.bottom + word.top) / 2)


def _is_table(words: Sequence[_Word], grid: Grid) -> bool:
    filled = sorted({place for _, place in words})
    counts = [len([*row]) for _, row in groupby(filled, key=lambda place: place[0])]
    length = sum(word.end - word.start + 1 for word, _ in words)
    return (
        sum(count >= MIN_CELLS for count in counts) >= MIN_ROWS
        and len(filled) >= MIN_FILLED * len({*grid.cells.values()})
        and length <= MAX_CELL * len(filled)
    )


class _Cells:
    """The words of a table's cells."""

    def __init__(self, text: str, words: Sequence[_Word], grid: Grid) -> None:
        self._text, self._words, self._grid = text, words, grid
        self._columns = len(grid.xs) - 1
        said = defaultdict[Place, list[str]](list)
        for word, place in words:
            said[place].append(text[word.start : word.end])
        self._said = {place: " ".join(each) for place, each in said.items()}

    def mark(self) -> Marks:
        first, last = self._words[0], self._words[-1]
        marks = {first[0].start: (first[0].start, _NEW_ROW + self._before(first[1]))}
        for one, other in pairwise(self._words):
            marks[one[0].end] = (other[0].start, self._between(one, other))
        marks[last[0].end] = (last[0].end, self._behind(last[1]) + _END)
        return marks

    def _between(self, one: _Word, other: _Word) -> str:
        (word, place), (following, next_place) = one, other
        if place == next_place:
            is_cut = "\n" in self._text[word.end : following.start] and self._is_cut(word)
            return "" if is_cut else " "
        if place[0] == next_place[0]:
            skipped = self._fill(place[0], place[1] + 1, next_place[1])
            return GAP + "".join(f"{cell}{GAP}" for cell in skipped)
        return self._behind(place) + _NEW_ROW + self._before(next_place)

    def _is_cut(self, word: Piece) -> bool:
        said = self._text[word.start : word.end]
        return len(said) > 1 and said.endswith(_HYPHENS)

    def _before(self, place: Place) -> str:
        return "".join(f"{cell}{GAP}" for cell in self._fill(place[0], 0, place[1]))

    def _behind(self, place: Place) -> str:
        return "".join(f"{GAP}{cell}" for cell in self._fill(place[0], place[1] + 1, self._columns))

    def _fill(self, row: int, start: int, end: int) -> list[str]:
        """Return what stands in some columns of a row: what reaches into them from elsewhere."""
        homes = [self._grid.cells[row, column] for column in range(self._columns)]
        is_title = len({*homes}) == 1
        return [
            "" if is_title or homes[column] == (row, column) else self._said.get(homes[column], "")
            for column in range(start, end)
        ]
