"""Late interaction: tokens of the question against tokens of a hit, with the index's encoder.

A hit's score is the mean over the question's tokens of the best cosine with a token of the hit, as
ColBERT sums them (Khattab & Zaharia, SIGIR 2020), but with an encoder that was not trained for it.
Both scores are brought to one scale by their spread among the hits: the addition is weight ·
(spread of the scores) · (distance from the mean in spreads).
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from esrag.chunking.cut import text_to_index
from esrag.embedding import Vectors, measure_products
from esrag.errors import SettingsError
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, by

_NOISE = 1e-9


@runtime_checkable
class TokenEncoder(Protocol):
    """An embedder that gives the vectors of tokens too."""

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the unit vectors of its tokens."""
        ...


class LateInteraction:
    """Compares tokens; reads each hit with the encoder, which costs milliseconds a hit."""

    cost: ClassVar[Cost] = "hit"

    def __init__(self, options: RerankOptions) -> None:
        encoder = options.embedder
        if not isinstance(encoder, TokenEncoder):
            hint = "set embedding.provider=onnx and a model, or leave it out of rerank.chain"
            raise SettingsError(
                "the reranker 'late-interaction' needs an encoder with token vectors", hint=hint
            )
        self._encoder: TokenEncoder = encoder
        self._weight: float = options.weight

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- measured
        """Return the weighted, scaled mean of the best cosines."""
        asked, *read = self._encoder.token_vectors(
            [question, *(text_to_index(hit.chunk) for hit in hits)]
        )
        best = np.array([_best(asked, tokens) for tokens in read], dtype=np.float64).round(6)
        scores = np.array([hit.score for hit in hits], dtype=np.float64)
        spread = best.std()
        scaled = (best - best.mean()) / spread if spread > _NOISE else np.zeros(len(hits))
        width = scores.std() if scores.std() > _NOISE else 1.0
        return by("late-interaction", (self._weight * width * scaled).tolist())


def _best(asked: Vectors, tokens: Vectors) -> float:
    """Return the mean over the question's tokens of the best cosine; 0 if either has no tokens."""
    if not len(asked) or not len(tokens):
        return 0.0
    return float(measure_products(asked, tokens).max(axis=1).mean())
