"""Rows that a question names with a whole cell go before the others of their table."""

import pytest

from esrag.evidence.cells import answer_cells
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence

FILES = """These are loggers:

Type | Name | Module
XML file | w1xml | libw1xml.so
Mongodb | w1mongo | libw1mongo.so
Text file | w1file | libw1file.so"""
OUTPUT = """Extension | default name | content
.puzzle | outfile | the report of the puzzle
.dist | outdist | ML distances"""


def passage(text):
    return (Evidence("c1", Chunk("d::p0001::c001", "d", 0, 0, len(text), 1, 1, text), 1.0),)


def test_the_row_with_the_name_is_the_best():
    """Words such as "file" may be in more cells of the others."""
    question = "Which file is the shared library for logging into MongoDB?"
    found = statements(question, passage(FILES))
    assert max(found, key=lambda each: each.fit).source == "Mongodb | w1mongo | libw1mongo.so"


def test_the_cell_is_taken_from_the_row_with_the_name():
    """Another row's label may have a word of the question."""
    question = "What is TREE-PUZZLE's default name of the output for the ML distances?"
    evidence = passage(OUTPUT)
    cells = answer_cells(question, evidence, statements(question, evidence))
    assert [text.partition(";")[0] for _, text in cells.found] == [".dist, default name: outdist"]


def test_a_name_in_the_caption_names_no_row():
    """All rows are about it."""
    text = "The minor scale and its modes:\n\nGrade | Name\nI | Minor scale\nV | Phrygian dominant"
    question = "Which mode is on grade V of the minor scale, the dominant?"
    found = statements(question, passage(text))
    assert max(found, key=lambda each: each.fit).source == "V | Phrygian dominant"


KEYS = """Toggle keys

Key | Function | Remark
d | Demo mode | Switches demo mode on and off.
y | Gravity on / off | For ships only."""


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Which key do I press to switch gravity on or off?",
            "Toggle keys: Key: y, Function: Gravity on / off, Remark: For ships only.",
        ),
        ("Which key starts the engine?", None),
        ("What does the remark say of Demo mode?", "d, Remark: Switches demo mode on and off."),
    ],
)
def test_a_row_is_found_by_another_cell_than_its_first(question, said):
    """The question names the row with one cell, and asks for the column of another."""
    evidence = passage(KEYS)
    found = answer_cells(question, evidence, statements(question, evidence)).found
    assert [text for _, text in found] == ([said] if said else [])
