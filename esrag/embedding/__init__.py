"""Embedding: texts → unit vectors.

The contract, for every class registered under `esrag.embedders`:

- `Embedder(EmbedderOptions)` takes plain values and does nothing slow; the model is opened at first
  use.
- `fingerprint` names everything that changes a vector (model, weights, precision, pooling, window),
  readably.
- `dimensions` is the width; `window` is the number of tokens a single pass reads, special tokens
  not counted.
- `tokens(text)` gives the offsets of a text's tokens, special tokens left out.
- `embed(texts, kind)` → float32, shape (len(texts), dimensions), unit rows; no text gives (0,
  dimensions). A text longer than the window is embedded in windows and pooled, never cut. A text's
  vector does not depend on the others.

`check_vectors` is called around every `embed`: a wrong count, a wrong width, NaN or a row that is
not a unit vector is an error before anything is indexed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from esrag.errors import EmbeddingError

Vectors = npt.NDArray[np.float32]
Kind = Literal["passage", "query"]


@dataclass(frozen=True, slots=True)
class EmbedderOptions:
    """Options of an embedder: a model name or folder, its precision, and worker threads.

    `workers` 0 is one thread per core; `offline` forbids downloads. For a service: its address (""
    is the provider's own), the key, the limits per minute (0 is none), and the address of the Redis
    through which all workers share these limits ("" shares them among the threads of this process).
    """

    model: str
    precision: Literal["int8", "fp32"] = "int8"
    workers: int = 0
    offline: bool = False
    url: str = ""
    api_key: str = field(default="", repr=False)
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    limits_url: str = field(default="", repr=False)


class Embedder(Protocol):
    """Encodes texts; see the module for the promises."""

    def __init__(self, options: EmbedderOptions) -> None: ...

    @property
    def fingerprint(self) -> str:
        """Return everything that changes a vector, in one readable line."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the width of a vector."""
        ...

    @property
    def window(self) -> int:
        """Return how many tokens one pass reads, without special tokens."""
        ...

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the offsets of a text's tokens, without special tokens."""
        ...

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return unit rows, float32, shape (len(texts), dimensions)."""
        ...


def measure_products(rows: Vectors, others: Vectors) -> Vectors:
    """Return the product of each row with each of the others, shape (len(rows), len(others)).

    Not `rows @ others.T`: that starts the threads of the BLAS, which keep spinning for some 0.1 s,
    in which the encoder's own threads get half of each core.

    >>> measure_products(np.eye(2, dtype=np.float32), np.array([[3, 4]], np.float32)).tolist()
    [[3.0], [4.0]]
    """
    products: Vectors = np.vecdot(rows[:, None], others[None])
    return products


def check_vectors(vectors: Vectors, count: int, dimensions: int) -> Vectors:
    """Return the vectors, if they keep the contract.

    Raises: EmbeddingError for a wrong shape, NaN, infinity or a row whose length is not 1 (to
    1e-3).
    """
    if vectors.shape != (count, dimensions):
        raise EmbeddingError(
            f"the encoder returned shape {vectors.shape}, expected {(count, dimensions)}"
        )
    # NaN and infinity fail this too.
    if count and not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise EmbeddingError("the encoder returned rows that are not unit vectors")
    return vectors
