"""The days that a question asks about: "in 2023", "as of 2024-04-01", otherwise today."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from esrag.facts import Fact

_DAY = re.compile(r"\b(?:as of|on|at) (\d{4}-\d\d-\d\d)\b", re.IGNORECASE)
_YEAR = re.compile(
    r"\b(?:as of|in|for|during) (?:the year |fiscal year |FY ?)?((?:19|20)\d\d)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Period:
    """The first and the last of the days.

    Past ones need a fact that says when it began, and future ones a fact that says when it ends.
    """

    first: date
    last: date
    is_past: bool = False
    is_future: bool = False

    def fits(self, fact: Fact, *, is_named: bool = False) -> bool:
        """Return whether the fact is known to hold on all of these days.

        With `is_named`, its own question names them.
        """
        is_known = bool(fact.valid_from or not self.is_past) or is_named
        will_hold = bool(fact.valid_until or not self.is_future) or is_named
        return is_known and will_hold and fact.holds_on(self.first) and fact.holds_on(self.last)


def read_period(question: str, today: date) -> tuple[str, Period]:
    """Return the question without its time, and the days that it asks about.

    >>> read_period("What was the fee in 2023?", date(2025, 1, 31))[0]
    'What was the fee?'
    """
    for found, (first, last) in _iter_periods(question):
        rest = f"{question[: found.start()].rstrip()}{question[found.end() :]}"
        if first <= today <= last:
            return rest, Period(today, today)
        return rest, Period(first, last, is_past=last < today, is_future=today < first)
    return question, Period(today, today)


def _iter_periods(question: str) -> Iterator[tuple[re.Match[str], tuple[date, date]]]:
    if found := _DAY.search(question):
        try:
            day = date.fromisoformat(found[1])
        except ValueError:
            return
        yield found, (day, day)
    elif found := _YEAR.search(question):
        year = int(found[1])
        yield found, (date(year, 1, 1), date(year, 12, 31))
