"""Free space on a server's disks, compared with the watermarks at which it stops writing."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from esrag.engines import Finding

_GIB = 2**30
_WATERMARKS = "cluster.routing.allocation.disk.watermark"
_UNITS = {"b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40}


def min_room(nodes: Sequence[Mapping[str, Any]], settings: Mapping[str, str]) -> Finding:
    """Return the finding on the node that is worst off.

    Nodes are compared by how many watermarks they exceed, then by their free space as a multiple of
    their low watermark. `nodes` has the format of the nodes' statistics.
    """
    return min((_measure(node, settings) for node in nodes), key=lambda room: room[:2])[2]


def _measure(node: Mapping[str, Any], settings: Mapping[str, str]) -> tuple[int, float, Finding]:
    """Return the exceeded watermarks, free space as a multiple of the low one, and the finding."""
    free = node["fs"]["total"]["available_in_bytes"]
    marks = _watermarks(node, settings)
    what = f"{free / _GIB:.1f} GiB free on the node {node['name']}"

    exceeded = sum(free > mark for mark in marks)
    return exceeded, free / (marks[0] or 1), _judge(what, free, marks)


def _judge(what: str, free: float, marks: tuple[float, ...]) -> Finding:
    """Return the finding on a node's free bytes, described by `what`."""
    low, high, flood = marks
    if free <= flood:
        return _report_low(
            what, flood, "flood-stage", "indexes on it become read-only", level="error"
        )
    if free <= high:
        return _report_low(
            what, high, "high", "the server moves shards away from it", level="error"
        )
    if free <= low:
        return _report_low(what, low, "low", "no new shards are put there")
    return Finding("ok", what if low else f"{what}; its watermarks are off")


def _report_low(
    what: str, limit: float, name: str, then: str, *, level: Literal["warning", "error"] = "warning"
) -> Finding:
    return Finding(
        level,
        f"{what}, less than its {name} watermark of {limit / _GIB:.1f}, so {then}",
        "make room on its disk",
    )


def _watermarks(node: Mapping[str, Any], settings: Mapping[str, str]) -> tuple[float, ...]:
    """Return the bytes that must stay free: low, high, flood stage.

    Elasticsearch reports them; for OpenSearch they are computed from the settings.
    """
    if str(settings["cluster.routing.allocation.disk.threshold_enabled"]) == "false":
        return (0, 0, 0)
    total = node["fs"]["total"]["total_in_bytes"]
    said: Mapping[str, int] = next(iter(node["fs"].get("data", ())), {})
    names = {"low": "low_watermark", "high": "high_watermark", "flood_stage": "flood_stage"}
    keys = {stage: f"{name}_free_space_in_bytes" for stage, name in names.items()}
    return tuple(
        said.get(key) or _free_bytes(settings[f"{_WATERMARKS}.{stage}"], total)
        for stage, key in keys.items()
    )


def _free_bytes(watermark: str, total: int) -> float:
    """Return how many of `total` bytes must stay free.

    A percentage or ratio states the share that may be used; a size states what must be free.

    >>> _free_bytes("85%", 1000), _free_bytes("0.85", 1000), _free_bytes("2kb", 1000)
    (150.0, 150.0, 2048.0)
    """
    number, unit = re.fullmatch(r"([0-9.]+) *([a-z%]*)", watermark.lower()).groups()  # type: ignore[union-attr]
    if unit in {"", "%"}:
        return round(total * (1 - float(number) / (100 if unit else 1)), 3)
    return float(number) * _UNITS[unit]
