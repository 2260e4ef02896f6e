"""The entry under exactly the name that a question asks about: an option, a parameter."""

import pytest

from esrag.evidence import Statement
from esrag.evidence.entries import find_entry

STATED = [
    Statement("c1", 0, 'With "-q" it is as quiet as with "--brief", or quieter.', fit=0.9),
    Statement("c1", 1, "-q, --quiet: Say less.", fit=0.7),
    Statement("c1", 2, "-Q : Say nothing.", fit=0.7),
    Statement("c1", 3, "Keep the lamps apart.", fit=0.6, under="--split[=COUNT]\t\tin parts"),
    Statement("c1", 4, "How long to wait.", fit=0.7, under="wait_s", defines=True),
    Statement("c1", 6, "Exits: Code: 3, Meaning: It refused.", "| 3 | It refused. |", 0.6),
    Statement("c1", 7, "Exits: Code: 4, Meaning: It is 3.", "| 4 | It is 3. |", 0.6),
    Statement("c1", 5, "--old: No longer used.", fit=0.1),
]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What does lamp -q do?", 1),
        ("what does --quiet do", 1),
        ("lamp -Q ?", 2),
        ("lamp --split", 3),
        ("What is the --split option?", 3),
        ("What does wait_s do?", 4),
        ("What does exit code 3 mean?", 6),
        ("error 4 of lamp", 7),
        ("What is status 5?", None),
        ("lamp --old", None),
        ("lamp --new", None),
        ("What does split do?", None),
        ("Which of -q and -Q says less?", None),
    ],
)
def test_an_option_is_told_by_its_own_entry(question, place):
    """As it is written: -q is not -Q. What fits far less than other statements is none."""
    found = find_entry(question, STATED)
    assert (found.order if found else None) == place
