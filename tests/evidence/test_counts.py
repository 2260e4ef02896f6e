"""Whether a sentence has the number that a question asks for."""

from dataclasses import replace

import pytest

from esrag.evidence import Statement
from esrag.evidence.counts import find_default, lacks_asked_number, lacks_default
from esrag.evidence.preferences import prefer_named_roles, prefer_numbers, prefer_years


def say(*texts):
    """Statements of one passage, the first one the best."""
    return [
        Statement(key="c1", order=n, text=text, fit=round(0.6 - n / 100, 2))
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many visas are issued a year?", "A visa is granted for at most three years.", True),
        ("How many visas are issued a year?", "Each year 65,000 visas are issued.", False),
        ("How many litres does the kettle hold?", "The kettle holds 1.7 litres.", False),
        ("How many lamps may a ship carry?", "Lamps on one ship SHALL be no more than 12.", False),
        ("How many lamps does it have?", "The tower of 1890 burns oil, see section 4.2.", True),
        ("How many lamps does it have?", "Lamps: 7, Bells: 2", False),
        ("How many full-time keepers are there?", "We have 36 full-time people.", False),
        ("Within how many minutes must it end?", "It ends within 10 minutes.", False),
        ("How many stock options were sold?", "Sold, Number: (1,094)", False),
        ("How long is the pier?", "The pier is green.", True),
        ("After what time does it fail?", "Starting with Quill 2.5, it fails.", True),
        ("Is the pier long?", "The pier is green.", False),
        ("What is dim set to if I leave it out?", "Dims the lamp. Default is false.", False),
        ("What is dim set to if I don't set it?", "Dim: true (default) or false", False),
        ("What is the default width of a pier?", "Piers are built to the default.", True),
    ],
)
def test_a_number_counts_what_is_asked_for(question, text, lacks):
    """It stands near that word and has no other unit, or is a value behind a label."""
    assert lacks_asked_number(question, say(text)[0]) is lacks


def test_nothing_lacks_no_number():
    """Without any statement there is nothing to doubt."""
    assert not lacks_asked_number("How many lamps are there?", None)


def test_the_number_in_question_is_preferred_to_another():
    """A sentence with a number that counts something else is moved behind."""
    found = say("A lamp burns for 3 years at the quay.", "The quay has 40 lamps.")
    best = max(prefer_numbers("How many lamps does the quay have?", found), key=lambda one: one.fit)
    assert "The quay has 40 lamps." == best.text


def test_a_default_is_looked_for_close_behind():
    """In the same passage, and only where the best sentence lacks a number."""
    question = "How large may a request be?"
    found = say("Limits the size of a request.", "Larger ones fail.", "Default is 9 MB.")
    assert find_default(question, found[0], found) == found[2]
    assert find_default(question, found[2], found) is None
    short = say("Limits the size of a request.", "Larger ones fail.", "Default: 10")
    assert find_default(question, short[0], short) == short[2]
    plain = say("Limits the size of a request.", "Larger ones fail.", "Defaults to 9 MB.")
    assert find_default(question, plain[0], plain) == plain[2]
    far = say("Limits the size of a request.", "One.", "Two.", "Three.", "Default is 9 MB.")
    assert find_default(question, far[0], far) is None


def test_a_default_may_stand_right_before():
    """Where the best sentence says what "this limit" does."""
    question = "How many clauses may a query have if nobody changed the limit?"
    found = say("Sets the most clauses (default: 9).", "Beyond this limit, the query fails.")
    assert find_default(question, found[1], found) == found[0]
    other = say("Sets the most clauses (default: 9).", "Beyond its size, the query fails.")
    assert find_default(question, other[1], other) is None


def test_an_example_is_no_default():
    """Whatever number it has; a row has its default in a column, and a later sentence may tell."""
    question = "How many characters does the lid let through by default?"
    [example] = say("This example shows a lid that lets 40 characters through.")
    assert lacks_default(question, [example])
    assert not lacks_default("How many characters does it let through?", [example])
    assert not lacks_default(question, [replace(example, source="| Lid | 40 | 30 |", fit=0.6)])
    assert not lacks_default(question, say("Sets the most characters.", "Default is 9."))
    assert not lacks_default(question, say("It lets 40 through unless told otherwise."))


def test_the_year_in_question_is_preferred_to_another():
    """Or a sentence without a year, unless nothing else fits."""
    other, same, none = "In 2019 it was 5.", "In 2023 it was 6.", "It was 7."
    for second in (same, none):
        first, moved = prefer_years("What was it in 2023?", say(second, other)[::-1])
        assert (first.text, moved.text) == (other, second)
        assert first.fit < moved.fit
    assert prefer_years("What was it?", say(other, same)) == tuple(say(other, same))
    assert prefer_years("What was it in 2023?", say(other)) == tuple(say(other))


def test_who_has_the_role_in_question_is_preferred():
    """Another role is moved behind it in its own passage only."""
    found = say("Mac installers: Ada Fox", "2.6/3.0 Release Manager: Ben Lee", "Manuals: Cy Day")
    asked = "Who was the release manager for 2.6?"
    assert max(prefer_named_roles(asked, found), key=lambda one: one.fit) == found[1]
    for question in ("Who made the installers?", "Which release manager is it of: Mac?"):
        assert [*prefer_named_roles(question, found)] == found
