"""What the encoder cannot compute is refused in one line that names it."""

import json

import pytest
from safetensors.numpy import load_file, save_file

from esrag.embedding import EmbedderOptions
from esrag.embedding.checkpoint import read_checkpoint
from esrag.embedding.onnx import OnnxEmbedder
from esrag.errors import ModelError


def refused(folder):
    """The message with which the folder is refused."""
    with pytest.raises(ModelError) as caught:
        OnnxEmbedder(EmbedderOptions(str(folder))).embed(["the cat"])
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"model_type": "roberta"}, "model_type is 'roberta'"),
        ({"hidden_act": "silu"}, "hidden_act is 'silu'"),
        ({"position_embedding_type": "relative_key"}, "'relative_key'"),
        ({"is_decoder": True}, "is_decoder is True"),
        ({"num_attention_heads": 5}, "32 over 5 heads"),
        ({"hidden_size": "wide"}, "hidden_size is 'wide'"),
        ({"num_hidden_layers": 3}, "no tensor encoder.layer.2"),
        ({"intermediate_size": 63}, "has shape (64, 32), expected (63, 32)"),
        ({"vocab_size": 10**9}, "expected (1000000000, 32)"),
    ],
)
def test_other_models_are_refused_by_name(bert_folder, config, named):
    """Another family, activation or position, or sizes that are not the weights': the message says
    which.
    """
    folder = bert_folder()
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    assert named in refused(folder)


@pytest.mark.parametrize(
    ("pooling", "named"),
    [
        ({"pooling_mode_max_tokens": True}, "pooling_mode_max_tokens"),
        (
            {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True},
            "expected mean or cls",
        ),
        ({"pooling_mode": "lasttoken"}, "lasttoken"),
        ({"pooling_mode": []}, "nothing"),
        ([], "holds a list"),
    ],
)
def test_other_poolings_are_refused(bert_folder, pooling, named):
    """Anything but one of mean and cls."""
    folder = bert_folder()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    assert named in refused(folder)


@pytest.mark.parametrize(
    ("modules", "named"),
    [
        (
            [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense")],
            "Transformer, Pooling, Dense",
        ),
        ([("", "Transformer")], "lists Transformer"),
        ([], "lists nothing"),
        ([("", "Transformer"), ("../1_Pooling", "Pooling")], "'../1_Pooling'"),
        ([("0_BERT", "Transformer"), ("1_Pooling", "Pooling")], "'0_BERT'"),
    ],
)
def test_further_modules_are_refused(bert_folder, modules, named):
    """A list of modules that is not Transformer, Pooling and Normalize, or lies outside
    the folder.
    """
    folder = bert_folder()
    entries = [
        {"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in modules
    ]
    (folder / "modules.json").write_text(json.dumps(entries))
    assert named in refused(folder)


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "model.safetensors", "modules.json"]
)
@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00garbage" * 9, b"[" * 100_000])
def test_a_broken_file_is_named(bert_folder, name, content):
    """Each file of the folder, empty, cut short or garbage."""
    folder = bert_folder()
    (folder / name).write_bytes(content)
    assert name in refused(folder)


def test_truncated_weights_are_named(bert_folder):
    """Weights of which the end is missing."""
    path = bert_folder() / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])
    assert "model.safetensors" in refused(path.parent)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(bert_folder, name):
    """Each file that a model needs."""
    folder = bert_folder()
    (folder / name).unlink()
    assert f"has no {name}" in refused(folder)


def test_sharded_weights_are_refused(bert_folder):
    """Weights in several files are told from weights that are missing."""
    folder = bert_folder()
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    (folder / "model.safetensors.index.json").write_text("{}")
    assert "sharded" in refused(folder)


@pytest.mark.parametrize("other", [b"BF16", b"I16"])
def test_half_precision_weights_are_read_and_other_numbers_refused(bert_folder, other):
    """float16 is widened; a type that is not one of NumPy's floats is named."""
    folder = bert_folder()
    path = folder / "model.safetensors"
    halves = {name: value.astype("float16") for name, value in load_file(str(path)).items()}
    save_file(halves, str(path))
    assert OnnxEmbedder(EmbedderOptions(str(folder))).embed(["the cat"]).shape == (1, 32)
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + size].replace(b'"F16"', b'"%s"' % other)
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
    assert f"type {other.decode()}, expected one of F64, F32, F16" in refused(folder)


@pytest.mark.parametrize(("stated", "limit"), [(24, 24), (400, 40), (None, 40)])
def test_the_length_is_the_stated_one_within_the_positions(bert_folder, stated, limit):
    """The file's length, never more than there are positions; without a statement all positions."""
    folder = bert_folder()
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": stated}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 1e30}))
    assert read_checkpoint(folder).max_tokens == limit


def test_a_folder_without_modules_pools_the_mean(bert_folder):
    """A bare BERT folder is usable."""
    folder = bert_folder()
    (folder / "modules.json").unlink()
    (folder / "1_Pooling" / "config.json").unlink()
    assert read_checkpoint(folder).pooling == "mean"
