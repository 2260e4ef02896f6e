"""The reader: scores how well a statement answers a question, and a passage supports a sentence.

It is a cross-encoder on the default encoder's words and lowest layer, with layers and a head for
both scores in reader.safetensors: 9 MB, in int8 with a scale for each row. benchmarks/reader.py
trains it, and benchmarks/quotes.py further.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from esrag.embedding import Embedder, EmbedderOptions
from esrag.embedding.checkpoint import Tensors, Weights
from esrag.embedding.model_files import find_record
from esrag.embedding.onnx import OnnxClassifier, OnnxEmbedder

WEIGHTS_FILE = Path(__file__).with_name("reader.safetensors")
MAX_TOKENS = 128  # of question and statement together
MAX_ENTAILING_TOKENS = 384  # of sentence and passage together


class Reader:
    """Scores pairs of texts; the model is built at the first of them."""

    def __init__(self, options: EmbedderOptions) -> None:
        self._options = options

    def __call__(self, question: str, statements: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each statement answers the question, shape (len(statements),).

        Scores lie between about -11 and 7; from 0 a statement is more likely than not an answer.

        Raises: ModelError for an encoder that is missing or has other weights than the pinned ones.
        """
        pairs = [(question, statement) for statement in statements]
        return self._classifier.logits(pairs, MAX_TOKENS)[:, 0].astype(np.float64)

    def entail(self, sentence: str, passages: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the logarithm of the odds that each passage supports the sentence.

        The shape is (len(passages),). Raises: ModelError, as when called.
        """
        pairs = [(sentence, passage) for passage in passages]
        return self._classifier.logits(pairs, MAX_ENTAILING_TOKENS)[:, 1].astype(np.float64)

    @cached_property
    def _classifier(self) -> OnnxClassifier:
        return OnnxClassifier(self._options, open_weights=open_weights)


@dataclass(frozen=True, slots=True)
class _Overlaid:
    """Tensors over others: rows in int8 have a scale each, under their name and ".scale"."""

    own: Mapping[str, npt.NDArray[np.generic]]
    others: Tensors

    def rows(self, name: str, *shape: int) -> npt.NDArray[np.float32]:
        """Return a tensor as float32. Raises: ModelError for one that neither has."""
        if name not in self.own:
            return self.others.rows(name, *shape)
        rows = self.own[name].astype(np.float32)
        scale = self.own.get(f"{name}.scale")
        return rows if scale is None else rows * scale.astype(np.float32)[:, None]

    def length(self, name: str) -> int:
        """Return the size of a tensor's first axis. Raises: ModelError for a missing one."""
        return len(self.own[name]) if name in self.own else self.others.length(name)


def open_reader(embedder: Embedder | None, options: EmbedderOptions) -> Reader | None:
    """Return the reader, or None for another encoder than the default one: it shares its words."""
    if not isinstance(embedder, OnnxEmbedder) or find_record(options.model) is None:
        return None
    return Reader(replace(options, offline=True))


def open_weights(folder: Path) -> Tensors:
    """Return the reader's tensors; those that it shares are the encoder's in the folder."""
    from safetensors.numpy import load_file

    return _Overlaid(load_file(WEIGHTS_FILE), Weights(folder))
