"""The ONNX embedder: windows, independence, threads, forks."""

import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

from esrag.embedding import EmbedderOptions
from esrag.embedding.onnx import OnnxEmbedder
from esrag.errors import ModelError

SENTENCES = [
    "the cat sat on the mat .",
    "rain fell all day .",
    "the dog ran far .",
    "all sat on the dog ?",
]


@pytest.fixture
def folder(bert_folder):
    """A made-up model of 22 tokens a window."""
    return str(bert_folder())


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_long_text_is_never_cut(folder, precision):
    """A text of many windows: its last sentence counts, and its vector is the windows' weighted
    mean.
    """
    encoder = OnnxEmbedder(EmbedderOptions(folder, precision=precision, workers=1))
    long = " ".join(SENTENCES * 5)
    one, other = encoder.embed([f"{long} the cat", f"{long} the rain"])
    assert encoder.window == 22
    assert len(encoder.tokens(long)) > 5 * 22
    assert float(one @ other) < 1 - 1e-5
    assert np.allclose(np.linalg.norm([one, other], axis=1), 1)


def test_windows_are_pooled_by_their_tokens(folder):
    """Two equal windows of one and the same half give the half's own vector.

    Each token gets a vector.
    """
    encoder = OnnxEmbedder(EmbedderOptions(folder, precision="fp32", workers=1))
    half = "the cat sat on the mat , the dog ran far ,"
    (whole,), (part,) = encoder.embed([f"{half} {half}"]), encoder.embed([half])
    assert np.allclose(whole, part, atol=1e-6)
    assert encoder.token_vectors([f"{half} {half}"])[0].shape == (24, 32)


@pytest.mark.parametrize("precision", ["int8", "fp32"])
def test_a_vector_does_not_depend_on_neighbours_or_threads(folder, precision):
    """The same bits alone, among others, in another order, with one thread and with two."""
    one = OnnxEmbedder(EmbedderOptions(folder, precision=precision, workers=1))
    two = OnnxEmbedder(EmbedderOptions(folder, precision=precision, workers=2))
    texts = [*SENTENCES, " ".join(SENTENCES), "", "cat"] * 8
    together = one.embed(texts)
    assert np.array_equal(together, np.concatenate([one.embed([text]) for text in texts]))
    assert np.array_equal(together, two.embed(texts))
    assert np.array_equal(together[::-1], two.embed(texts[::-1]))


def _embed_in_child(encoder, texts, answers):
    answers.put(encoder.embed(texts))


def test_an_embedder_that_was_used_works_after_a_fork(folder):
    """A forked child makes threads of its own instead of waiting for the parent's."""
    encoder = OnnxEmbedder(EmbedderOptions(folder, workers=2))
    vectors = encoder.embed(SENTENCES)
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    child = context.Process(target=_embed_in_child, args=(encoder, SENTENCES, answers))
    child.start()
    child.join(timeout=30)
    assert child.exitcode == 0
    assert np.array_equal(answers.get(), vectors)


def test_the_fingerprint_names_the_folder_and_its_weights(bert_folder):
    """Two folders with other weights differ in their fingerprints, and so do precisions."""
    folder = bert_folder()
    fingerprint = OnnxEmbedder(EmbedderOptions(str(folder))).fingerprint
    model = fingerprint.split()[1]
    assert fingerprint == f"onnx {model} int8 mean 24"
    assert model.startswith("bert@")
    assert (
        OnnxEmbedder(EmbedderOptions(str(folder), precision="fp32")).fingerprint
        == f"onnx {model} fp32 mean 24"
    )
    other = bert_folder("bert2", labels=4)
    assert (
        OnnxEmbedder(EmbedderOptions(str(other))).fingerprint.split("@")[1]
        != fingerprint.split("@")[1]
    )


def test_the_constructor_reads_nothing(tmp_path):
    """A model that does not exist is an error at first use."""
    encoder = OnnxEmbedder(EmbedderOptions(str(tmp_path / "nowhere")))
    with pytest.raises(ModelError, match="no model or folder named"):
        encoder.embed(["the cat"])


def test_importing_the_stage_loads_no_heavy_library():
    """onnxruntime, tokenizers and safetensors wait for the first text."""
    heavy = (
        "{'onnxruntime', 'tokenizers', 'safetensors', 'sentence_transformers', 'huggingface_hub'}"
    )
    program = (
        "import sys, esrag.embedding.onnx, esrag.embedding.opening; "
        f"print({heavy} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
