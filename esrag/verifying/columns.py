"""Find the table column of a number, and whether a sentence gives the number to another column."""

import re
from collections import Counter
from collections.abc import Sequence

from esrag.evidence.lines import Line
from esrag.evidence.tables import Row
from esrag.text.figures import numbers
from esrag.text.terms import terms

_WORD = re.compile(r"\S+(?:\s+\([^()]*\))?")
_YEAR = re.compile(r"(?<![\w.,])(?:19|20)\d\d(?!\w|[.,]\d)")
_NAMED = 2  # the minimum number of cells, each with a header


def is_of_another_column(number: str, said: set[str], row: Row) -> bool:
    """Return whether the row has the number only under a header that these words do not speak of.

    >>> row = Row(cells=(("City", "Kiel"), ("Inhabitants", "246000"), ("Founded", "1242")))
    >>> is_of_another_column("1242", set(terms("Kiel has inhabitants")), row)
    True
    >>> row = Row(cells=(("", "North"), ("Revenue", "110"), ("Cost", "70")))
    >>> is_of_another_column("70", set(terms("North had a revenue")), row)
    True
    >>> header = "encapsulation key decapsulation key ciphertext shared secret key"
    >>> row = Row(header=header, line="A 1184 2400 1088 32")
    >>> said = set(terms("The encapsulation key of A"))
    >>> is_of_another_column("1184", said, row), is_of_another_column("2400", said, row)
    (False, True)
    """
    if row.header:
        return _is_out_of_place(number, said, _words(row.header), numbers(row.line))
    named = [(name, cell) for name, cell in row.cells if name]
    if len(named) < _NAMED or any(number in numbers(cell) for name, cell in row.cells if not name):
        return False
    label = row.cells[0][1]
    if number in numbers(label) and _names(label, said):
        return False

    headers = [(_match(name, said), cell) for name, cell in named]
    own = [match for match, cell in headers if number in numbers(cell)]
    # A cell that the sentence mentions identifies the row: "Kiel is a city of …".
    others = [match for match, cell in headers if not said.issuperset(terms(cell))]
    return bool(own) and max(own) < max(others, default=(0, False))


def _match(header: str, said: set[str]) -> tuple[int, bool]:
    """Return how many words of a header are said, and whether all are, of two or more."""
    words = set(terms(header))
    shared = len(words & said)
    return shared, shared == len(words) > 1


def _names(cell: str, said: set[str]) -> bool:
    """Return whether words have the words of a row's name: the June of "June 30, 2021"."""
    rest = {term for term in terms(cell) if not term[0].isdigit()}
    return bool(rest) and rest <= said


def is_of_another_year(number: str, said: set[str], line: Line) -> bool:
    """Return whether the words name years, and the line gives the number to other years only.

    >>> is_of_another_year("4", {"2023", "revenu"}, Line("Revenue was 4 million in 2022.", ""))
    True
    """
    asked = set(filter(_YEAR.fullmatch, said)) - {number}
    if not asked:
        return False
    if line.row is None:
        given = set(_YEAR.findall(line.text))
    else:
        # The nearest text with a year counts: the column's header, the row's own cells, the text
        # above.
        cells = " ".join(cell for _, cell in line.row.cells)
        near = (" ".join(headers_of(number, line.row)), cells or line.row.line, line.row.above)
        given = next(filter(None, (set(_YEAR.findall(text)) for text in near)), set())

    return bool(given) and number not in given and given.isdisjoint(asked)


def headers_of(number: str, row: Row) -> list[str]:
    """Return the headers of a number in the row, or the words of the header line it may be under.

    >>> headers_of("32", Row(header="key (bits) shared secret (bytes)", line="A 1184 32"))
    ['shared secret (bytes)']
    """
    if not row.header:
        return [name for name, cell in row.cells if number in numbers(cell)]

    words, held = _words(row.header), numbers(row.line)
    spare = max(len(words) - len(held), 0)
    return [" ".join(words[n : n + spare + 1]) for n, other in enumerate(held) if other == number]


def _words(header: str) -> list[str]:
    """Return the words of a header; a unit in brackets belongs to the word before it."""
    return [" ".join(word.split()) for word in _WORD.findall(header)]


def _is_out_of_place(
    number: str, said: set[str], header: Sequence[str], row: Sequence[str]
) -> bool:
    """Return whether a header of unseparated words excludes the number from a named column.

    Each header has at least one word, which limits the columns that a word can be the header of.
    """
    stems = [(terms(word) or [word])[0] for word in header]
    counts, spare = Counter(stems), len(stems) - len(row)
    places = [n for n, stem in enumerate(stems) if stem in said and counts[stem] == 1]
    own = [n for n, other in enumerate(row) if other == number]
    if not own or spare < 0 or not places:
        return False
    return not any(place - spare <= n <= place for place in places for n in own)
