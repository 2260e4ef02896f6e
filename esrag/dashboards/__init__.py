"""Saved searches and dashboards over the index and its ledger, for Kibana and for Dashboards.

The objects are `mappings/dashboards.json`, one set that both products take. An installation for one
index replaces an earlier one for the same index, and does not change those for others.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from esrag.dashboards.client import Client, Product
from esrag.dashboards.links import dashboard_link
from esrag.dashboards.objects import build_objects
from esrag.engines import EngineOptions
from esrag.errors import SettingsError
from esrag.settings import is_address


@dataclass(frozen=True, slots=True)
class SavedObject:
    """One thing that was installed, under the title it is listed by."""

    type: str
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Installed:
    """What was installed and where; `version` is "" if unknown, `url` is the dashboard."""

    product: Product
    version: str
    url: str
    objects: tuple[SavedObject, ...]


def install(kibana_url: str, engine: EngineOptions) -> Installed:
    """Install everything for the index of `engine`.

    Its user or key and its TLS settings are used for Kibana as well.

    Raises: SettingsError, EngineUnreachable, EngineError.
    """
    _require_addresses(kibana_url, engine)
    objects = build_objects(engine.index)

    with closing(Client(kibana_url, engine)) as client:
        product, version = client.product()
        client.store(product, objects)

    return Installed(
        product=product,
        version=version,
        url=dashboard_link(client.shown_url, engine.index),
        objects=tuple(map(_to_saved, objects)),
    )


def _require_addresses(kibana_url: str, engine: EngineOptions) -> None:
    """Raise SettingsError unless there is a Kibana, and a server that it can show."""
    if not kibana_url:
        raise SettingsError(
            "kibana.url is not set", hint="set it to the address of Kibana or OpenSearch Dashboards"
        )
    if not is_address(engine.url):
        hint = "set engine.url to the address of Elasticsearch or OpenSearch"
        raise SettingsError(
            "Kibana shows what a server holds, and engine.url is a folder", hint=hint
        )


def _to_saved(item: Mapping[str, Any]) -> SavedObject:
    return SavedObject(item["type"], item["id"], item["attributes"]["title"])
