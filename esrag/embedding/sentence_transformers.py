"""The same model run by sentence-transformers and torch: slower and larger, for more than BERT.

It needs the extra `esrag[sentence-transformers]`. Vectors are float32 whatever precision is set.
"""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from esrag.embedding import EmbedderOptions, Kind, Vectors, model_files
from esrag.embedding.windows import TokenIds, WindowTokeniser, pool_windows
from esrag.plugins import require_extra


class SentenceTransformersEmbedder:
    """Encodes texts with a folder of sentence-transformers, one window a call."""

    def __init__(self, options: EmbedderOptions) -> None:
        """Store the options.

        Raises: SettingsError if the extra is not installed.
        """
        require_extra("the embedder 'sentence-transformers'", "sentence-transformers")
        self._options = options

    @property
    def fingerprint(self) -> str:
        """Return model, weights, precision and window."""
        found = self._found
        return (
            f"sentence-transformers {found.name}@{found.sha256[:12]} fp32 "
            f"{self._model.max_seq_length}"
        )

    @cached_property
    def dimensions(self) -> int:
        """Return the width of a vector."""
        return int(self._sentence("").size)

    @property
    def window(self) -> int:
        """Return how many tokens one pass reads, without special tokens."""
        return self._tokeniser.size

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the offsets of a text's tokens, without special tokens."""
        return self._tokeniser.offsets(text)

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002 -- both are read alike
        """Return unit rows, float32, shape (len(texts), dimensions)."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([self._sentence(text) for text in texts])

    def _sentence(self, text: str) -> Vectors:
        windows = self._tokeniser.windows(text)
        return pool_windows([self._run(window) for window in windows], windows)

    def _run(self, window: TokenIds) -> Vectors:
        torch = import_module("torch")
        ids = torch.from_numpy(window[None].astype(np.int64))
        with torch.inference_mode():
            output = self._model({"input_ids": ids, "attention_mask": torch.ones_like(ids)})
        vector: Vectors = output["sentence_embedding"][0].numpy()
        return np.divide(vector, np.linalg.norm(vector), dtype=np.float32)

    @cached_property
    def _found(self) -> model_files.ModelFolder:
        return model_files.locate(self._options.model, offline=self._options.offline)

    @cached_property
    def _tokeniser(self) -> WindowTokeniser:
        return WindowTokeniser(self._found.path / "tokenizer.json", self._model.max_seq_length)

    @cached_property
    def _model(self) -> Any:
        return import_module("sentence_transformers").SentenceTransformer(
            str(self._found.path), device="cpu", local_files_only=True
        )
