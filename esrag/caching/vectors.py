"""Vectors by the text they were made of: half precision, so that a million of 384 numbers take about a gigabyte."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from esrag.caching import Cache, Kind
from esrag.embedding import Vectors

_STORED = np.dtype("<f2")
_UNIT = 0.01  # half precision moves the length of a unit vector by at most 0.0005; nonsense seldom is this near to 1


class VectorCache:
    """The vectors of passages. `fingerprint` is the embedder's: it names all that changes a vector."""

    def __init__(self, cache: Cache, fingerprint: str, dimensions: int) -> None:
        self._cache = cache
        self._dimensions = dimensions
        self._prefix = f"{Kind.VECTOR}:{_hash(f'{fingerprint} passage {dimensions}', 8)}"

    def known(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """The vectors that are kept, by text: unit rows, float32, shape (dimensions,). What is damaged is missing."""
        keys = {self._key(text): text for text in texts}
        found = self._cache.get_many(list(keys))
        size = self._dimensions * _STORED.itemsize
        whole = {keys[key]: value for key, value in found.items() if len(value) == size}
        rows = np.frombuffer(b"".join(whole.values()), dtype=_STORED).reshape(-1, self._dimensions)
        lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
        units = _units(rows)
        return {text: units[i] for i, text in enumerate(whole) if abs(lengths[i] - 1) < _UNIT}  # NaN is not either

    def keep(self, texts: Sequence[str], rows: Vectors) -> Vectors:
        """Keeps the rows; gives them as `known` will, so that an index is the same with an empty and a full cache."""
        stored = rows.astype(_STORED)
        values = {self._key(text): row.tobytes() for text, row in zip(texts, stored, strict=True)}
        self._cache.set_many(values, self._cache.ttl_s)
        return _units(stored)

    def _key(self, text: str) -> str:
        return f"{self._prefix}:{_hash(text, 16)}"


def _hash(text: str, size_bytes: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size_bytes).hexdigest()


def _units(stored: np.ndarray[tuple[int, ...], np.dtype[np.float16]]) -> Vectors:
    """Unit rows, float32. A row's bits do not depend on the rows beside it: each is summed up by itself."""
    rows = stored.astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):  # a damaged row is left out afterwards
        units: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
