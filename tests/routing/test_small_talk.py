"""Small talk is recognised as a whole, and nothing else is."""

import pytest

from esrag.routing.small_talk import is_small_talk


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "Hi there!",
        "Good morning, how are you?",
        "thanks",
        "Thank you so much!",
        "Great, thanks a lot.",
        "ok, bye",
        "What can you do?",
        "What can you do for me?",
        "who are you",
        "How can you help me?",
        "help",
        "That’s great!",
    ],
)
def test_small_talk_is_recognised(line):
    """Alone, or several in a row."""
    assert is_small_talk(line)


@pytest.mark.parametrize(
    "line",
    [
        "Hello world program in Python",
        "Hi-fi equipment",
        "Thanks to whom was the bridge built?",
        "Thank you letter: how long may it be?",
        "What can you do if a claim is denied?",
        "What do you do with an expired token?",
        "Who are you required to notify?",
        "How are you supposed to indent?",
        "How can you help a drowning person?",
        "good faith",
        "Good morning America: who hosts it?",
        "help desk opening hours",
        "Which greeting opens the protocol, HELLO or HI?",
        "OK status code",
        "bye week in the schedule",
        "What is your name servers' address?",
        "",
        "???",
        "hello " * 50,
    ],
)
def test_a_question_that_begins_like_small_talk_is_a_question(line):
    """A single other word is enough."""
    assert not is_small_talk(line)
