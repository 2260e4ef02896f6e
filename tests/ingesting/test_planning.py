"""Ids of documents: as short as they can be, and the same however often an ingest was cut short."""

from itertools import combinations

from esrag.ingesting.planning import document_ids
from esrag.loading.files import ListedFile

NAMES = ("clock.txt", "hall/clock.txt", "hall/clock.md", "attic/clock.txt", "lamp.txt")
FILES = [ListedFile(f"/docs/{name}", name) for name in NAMES]


def test_ids_do_not_depend_on_what_is_stored_already():
    """A file that is stored does not leave the name it shares to the others."""
    whole = document_ids(FILES, {})
    assert sorted(whole.values()) == [
        "attic/clock",
        "clock",
        "hall/clock.md",
        "hall/clock.txt",
        "lamp",
    ]
    for count in range(len(whole)):
        for stored in combinations(whole, count):
            assert document_ids(FILES, {source: whole[source] for source in stored}) == whole
