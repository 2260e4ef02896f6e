"""The first cells of tables: the list that a question asks for, whole or not at all."""

import re

import pytest

PARTS = "\n".join(
    f"| `part_{n}` | text | Keeps the heat of litre {n} in, as long as the lid is closed. |"
    for n in range(12)
)
PAGE = f"""# Kettle tool

The kettle tool boils water.

## Parts

| Part | Type | Use |
| :--- | :--- | :--- |
{PARTS}

## More

| Part | Type | Use |
| :--- | :--- | :--- |
| `whistle` | text | Tells that water boils. |
"""
OTHER = """# Pan tool

| Part | Type |
| :--- | :--- |
| `grip` | text |
| `edge` | text |

Which parts does the kettle tool have? It has many parts, and the kettle tool has a lid.
"""
SETTINGS = {"embedding.model": "none", "chunking": {"size": 60, "overlap": 0}, "retrieval.k": 3}


@pytest.fixture
def index(open_pages):
    """An index of a page whose table is in many passages, and of another page."""
    return open_pages({"kettle.md": PAGE, "pan.md": OTHER}, SETTINGS)


def test_the_list_is_whole(index):
    """Though the search finds three passages of the table; each part is said once."""
    asked = index.ask("Which parts does the kettle tool have?")
    said = asked.text
    assert [said.count(f"part_{n};") + said.count(f"part_{n} [") for n in range(12)] == [1] * 12
    assert "Part: whistle [" in said
    assert "grip" not in said
    assert not asked.refused
    assert all(place.source.endswith("kettle.md") for place in asked.citations)


@pytest.mark.parametrize(("rows", "passages"), [(60, 10), (40, 10), (12, 2)])
def test_a_part_of_a_list_is_not_said_as_the_list(open_pages, rows, passages):
    """Of a table that is too long to look at, or that the evidence has no room for."""
    use = "Turns the radio on, and off again, and on, " * 4
    table = "\n".join(f"| `knob_{n}` | text | {use} |" for n in range(rows))
    page = f"# Radio tool\n\n## Parts\n\n| Part | Type | Use |\n| :--- | :--- | :--- |\n{table}\n"
    index = open_pages({"radio.md": page}, {**SETTINGS, "answer.evidence_chunks": passages})

    asked = index.ask("Which parts does the radio tool have?")
    assert not re.search(r"knob_\d+; knob_\d+", asked.text)


@pytest.mark.parametrize(
    "question",
    ["Which parts boil water?", "Which parts are red?", "What is the kettle tool?", "Parts of it?"],
)
def test_another_question_gets_no_list(index, question):
    """One that says more than the headings do, or that asks for no list."""
    assert "part_1;" not in index.ask(question).text
