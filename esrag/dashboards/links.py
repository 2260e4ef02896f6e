"""Addresses to open in a browser.

What they carry is data: quoted for KQL, then for rison, then for the address.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from esrag.dashboards.objects import object_id
from esrag.engines.server.connection import Product

_COLUMNS = ["doc_id", "title", "section", "start_page", "text"]


def dashboard_link(url: str, index: str) -> str:
    """Return the address of an index's dashboard; `url` is without user and password."""
    return f"{url.rstrip('/')}/app/dashboards#/view/{object_id('overview', index)}"


def evidence_link(url: str, engine: Product, index: str, chunk_ids: Sequence[str]) -> str:
    """Return an address that shows exactly these chunks in Discover.

    It is Kibana's if the engine is Elasticsearch, else that of Dashboards. Both keep what they show
    in the address, in rison; OpenSearch Dashboards since 2.10 in parts of its own.
    """
    query = {"language": "kuery", "query": chunks_query(chunk_ids)}
    if engine == "elasticsearch":
        return f"{url.rstrip('/')}/app/discover#/?{_encode_kibana_state(index, query)}"
    return f"{url.rstrip('/')}/app/data-explorer/discover#?{_encode_dashboards_state(index, query)}"


def _encode_kibana_state(index: str, query: Mapping[str, str]) -> str:
    """Return the state of Kibana's Discover as parameters of an address."""
    source = {"type": "dataView", "dataViewId": object_id("view", index)}
    return _to_parameters(
        _a={"columns": _COLUMNS, "dataSource": source, "filters": [], "query": query}
    )


def _encode_dashboards_state(index: str, query: Mapping[str, str]) -> str:
    """Return the state of Discover in OpenSearch Dashboards as parameters of an address."""
    view = object_id("view", index)
    dataset = {"id": view, "title": index, "type": "INDEX_PATTERN"}
    return _to_parameters(
        _a={
            "discover": {"columns": _COLUMNS, "sort": []},
            "metadata": {"indexPattern": view, "view": "discover"},
        },
        _q={"filters": [], "query": {**query, "dataset": dataset}},
    )


def chunks_query(chunk_ids: Iterable[str]) -> str:
    r"""Return a query for these chunks and no others, in KQL, which Dashboards calls DQL.

    >>> print(chunks_query(["a::c001", 'say "hi" \\o/']))
    chunk_id: ("a::c001" or "say \"hi\" \\o/")
    """
    quoted = (
        '"' + chunk_id.replace("\\", "\\\\").replace('"', '\\"') + '"' for chunk_id in chunk_ids
    )
    return f"chunk_id: ({' or '.join(quoted)})"


def rison(value: Any) -> str:
    """Return mappings, sequences and texts as rison; keys must be plain words.

    >>> rison({"a": ["it's!", ""], "b": {}})
    "(a:!('it!'s!!',''),b:())"
    """
    if isinstance(value, Mapping):
        return "(" + ",".join(f"{name}:{rison(inner)}" for name, inner in value.items()) + ")"
    if isinstance(value, str):
        return "'" + value.replace("!", "!!").replace("'", "!'") + "'"
    return "!(" + ",".join(map(rison, value)) + ")"


def _to_parameters(**values: Any) -> str:
    return "&".join(f"{name}={quote(rison(value), safe='')}" for name, value in values.items())
