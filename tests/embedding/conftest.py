"""A made-up BERT of two layers, the same arithmetic in plain NumPy, and the real weights where they are installed."""

import json
import math

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["the", "cat", "sat", "on", "mat", "dog", "ran", "far", "rain", "fell", "all", "day", ".", ",", "?"]
VOCABULARY = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
CONFIG = {
    "model_type": "bert",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 40,
    "vocab_size": len(VOCABULARY),
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
}
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]

MEAN = {"word_embedding_dimension": 32, "pooling_mode_mean_tokens": True}


def write_tokenizer(path):
    """A WordPiece tokeniser; like the real model's file it asks for truncation and padding, which must be ignored."""
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [(name, VOCABULARY.index(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", specials)
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=8)
    tokenizer.save(str(path))


def made_up_tensors(config, labels):
    """Random weights by their names; larger ones than a trained model's, so that mistakes show."""
    random = np.random.default_rng(7)
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    tensors = {
        f"embeddings.{table}_embeddings.weight": random.normal(size=(rows, hidden))
        for table, rows in (
            ("word", config["vocab_size"]),
            ("position", config["max_position_embeddings"]),
            ("token_type", 2),
        )
    }

    def dense(name, out, into):
        tensors[f"{name}.weight"] = random.normal(size=(out, into)) / math.sqrt(into)
        tensors[f"{name}.bias"] = random.normal(size=out) / 5

    def norm(name):
        tensors[f"{name}.weight"] = 1 + random.normal(size=hidden) / 5
        tensors[f"{name}.bias"] = random.normal(size=hidden) / 5

    norm("embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(config["num_hidden_layers"])):
        for part in ("query", "key", "value"):
            dense(f"{layer}.attention.self.{part}", hidden, hidden)
        dense(f"{layer}.attention.output.dense", hidden, hidden)
        norm(f"{layer}.attention.output.LayerNorm")
        dense(f"{layer}.intermediate.dense", inner, hidden)
        dense(f"{layer}.output.dense", hidden, inner)
        norm(f"{layer}.output.LayerNorm")
    dense("pooler.dense", hidden, hidden)
    dense("classifier", labels, hidden)
    return {name: value.astype(np.float32) for name, value in tensors.items()}


@pytest.fixture
def bert_folder(tmp_path):
    """Writes a made-up BERT folder: `bert_folder(name, pooling=…, labels=…, **config)`."""

    def write(name="bert", pooling=None, labels=3, tensors=None, **config):
        folder = tmp_path / name
        (folder / "1_Pooling").mkdir(parents=True)
        config = CONFIG | config
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "modules.json").write_text(json.dumps(MODULES))
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or MEAN))
        (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24}))
        save_file(tensors or made_up_tensors(config, labels), str(folder / "model.safetensors"))
        write_tokenizer(folder / "tokenizer.json")
        return folder

    return write


ACTIVATIONS = {
    "gelu": lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "gelu_new": lambda x: x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "relu": lambda x: np.maximum(x, 0),
}


class Reference:
    """BERT's forward pass in float64, one text at a time, written apart from the graph builder."""

    def __init__(self, folder):
        self.config = json.loads((folder / "config.json").read_text())
        self.w = {
            name: value.astype(np.float64) for name, value in load_file(str(folder / "model.safetensors")).items()
        }
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def dense(self, x, name):
        return x @ self.w[f"{name}.weight"].T + self.w[f"{name}.bias"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return centred / spread * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def attention(self, x, name):
        heads = self.config["num_attention_heads"]
        q, k, v = (
            self.dense(x, f"{name}.{part}").reshape(len(x), heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        weights = np.exp(q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1]))
        return (weights / weights.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(len(x), -1)

    def states(self, *text):
        encoding = self.tokenizer.encode(*text)
        tables = {"word": encoding.ids, "position": range(len(encoding.ids)), "token_type": encoding.type_ids}
        x = sum(self.w[f"embeddings.{table}_embeddings.weight"][list(rows)] for table, rows in tables.items())
        x = self.norm(x, "embeddings.LayerNorm")
        for layer in (f"encoder.layer.{number}" for number in range(self.config["num_hidden_layers"])):
            y = self.dense(self.attention(x, f"{layer}.attention.self"), f"{layer}.attention.output.dense")
            x = self.norm(x + y, f"{layer}.attention.output.LayerNorm")
            y = ACTIVATIONS[self.config["hidden_act"]](self.dense(x, f"{layer}.intermediate.dense"))
            x = self.norm(x + self.dense(y, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return x

    def sentence(self, text, pooling="mean"):
        states = self.states(text)
        pooled = states.mean(0) if pooling == "mean" else states[0]
        return pooled / np.linalg.norm(pooled)

    def logits(self, first, second):
        return self.dense(np.tanh(self.dense(self.states(first, second)[0], "pooler.dense")), "classifier")


@pytest.fixture(scope="session")
def reference():
    """The NumPy forward pass of a folder: `reference(folder).sentence(text)`."""
    return Reference


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, request):
    """Each test has a cache folder of its own, but for those with the real weights, which may lie in the user's."""
    if "real_model" not in request.fixturenames:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"
