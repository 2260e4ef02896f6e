"""Quantities such as the 80 litres of "which lamp burns 80 litres?", which pick out the answer."""

import re
from collections import defaultdict
from collections.abc import Sequence

from esrag.evidence import Statement
from esrag.evidence.labels import COUNTING
from esrag.text.figures import to_figures, uses

_PICKS_OUT = re.compile(r"\W*(?:which|who|whose|what)\b(?! (?:happens|if)\b)", re.IGNORECASE)
# "more than 80 litres", "80 to 90 litres": the number in question need not occur.
_BOUND = re.compile(
    rf"\b(?:{'|'.join(sorted(COUNTING))}) \S?\d[\d.,]*|(?<![\d.,])\d[\d.,]* ?(?:-|–|to) ?\d+"
)


def drop_other_quantities(question: str, statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements that give no other quantity in the unit of one in the question."""
    asked = _quantities(question) if _PICKS_OUT.match(question) else {}
    if not asked:
        return list(statements)

    def fits(statement: Statement) -> bool:
        given = _quantities(statement.text)
        return all(numbers & given.get(unit, numbers) for unit, numbers in asked.items())

    return list(filter(fits, statements))


def _quantities(text: str) -> dict[str, set[str]]:
    """Return the numbers of a text by their unit, without those that are only a bound.

    >>> _quantities("Lamp 7 burns 80 litres in 2 hours, at least 3 kg.")
    {'liter': {'80'}, 'hour': {'2'}}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for use in uses(_BOUND.sub(" ", to_figures(text))):
        if use.unit:
            found[use.unit].add(use.number)
    return dict(found)
