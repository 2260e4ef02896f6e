"""Dates: the day that a document is of."""

import pytest

from esrag.enriching import enrich
from esrag.enriching.dates import DatesEnricher
from esrag.records import Document

CHAIN = [("dates", DatesEnricher(()))]


def found(text, **metadata):
    """The date and the year of a document."""
    enriched = enrich(Document("d", "plain", text, metadata=metadata), "/d.txt", CHAIN).metadata
    return enriched.get("date"), enriched.get("year")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Board meeting of 4 March 2024, not of 5 May 2023.", ("2024-03-04", 2024)),
        ("On March 4th, 2024 and on 2023-01-01.", ("2024-03-04", 2024)),
        ("Sept. 9, 2021", ("2021-09-09", 2021)),
        ("Version 2024-02-30, made on 2024-02-28.", ("2024-02-28", 2024)),
        ("Call 2024-12-1234 or see 12-2024-12-12.", (None, None)),
        ("In May 2024 we may meet on 3 occasions.", (None, None)),
        ("x" * 2_000 + " 4 March 2024", (None, None)),
    ],
)
def test_the_first_date_of_the_text(text, expected):
    """That a calendar has, near its beginning."""
    assert found(text) == expected


def test_a_field_of_the_document_comes_first():
    """And its own year stays."""
    text = "Made on 1 May 2020."
    assert found(text, date="2021-06-07") == ("2021-06-07", 2021)
    assert found(text, published="7 June 2021", year=1999) == ("2021-06-07", 1999)
