"""Rows whose cell is empty in the column that a question asks for: they do not answer it."""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from esrag.evidence.tables import Row
from esrag.text.figures import to_figures
from esrag.text.rows import find_name
from esrag.text.terms import terms

_BRACKETS = re.compile(r"[(\[][^()\[\]]{0,40}[)\]]")


def find_lacking(question: str, rows: Iterable[Row]) -> set[Row]:
    """Return the rows that a question names and that lack what it asks for."""
    asked = _terms(question)
    return {row for row in rows if _lacks(asked, row)}


def _lacks(asked: AbstractSet[str], row: Row) -> bool:
    """Return whether the words of a question name a row, and best a column with no cell in it.

    >>> row = Row(cells=(("Ship", "Fulmar"), ("Length (m)", "39.6")), empty=("Draught (m)",))
    >>> _lacks(set(terms("draught of the Fulmar")), row), _lacks(set(terms("Fulmar's length")), row)
    (True, False)
    >>> _lacks(set(terms("draught of Fulmar")), Row(cells=(("", "Fulmar"),), empty=("Draught",)))
    True
    """
    if not (row.empty and row.cells):
        return False
    label = _terms(find_name(row.cells[0][1]))
    if not label or not label <= asked:
        return False

    filled = [_terms(name) for name, _ in row.cells]
    empty = [_terms(name) for name in row.empty]
    values = [*filled[1:], *empty]
    common = set.intersection(*values) if len(values) > 1 else set[str]()
    wanted = (asked - label) - common
    most = max((len(wanted & words) for words in filled), default=0)
    return any(len(wanted & words) > most for words in empty)


def _terms(text: str) -> set[str]:
    return set(terms(to_figures(_BRACKETS.sub(" ", text))))
