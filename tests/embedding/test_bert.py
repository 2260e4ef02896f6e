"""The graph of a BERT folder against the same arithmetic in plain NumPy."""

import numpy as np
import onnx
import pytest

from esrag.embedding import EmbedderOptions, bert
from esrag.embedding.checkpoint import read_checkpoint
from esrag.embedding.onnx import OnnxClassifier, OnnxEmbedder

TEXTS = ["The cat sat on the mat.", "Rain fell all day, the dog ran far?", "xyzzy", ""]
PAIRS = [("the cat", "sat on the mat"), ("rain fell all day", "?"), ("dog", "the dog ran far")]


def embedder(folder, precision="fp32", workers=1):
    return OnnxEmbedder(EmbedderOptions(str(folder), precision=precision, workers=workers))


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu"])
def test_float32_vectors_are_those_of_the_plain_forward_pass(bert_folder, reference, activation):
    """Every activation: sentence and token vectors equal the NumPy pass to float32's precision."""
    folder = bert_folder(hidden_act=activation)
    encoder, plain = embedder(folder), reference(folder)
    expected = [plain.sentence(text) for text in TEXTS]
    assert np.abs(encoder.embed(TEXTS) - expected).max() < 1e-6
    for text, vectors in zip(TEXTS, encoder.token_vectors(TEXTS), strict=True):
        states = plain.states(text)[1:-1]
        assert vectors.shape == (len(encoder.tokens(text)), 32)
        assert np.allclose(
            vectors, states / np.linalg.norm(states, axis=1, keepdims=True), atol=2e-6
        )


def test_the_first_token_is_the_vector_where_the_folder_says_so(bert_folder, reference):
    """CLS pooling, in the newer form of the pooling file, differs from the mean and equals the
    NumPy pass.
    """
    folder = bert_folder(pooling={"pooling_mode": ["cls"]})
    expected = [reference(folder).sentence(text, "cls") for text in TEXTS]
    assert np.abs(embedder(folder).embed(TEXTS) - expected).max() < 1e-6
    assert " cls 24" in embedder(folder).fingerprint


@pytest.mark.parametrize("labels", [1, 3])
def test_the_classifier_scores_pairs_as_the_plain_forward_pass(bert_folder, reference, labels):
    """Logits of pairs, with the second text's token types.

    int8 keeps their order of magnitude and direction.
    """
    folder = bert_folder(labels=labels)
    options = EmbedderOptions(str(folder), precision="fp32", workers=2)
    expected = np.array([reference(folder).logits(*pair) for pair in PAIRS])
    assert np.abs(OnnxClassifier(options).logits(PAIRS) - expected).max() < 5e-6
    assert OnnxClassifier(options).logits([]).shape == (0, labels)
    rounded = OnnxClassifier(EmbedderOptions(str(folder), workers=1)).logits(PAIRS)
    assert np.corrcoef(rounded.ravel(), expected.ravel())[0, 1] > 0.98


def test_int8_vectors_are_close_to_float32(bert_folder):
    """Weights and activations in eight bits move a vector by little."""
    folder = bert_folder()
    whole, rounded = embedder(folder).embed(TEXTS), embedder(folder, "int8").embed(TEXTS)
    assert (whole * rounded).sum(axis=1).min() > 0.99
    assert not np.array_equal(whole, rounded)


def test_old_names_of_weights_are_understood(bert_folder):
    """A prefix "bert." and a norm's gamma and beta are the same weights."""
    from safetensors.numpy import load_file

    folder = bert_folder()
    tensors = {
        "bert." + name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): value
        for name, value in load_file(str(folder / "model.safetensors")).items()
    }
    old = bert_folder("old", tensors=tensors)
    assert np.array_equal(embedder(folder).embed(TEXTS), embedder(old).embed(TEXTS))


@pytest.mark.parametrize("precision", ["int8", "fp32"])
@pytest.mark.parametrize("build", [bert.sentence_model, bert.classifier_model])
def test_the_bytes_are_a_valid_model(bert_folder, precision, build):
    """What is written by hand is read back whole and accepted by the format's own checker."""
    data = build(read_checkpoint(bert_folder()), precision)
    model = onnx.load_from_string(data)
    onnx.checker.check_model(model)
    assert {port.name for port in model.graph.output} in (
        {"sentence_embedding", "token_embeddings"},
        {"logits"},
    )
    assert {node.domain for node in model.graph.node} == {"", "com.microsoft"}
    assert not any(node.op_type.startswith("Skip") for node in model.graph.node)


@pytest.mark.weights
def test_the_real_model_equals_the_plain_forward_pass(real_model, reference):
    """The default model: float32 to 2e-6 and int8 to a cosine of 0.985, for short and
    long texts.
    """
    texts = [
        "The deadline for comments is in May.",
        "Keys are encapsulated with ML-KEM-768. " * 12,
        "Der Hund läuft, 漢字 too.",
    ]
    expected = np.array([reference(real_model).sentence(text) for text in texts])
    whole = OnnxEmbedder(
        EmbedderOptions("all-MiniLM-L6-v2", precision="fp32", workers=1, offline=True)
    )
    assert np.abs(whole.embed(texts) - expected).max() < 2e-6
    rounded = OnnxEmbedder(EmbedderOptions("all-MiniLM-L6-v2", workers=1, offline=True))
    assert (rounded.embed(texts) * expected).sum(axis=1).min() > 0.985
    assert rounded.fingerprint == "onnx all-MiniLM-L6-v2@53aa51172d14 int8 mean 256"
    assert rounded.window == 254
