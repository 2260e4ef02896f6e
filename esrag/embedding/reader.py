"""The reader: scores how well a statement answers a question, and a passage supports a sentence.

It is a cross-encoder on the default encoder's words and lowest layer, with layers and a head for
both scores in reader.safetensors: 9 MB, in int8 with a scale for each row. benchmarks/reader.py
trains it, and benchmarks/quotes.py further. For answers, answers.safetensors adds to each matrix
what it learnt from questions in everyday words: benchmarks/exams.py trains that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.checkpoint import Tensors, Weights
from esrag.embedding.model_files import find_record
from esrag.embedding.nearness import WordNearness
from esrag.embedding.onnx import OnnxClassifier, OnnxEmbedder

WEIGHTS_FILE = Path(__file__).with_name("reader.safetensors")
ANSWERS_FILE = Path(__file__).with_name("answers.safetensors")
MAX_TOKENS = 128  # of question and statement together
MAX_ENTAILING_TOKENS = 384  # of sentence and passage together

Scores = npt.NDArray[np.float64]


class Reader:
    """Scores pairs of texts; the model is built at the first of them."""

    def __init__(self, options: EmbedderOptions) -> None:
        self._options = options

    def __call__(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how well each statement answers the question, shape (len(statements),).

        Scores lie between about -11 and 7; from 0 a statement is more likely than not an answer.

        Raises: ModelError for an encoder that is missing or has other weights than the pinned ones.
        """
        pairs = [(question, statement) for statement in statements]
        return self._answers.logits(pairs, MAX_TOKENS)[:, 0].astype(np.float64)

    def compare(self, question: str, statements: Sequence[str]) -> Scores:
        """Return how near each statement's words come to the question's, 0..1, without reading.

        The shape is (len(statements),). Raises: ModelError, as when called.
        """
        return self._words.compare(question, statements)

    def entail(self, sentence: str, passages: Sequence[str]) -> Scores:
        """Return the logarithm of the odds that each passage supports the sentence.

        The shape is (len(passages),). Raises: ModelError, as when called.
        """
        pairs = [(sentence, passage) for passage in passages]
        return self._support.logits(pairs, MAX_ENTAILING_TOKENS)[:, 1].astype(np.float64)

    @cached_property
    def _words(self) -> WordNearness:
        return WordNearness(self._options)

    @cached_property
    def _answers(self) -> OnnxClassifier:
        return OnnxClassifier(self._options, open_weights=partial(open_added, ANSWERS_FILE))

    @cached_property
    def _support(self) -> OnnxClassifier:
        return OnnxClassifier(self._options, open_weights=open_weights)


@dataclass(frozen=True, slots=True)
class _Overlaid:
    """Tensors over others, or what is added to matrices of these.

    Rows in int8 have a scale each, under their name and ".scale". What is added is a product of two
    narrow matrices, under the name and ".left" and ".right": Hu et al., LoRA, ICLR 2022.
    """

    own: Mapping[str, npt.NDArray[np.generic]]
    others: Tensors

    def rows(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        """Return a tensor as float32. Raises: ModelError for one that neither has."""
        if name in self.own:
            rows, scale = self._read(name), f"{name}.scale"
            return rows * self._read(scale)[:, None] if scale in self.own else rows

        rows, left = self.others.rows(name, *shape), f"{name}.left"
        return rows + self._read(left) @ self._read(f"{name}.right") if left in self.own else rows

    def length(self, name: str) -> int:
        """Return the size of a tensor's first axis. Raises: ModelError for a missing one."""
        return len(self.own[name]) if name in self.own else self.others.length(name)

    def _read(self, name: str) -> npt.NDArray[np.float32]:
        return self.own[name].astype(np.float32)


def open_reader(embedder: Embedder | None, options: EmbedderOptions) -> Reader | None:
    """Return the reader, or None for another encoder than the default one: it shares its words."""
    if not isinstance(embedder, OnnxEmbedder) or find_record(options.model) is None:
        return None
    return Reader(replace(options, offline=True))


def open_weights(folder: Path) -> Tensors:
    """Return the reader's tensors; those that it shares are the encoder's in the folder."""
    from safetensors.numpy import load_file

    return _Overlaid(load_file(WEIGHTS_FILE), Weights(folder))


def open_added(file: Path, folder: Path) -> Tensors:
    """Return the reader's tensors with what a file adds to them, or has in their place."""
    from safetensors.numpy import load_file

    return _Overlaid(load_file(file), open_weights(folder))
