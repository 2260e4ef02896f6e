"""Checks that every engine makes when it writes or searches."""

import re
import time
from hashlib import blake2b

import numpy as np

from esrag.engines import SearchRequest, Vectors
from esrag.errors import EngineError, IndexBusy, IndexMismatch, UsageError
from esrag.records import Fingerprint

REBUILD_HINT = "ingest every folder again with --rebuild"


def require_same(made_with: Fingerprint, asked: Fingerprint) -> None:
    """Raise IndexMismatch if an index was made with another model or chunker."""
    if made_with != asked:
        raise IndexMismatch(
            f"the index was made with {_name(made_with)}, the settings ask for {_name(asked)}",
            hint=f"go back to the old settings, or {REBUILD_HINT}",
        )


def require_model(made_with: Fingerprint, model: str) -> None:
    """Raise IndexMismatch if `model` is given and the index was made with another model."""
    if model and made_with.model != model:
        raise IndexMismatch(
            f"the index was made with {made_with.model or 'no model'}, "
            f"the settings ask for {model}",
            hint="set embedding.* back to what it was, or run: esrag ingest --rebuild",
        )


def check_rows(vectors: Vectors | None, count: int, dimensions: int) -> Vectors:
    """Return the vectors to store if they fit the index. Raises: EngineError."""
    if vectors is None:
        vectors = np.empty((count, 0), dtype=np.float32)
    if vectors.shape != (count, dimensions):
        raise EngineError(
            f"vectors have shape {vectors.shape}, the index expects {(count, dimensions)}"
        )
    if not np.isfinite(vectors).all():
        raise EngineError("vectors hold NaN or infinity, the index expects unit rows")
    return vectors


def text_hash(text: str) -> str:
    """Return the hash that identifies a text as already indexed."""
    return blake2b(text.encode(), digest_size=16).hexdigest()


def question_vector(request: SearchRequest, made_with: Fingerprint) -> Vectors | None:
    """Return the question's vector if a vector leg is wanted and possible, else None.

    Raises: EngineError, IndexMismatch.
    """
    require_model(made_with, request.model)
    dimensions = made_with.dimensions
    if request.method == "keyword" or (
        request.method == "hybrid" and (request.vector is None or not dimensions)
    ):
        return None

    if request.vector is None or not dimensions:
        have = "the index holds no vectors" if not dimensions else "the question has no vector"
        message = f"{have}, which the method 'vector' needs"
        raise EngineError(message, hint="use the method keyword or hybrid")
    return _check_vector(request.vector, dimensions)


def _check_vector(given: Vectors, dimensions: int) -> Vectors:
    vector = np.asarray(given, dtype=np.float32).reshape(-1)
    if len(vector) != dimensions or not np.isfinite(vector).all():
        came = f"{len(vector)} dimensions" if len(vector) != dimensions else "NaN or infinity"
        raise EngineError(
            f"the question's vector has {came}, the index expects {dimensions} finite dimensions"
        )

    return vector


def require_index_name(name: str) -> None:
    """Raise UsageError for a name that no index can have, such as a pattern or a path."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", name):
        hint = "small letters, digits, _ . and -; esrag index list shows what there is"
        raise UsageError(f"no index can have the name {name!r}", hint=hint)


def swap_error(name: str) -> UsageError:
    """Return the error for an attempt to swap an index with itself."""
    return UsageError(
        f"the index {name} is in use already", hint="esrag index list shows all indexes"
    )


def choose_first_generation(beyond: int) -> int:
    """Return the first generation of a new index: the time in ms, or `beyond` if that is later.

    This way a new index never repeats a generation of an earlier index at the same place, or at the
    same path on another machine. Caches would otherwise take entries of the earlier index for its
    own.
    """
    return max(beyond, time.time_ns() // 1_000_000)


def require_generation(found: int, since: int | None) -> None:
    """Raise IndexBusy if the content has changed since generation `since`."""
    if since is not None and found != since:
        raise IndexBusy("the index was written to meanwhile", hint="run the same command again")


def _name(fingerprint: Fingerprint) -> str:
    return (
        f"model {fingerprint.model} ({fingerprint.dimensions} dimensions) and chunker "
        f"{fingerprint.chunker}"
    )
