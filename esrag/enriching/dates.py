"""Dates: the day that a document is of, by its own fields or the first date in its text."""

from collections.abc import Mapping, Sequence

from esrag.enriching.rules import Rule
from esrag.filters import format_value
from esrag.records import Document, Scalar
from esrag.text.dates import list_dates

_FIELDS = ("date", "published", "updated", "created", "modified")
_READ_CHARACTERS = 2_000  # of a text; later dates are about something else


class DatesEnricher:
    """The field `date` as YYYY-MM-DD and the field `year`, if the document has no year."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        """Take no notice of rules."""

    def find(self, document: Document, path: str) -> Mapping[str, Scalar]:  # noqa: ARG002 -- a path has many numbers
        """Return the date of the fields of the document, else the first one in its text."""
        fields = [format_value(document.metadata.get(name, "")) for name in _FIELDS]
        places = (*fields, document.text[:_READ_CHARACTERS])
        found = next((day for place in places for day in list_dates(place)), None)
        if found is None:
            return {}
        return {"date": found.isoformat(), "year": document.metadata.get("year", found.year)}
