"""The index's body: the file under `mappings/` for the server's product, with the vector field and the fingerprint."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from esrag.engines.server.connection import Product
from esrag.errors import IndexMismatch
from esrag.records import Fingerprint

SCHEMA = 1  # raised when entries change, so that an older index is made anew
# Lucene's graph: 16 neighbours a node, 100 candidates while it is built; both servers' own defaults.
_NEIGHBOURS, _BUILD_CANDIDATES = 16, 100


def index_body(product: Product, fingerprint: Fingerprint) -> dict[str, Any]:
    """Settings and mappings of a new index."""
    body: dict[str, Any] = json.loads((files("esrag.mappings") / f"{product}.json").read_text(encoding="utf-8"))
    mappings = body["mappings"]
    mappings["_meta"] = {"esrag": meta(fingerprint)}
    if fingerprint.dimensions:
        mappings["properties"]["embedding"] = _vector_field(product, fingerprint.dimensions)
    return body


def meta(fingerprint: Fingerprint) -> dict[str, Any]:
    """What an index says of itself."""
    made = {"model": fingerprint.model, "dimensions": fingerprint.dimensions, "chunker": fingerprint.chunker}
    return {"schema": SCHEMA, **made}


def fingerprint_of(mappings: Mapping[str, Any], index: str) -> Fingerprint:
    """What an index was made with. Raises: IndexMismatch for one that esrag did not make, or a newer esrag did."""
    said = mappings.get("_meta", {}).get("esrag")
    hint = "upgrade esrag, or set engine.index to another name"
    if not isinstance(said, Mapping):
        raise IndexMismatch(f"the index {index} was not made by esrag", hint="set engine.index to another name")
    if said.get("schema") != SCHEMA:
        message = f"the index {index} has schema {said.get('schema')}, this esrag reads {SCHEMA}"
        raise IndexMismatch(message, hint=hint)
    return Fingerprint(said["model"], said["dimensions"], said["chunker"])


def _vector_field(product: Product, dimensions: int) -> dict[str, Any]:
    graph = {"m": _NEIGHBOURS, "ef_construction": _BUILD_CANDIDATES}
    if product == "elasticsearch":
        options = {"type": "hnsw", **graph}
        return {"type": "dense_vector", "dims": dimensions, "similarity": "cosine", "index_options": options}
    method = {"name": "hnsw", "engine": "lucene", "parameters": graph}
    return {"type": "knn_vector", "dimension": dimensions, "space_type": "cosinesimil", "method": method}
