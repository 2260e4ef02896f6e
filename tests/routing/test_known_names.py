"""Names of a question that documents have in a field."""

import pytest

import esrag as library
from esrag.filters import parse_all

NAMES = ("oak", "oak-hill", "Smith & Sons", "north_shore_rowing_club")
SETTINGS = {
    "embedding.model": "none",
    "enriching.rules": {"owner": {"pattern": "/owners/([^/.]+)", "template": "{1}"}},
    "routing.chain": ["intents"],
    "intents": {
        "known": {"owner": "owner"},
        "fallback": "Any",
        "kinds": {"Any": {"scopes": [{"label": "of {owner}", "where": {"folder": "{owner}"}}]}},
    },
}


@pytest.fixture(scope="module")
def owners(tmp_path_factory):
    """An index of a file for each owner."""
    folder = tmp_path_factory.mktemp("owned")
    for name in NAMES:
        (folder / "owners" / name).mkdir(parents=True)
        (folder / "owners" / name / "notes.md").write_text(f"# Notes\n\nAbout {name}.\n")
    with library.open(folder / "index", settings=SETTINGS) as index:
        index.ingest(folder / "owners")
        yield index


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What does Oak Hill pay?", "of Oak Hill"),  # the longest one
        ("what does oak pay for the hill?", "of oak"),
        ("Is Smith & Sons in arrears?", "of Smith & Sons"),
        ("Who rows for the North Shore Rowing Club?", "of North Shore Rowing Club"),
        ("Who pays for the rowing club?", ""),  # a part is another name
        ("Who pays?", ""),
        ("What does " + "very " * 80 + "old Oak pay?", ""),  # what comes late is not looked up
        ("'; DROP TABLE documents; -- * ? oakum", ""),
    ],
)
def test_a_value_in_the_question_is_the_entity(owners, question, label):
    scopes = owners.route(question).scopes
    assert [scope.label for scope in scopes] == ([label] if label else [])


def test_what_a_filter_hides_is_not_known(owners):
    where = parse_all(["folder=oak"])
    assert owners.route("What does Oak Hill pay?", where=where).scopes[0].label == "of Oak"
