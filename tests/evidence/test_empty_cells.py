"""A row whose cell is empty in the column that a question asks for."""

import pytest

FLEET = """# Fleet

| Ship | Length (m) | Draught (m) | Crew |
| --- | --- | --- | --- |
| Fulmar | 48.2 | 2.4 | 9 |
| Petrel | 39.6 |  | 7 |
"""
SETTINGS = {"embedding.model": "none"}


@pytest.fixture
def index(open_pages):
    """An index with a table that lacks the draught of a ship."""
    return open_pages({"fleet.md": FLEET}, SETTINGS)


def test_a_row_without_the_asked_cell_is_no_answer(index):
    """Its other cells would look like one."""
    found = index.ask("What is the draught of the Petrel?")
    assert "39.6" not in found.text


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the draught of the Fulmar?", "2.4"),
        ("What is the length of the Petrel?", "39.6"),
    ],
)
def test_other_cells_answer(index, question, value):
    """Of the row, and of the column."""
    assert value in index.ask(question).text
