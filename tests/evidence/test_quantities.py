"""Whether the statements have the money or the unit that a question asks for."""

import pytest

from esrag.evidence import Statement
from esrag.evidence.quantities import gives_other_kind, lacks_asked_unit


@pytest.mark.parametrize(
    ("question", "texts", "lacks"),
    [
        ("What does the ferry cost?", ["The ferry has 40 seats."], True),
        ("What does the ferry cost?", ["The ferry has 40 seats.", "It costs $5."], False),
        ("What does the ferry cost?", ["In millions of CHF: Ferry, Cost: 5"], False),
        ("What does the ferry cost?", ["A trip is 40 crowns."], False),
        ("What does the ferry cost?", ["The fare: SEK 40"], False),
        ("How many milliseconds does it take?", ["It takes 3 attempts."], True),
        ("How many milliseconds does it take?", ["It takes 2 hours."], False),
        ("How many seconds may it take?", ["timeout_in_seconds: 600"], False),
        ("How many bytes has a key?", ["A key has 8 arbitrary parts."], True),
        ("How many bytes has a key?", ["The limit is 100mb."], False),
        ("How many megabytes has the map?", ["Map: coast, Size (MB): 683"], False),
        ("How many hertz is it off?", ["Lamp: A, Error in Hz.: 0.7"], False),
        ("How many hertz is it off?", ["Lamp: A, Error in metres: 0.7"], True),
        ("How many seats has the ferry?", ["It is green."], False),
        ("Is the fee paid at once?", ["It is green."], False),
        ("What does the ferry cost?", [], True),
    ],
)
def test_what_a_question_asks_for_is_missed(question, texts, lacks):
    """Money of any kind, and units of the same family as the one in question."""
    found = [Statement(key="c1", order=n, text=text, fit=0.5) for n, text in enumerate(texts)]
    assert lacks_asked_unit(question, found) is lacks


def test_a_statement_far_from_the_best_one_does_not_count():
    """It is about something else."""
    found = [
        Statement(key="c1", order=0, text="The ferry has 40 seats.", fit=0.6),
        Statement(key="c2", order=1, text="Tea costs $2.", fit=0.3),
    ]
    assert lacks_asked_unit("What does the ferry cost?", found)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many kilometres is it?", "Length: 12 km"),
        ("How many kilometres is it?", "Kilometres: 12"),
        ("How many litres does it hold?", "It holds 12 l."),
        ("How many MB is it?", "Size: 12 MB"),
        ("How many inches is it?", "Width: 12 inches"),
        ("How many gigs is it?", "Size: 12 GB"),
        ("How many quid is it?", "Fee: £12"),
        ("How many hrs is it?", "It takes 12 hours, 5 mins and 3 secs."),
    ],
)
def test_a_unit_is_the_same_in_any_spelling(question, text):
    """As a word, as a sign, in British spelling, and as it is spoken."""
    assert not gives_other_kind(question, text)
    assert not lacks_asked_unit(question, [Statement(key="c1", order=0, text=text, fit=0.5)])
