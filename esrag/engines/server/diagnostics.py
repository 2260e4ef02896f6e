"""Diagnostics of an index on a server: version, health, licence, disk, heap, shards and mapping."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any

from esrag.engines import Finding
from esrag.engines.server.connection import Connection, Refused, Server
from esrag.engines.server.disk import min_room
from esrag.engines.server.drift import drift
from esrag.engines.server.searching import RANKS_THE_WHOLE_INDEX
from esrag.errors import EngineUnreachable, EsragError, IndexMismatch

_CLIENTS = {"elasticsearch": "elasticsearch", "opensearch": "opensearch-py"}
_LICENCES_THAT_FUSE = ("trial", "enterprise")  # since 8.15; before that, platinum did
_DAYS_TO_WARN, _DAY_MS = 7, 86_400_000
_HEAP_WARNING, _HEAP_ERROR = 85, 95  # per cent; the servers' circuit breaker refuses requests at 95
_SHARDS_WARNING = 0.9
_STATISTICS = (
    "/_nodes/stats/fs,jvm?filter_path=nodes.*.name,nodes.*.roles,nodes.*.fs,nodes.*.jvm.mem"
)
_SETTINGS = "/_cluster/settings?include_defaults=true&flat_settings=true"
_NOT_FOUND, _FORBIDDEN = 404, 403


@dataclass(frozen=True, slots=True)
class _Place:
    """A server, the index on it (`name` may be empty), and two ways to query it.

    `ask` returns the response for a path and caches it, except for refusals. `fuses` tries whether
    the server fuses by ranks; it returns None if there is nothing to try it with.
    """

    server: Server
    url: str
    name: str
    index: Mapping[str, Any]
    ask: Callable[[str], Any]
    fuses: Callable[[], bool | None]

    @property
    def health(self) -> Mapping[str, Any]:
        """Return the health of the index, or of the cluster if the index is missing."""
        answer: Mapping[str, Any] = self.ask(f"/_cluster/health/{self.name}".rstrip("/"))
        return answer

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the cluster settings: transient before persistent before default ones."""
        answer = self.ask(_SETTINGS)
        return {
            **answer.get("defaults", {}),
            **answer.get("persistent", {}),
            **answer.get("transient", {}),
        }

    @property
    def nodes(self) -> list[Mapping[str, Any]]:
        """Return the statistics of every node that holds data."""
        return [
            node for node in self.ask(_STATISTICS)["nodes"].values() if _holds_data(node["roles"])
        ]


def examine(
    connection: Connection, alias: str, fuses: Callable[[], bool | None]
) -> Iterator[Finding]:
    """Yield findings part by part, or a single one if the server or the index cannot be queried."""
    ask = cache(connection.ask)
    try:
        server = connection.server
        name, index = _index(ask, alias)
    except EsragError as error:
        yield Finding("error", str(error), error.hint)
        return

    place = _Place(
        server=server, url=connection.shown_url, name=name, index=index, ask=ask, fuses=fuses
    )
    yield from _examine_parts(place)


def _examine_parts(place: _Place) -> Iterator[Finding]:
    for part, look in _PARTS.items():
        try:
            yield from look(place)
        except EngineUnreachable as error:  # the other parts would time out as well
            yield _report_unknown(part, str(error), error.hint)
            return
        except EsragError as error:
            yield _report_refusal(part, error)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            yield _report_unknown(
                part, f"the answer is not understood ({type(error).__name__}: {error})"
            )


def _index(ask: Callable[[str], Any], alias: str) -> tuple[str, Mapping[str, Any]]:
    """Return the index behind the alias; the first of several, since `check` names them all."""
    try:
        found: Mapping[str, Any] = ask(f"/{alias}")
    except Refused as error:
        if error.status == _NOT_FOUND:
            return "", {}
        raise
    return next(iter(found.items()))


def _report_refusal(part: str, error: EsragError) -> Finding:
    if isinstance(error, Refused) and error.status == _FORBIDDEN:
        return _report_unknown(
            part, "the user or key may not", "give it the right to monitor the cluster"
        )
    return _report_unknown(part, str(error), error.hint)


def _report_unknown(part: str, reason: str, advice: str = "") -> Finding:
    return Finding("warning", f"{part} could not be asked: {reason}", advice)


def _check_version(place: _Place) -> Iterator[Finding]:
    """Compare the versions of client and server.

    A newer client works with an older server, because requests use the server's media types. An
    older client may not work with a newer server.
    """
    client = _CLIENTS[place.server.product]
    number = version(client)
    what = f"{place.server.text} at {place.url}, client {client} {number}"
    if int(number.partition(".")[0]) < place.server.version[0]:
        yield Finding(
            "warning", f"{what} is older than the server", f"pip install --upgrade {client}"
        )
    else:
        yield Finding("ok", what)


def _check_health(place: _Place) -> Iterator[Finding]:
    status = place.health["status"]
    what = f"the index {place.name} is {status}" if place.name else f"the cluster is {status}"

    if status == "green":
        yield Finding("ok", what)
    elif status == "red":
        advice = "start the nodes that are away; GET /_cluster/allocation/explain says why"
        yield Finding("error", f"{what}: some of its data cannot be read", advice)
    else:
        yield _explain_yellow(place, what)


def _explain_yellow(place: _Place, what: str) -> Finding:
    health = place.health
    if place.name and health["number_of_data_nodes"] == 1 and _replicas(place):
        replicas = _count(_replicas(place), "replica")
        reason = f"{replicas} of each shard, and no second node to hold it"
        advice = _replicas_advice(place, 0) + ", or add a node"
        return Finding("warning", f"{what}: {reason}", advice)

    count = health["unassigned_shards"] + health["initializing_shards"]
    missing = _count(count, "copy", "copies")
    advice = "wait, or ask GET /_cluster/allocation/explain for the reason"
    return Finding("warning", f"{what}: {missing} of shards not in place", advice)


def _check_licence(place: _Place) -> Iterator[Finding]:
    if place.server.product == "opensearch":
        yield from _check_plugins(place)
        return

    fuses = _fuses(place)
    try:
        licence = place.ask("/_license")["license"]
    except Refused as error:
        finding = _report_refusal("the licence", error)
        yield Finding("warning", f"{finding.what}; {_path(fuses)}", finding.advice)
    else:
        yield _judge_licence(licence, fuses)


def _judge_licence(licence: Mapping[str, Any], fuses: bool | None) -> Finding:  # noqa: FBT001 -- what was tried
    active, kind = licence["status"] == "active", licence["type"]
    path = _path(active and kind in _LICENCES_THAT_FUSE if fuses is None else fuses)

    if active:
        return _time_left(kind, licence.get("expiry_date_in_millis"), path)
    advice = "renew it, or POST /_license/start_basic?acknowledge=true; the hits are the same"
    return Finding("warning", f"the {kind} licence is {licence['status']}: {path}", advice)


def _time_left(kind: str, expiry_ms: int | None, path: str) -> Finding:
    if expiry_ms is None:
        return Finding("ok", f"{kind} licence: {path}")
    days = int((expiry_ms - time.time() * 1000) // _DAY_MS)
    what = f"{kind} licence, {_count(days, 'day')} left: {path}"
    if days >= _DAYS_TO_WARN:
        return Finding("ok", what)
    return Finding(
        "warning", what, "renew it; without it esrag fuses (rrf-client), and the hits are the same"
    )


def _check_plugins(place: _Place) -> Iterator[Finding]:
    """Check the plugins: OpenSearch's features depend on version, shards and plugins."""
    nodes = place.ask("/_nodes/plugins?filter_path=nodes.*.plugins.name")["nodes"].values()
    plugins = [{plugin["name"] for plugin in node.get("plugins", ())} for node in nodes]
    if not _is_everywhere("knn", plugins):
        yield Finding("error", "the k-NN plugin is not on every node", "install opensearch-knn")

    fuses, reason = _fuses(place), _why_not_native(place, plugins)
    path = _path(not reason if fuses is None else fuses)
    yield Finding("ok", f"Apache-2.0: {path}{'' if fuses else reason}")


def _is_everywhere(name: str, plugins: Sequence[AbstractSet[str]]) -> bool:
    return all(any(plugin.endswith(name) for plugin in installed) for installed in plugins)


def _why_not_native(place: _Place, plugins: Sequence[AbstractSet[str]]) -> str:
    """Return the reason why the server cannot fuse; empty if there is none."""
    shards = _shards_of(place)
    if place.server.version < RANKS_THE_WHOLE_INDEX and shards > 1:
        return f", since this version ranks each of {shards} shards by itself"
    if not _is_everywhere("neural-search", plugins):
        return ", since the neural-search plugin is not on every node"
    return ""


def _fuses(place: _Place) -> bool | None:
    """Return whether the server fuses by ranks, by trying it.

    Return None if this cannot be tried, or on a red index, where the query would time out.
    """
    try:
        return None if _is_red(place) else place.fuses()
    except EngineUnreachable:
        raise
    except EsragError:
        return None


def _is_red(place: _Place) -> bool:
    with suppress(Refused):
        return bool(place.health["status"] == "red")
    return False


def _path(fuses: bool | None) -> str:  # noqa: FBT001 -- the answer itself
    if fuses is None:
        return "whether it fuses is tried with the first question"
    return "the server fuses (rrf-native)" if fuses else "esrag fuses (rrf-client)"


def _check_disk(place: _Place) -> Iterator[Finding]:
    yield from _check_blocks(place)
    yield min_room(place.nodes, place.settings)


def _check_blocks(place: _Place) -> Iterator[Finding]:
    for block, value in place.index.get("settings", {}).get("index", {}).get("blocks", {}).items():
        if str(value) == "true":
            first = "make room on its disk, then " if block == "read_only_allow_delete" else ""
            lift = f'PUT /{place.name}/_settings {{"index.blocks.{block}": null}}'
            yield Finding("error", f"the index {place.name} has the block {block}", first + lift)


def _check_heap(place: _Place) -> Iterator[Finding]:
    used, name = max(
        (node["jvm"]["mem"]["heap_used_percent"], node["name"]) for node in place.nodes
    )
    what = f"{used} % of the heap used on the node {name}"
    if used < _HEAP_WARNING:
        yield Finding("ok", what)
    else:
        yield Finding(
            "error" if used >= _HEAP_ERROR else "warning",
            what,
            "give the server more heap, or it less to do",
        )


def _check_shards(place: _Place) -> Iterator[Finding]:
    cluster = place.ask("/_cluster/health")
    nodes = cluster["number_of_data_nodes"]
    yield _count_shards(place, cluster)

    if place.name and nodes > 1 and not _replicas(place):
        what = (
            f"the index {place.name} has no replica on {nodes} nodes: "
            "a node that is lost takes data along"
        )
        yield Finding("warning", what, _replicas_advice(place, 1))


def _count_shards(place: _Place, cluster: Mapping[str, Any]) -> Finding:
    """Compare the number of shards with the cluster's limit."""
    count = sum(cluster[f"{state}_shards"] for state in ("active", "initializing", "unassigned"))
    limit = int(place.settings["cluster.max_shards_per_node"]) * cluster["number_of_data_nodes"]
    what = f"{count:,} of at most {limit:,} shards in the cluster"
    if place.name:
        shards, replicas = _count(_shards_of(place), "shard"), _count(_replicas(place), "replica")
        what += f", of the index {shards} with {replicas}"

    if count < limit * _SHARDS_WARNING:
        return Finding("ok", what)
    advice = "delete indexes, add a node or raise cluster.max_shards_per_node"
    return Finding("warning", what, advice)


def _check_mapping(place: _Place) -> Iterator[Finding]:
    if place.name:
        with suppress(IndexMismatch):  # `check` reports this
            yield drift(place.server.product, place.name, place.index["mappings"])


def _count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> _count(1, "day"), _count(2, "copy", "copies")
    ('1 day', '2 copies')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _holds_data(roles: list[str]) -> bool:
    """Return whether a node has shards on its own disk.

    A node that is only frozen has them elsewhere, and a different watermark.
    """
    return any(
        role == "data" or (role.startswith("data_") and role != "data_frozen") for role in roles
    )


def _replicas(place: _Place) -> int:
    return int(place.index["settings"]["index"]["number_of_replicas"])


def _shards_of(place: _Place) -> int:
    return int(place.index["settings"]["index"]["number_of_shards"]) if place.name else 1


def _replicas_advice(place: _Place, number: int) -> str:
    return f'PUT /{place.name}/_settings {{"index.number_of_replicas": {number}}}'


_PARTS: Mapping[str, Callable[[_Place], Iterator[Finding]]] = {
    "the version": _check_version,
    "health": _check_health,  # before the licence: nothing is tried on a red index
    "the licence": _check_licence,
    "the disk": _check_disk,
    "the heap": _check_heap,
    "shards": _check_shards,
    "the mapping": _check_mapping,
}
