"""Vectors without a model: hashed words and parts of words, for tests and for experiments offline.

Feature hashing with signs (Weinberger et al., ICML 2009): each feature adds 1 or -1 to one of the
buckets, so that texts with words in common have a larger cosine. It knows nothing of meaning.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from esrag.embedding import EmbedderOptions, Kind, Vectors

_DIMENSIONS = 256  # a power of two, so that a hash's low byte is a fair bucket
_WINDOW = 254  # the default model's, so that chunks are the same; this embedder has no limit
_PART_LENGTH = 3
_TOKEN = re.compile(r"\w+|[^\w\s]+")


class HashingEmbedder:
    """Encodes a text as the hashes of its words and of their parts of three characters."""

    def __init__(self, options: EmbedderOptions) -> None:
        """Accept the options of every embedder; none of them changes anything here."""

    @property
    def fingerprint(self) -> str:
        """Return the method and its width."""
        return f"hashing {_DIMENSIONS}"

    @property
    def dimensions(self) -> int:
        """Return the width of a vector."""
        return _DIMENSIONS

    @property
    def window(self) -> int:
        """Return as many tokens as the default model reads; a longer text is still read whole."""
        return _WINDOW

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the offsets of words and of runs of other characters."""
        return [match.span() for match in _TOKEN.finditer(text)]

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:  # noqa: ARG002 -- both are hashed alike
        """Return unit rows, float32, shape (len(texts), 256)."""
        return np.array([_row(text) for text in texts], dtype=np.float32).reshape(-1, _DIMENSIONS)


def _row(text: str) -> npt.NDArray[np.float64]:
    """Return the text's unit row.

    A text whose features cancel out, or that has none, gets the first axis.
    """
    words = _TOKEN.findall(text.casefold())
    buckets = np.array([bucket for word in words for bucket in _buckets(word)], dtype=np.int64)
    counts = np.bincount(buckets, minlength=2 * _DIMENSIONS).astype(np.float64)
    row: npt.NDArray[np.float64] = counts[:_DIMENSIONS] - counts[_DIMENSIONS:]
    length = np.linalg.norm(row)
    return row / length if length else np.eye(1, _DIMENSIONS)[0]


@lru_cache(maxsize=100_000)
def _buckets(word: str) -> tuple[int, ...]:
    """Return the word's features as numbers below 2 × dimensions; the upper half means -1."""
    marked = f"<{word}>"
    parts = [marked[at : at + _PART_LENGTH] for at in range(len(marked) - _PART_LENGTH + 1)]
    hashes = (blake2b(feature.encode(), digest_size=2).digest() for feature in (word, *parts))
    return tuple(int.from_bytes(digest, "little") % (2 * _DIMENSIONS) for digest in hashes)
