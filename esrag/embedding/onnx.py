"""The default encoder: a BERT folder as an ONNX model, built in memory and run by onnxruntime.

One text a call, one thread a call, as many workers as cores: for texts of more than about 100
tokens this beats every batch size, because a call's tensors stay in a core's cache. It also needs
no padding, so that a vector is the same to the bit whichever texts are encoded with it (an int8
batch shares its activations' scale, padding included).
"""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from esrag.embedding import EmbedderOptions, Kind, Vectors, bert, model_files
from esrag.embedding.checkpoint import Checkpoint, Tensors, Weights, read_checkpoint
from esrag.embedding.windows import TokenIds, WindowTokeniser, open_tokenizer, pool_windows

if TYPE_CHECKING:  # onnxruntime takes 0.1 s to import: only what runs a model pays for it
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

Item = TypeVar("Item")
Result = TypeVar("Result")


class OnnxEmbedder:
    """Encodes texts with a BERT folder; the vectors of a text longer than the window are pooled."""

    def __init__(self, options: EmbedderOptions) -> None:
        self._options = options
        self._workers = Workers(options.workers or count_cores())

    @property
    def fingerprint(self) -> str:
        """Return model, weights, precision, pooling and window.

        For example "onnx all-MiniLM-L6-v2@53aa51172d14 int8 mean 256".
        """
        checkpoint, found = self._checkpoint, self._found
        model = f"{found.name}@{found.sha256[:12]}"
        return (
            f"onnx {model} {self._options.precision} {checkpoint.pooling} {checkpoint.max_tokens}"
        )

    @property
    def dimensions(self) -> int:
        """Return the width of a vector."""
        return self._checkpoint.config.hidden_size

    @property
    def window(self) -> int:
        """Return how many tokens one pass reads, without special tokens."""
        return self._tokeniser.size

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the offsets of a text's tokens, without special tokens."""
        return self._tokeniser.offsets(text)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002 -- BERT reads both alike
        """Return unit rows, float32, shape (len(texts), dimensions).

        Raises: ModelError for weights that are missing, not the pinned ones, or refused.
        """
        vectors = self._workers.map_longest_first(self._model.sentence, texts, len)
        return np.array(vectors, dtype=np.float32).reshape(len(texts), self.dimensions)

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the unit vectors of its tokens, without special tokens.

        Their shape is (tokens, dimensions).
        """
        return list(self._workers.map(self._model.tokens, texts))

    @cached_property
    def _found(self) -> model_files.ModelFolder:
        return model_files.locate(self._options.model, offline=self._options.offline)

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        return read_checkpoint(self._found.path)

    @cached_property
    def _tokeniser(self) -> WindowTokeniser:
        return WindowTokeniser(self._checkpoint.tokenizer_path, self._checkpoint.max_tokens)

    @cached_property
    def _model(self) -> "_SentenceModel":
        model = bert.sentence_model(self._checkpoint, self._options.precision)
        return _SentenceModel(self._tokeniser, open_session(model))


@dataclass(frozen=True, slots=True)
class _SentenceModel:
    """An opened model; its methods may run in many threads at once."""

    tokeniser: WindowTokeniser
    session: "InferenceSession"

    def sentence(self, text: str) -> Vectors:
        """Return the text's unit vector."""
        windows = self.tokeniser.windows(text)
        return pool_windows([self._run(window, bert.SENTENCE) for window in windows], windows)

    def tokens(self, text: str) -> Vectors:
        """Return the unit vectors of the text's tokens."""
        runs = (self._run(window, bert.TOKENS) for window in self.tokeniser.windows(text))
        states = np.concatenate([self.tokeniser.states(run) for run in runs])
        unit: Vectors = np.divide(
            states, np.linalg.norm(states, axis=1, keepdims=True), dtype=np.float32
        )
        return unit

    def _run(self, window: TokenIds, output: str) -> Vectors:
        """Return one output for one window; the other output is not copied out of the runtime."""
        result: Vectors = self.session.run([output], {bert.TOKEN_IDS: window[None]})[0][0]
        return result


class OnnxClassifier:
    """Scores pairs of texts with a BERT folder that has a classifier head, as cross-encoders do.

    `open_weights` opens those of the folder. The model is read at first use, and run by as many
    threads as there are cores.
    """

    def __init__(
        self, options: EmbedderOptions, *, open_weights: Callable[[Path], Tensors] = Weights
    ) -> None:
        self._options, self._open_weights = options, open_weights
        self._workers = Workers(options.workers or count_cores())
        self._tokenizers: dict[int, Tokenizer] = {}  # by the tokens that they cut a pair to

    def logits(self, pairs: Sequence[tuple[str, str]], max_tokens: int | None = None) -> Vectors:
        """Return one row for each pair, as the head gives them, shape (len(pairs), labels).

        A pair is cut to `max_tokens`, or to the folder's length if none are given.

        Raises: ModelError for weights that are missing or refused.
        """
        session = self._session
        tokenizer = self._tokenizer(max_tokens or self._checkpoint.max_tokens)

        def run(pair: tuple[str, str]) -> Vectors:
            encoding = tokenizer.encode(*pair)
            ids, types = np.array([[encoding.ids], [encoding.type_ids]], np.int32)
            inputs = {bert.TOKEN_IDS: ids, bert.TOKEN_TYPES: types}
            row: Vectors = session.run(None, inputs)[0][0]
            return row

        labels = session.get_outputs()[0].shape[1]
        rows = self._workers.map_longest_first(run, pairs, lambda pair: sum(map(len, pair)))
        return np.array(rows, dtype=np.float32).reshape(len(pairs), labels)

    @cached_property
    def _session(self) -> "InferenceSession":
        model = bert.classifier_model(
            self._checkpoint, self._options.precision, open_weights=self._open_weights
        )
        return open_session(model)

    @cached_property
    def _checkpoint(self) -> Checkpoint:
        return read_checkpoint(
            model_files.locate(self._options.model, offline=self._options.offline).path
        )

    def _tokenizer(self, max_tokens: int) -> "Tokenizer":
        if max_tokens not in self._tokenizers:
            tokenizer = open_tokenizer(self._checkpoint.tokenizer_path)
            tokenizer.enable_truncation(max_tokens)
            self._tokenizers[max_tokens] = tokenizer
        return self._tokenizers[max_tokens]


class Workers:
    """Threads that are started at first use, and again after a fork, which they do not survive."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> Iterable[Result]:
        """Return the function's results in the items' order; a single item needs no thread."""
        if self.count == 1 or len(items) <= 1:
            return map(function, items)
        if self._pool is None or self._process != os.getpid():
            self._pool, self._process = ThreadPoolExecutor(self.count, "esrag-encoder"), os.getpid()
        return self._pool.map(function, items)

    def map_longest_first(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        length: Callable[[Item], int],
    ) -> list[Result]:
        """Return the results in the items' order; no thread ends long after the others."""
        order = sorted(range(len(items)), key=lambda number: -length(items[number]))
        results = self.map(function, [items[number] for number in order])
        return [result for _, result in sorted(zip(order, results, strict=True), key=itemgetter(0))]


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_session(model: bytes) -> "InferenceSession":
    """Return a session of one thread, on the CPU.

    BASIC optimisation is enough, since nothing is left to fuse.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3  # errors only: its warnings speak of graphics cards
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
