"""Enrichers of other packages: what they may give, and what becomes of an error."""

import pytest

from esrag.enriching import enrich
from esrag.errors import ParsingError
from esrag.records import Document

DOCUMENT = Document("d", "plain", "A lamp.", metadata={"owner": "Ada", "size": 1})


class Made:
    """An enricher that gives what it was made with, or raises it."""

    def __init__(self, found):
        self.found = found

    def find(self, document, path):
        """Its fields."""
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def test_a_later_value_replaces_an_earlier_one():
    chain = [("one", Made({"size": 2, "is_old": True})), ("two", Made({"size": 2.5}))]
    enriched = enrich(DOCUMENT, "/d.txt", chain)
    assert enriched.metadata == {"owner": "Ada", "size": 2.5, "is_old": True}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (ValueError("no lamp"), "the enricher one failed: no lamp"),
        ({"tags": ["a"]}, "the enricher one gave 'tags' a value that is not a scalar"),
        ({1: "a"}, "the enricher one gave 1 a value that is not a scalar"),
        (None, "the enricher one failed"),
    ],
)
def test_what_is_wrong_costs_the_file_alone(found, said):
    """In one line with the name of the enricher."""
    with pytest.raises(ParsingError, match=said):
        enrich(DOCUMENT, "/d.txt", [("one", Made(found))])
