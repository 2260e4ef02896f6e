"""The hashing embedder."""

import subprocess
import sys

import numpy as np

from esrag.embedding import EmbedderOptions
from esrag.embedding.hashing import HashingEmbedder

ENCODER = HashingEmbedder(EmbedderOptions("hashing"))


def test_texts_with_words_in_common_are_closer():
    """A shared word, and even a shared stem, bring two texts together."""
    question, same, stem, other = ENCODER.embed(
        [
            "encapsulation key size",
            "the size of a key",
            "keys are encapsulated",
            "it rained on Monday",
        ]
    )
    assert question @ same > question @ other
    assert question @ stem > question @ other


def test_vectors_are_the_same_in_every_process():
    """Nothing depends on Python's own seeded hash."""
    program = (
        "from esrag.embedding import EmbedderOptions; "
        "from esrag.embedding.hashing import HashingEmbedder; "
        "print(HashingEmbedder(EmbedderOptions('')).embed(['a key']).tobytes().hex())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ENCODER.embed(["a key"]).tobytes().hex()


def test_a_text_without_words_is_a_fixed_unit_vector():
    """Blank texts share one vector."""
    first, second = ENCODER.embed(["", " \n"])
    assert np.array_equal(first, second)
    assert np.linalg.norm(first) == 1
