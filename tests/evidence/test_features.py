"""What tells of a statement that it answers: numbers that count, sentences that only announce."""

import pytest

from esrag.evidence.features import NAMES, measure
from esrag.evidence.statements import statements
from esrag.verifying.drafts import to_evidence


def read(question, text, feature):
    """The value of a feature of each statement of a passage."""
    evidence = to_evidence([{"text": text, "section": "Key"}])
    found = sorted(statements(question, evidence), key=lambda each: each.order)
    return [float(row[NAMES.index(feature)]) for row in measure(question, evidence, found)]


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("The shop had 5,993 coins in cash.", 1),
        ("The cash is audited as of December 31, 2021.", 0),
        ("Cash is defined in section 4.2 and table 7.", 0),
        ("The cash of 2021 came to 12 coins.", 1),
    ],
)
def test_dates_and_places_in_a_text_count_nothing(text, counts):
    """Asked how much there is, a date or the number of a section is no answer."""
    assert read("How much cash did the shop have?", text, "count") == [counts]


def test_a_sentence_that_announces_defines_nothing():
    """Even right below the heading that is the subject."""
    question = "What is a key?"
    assert read(question, "Whatever opens a lock.", "heads") == [1]
    assert read(question, "The following is a list of keys.", "heads") == [0]
    assert read(question, "This section shows what opens a lock.", "heads") == [0]


def test_words_in_other_languages_below_a_heading_define_nothing():
    """But what comes after them does, as in glossaries of music."""
    text = "Key\n\nI: chiave, F: clef, D: Schlüssel, S: klav.\n\nWhatever opens a lock."
    assert read("What is a key?", text, "heads") == [0, 1]
