"""The nearness of words: by meaning, by rarity, and for texts of all kinds."""

import numpy as np
import pytest

from esrag.embedding import EmbedderOptions
from esrag.embedding.nearness import WordNearness

QUESTION = "What is the cost of a bicycle?"
TEXTS = [
    "The price of a bike is 30 crowns.",
    "The harbour is closed on Monday.",
    "The cost of a bicycle is 30 crowns.",
]


@pytest.fixture(scope="module")
def nearness(real_model):
    """The words of the default encoder."""
    return WordNearness(EmbedderOptions("all-MiniLM-L6-v2", offline=True))


def test_words_of_the_same_meaning_are_near(nearness):
    """The question's own words are nearest, then others for them; what is about else is far."""
    other, far, same = nearness.compare(QUESTION, TEXTS)
    assert 1 >= same > other > far >= 0
    assert other - far > (same - far) / 3


def test_what_all_texts_have_counts_least(nearness):
    """A word that tells texts apart weighs more than one that is everywhere."""
    texts = ["The lamp burns oil.", "The lamp has a cable.", "The lamp hangs in the hall."]
    oil, *others = nearness.compare("Does the lamp use oil?", texts)
    assert oil > max(others) + 0.3


def test_a_word_that_the_encoder_lacks_is_near_itself_alone(nearness):
    """Names of parts are not in its vocabulary."""
    with_it, without = nearness.compare("qx7739k", ["Part qx7739k is red.", "Part red is red."])
    assert (with_it, without) == (1.0, 0.0)


@pytest.mark.parametrize("question", ["", "?", "the of", "word " * 4000, "\x00", "水" * 300])
@pytest.mark.parametrize("text", ["", "the", "word " * 4000, "[SEP] [CLS]", "水"])
def test_any_text_is_compared(nearness, question, text):
    """Texts without words, of very many, and of other scripts."""
    (near,) = nearness.compare(question, [text])
    assert 0 <= near <= 1


def test_nothing_to_compare_is_no_error(nearness):
    """No texts, nothing near."""
    assert nearness.compare(QUESTION, []).shape == (0,)


def test_a_text_is_as_near_in_any_order(nearness):
    """The same bits, whatever stands before it."""
    ahead, behind = nearness.compare(QUESTION, TEXTS), nearness.compare(QUESTION, TEXTS[::-1])
    assert np.array_equal(ahead, behind[::-1])
