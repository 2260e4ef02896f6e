"""Cross-encoders: question and hit read together by a model that was trained to say how well they fit.

Their score takes the place of the one before: what is added is the difference.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from esrag.chunking.cut import indexed_text
from esrag.embedding import EmbedderOptions
from esrag.embedding.onnx import OnnxClassifier
from esrag.errors import SettingsError
from esrag.records import Hit
from esrag.reranking import Added, RerankOptions, by

_HINT = "set rerank.model to the folder of a cross-encoder"


class CrossEncoder:
    """Runs a BERT folder with a classifier head as ONNX; `rerank.model` is the folder."""

    takes_long: ClassVar[bool] = True

    def __init__(self, options: RerankOptions) -> None:
        """Takes the options. Raises: SettingsError without a model."""
        if not options.model:
            raise SettingsError("the reranker 'cross-encoder' needs a model", hint=_HINT)
        self._options = EmbedderOptions(options.model, options.precision, options.workers, offline=True)

    def added(self, question: str, hits: Sequence[Hit]) -> Sequence[Added]:
        """The head's score in place of the hit's; of several labels the last, which says that they fit."""
        logits = self._classifier.logits([(question, indexed_text(hit.chunk)) for hit in hits])
        return by("cross-encoder", replaced(hits, logits[:, -1].tolist()))

    @cached_property
    def _classifier(self) -> OnnxClassifier:
        return OnnxClassifier(self._options)


class SentenceTransformersCrossEncoder:
    """Runs `rerank.model` with sentence-transformers; it comes with the extra of that name."""

    takes_long: ClassVar[bool] = True

    def __init__(self, options: RerankOptions) -> None:
        """Takes the options. Raises: SettingsError without a model, or without the extra."""
        if not options.model:
            raise SettingsError("the reranker 'sentence-transformers' needs a model", hint=_HINT)
        if find_spec("sentence_transformers") is None:
            hint = "pip install 'esrag[sentence-transformers]'"
            raise SettingsError("the reranker 'sentence-transformers' needs a package that is not there", hint=hint)
        self._options = options

    def added(self, question: str, hits: Sequence[Hit]) -> Sequence[Added]:
        """The model's score in place of the hit's."""
        scores = np.asarray(
            self._model.predict([(question, indexed_text(hit.chunk)) for hit in hits]), dtype=np.float64
        )
        return by("cross-encoder", replaced(hits, scores.reshape(len(hits), -1)[:, -1].tolist()))

    @cached_property
    def _model(self) -> Any:
        model = import_module("sentence_transformers").CrossEncoder
        return model(self._options.model, device="cpu", local_files_only=self._options.offline)


def replaced(hits: Sequence[Hit], scores: Sequence[float]) -> list[float]:
    """What to add so that these are the scores."""
    return [score - hit.score for hit, score in zip(hits, scores, strict=True)]
