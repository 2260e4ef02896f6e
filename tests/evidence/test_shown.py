"""What a sentence shows below its colon is a part of it: a command, a setting, code."""

import pytest

from esrag.evidence.lines import lines, to_line
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence
from esrag.verifying.support import support


def passage(text):
    return Chunk("d::p0001::c001", "d", 0, 0, len(text), 1, 1, text)


FENCED = "Turn off swapping:\n```bash\nsudo swapoff -a\n```\nThen start it."
INDENTED = (
    "To restore the old size, add this\n   to the file:\n\n       Defaults core=default\n\n * Next"
)
LITERAL = "Write the notes with::\n\n    gbp dch\n\nThen push."
LONG = "Run this:\n\n" + "    ls /tmp/a\n" * 40 + "\nIt takes long."
LINE = "The rate is set below:\n\nrate = 5 / (a + b)\n\nIt may be changed."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FENCED, "Turn off swapping: sudo swapoff -a"),
        (INDENTED, "To restore the old size, add this to the file: Defaults core=default"),
        (LITERAL, "Write the notes with: gbp dch"),
        (LINE, "The rate is set below: rate = 5 / (a + b)"),
    ],
    ids=["fenced", "indented", "literal", "a line"],
)
def test_a_sentence_with_what_it_shows_is_one_statement(text, said):
    """It passes the check of answers as a whole."""
    first = to_line(lines(text)[0].text)
    assert first == said
    assert support(first, [passage(text)])


@pytest.mark.parametrize(
    "text",
    [
        "The parts are described here:\n\nInstallation\n\nIt is easy.",
        "The parts are:\n\n- a lid\n- a spout",
        LONG,
        "The sizes are:\n\nName | Size\nlid | 5",
        "It says:\n\nThis is the next paragraph, with a sentence (and more).",
    ],
    ids=["a heading", "a list", "long code", "a table", "a sentence"],
)
def test_other_text_is_no_part_of_the_sentence(text):
    """A heading, a list, a table, or code that is too long to be quoted."""
    lead = text.partition("\n")[0]
    assert all(line.text == lead or not line.text.startswith(f"{lead}\n") for line in lines(text))


def test_a_setting_alone_is_a_statement():
    """Its name and value are one word or two."""
    text = "Edit the file.\n\n# then save it\nvm.max_map_count=262144\n\nDefault: 10\n\nPage 7"
    evidence = [Evidence("c1", passage(text), 1.0)]
    said = [each.text for each in statements("vm.max_map_count value", evidence)]
    assert said == ["Edit the file.", "vm.max_map_count=262144", "Default: 10"]


def test_an_index_and_a_promise_are_never_said():
    """A list of words with pages, and what a tutorial will show."""
    index = (
        "Index describe, 12 keys, 3 library, 3, 7 locks, 2 moorings, 13 piers, 5 quays, 12 ropes"
    )
    text = f"In this tutorial, you'll learn to use locks.\n\nThe locks are made of oak.\n\n{index}"
    evidence = [Evidence("c1", passage(text), 1.0)]
    said = [each.text for each in statements("Which locks are new?", evidence)]
    assert said == ["The locks are made of oak."]
