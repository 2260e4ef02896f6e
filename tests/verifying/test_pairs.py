"""Drafts that differ from their passage in little: the false ones are refused, the true ones are
answers.
"""

import json
from pathlib import Path

import pytest

from esrag.evidence.lines import lines
from esrag.verifying.contrasts import find_contrast
from esrag.verifying.drafts import to_evidence
from esrag.verifying.roles import find_other_role
from esrag.verifying.verify import verify

PAIRS = [
    json.loads(line)
    for line in Path(__file__).with_name("pairs.jsonl").read_text("utf-8").splitlines()
]
PASSAGES = [
    json.loads(line)
    for line in Path(__file__).with_name("passages.jsonl").read_text("utf-8").splitlines()
]
MAX_FALSE_ACCEPTS, MAX_FALSE_REJECTS = 0.25, 0.10
# "they" of the sentence before.
KNOWN_MISSES = {"Backups are kept for a month and they are encrypted. [c1]"}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["draft"][:60])
def test_a_small_difference_is_seen_and_other_words_are_not_one(pair):
    """Whatever the sentence's own clause turns: a "not", an opposite, a quantity, a duty, a name, a
    clause put in.
    """
    answer = verify(pair["draft"], to_evidence(pair["passages"]))

    expected = pair["supported"] or pair["draft"] in KNOWN_MISSES
    assert answer.refused is not expected, answer.notes


def test_few_drafts_over_longer_passages_are_misjudged():
    """Over passages of five to eight sentences, where the next sentence may say the opposite of
    something else.
    """
    refused = [
        (row["supported"], verify(row["draft"], to_evidence(row["passages"])).refused)
        for row in PASSAGES
    ]
    accepts = [not is_refused for is_true, is_refused in refused if not is_true]
    rejects = [is_refused for is_true, is_refused in refused if is_true]

    assert sum(accepts) / len(accepts) <= MAX_FALSE_ACCEPTS
    assert sum(rejects) / len(rejects) <= MAX_FALSE_REJECTS


def test_a_word_with_a_prefix_is_its_negation():
    """Used tablets are no unused ones."""
    text = "The unused tablets may be returned to any pharmacy."

    assert (
        verify("The used tablets may be returned to any pharmacy. [c1]", to_evidence([text])).reason
        == "unsupported"
    )


@pytest.mark.parametrize(
    "word",
    [
        "Implementations",
        "Important images",
        "Immediate replies",
        "The united university",
        "Understanding it",
    ],
)
def test_a_not_is_missed_whatever_the_words_begin_with(word):
    """Words that begin with un or im are no negations."""
    text = f"{word} should not bound this loop, if at all possible."

    answer = verify(f"{word} should bound this loop, if at all possible. [c1]", to_evidence([text]))

    assert answer.reason == "unsupported"
    assert answer.notes == ('except for a "not" it is in c1',)


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("The lowest value was 5.", "The highest value was 5."),
        ("The valve is slower than the old one.", "The valve is faster than the old one."),
        ("The newest pump stands in the hall.", "The oldest pump stands in the hall."),
        ("Few members came to the meeting.", "Many members came to the meeting."),
        ("The count was incorrect in March.", "The count was correct in March."),
        ("The council opposes the bridge.", "The council supports the bridge."),
        ("The act was repealed in 1998.", "The act was enacted in 1998."),
        ("The report contradicts the finding.", "The report confirms the finding."),
        ("The ferry departs at nine.", "The ferry arrives at nine."),
    ],
)
def test_an_opposite_is_seen(said, held):
    """Superlatives, comparatives and verbs; the same words are supported."""
    assert verify(f"{said} [c1]", to_evidence([held])).refused
    assert not verify(f"{held} [c1]", to_evidence([held])).refused


def test_a_quote_does_not_hide_a_missing_not():
    """The quote stands in the passage; the sentence says the opposite."""
    text = "Implementations should not bound this loop, if at all possible."
    draft = 'Implementations should bound this loop ("bound this loop, if at all possible"). [c1]'

    assert verify(draft, to_evidence([text]), quotes=True).reason == "unsupported"


@pytest.mark.parametrize(
    ("said", "held"),
    [
        ("The pressure is not below 40 bar.", "The pressure is at least 40 bar."),
        ("Smoking is forbidden.", "Smoking is not allowed."),
        ("The request was refused.", "The request was not granted."),
        ("The lid is not open.", "The lid is closed."),
        (
            "The museum does not open on Mondays.",
            "The museum is open on Sundays and closed on Mondays.",
        ),
        (
            "The tower is not included in the fee.",
            "The fee includes the garden but excludes the tower.",
        ),
        (
            "Several of the tapes are unreadable with it.",
            "Several of the tapes cannot be read with it.",
        ),
        ("Leave that is not used expires.", "Unused leave expires."),
    ],
)
def test_two_turns_are_none(said, held):
    """A "not" and an opposite together say the same."""
    assert not find_contrast(said, [held])


def test_another_name_in_like_words_is_seen():
    """Unless the statement has a word that stands for it."""
    tested = [*lines("Anna Keller tested the pump. Boris Lind wrote the manual.")]
    names = frozenset(("anna", "keller", "bori", "lind"))

    assert find_other_role("Boris Lind tested the pump.", tested, names)
    assert not find_other_role("Anna Keller tested the pump.", tested, names)
    assert not find_other_role(
        "Anna Keller tested the pump.", [*lines("She tested the pump.")], names
    )
