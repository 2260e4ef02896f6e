"""The body of a new index: the product's mapping file, the vector field and the fingerprint."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from esrag.engines import EngineOptions, Quantisation, Similarity
from esrag.engines.preconditions import REBUILD_HINT
from esrag.engines.server.connection import Product
from esrag.errors import IndexMismatch, SettingsError
from esrag.records import Fingerprint

SCHEMA = 4  # raised when entries change, so that an older index is rebuilt
_MIN_PRIORITY = 200  # both servers' own templates have 100 to 150
_SPACES: Mapping[Similarity, str] = {
    "cosine": "cosinesimil",
    "dot_product": "innerproduct",
    "l2_norm": "l2",
}
_GRAPHS: Mapping[Quantisation, str] = {
    "none": "hnsw",
    "int8": "int8_hnsw",
    "int4": "int4_hnsw",
    "bbq": "bbq_hnsw",
}
_QUANTISATIONS: Mapping[Product, tuple[Quantisation, ...]] = {
    "elasticsearch": tuple(_GRAPHS),
    "opensearch": ("none", "int8"),  # of its Lucene engine; the others need native code
}
_MIN_BBQ_DIMENSIONS = 64
# How many times the wanted neighbours are read from a quantised graph and rescored exactly. With
# 100 wanted of 5,183 titles of SciFact, this finds 0.995 or more of the nearest (bbq 0.97 with
# Elasticsearch's default of 3).
_OVERSAMPLE: Mapping[Quantisation, int] = {"int8": 2, "int4": 3, "bbq": 5}


@dataclass(frozen=True, slots=True)
class VectorField:
    """How an index compares vectors, quantises those in its graph, and built the graph."""

    similarity: Similarity = "cosine"
    quantisation: Quantisation = "none"
    hnsw_m: int = 16
    hnsw_ef_construction: int = 100

    def cosine(self, product: Product, score: float) -> float:
        """Return the cosine of two unit vectors from a server's score for them.

        Their squared distance is 2 - 2 * cosine.

        >>> VectorField("cosine").cosine("opensearch", 0.75)
        0.5
        >>> VectorField("l2_norm").cosine("elasticsearch", 0.5)
        0.5
        >>> [VectorField("dot_product").cosine("opensearch", score) for score in (1.5, 0.5)]
        [0.5, -1.0]
        """
        if self.similarity == "l2_norm":  # 1 / (1 + squared distance)
            return (3 - 1 / score) / 2
        # 1 + cosine, or 1 / (1 - cosine) below 0.
        if self.similarity == "dot_product" and product == "opensearch":
            return score - 1 if score >= 1 else 1 - 1 / score
        return 2 * score - 1

    def build_rescoring(self, product: Product) -> dict[str, Any]:
        """Return the options of a kNN query that make the scores of a quantised index exact."""
        if self.quantisation == "none":
            return {}
        times = _OVERSAMPLE[self.quantisation]
        if product == "elasticsearch":
            return {"rescore_vector": {"oversample": times}}
        return {"rescore": {"oversample_factor": times}}


def index_body(
    product: Product, fingerprint: Fingerprint, options: EngineOptions
) -> dict[str, Any]:
    """Return settings and mappings of a new index.

    Raises: SettingsError for vectors that the server cannot quantise that way.
    """
    text = (files("esrag.mappings") / f"{product}.json").read_text(encoding="utf-8")
    body: dict[str, Any] = json.loads(text)
    body["settings"]["index"]["number_of_shards"] = options.shards
    body["settings"]["index"]["number_of_replicas"] = options.replicas
    body["mappings"]["_meta"] = {"esrag": meta(fingerprint)}

    if dimensions := fingerprint.dimensions:
        _require_quantisable(product, dimensions, options.quantisation)
        field = _vector_mapping(product, dimensions, options)
        body["mappings"]["properties"]["embedding"] = field

    return body


def template_name(alias: str) -> str:
    """Return the template name of an alias.

    It differs from the alias itself, because a server may have a built-in template of that name
    (`logs`).
    """
    return f"esrag-{alias}"


def template_body(alias: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template for an index that is recreated by an entry arriving after its deletion.

    It covers the numbered indexes of the alias, not others with the same prefix. Two patterns
    overlap only if one alias is a prefix of the other; the longer one is more specific and wins.
    """
    return {
        "index_patterns": [f"{alias}-0*"],
        "priority": _MIN_PRIORITY + len(alias),
        "template": body,
    }


def meta(fingerprint: Fingerprint) -> dict[str, Any]:
    """Return what an index records about itself."""
    made = {
        "model": fingerprint.model,
        "dimensions": fingerprint.dimensions,
        "chunker": fingerprint.chunker,
    }
    return {"schema": SCHEMA, **made}


def fingerprint_of(mappings: Mapping[str, Any], index: str) -> Fingerprint:
    """Return the fingerprint of an index.

    Raises: IndexMismatch for an index that esrag did not make, or that another version made.
    """
    said = mappings.get("_meta", {}).get("esrag")
    hint = "upgrade esrag, or set engine.index to another name"
    if not isinstance(said, Mapping):
        raise IndexMismatch(
            f"the index {index} was not made by esrag", hint="set engine.index to another name"
        )
    if said.get("schema") != SCHEMA:
        is_older = isinstance(said.get("schema"), int) and said["schema"] < SCHEMA
        message = f"the index {index} has schema {said.get('schema')}, this esrag reads {SCHEMA}"
        raise IndexMismatch(message, hint=REBUILD_HINT if is_older else hint)

    return Fingerprint(said["model"], said["dimensions"], said["chunker"])


def vector_field_of(mappings: Mapping[str, Any]) -> VectorField | None:
    """Return how an index stores its vectors, from the live mappings of either server.

    Return None if the index has no vectors.
    """
    field = mappings.get("properties", {}).get("embedding")
    if field is None:
        return None
    return _read_dense_vector(field) if "dims" in field else _read_knn_vector(field)


def _read_dense_vector(field: Mapping[str, Any]) -> VectorField:
    """Read a field of Elasticsearch."""
    graph = field.get("index_options", {})
    sized = _read_graph(graph)
    return replace(
        sized,
        similarity=field.get("similarity", sized.similarity),
        quantisation=_inverse(_GRAPHS).get(graph.get("type"), sized.quantisation),
    )


def _read_knn_vector(field: Mapping[str, Any]) -> VectorField:
    """Read a field of OpenSearch."""
    method = field.get("method", {})
    graph = method.get("parameters", {})
    space = field.get("space_type") or method.get("space_type")
    sized = _read_graph(graph)
    return replace(
        sized,
        similarity=_inverse(_SPACES).get(space, sized.similarity),
        quantisation="int8" if "encoder" in graph else sized.quantisation,
    )


def _read_graph(graph: Mapping[str, Any]) -> VectorField:
    """Return a plain field with the sizes of this graph."""
    plain = VectorField()
    return VectorField(
        hnsw_m=graph.get("m", plain.hnsw_m),
        hnsw_ef_construction=graph.get("ef_construction", plain.hnsw_ef_construction),
    )


def _inverse(names: Mapping[Any, str]) -> dict[str, Any]:
    return {theirs: ours for ours, theirs in names.items()}


def _require_quantisable(product: Product, dimensions: int, quantisation: Quantisation) -> None:
    allowed = _QUANTISATIONS[product]
    if quantisation not in allowed:
        message = f"engine.quantisation is {quantisation}, which {product} cannot do"
        raise SettingsError(message, hint=f"{product} takes {' or '.join(allowed)}")

    needed = ""
    if quantisation == "int4" and dimensions % 2:
        needed = "an even number of dimensions"
    if quantisation == "bbq" and dimensions < _MIN_BBQ_DIMENSIONS:
        needed = f"{_MIN_BBQ_DIMENSIONS} dimensions"
    if needed:
        needs = f"engine.quantisation {quantisation} needs {needed}, the model has {dimensions}"
        raise SettingsError(needs, hint="set engine.quantisation to int8")


def _vector_mapping(product: Product, dimensions: int, options: EngineOptions) -> dict[str, Any]:
    graph: dict[str, Any] = {"m": options.hnsw_m, "ef_construction": options.hnsw_ef_construction}
    if product == "opensearch":
        return _knn_vector(dimensions, options, graph)
    return {
        "type": "dense_vector",
        "dims": dimensions,
        "similarity": options.similarity,
        "index_options": {"type": _GRAPHS[options.quantisation], **graph},
    }


def _knn_vector(dimensions: int, options: EngineOptions, graph: dict[str, Any]) -> dict[str, Any]:
    if options.quantisation == "int8":
        # The encoder is required; its signed values have 7 bits.
        graph["encoder"] = {"name": "sq", "parameters": {"bits": 7}}
    method = {"name": "hnsw", "engine": "lucene", "parameters": graph}
    return {
        "type": "knn_vector",
        "dimension": dimensions,
        "space_type": _SPACES[options.similarity],
        "method": method,
    }
