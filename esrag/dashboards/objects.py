"""The saved objects for one index: read from `mappings/dashboards.json` and named for the index."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

# Saved objects hold these parts as JSON within JSON; in the file they are plain.
_AS_TEXT = frozenset({"visState", "uiStateJSON", "panelsJSON", "optionsJSON", "searchSourceJSON"})


def object_id(name: str, index: str) -> str:
    """Return the id of an object of the file for one index.

    Names have no "-", so that no two indexes share an id.

    >>> object_id("overview", "library")
    'esrag-overview-library'
    """
    return f"esrag-{name}-{index}"


def build_objects(index: str) -> list[dict[str, Any]]:
    """Return the objects for the index behind this alias; they refer only to each other."""
    kept = json.loads((files("esrag.mappings") / "dashboards.json").read_text(encoding="utf-8"))
    return [_name_for_index(item, index) for item in kept]


def _name_for_index(item: Mapping[str, Any], index: str) -> dict[str, Any]:
    return {
        "type": item["type"],
        "id": object_id(item["id"], index),
        "attributes": _write_nested(_set_title(item["attributes"], item["type"], index)),
        "references": [
            {**reference, "id": object_id(reference["id"], index)}
            for reference in item["references"]
        ],
    }


def _set_title(attributes: Mapping[str, Any], kind: str, index: str) -> dict[str, Any]:
    """Return the attributes with the index in front of the title, wherever they have it."""
    separator = "" if kind == "index-pattern" else ": "
    title = f"{index}{separator}{attributes['title']}"
    if "visState" not in attributes:
        return {**attributes, "title": title}
    return {**attributes, "title": title, "visState": {**attributes["visState"], "title": title}}


def _write_nested(part: Any) -> Any:
    """Return a part of an object, with JSON within JSON written as text."""
    if not isinstance(part, Mapping):
        return part
    return {
        name: json.dumps(inner) if name in _AS_TEXT else _write_nested(inner)
        for name, inner in part.items()
    }
