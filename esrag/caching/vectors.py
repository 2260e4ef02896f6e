"""Vectors by their text, in half precision: a million of 384 numbers take about a gigabyte."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from esrag.caching import Cache, Kind, count_lookups, seal, unseal
from esrag.embedding import Vectors

_STORED = np.dtype("<f2")


class VectorCache:
    """Vectors of passages; `fingerprint` is the embedder's and names all that changes a vector."""

    def __init__(self, cache: Cache, fingerprint: str, dimensions: int) -> None:
        self._cache = cache
        self._dimensions = dimensions
        self._prefix = f"{Kind.VECTOR}:{_hash(f'{fingerprint} passage {dimensions}', 8)}"

    def look_up(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the cached vectors by text: unit rows, float32, shape (dimensions,).

        Damaged ones are missing.
        """
        keys = {self._key(text): text for text in texts}
        found = self._cache.get_many(list(keys))
        whole = {
            keys[key]: body
            for key, value in found.items()
            if (body := unseal(key, value)) is not None
        }
        count_lookups(self._cache, Kind.VECTOR, len(whole), len(keys) - len(whole))
        rows = np.frombuffer(b"".join(whole.values()), dtype=_STORED).reshape(-1, self._dimensions)
        return dict(zip(whole, _units(rows), strict=True))

    def keep(self, texts: Sequence[str], rows: Vectors) -> Vectors:
        """Store the rows and return them as `look_up` will, so a cache never changes an index."""
        stored = rows.astype(_STORED)
        bodies = {self._key(text): row.tobytes() for text, row in zip(texts, stored, strict=True)}
        self._cache.set_many(
            {key: seal(key, body) for key, body in bodies.items()}, self._cache.ttl_s
        )
        return _units(stored)

    def _key(self, text: str) -> str:
        return f"{self._prefix}:{_hash(text, 16)}"


def _hash(text: str, size_bytes: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size_bytes).hexdigest()


def _units(stored: np.ndarray[tuple[int, ...], np.dtype[np.float16]]) -> Vectors:
    """Return unit rows, float32.

    Each is summed by itself, so its bits do not depend on the other rows.
    """
    rows = stored.astype(np.float32)
    units: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return units
