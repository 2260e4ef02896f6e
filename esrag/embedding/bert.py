"""BERT as an ONNX model, built from the weights alone, in int8 or float32.

In int8 the weights are quantised once, to seven bits, and activations as they come. The model reads
one text, or texts of exactly one length: without a mask, nothing may be padded. Norms stay plain
LayerNormalization nodes: onnxruntime's fused SkipLayerNormalization and BiasGelu are slower on the
CPU since 1.30, by 30 to 45 % for one text per call.

Devlin, Chang, Lee & Toutanova, BERT, NAACL 2019; pooling after Reimers & Gurevych, Sentence-BERT,
EMNLP 2019.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from esrag.embedding.checkpoint import Activation, Checkpoint, Pooling, Tensors, Weights
from esrag.embedding.graph import MICROSOFT, Graph, Port

Precision = Literal["int8", "fp32"]
Floats = npt.NDArray[np.float32]

TOKEN_IDS, TOKEN_TYPES = "input_ids", "token_type_ids"
SENTENCE, TOKENS, LOGITS = "sentence_embedding", "token_embeddings", "logits"
WORDS = "embeddings.word_embeddings.weight"  # the tensor of a BERT folder

# The largest weight that is multiplied. Processors without VNNI add two products in 16 bits, and
# larger weights would overflow there: 2 × 255 × 63 is less than 2^15, 2 × 255 × 127 is not.
_FACTOR_LIMIT = 63
_FLOAT32 = 1  # ONNX's number for the type, for Cast
_GELU_FORM: Mapping[Activation, str] = {
    "gelu": "none",
    "gelu_new": "tanh",
    "gelu_pytorch_tanh": "tanh",
}


def sentence_model(checkpoint: Checkpoint, precision: Precision) -> bytes:
    """Return the model that gives the unit vectors of texts and the last states of their tokens.

    Their shapes are (n, hidden) and (n, length, hidden).

    Raises: ModelError for weights that are missing or of the wrong shape.
    """
    bert = _Bert(checkpoint, Weights(checkpoint.folder), precision)
    hidden = checkpoint.config.hidden_size
    states = bert.encode(bert.add_first_type_embeddings())
    bert.pool(states, checkpoint.pooling)
    bert.graph.inputs = [Port(TOKEN_IDS, "int32", ("n", "length"))]
    bert.graph.outputs = [
        Port(SENTENCE, "float32", ("n", hidden)),
        Port(TOKENS, "float32", ("n", "length", hidden)),
    ]
    return bert.graph.to_bytes()


def classifier_model(
    checkpoint: Checkpoint,
    precision: Precision,
    open_weights: Callable[[Path], Tensors] = Weights,
) -> bytes:
    """Return the model that gives logits (n, labels) for pairs of texts.

    Its input also says which tokens are those of the second text. `open_weights` opens those of the
    checkpoint's folder.

    Raises: ModelError for weights that are missing, the head's among them, or of the wrong shape.
    """
    weights = open_weights(checkpoint.folder)
    bert = _Bert(checkpoint, weights, precision)
    labels = weights.length("classifier.bias")
    bert.classify(bert.encode_first(bert.add_typed_embeddings()), labels)
    bert.graph.inputs = [Port(name, "int32", ("n", "length")) for name in (TOKEN_IDS, TOKEN_TYPES)]
    bert.graph.outputs = [Port(LOGITS, "float32", ("n", labels))]
    return bert.graph.to_bytes()


def quantise_rows(rows: Floats, limit: int = 127) -> tuple[npt.NDArray[np.int8], Floats]:
    """Return rows as int8 with a scale each, so that `quantised * scale` is close to the row.

    The scale is symmetric about 0, and the largest value becomes `limit`.

    >>> quantise_rows(np.array([[1.0, -0.5], [0.0, 0.0]], np.float32))[0].tolist()
    [[127, -64], [0, 0]]
    """
    largest = np.maximum(rows.max(axis=1), -rows.min(axis=1))
    scale = np.maximum(largest, np.float32(1e-12)) / np.float32(limit)
    steps = rows / scale[:, None]
    return np.rint(steps, out=steps).astype(np.int8), scale


@dataclass(slots=True)
class _Bert:
    """The parts of a BERT; each adds its nodes to one graph and returns the name of its output."""

    checkpoint: Checkpoint
    weights: Tensors
    precision: Precision
    graph: Graph = field(default_factory=Graph)

    def add_first_type_embeddings(self) -> str:
        """Add token embeddings for tokens of the first type.

        The row of that type is folded into the positions.
        """
        first_type = self._type_rows()[0]
        return self._embeddings(self._position_rows() + first_type)

    def add_typed_embeddings(self) -> str:
        """Add token embeddings with a type for each token, for pairs."""
        table = self.graph.add_constant("types", self._type_rows())
        words = self._embeddings(self._position_rows())
        return self.graph.add("Add", words, self.graph.add("Gather", table, TOKEN_TYPES))

    def encode(self, embeddings: str) -> str:
        """Add the layers, and return the states of the last one."""
        states, last = self._lower_layers(embeddings)
        return self._transform(self._attention(states, last), states, last, TOKENS)

    def encode_first(self, embeddings: str) -> str:
        """Add the layers, and return the first state of the last one, shape (n, hidden).

        The last layer's dense layers see no other state: an eighth less work.
        """
        states, last = self._lower_layers(embeddings)
        attended = self._first(self._attention(states, last))
        return self._transform(attended, self._first(states), last)

    def pool(self, states: str, pooling: Pooling) -> None:
        """Add the unit vector of the mean state, or of the first state."""
        if pooling == "cls":
            pooled = self._first(states)
        else:
            tokens_axis = self.graph.add_constant("tokens_axis", np.array([1]))
            pooled = self.graph.add("ReduceMean", states, tokens_axis, keepdims=0)
        self.graph.add("LpNormalization", pooled, output=SENTENCE, axis=-1, p=2)

    def classify(self, states: str, labels: int) -> None:
        """Add BERT's pooler over first states, then a linear layer."""
        hidden = self.checkpoint.config.hidden_size
        pooler = self._parameters("pooler.dense", hidden, hidden)
        pooled = self.graph.add("Tanh", self.graph.add("Gemm", states, *pooler, transB=1))
        self.graph.add(
            "Gemm", pooled, *self._parameters("classifier", labels, hidden), output=LOGITS, transB=1
        )

    def _embeddings(self, positions: Floats) -> str:
        """Add the words' rows plus as many of the first positions as there are tokens."""
        start = self.graph.add_constant("start", np.array([0]))
        one, two = (
            self.graph.add_constant(name, np.array([value]))
            for name, value in (("one", 1), ("two", 2))
        )
        length = self.graph.add("Slice", self.graph.add("Shape", TOKEN_IDS), one, two)
        rows = self.graph.add(
            "Slice", self.graph.add_constant("positions", positions), start, length, start
        )
        return self.graph.add("Add", self._word_rows(), rows)

    def _word_rows(self) -> str:
        config = self.checkpoint.config
        table = self.weights.rows(WORDS, config.vocab_size, config.hidden_size)
        if self.precision == "fp32":
            return self.graph.add("Gather", self.graph.add_constant("words", table), TOKEN_IDS)

        quantised, scale = quantise_rows(table)
        rows = self.graph.add("Gather", self.graph.add_constant("words", quantised), TOKEN_IDS)
        scales = self.graph.add(
            "Gather", self.graph.add_constant("words.scale", scale[:, None]), TOKEN_IDS
        )
        return self.graph.add("Mul", self.graph.add("Cast", rows, to=_FLOAT32), scales)

    def _position_rows(self) -> Floats:
        config = self.checkpoint.config
        shape = (config.max_position_embeddings, config.hidden_size)
        return self.weights.rows("embeddings.position_embeddings.weight", *shape)

    def _type_rows(self) -> Floats:
        config = self.checkpoint.config
        shape = (config.type_vocab_size, config.hidden_size)
        return self.weights.rows("embeddings.token_type_embeddings.weight", *shape)

    def _lower_layers(self, embeddings: str) -> tuple[str, str]:
        """Add all layers but the last one, and return their states and the last one's name."""
        states = self._norm(embeddings, "embeddings.LayerNorm")
        *lower, last = (
            f"encoder.layer.{number}" for number in range(self.checkpoint.config.num_hidden_layers)
        )
        for name in lower:
            states = self._transform(self._attention(states, name), states, name)
        return states, last

    def _transform(self, attended: str, states: str, name: str, output: str = "") -> str:
        """Add a layer's dense layers, each added to its input and normalised."""
        hidden, inner = self.checkpoint.config.hidden_size, self.checkpoint.config.intermediate_size
        attention = f"{name}.attention.output"
        attended = self._dense(attended, f"{attention}.dense", hidden, hidden)
        states = self._norm(self.graph.add("Add", attended, states), f"{attention}.LayerNorm")

        wide = self._dense(states, f"{name}.intermediate.dense", inner, hidden)
        expanded = self._dense(self._activation(wide), f"{name}.output.dense", hidden, inner)
        total = self.graph.add("Add", expanded, states)
        return self._norm(total, f"{name}.output.LayerNorm", output)

    def _attention(self, states: str, layer: str) -> str:
        """Add self-attention of all heads.

        Query, key and value are one matrix of 3 × hidden columns.
        """
        heads = self.checkpoint.config.num_attention_heads
        rows, biases = self._read_attention(layer)
        weight = f"{layer}.attention.self.weight"
        bias = self.graph.add_constant(f"{layer}.attention.self.bias", biases)

        if self.precision == "fp32":
            inputs = (states, self.graph.add_constant(weight, rows.T), bias)
            return self.graph.add("Attention", *inputs, domain=MICROSOFT, num_heads=heads)

        inputs8 = self._quantise_attention(states, weight, rows, bias)
        return self.graph.add("QAttention", *inputs8, domain=MICROSOFT, num_heads=heads)

    def _quantise_attention(
        self, states: str, weight: str, rows: Floats, bias: str
    ) -> tuple[str, ...]:
        """Return the inputs of a quantised attention, in the order of its operator."""
        columns, scales = self._quantise_columns(weight, rows)
        values, scale, zero = self.graph.quantise_linearly(states)
        weight_zero = self.graph.add_constant("weight_zero_point", np.int8(0))
        return (values, columns, bias, scale, scales, "", zero, weight_zero)

    def _read_attention(self, layer: str) -> tuple[Floats, Floats]:
        """Return the weights and the biases of query, key and value, one below the other."""
        hidden = self.checkpoint.config.hidden_size
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        rows = [self.weights.rows(f"{part}.weight", hidden, hidden) for part in parts]
        biases = [self.weights.rows(f"{part}.bias", hidden) for part in parts]
        return np.concatenate(rows), np.concatenate(biases)

    def _dense(self, values: str, name: str, width_out: int, width_in: int) -> str:
        rows = self.weights.rows(f"{name}.weight", width_out, width_in)
        bias = self.graph.add_constant(f"{name}.bias", self.weights.rows(f"{name}.bias", width_out))
        if self.precision == "fp32":
            product = self.graph.add(
                "MatMul", values, self.graph.add_constant(f"{name}.weight", rows.T)
            )
            return self.graph.add("Add", product, bias)
        columns, scales = self._quantise_columns(f"{name}.weight", rows)
        return self.graph.add(
            "DynamicQuantizeMatMul", values, columns, scales, "", bias, domain=MICROSOFT
        )

    def _quantise_columns(self, name: str, rows: Floats) -> tuple[str, str]:
        """Add a matrix with a column for each output, and each column's scale."""
        quantised, scale = quantise_rows(rows, _FACTOR_LIMIT)
        return self.graph.add_constant(name, quantised.T), self.graph.add_constant(
            f"{name}.scale", scale
        )

    def _activation(self, values: str) -> str:
        form = _GELU_FORM.get(self.checkpoint.config.hidden_act)
        return (
            self.graph.add("Gelu", values, approximate=form)
            if form
            else self.graph.add("Relu", values)
        )

    def _norm(self, values: str, name: str, output: str = "") -> str:
        hidden, epsilon = self.checkpoint.config.hidden_size, self.checkpoint.config.layer_norm_eps
        parameters = (
            self.graph.add_constant(f"{name}.{part}", self.weights.rows(f"{name}.{part}", hidden))
            for part in ("weight", "bias")
        )
        return self.graph.add(
            "LayerNormalization", values, *parameters, output=output, axis=-1, epsilon=epsilon
        )

    def _first(self, states: str) -> str:
        return self.graph.add(
            "Gather", states, self.graph.add_constant("first", np.int64(0)), axis=1
        )

    def _parameters(self, name: str, width_out: int, width_in: int) -> tuple[str, str]:
        weight = self.graph.add_constant(
            f"{name}.weight", self.weights.rows(f"{name}.weight", width_out, width_in)
        )
        return weight, self.graph.add_constant(
            f"{name}.bias", self.weights.rows(f"{name}.bias", width_out)
        )
