"""The contract of `esrag.embedding`, over every registered embedder."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from esrag import plugins
from esrag.embedding import EmbedderOptions, check_vectors
from esrag.embedding.opening import open_embedder
from esrag.errors import EmbeddingError, SettingsError
from esrag.plugins import install_hint

PROVIDERS = plugins.names("embedders")
SERVICES = ("cohere", "openai")
TEXTS = [
    "the cat sat on the mat .",
    "",
    " \n\t",
    "é 漢字 \u202e🎉",
    "rain fell , " * 40,
    "a" * 5_000,
]


@pytest.fixture(params=PROVIDERS)
def embedder(request, bert_folder, service):
    """Each registered embedder over a made-up folder, or over a service."""
    if request.param in SERVICES:
        return open_embedder(request.param, service.options(request.param))
    if request.param == "sentence-transformers" and find_spec("sentence_transformers") is None:
        pytest.skip("the extra sentence-transformers is not installed")
    return open_embedder(
        request.param, EmbedderOptions(str(bert_folder()), precision="fp32", offline=True)
    )


def test_vectors_keep_the_contract(embedder):
    """Unit rows of float32 and of the stated width for any text; none for none.

    Alone as among others.
    """
    vectors = check_vectors(embedder.embed(TEXTS), len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32
    assert embedder.embed([]).shape == (0, embedder.dimensions)
    assert embedder.embed([]).dtype == np.float32
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.array_equal(embedder.embed([text])[0], vector)
        assert np.array_equal(embedder.embed([text], kind="query")[0], vector)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40
)
@given(text=st.text(max_size=200))
def test_tokens_are_true_offsets_in_order(embedder, text):
    """Any text: each token is a stretch of it, they are in order, and letters are in
    one of them.
    """
    tokens = embedder.tokens(text)
    assert all(0 <= start < stop <= len(text) for start, stop in tokens)
    assert list(tokens) == sorted(tokens)
    assert bool(tokens) or not any(
        character.isascii() and character.isalnum() for character in text
    )


def test_the_last_words_of_a_long_text_count(embedder):
    """Nothing is cut: two texts that differ in the last word only have different vectors."""
    long = "the cat sat on the mat . " * (embedder.window // 3)
    one, other = embedder.embed([long + "rain", long + "dog"])
    assert not np.array_equal(one, other)


def test_fingerprints_are_one_readable_line(embedder):
    """A fingerprint begins with its provider and stays the same."""
    assert embedder.fingerprint.split()[0] in PROVIDERS
    assert "\n" not in embedder.fingerprint
    assert embedder.fingerprint == embedder.fingerprint
    assert embedder.window > 0


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="the extra is installed")
def test_a_missing_extra_is_named():
    """Without the package the message says how to get it."""
    with pytest.raises(SettingsError) as caught:
        open_embedder("sentence-transformers", EmbedderOptions("all-MiniLM-L6-v2"))
    assert caught.value.hint == install_hint("sentence-transformers")


@pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="the extra is not installed")
def test_both_runtimes_give_the_same_vectors(bert_folder):
    """sentence-transformers and the ONNX encoder agree to 1e-4 in float32, on short and on long
    texts.
    """
    options = EmbedderOptions(str(bert_folder()), precision="fp32")
    vectors = [
        open_embedder(provider, options).embed(TEXTS)
        for provider in ("onnx", "sentence-transformers")
    ]
    assert np.abs(vectors[0] - vectors[1]).max() < 1e-4


def test_the_model_none_is_no_embedder():
    """Keyword search needs none, whatever the provider."""
    assert open_embedder("onnx", EmbedderOptions("none")) is None


@pytest.mark.parametrize(
    "vectors",
    [np.ones((1, 4)), np.eye(2, 4), np.eye(1, 3), np.full((1, 4), np.nan), np.full((1, 4), np.inf)],
)
def test_a_broken_contract_is_an_error(vectors):
    """A wrong length, count or width, NaN and infinity."""
    with pytest.raises(EmbeddingError):
        check_vectors(vectors.astype(np.float32), 1, 4)
