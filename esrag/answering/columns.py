"""Columns: whether a sentence gives a number of a table's row to another column than its own."""

import re
from collections import Counter
from collections.abc import Sequence

from esrag.answering.figures import numbers
from esrag.terms import terms

_CAPTIONED = re.compile(r"(?:Table|Tab\.)\s.*: (?P<header>[^:]+): (?P<row>[^:]+)\Z")  # as a PDF has it, without lines
_NAMED = 2  # cells at least, each behind its header


def is_of_another_column(number: str, said: set[str], statement: str) -> bool:
    """Whether the statement is a row that holds the number under a header which is not what these words speak of.

    >>> row = "City: Kiel, Inhabitants: 246000, Founded: 1242"
    >>> is_of_another_column("1242", set(terms("Kiel has inhabitants")), row)
    True
    >>> row = "Table 3: encapsulation key decapsulation key ciphertext shared secret key: A 1184 2400 1088 32"
    >>> [is_of_another_column(n, set(terms("The encapsulation key of A")), row) for n in ("1184", "2400")]
    [False, True]
    """
    if captioned := _CAPTIONED.match(statement):
        return _is_out_of_place(number, said, captioned["header"].split(), numbers(captioned["row"]))
    cells = [part.rpartition(": ") for part in statement.split(", ")]
    if len(cells) < _NAMED or not all(name for name, _, _ in cells):
        return False
    headers = [(said.intersection(terms(name.rpartition(": ")[2])), cell) for name, _, cell in cells]
    own = [len(shared) for shared, cell in headers if number in numbers(cell)]
    # A cell that the sentence names says which row it speaks of: "Kiel is a city of …".
    others = [len(shared) for shared, cell in headers if not said.issuperset(terms(cell))]
    return bool(own) and max(own) < max(others)


def _is_out_of_place(number: str, said: set[str], header: Sequence[str], row: Sequence[str]) -> bool:
    """Where nothing parts the headers, a word still says which columns it cannot be of: each has one word at least."""
    stems = [(terms(word) or [word])[0] for word in header]
    counts, spare = Counter(stems), len(stems) - len(row)
    places = [n for n, stem in enumerate(stems) if stem in said and counts[stem] == 1]
    if number not in row or spare < 0 or not places:
        return False
    return not any(place - spare <= row.index(number) <= place for place in places)
