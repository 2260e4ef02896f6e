"""Cells: how many questions for one cell of a table are answered with that cell.

`python benchmarks/cells.py FOLDER [--cells 200] [--show]`

The tables of the HTML, Markdown, Word and Excel files below FOLDER are read here, by none of
esrag's own code: cells that cover others are in all places that they cover, the rows above the
first figure are the header, and signs in cells of their own belong to the figure beside them. Each
question is "What is the COLUMN of ROW?", or "What was the ROW in COLUMN?" if the column is a
period. Cells are taken evenly from all tables. Those whose row and column have the same names
elsewhere are left out, unless the value is the same too.

An answer is right if it has the row's name, the words of the column and the value: as a cell, or
with its whole row. Anything else that is not a refusal is wrong.
"""

import argparse
import os
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import docx
import lxml.html
import openpyxl

from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ask, ingest
from esrag.results import Answer
from esrag.settings.layers import resolve

FIGURE = re.compile(r"[$€£(+–−-]*\d[\d.,]*[)%]*")
YEAR = re.compile(r"(?:19|20)\d\d")
GROUPED = re.compile(r"(?<=\d),(?=\d{3})")  # the comma in a number
PERIOD = re.compile(r"[\w ,–-]*\b(?:19|20)\d\d")
OPENS, CLOSES = re.compile(r"[$€£(]{1,2}"), re.compile(r"[)%]{1,2}")
MAX_HEADER_ROWS = 6
SUFFIXES = (".html", ".htm", ".md", ".docx", ".xlsx")

Grid = list[list[str]]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell to ask for."""

    file: str
    row: str
    column: str
    value: str

    @property
    def question(self) -> str:
        """Return the question for the cell."""
        if PERIOD.fullmatch(self.column):
            return f"What was the {self.row} in {self.column}?"
        return f"What is the {self.column} of {self.row}?"


def read_tables(path: Path) -> Iterator[Grid]:
    """Yield the tables of a file, cells that cover others repeated."""
    if path.suffix == ".xlsx":
        for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
            for area in list(sheet.merged_cells.ranges):
                value = sheet.cell(area.min_row, area.min_col).value
                sheet.unmerge_cells(str(area))
                for row in sheet[area.coord]:
                    for cell in row:
                        cell.value = value
            yield [[_text(value) for value in row] for row in sheet.values]
    elif path.suffix == ".docx":
        for table in docx.Document(str(path)).tables:
            yield [[_text(cell.text) for cell in row.cells] for row in table.rows]
    elif path.suffix == ".md":
        yield from _pipe_tables(path.read_text(errors="replace"))
    else:
        for table in lxml.html.fromstring(path.read_bytes()).iter("table"):
            yield _html_table(table)


def _text(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def _pipe_tables(text: str) -> Iterator[Grid]:
    lines = [*text.split("\n"), ""]
    grid: Grid = []
    for line, below in pairwise(lines):
        is_rule = bool(re.fullmatch(r"[\s|:-]*-[\s|:-]*", line)) and "|" in line
        starts = not grid and "|" in line and re.fullmatch(r"[\s|:]*-[\s|:-]*", below)
        if grid and "|" not in line:
            yield grid
            grid = []
        elif (grid or starts) and not is_rule:
            plain = re.sub(r"\[([^\[\]]*)\]\([^()]*\)|`|\*\*", r"\1", line)
            grid.append([_text(cell) for cell in plain.strip().strip("|").split("|")])


def _html_table(table: Any) -> Grid:
    grid: dict[tuple[int, int], str] = {}
    for number, row in enumerate(table.iter("tr")):
        column = 0
        for cell in row.iterchildren("td", "th"):
            while (number, column) in grid:
                column += 1
            height, width = (int(cell.get(name) or 1) for name in ("rowspan", "colspan"))
            for down in range(height):
                for right in range(width):
                    grid[number + down, column + right] = _text(cell.text_content())
            column += width
    height, width = (max((place[n] for place in grid), default=-1) + 1 for n in (0, 1))
    return [[grid.get((row, column), "") for column in range(width)] for row in range(height)]


def find_cells(file: str, grid: Grid) -> Iterator[Cell]:
    """Yield the cells with a figure that have the name of a row and of a column.

    If a header comes again, its names stand for two values each, and are left out later.
    """
    rows = (n for n, row in enumerate(grid) if any(map(_is_figure, _joined(row)[1:])))
    body = min(next(rows, 0), 1 if file.endswith(".md") else MAX_HEADER_ROWS + 1)
    if not 0 < body <= MAX_HEADER_ROWS:
        return
    header = [row for row in grid[:body] if len(set(filter(None, row))) > 1 or not row[0]]

    values = defaultdict(set)  # of the rows of one name, words too
    for row in grid[body:]:
        for column, cell in enumerate(_joined(row)):
            values[row[0].casefold(), column].add(cell)

    for row in grid[body:]:
        for column, cell in enumerate(_joined(row)):
            is_clear = len(values[row[0].casefold(), column] - {""}) == 1
            if column and FIGURE.fullmatch(cell) and is_clear and re.search(r"[^\W\d]", row[0]):
                name = _column_name(header, column, row)
                if name and name != row[0]:
                    yield Cell(file, row[0].strip(" :,"), name.strip(" :,"), cell)


def _is_figure(cell: str) -> bool:
    return bool(FIGURE.fullmatch(cell)) and not YEAR.fullmatch(cell)


def _joined(row: Sequence[str]) -> list[str]:
    """Return a row with each sign in the cell of its figure; equal neighbours are one cell."""
    cells = [cell if not n or cell != row[n - 1] else "" for n, cell in enumerate(row)]
    for n, cell in enumerate(cells):
        beside = next((m for m in range(n + 1, min(n + 3, len(cells))) if cells[m]), 0)
        before = next((m for m in range(n - 1, max(n - 3, 0), -1) if cells[m]), 0)
        if OPENS.fullmatch(cell) and beside and FIGURE.match(cells[beside]):
            cells[beside], cells[n] = cell + cells[beside], ""
        elif CLOSES.fullmatch(cell) and before and FIGURE.match(cells[before]):
            cells[before], cells[n] = cells[before] + cell, ""
    return cells


def _column_name(header: Sequence[Sequence[str]], column: int, row: Sequence[str]) -> str:
    """Return the texts above a cell, or above the sign that belongs to it."""
    places = [column, *([column - 1] if OPENS.fullmatch(row[column - 1]) else [])]
    for place in places:
        found = dict.fromkeys(above[place] for above in header if above[place])
        if found:
            return " ".join(found)
    return ""


def choose(cells: Sequence[Cell], count: int) -> list[Cell]:
    """Return so many cells, evenly from all; names that stand for several values are left out."""
    values = defaultdict(set)
    for cell in cells:
        values[cell.row.casefold(), cell.column.casefold()].add(cell.value)
    clear = {
        (cell.row, cell.column): cell
        for cell in cells
        if len(values[cell.row.casefold(), cell.column.casefold()]) == 1
    }
    found = list(clear.values())
    step = max(len(found) / count, 1)
    return [found[int(n * step)] for n in range(min(count, len(found)))]


def judge(cell: Cell, answer: Answer) -> str:
    """Return how an answer fits: cell, row, refused or wrong."""
    if answer.refused:
        return "refused"
    text = GROUPED.sub("", re.sub(r"\[c\d+\]", "", answer.text))
    value = re.escape(GROUPED.sub("", re.sub(r"[$€£%()\s]", "", cell.value)))
    words = {*_words(cell.row), *_words(cell.column)}
    if not (words <= _words(text) and re.search(rf"(?<![\d.,]){value}(?![.,]?\d)", text)):
        return "wrong"
    figures = [each for each in re.findall(r"\d[\d.,]*\d|\d", text) if each not in cell.question]
    return "cell" if len(figures) == 1 else "row"


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def main() -> None:
    """Print the share of each kind of answer, for each kind of file."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    args = parser.parse_args()
    files = sorted(path for path in args.folder.rglob("*") if path.suffix in SUFFIXES)
    found = {path: [*_cells_of(path, args.folder)] for path in files}
    chosen = choose([cell for cells in found.values() for cell in cells], args.cells)

    with tempfile.TemporaryDirectory() as folder:
        for path in (path for path, cells in found.items() if cells):
            target = Path(folder, "docs", path.relative_to(args.folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        os.chdir(folder)
        work = Work(resolve({}, environ={}).settings)
        ingest(IngestRequest(("docs",)), work, Silent())
        verdicts = Counter[tuple[str, str]]()
        for cell in chosen:
            answer = ask(cell.question, work.context).answer
            verdict = judge(cell, answer)
            verdicts[Path(cell.file).suffix, verdict] += 1
            if args.show and verdict != "cell":
                print(f"{verdict}: {cell.question} = {cell.value}\n    {answer.text[:300]}")
    _print(verdicts)


def _cells_of(path: Path, folder: Path) -> Iterator[Cell]:
    for grid in read_tables(path):
        yield from find_cells(str(path.relative_to(folder)), [row for row in grid if any(row)])


def _print(verdicts: Counter[tuple[str, str]]) -> None:
    kinds = ("cell", "row", "refused", "wrong")
    print(f"{'file':8}" + "".join(f"{kind:>9}" for kind in kinds))
    for suffix in sorted({suffix for suffix, _ in verdicts}):
        print(f"{suffix:8}" + "".join(f"{verdicts[suffix, kind]:9}" for kind in kinds))
    sums = [sum(n for (_, each), n in verdicts.items() if each == kind) for kind in kinds]
    print(f"{'all':8}" + "".join(f"{number:9}" for number in sums))


if __name__ == "__main__":
    main()
