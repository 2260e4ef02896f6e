"""Find what a sentence gives to another row of a table than the passages do."""

import re
from collections.abc import Iterator, Sequence

from esrag.evidence.lines import Line
from esrag.text.figures import numbers
from esrag.text.terms import find_technical_words, terms
from esrag.verifying.clauses import clauses

MIN_VALUES = 2  # of a clause, before a row must have them all
MAX_WORDS = 4  # of a cell that a clause may name as a whole
MAX_LENGTH = 200  # characters of a clause

# What may be about several rows: a sentence, and a clause.
_JOINED = re.compile(r"\b(?:and|or|both|each|respectively)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:all|every|any|than|between|from|most|least|total|sum|\w{2,}est)\b|[,;/]", re.IGNORECASE
)


def find_other_row(sentence: str, lines: Sequence[Line], names: frozenset[str]) -> str:
    """Return two values that a clause has together and the tables only in different rows, or "".

    Values are numbers, names, technical words and whole short cells, unless text outside the tables
    has them, too.
    """
    cells = [[cell for _, cell in line.row.cells] for line in lines if line.row and line.row.cells]
    if len(cells) < MIN_VALUES or _JOINED.search(sentence):
        return ""
    prose = " ".join(_around(lines))
    known = set(terms(prose)) | set(numbers(prose))

    for clause in clauses(sentence):
        if len(clause) > MAX_LENGTH or _SEVERAL.search(clause):
            continue
        values = [
            value for value in _values(clause, cells, names) if not known.issuperset(terms(value))
        ]
        owners = [{n for n, row in enumerate(cells) if _has(row, value)} for value in values]
        if all(owners) and len(owners) >= MIN_VALUES and not set.intersection(*owners):
            return _name(values, owners)
    return ""


def _around(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the text outside the cells: sentences, captions and headers."""
    for line in lines:
        if line.row is None:
            yield line.text
        else:
            yield f"{line.row.above} {line.row.header}"
            yield from (header for header, _ in line.row.cells)


def _values(clause: str, cells: Sequence[Sequence[str]], names: frozenset[str]) -> list[str]:
    """Return the numbers, names, technical words and whole cells of a clause."""
    words = re.findall(r"[^\W\d_][\w’'-]*", clause)
    named = [word for word in words if names.issuperset(terms(word)) and terms(word)]
    short = (cell.strip("`*\"' ") for row in cells for cell in row)
    whole = [cell for cell in short if 0 < len(terms(cell)) <= MAX_WORDS and _has([clause], cell)]
    technical = find_technical_words(clause, len(clause))
    return [*dict.fromkeys([*numbers(clause), *technical, *named, *whole])]


def _has(row: Sequence[str], value: str) -> bool:
    """Return whether a cell has a value as a word."""
    near = (cell for cell in row if value.lower() in cell.lower())  # far faster than the pattern
    return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", cell, re.IGNORECASE) for cell in near)


def _name(values: Sequence[str], owners: Sequence[set[int]]) -> str:
    """Return two values without a row in common, or all."""
    pairs = (
        f"{one} with {other}"
        for n, one in enumerate(values)
        for other, rows in zip(values[n + 1 :], owners[n + 1 :], strict=True)
        if not owners[n] & rows
    )
    return next(pairs, " with ".join(values))
