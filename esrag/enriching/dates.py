"""Dates: the day that a document is of, by its own fields or the first date in its text."""

import re
from collections.abc import Mapping, Sequence
from datetime import date

from esrag.enriching.rules import Rule
from esrag.filters import format_value
from esrag.records import Document, Scalar
from esrag.text.terms import MONTHS

_FIELDS = ("date", "published", "updated", "created", "modified")
_READ_CHARACTERS = 2_000  # of a text; later dates are about something else
_MONTH = rf"(?P<month>{'|'.join((*MONTHS, 'sept', *(name[:3] for name in MONTHS)))})"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\w)"
_DAY = r"(?<!\w)(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_WRITTEN = (
    re.compile(rf"(?<![\w-]){_YEAR}-(?P<month>\d\d)-(?P<day>\d\d)(?![\d-])"),
    re.compile(rf"{_DAY} (?:of )?{_MONTH}\.?,? {_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<!\w){_MONTH}\.? {_DAY},? {_YEAR}", re.IGNORECASE),
)


class DatesEnricher:
    """The field `date` as YYYY-MM-DD and the field `year`, if the document has no year."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Take no notice of rules."""

    def find(self, document: Document, path: str) -> Mapping[str, Scalar]:  # noqa: ARG002 -- a path has many numbers
        """Return the date of the fields of the document, else the first one in its text."""
        fields = [format_value(document.metadata.get(name, "")) for name in _FIELDS]
        places = (*fields, document.text[:_READ_CHARACTERS])
        found = next((day for place in places for day in _list_dates(place)), None)
        if found is None:
            return {}
        return {"date": found.isoformat(), "year": document.metadata.get("year", found.year)}


def _list_dates(text: str) -> list[date]:
    """Return the dates of a text in order.

    >>> [str(day) for day in _list_dates("4 March 2024, Feb. 1st, 2025, 2023-12-31")]
    ['2024-03-04', '2025-02-01', '2023-12-31']
    """
    found = (match for pattern in _WRITTEN for match in pattern.finditer(text))
    ordered = sorted(found, key=lambda match: match.start())
    return [day for match in ordered if (day := _read(match))]


def _read(match: re.Match[str]) -> date | None:
    """Return a date; None if no calendar has it."""
    month = match["month"].lower()
    names = [name[:3].lower() for name in MONTHS]
    number = int(month) if month.isdecimal() else names.index(month[:3]) + 1
    try:
        return date(int(match["year"]), number, int(match["day"]))
    except ValueError:
        return None
