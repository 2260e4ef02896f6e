"""Cross-encoders: models that read question and hit together and score how well they fit."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from esrag.chunking.cut import text_to_index
from esrag.embedding import EmbedderOptions
from esrag.embedding.model_files import ModelFolder, locate
from esrag.embedding.onnx import OnnxClassifier
from esrag.errors import ModelError, SettingsError
from esrag.plugins import require_extra
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, in_place

_MAX_LABELS = (
    2  # one score, or no and yes; with more it would be unknown which of them means that they fit
)


class CrossEncoder:
    """Runs a BERT folder with a classifier head as ONNX; `rerank.model` is the folder."""

    cost: ClassVar[Cost] = "hit"

    def __init__(self, options: RerankOptions) -> None:
        _require_model("cross-encoder", options)
        self._options = options

    @cached_property  # reading the weights takes a tenth of a second, and every question needs it
    def fingerprint(self) -> str:
        """Return weights and precision."""
        return f"{_folder(self._options).sha256} {self._options.precision}"

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- measured
        """Return the head's scores in place of the hits'.

        Raises: ModelError for another model.
        """
        logits = self._classifier.logits([(question, text_to_index(hit.chunk)) for hit in hits])
        if logits.shape[1] > _MAX_LABELS:
            raise ModelError(
                f"{self._options.model} tells {logits.shape[1]} labels apart, "
                "a cross-encoder 1 or 2"
            )
        return in_place("cross-encoder", hits, logits[:, -1].tolist())

    @cached_property
    def _classifier(self) -> OnnxClassifier:
        options = self._options
        return OnnxClassifier(
            EmbedderOptions(options.model, options.precision, options.workers, offline=True)
        )


class SentenceTransformersCrossEncoder:
    """Runs the folder `rerank.model` with sentence-transformers, from the extra of that name."""

    cost: ClassVar[Cost] = "hit"

    def __init__(self, options: RerankOptions) -> None:
        _require_model("sentence-transformers", options)
        require_extra("the reranker 'sentence-transformers'", "sentence-transformers")
        self._options = options

    @cached_property  # reading the weights takes a tenth of a second, and every question needs it
    def fingerprint(self) -> str:
        """Return the hash of the weights."""
        return _folder(self._options).sha256

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- measured
        """Return the model's scores in place of the hits'.

        Raises: ModelError for another model.
        """
        pairs = [(question, text_to_index(hit.chunk)) for hit in hits]
        scores = np.asarray(self._model.predict(pairs), dtype=np.float64).reshape(len(hits), -1)
        return in_place("sentence-transformers", hits, scores[:, -1].tolist())

    @cached_property
    def _model(self) -> Any:
        path = str(_folder(self._options).path)
        try:
            return import_module("sentence_transformers").CrossEncoder(
                path, device="cpu", local_files_only=True
            )
        except (OSError, RuntimeError, TypeError, ValueError, LookupError) as error:
            said = next(iter(str(error).splitlines()), type(error).__name__)
            raise ModelError(
                f"sentence-transformers cannot read {path} as a cross-encoder: {said}"
            ) from error


def _require_model(name: str, options: RerankOptions) -> None:
    if not options.model:
        raise SettingsError(
            f"the reranker {name!r} needs a model",
            hint="set rerank.model to a cross-encoder's folder",
        )


def _folder(options: RerankOptions) -> ModelFolder:
    """Raise ModelError for a missing folder."""
    return locate(options.model, offline=True)
