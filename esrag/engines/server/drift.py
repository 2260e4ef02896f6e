"""Comparison of an index's live mapping with the one that esrag would create."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from esrag.engines import EngineOptions, Finding
from esrag.engines.server.connection import Product
from esrag.engines.server.mapping import VectorField, fingerprint_of, index_body, vector_field_of

_FIELDS_SHOWN = 5


def drift(product: Product, name: str, live: Mapping[str, Any]) -> Finding:
    """Check that the live mapping has every option that esrag sets, and no additional field.

    Options that the server adds to a field are ignored. Raises: IndexMismatch for an index that is
    not esrag's.
    """
    made = fingerprint_of(live, name)
    # The settings apply only to new indexes.
    options = EngineOptions(**asdict(vector_field_of(live) or VectorField()))
    ours = index_body(product, made, options)["mappings"]

    differing, added = _compare(live, ours)
    if not differing and not added:
        return Finding("ok", f"the mapping of {name} is esrag's")
    what = f"the mapping of {name} is not esrag's in {_list_some(differing + added)}"
    return Finding("error" if differing else "warning", what, "run: esrag ingest --rebuild")


def _compare(live: Mapping[str, Any], ours: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the fields that lack an option of ours, and those that we do not have."""
    wanted, found = ours["properties"], live.get("properties", {})
    differing = sorted(field for field in wanted if not _holds(found.get(field), wanted[field]))
    if not _holds(live.get("dynamic"), ours["dynamic"]):
        differing.insert(0, "dynamic")

    return differing, sorted(found.keys() - wanted.keys())


def _holds(live: Any, wanted: Any) -> bool:
    """Return whether everything wanted is there; servers write numbers and booleans as strings.

    >>> _holds({"m": "16", "index": True}, {"m": 16}), _holds({"m": 16}, {"m": 16, "index": True})
    (True, False)
    """
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            _holds(live.get(name), value) for name, value in wanted.items()
        )
    return str(live).lower() == str(wanted).lower()


def _list_some(names: Sequence[str]) -> str:
    """Join at most five names and count the rest.

    >>> _list_some(["a", "b"]), _list_some(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = len(names) - _FIELDS_SHOWN
    return ", ".join(islice(names, _FIELDS_SHOWN)) + (f" and {more} more" if more > 0 else "")
