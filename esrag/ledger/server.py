"""The ledger as an index on Elasticsearch or OpenSearch, for programs of several machines."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from esrag.engines.server.connection import Connection, refusal
from esrag.engines.server.siblings import CONFLICT, NOT_FOUND, Kind, Sibling
from esrag.errors import LedgerError
from esrag.ledger.store import GIVEN_UP, NEW, SCHEMA_VERSION, SUMS, Query, Row, Total, batch_of

_FIELDS = ("key", "kind", "job_id", "state", "due_ms", "queued_ms", "body")
_LEDGER = Kind(name="ledger", noun="ledger", schema=SCHEMA_VERSION, error=LedgerError)


class ServerStore:
    """Rows as entries of one index; an entry's version is its sequence number and primary term.

    `index` is the alias that the ledger belongs to. The name gives the same rights as those on that
    index.
    """

    def __init__(self, connection: Connection, index: str) -> None:
        self._sibling = Sibling(connection, index, _LEDGER)

    def get(self, keys: Sequence[str], *, bodies: bool = True) -> Sequence[Row]:
        """The rows of these keys, as last written; see `Store.get`."""
        without = "mark" if bodies else "mark,body"
        return [_row(entry) for entry in self._sibling.entries(keys, without)]

    def write(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Write rows, each by itself; see `Store.write`."""
        mark = uuid4().hex
        answers = self._sibling.bulk([_action(row, mark) for row in rows])

        for row, answer in zip(rows, answers, strict=True):
            if "error" in answer and answer["status"] != CONFLICT:
                raise refusal(self._sibling.shown_url, answer["status"], answer, about=row.key)
        refused = [row.key for row, answer in zip(rows, answers, strict=True) if "error" in answer]
        ours = self._find_written(refused, mark)
        return [row.key not in refused or row.key in ours for row in rows]

    def _find_written(self, refused: Sequence[str], mark: str) -> set[str]:
        """Return the keys that have our mark.

        A request whose answer got lost was sent again, and came upon what it had written itself.
        """
        entries = self._sibling.entries(refused, "body")
        return {entry["_source"]["key"] for entry in entries if entry["_source"]["mark"] == mark}

    def remove(self, keys: Sequence[str]) -> None:
        """Remove rows; see `Store.remove`."""
        actions = [json.dumps({"delete": {"_id": key}}) + "\n" for key in keys]
        for key, answer in zip(keys, self._sibling.bulk(actions), strict=True):
            if "error" in answer and answer["status"] != NOT_FOUND:
                raise refusal(self._sibling.shown_url, answer["status"], answer, about=key)

    def find(self, query: Query, after: str, limit: int) -> Sequence[Row]:
        """Return the first rows by key; see `Store.find`."""
        body = {
            "query": {"bool": {"filter": _filters(query)}},
            "size": limit,
            "sort": [{"key": "asc"}],
            "seq_no_primary_term": True,
            "track_total_hits": False,
            "_source": {"excludes": ["mark"] if query.bodies else ["mark", "body"]},
            **({"search_after": [after]} if after else {}),
        }
        hits = self._sibling.search(body, refresh=not after)["hits"]["hits"] if limit else []
        return [_row(entry) for entry in hits]

    def totals(self, job_id: str) -> Mapping[str, Total]:
        """Return the batches of a job by state; see `Store.totals`."""
        figures = {
            "due_ms": {"min": {"field": "due_ms"}},
            **{name: {"sum": {"field": name}} for name in SUMS},
        }
        body = {
            "query": {"bool": {"filter": _filters(Query("batch", job_id))}},
            "size": 0,
            "aggs": {"states": {"terms": {"field": "state"}, "aggs": figures}},
        }
        found = self._sibling.search(body, refresh=True).get("aggregations", {})
        states = found.get("states", {}).get("buckets", ())
        return {state["key"]: _total(state) for state in states}

    def close(self) -> None:
        """Gives the connections back; see `Store.close`."""
        self._sibling.close()


def _filters(query: Query) -> list[Mapping[str, Any]]:
    """Return the terms of a query.

    >>> _filters(Query("batch", states=("running",)))
    [{'term': {'kind': 'batch'}}, {'terms': {'state': ['running']}}]
    >>> _filters(Query("batch", due_ms=7))
    [{'term': {'kind': 'batch'}}, {'range': {'due_ms': {'lte': 7}}}]
    """
    filters: list[Mapping[str, Any]] = [{"term": {"kind": query.kind}}]
    if query.job_id:
        filters.append({"term": {"job_id": query.job_id}})
    if query.states:
        filters.append({"terms": {"state": sorted(query.states)}})
    if query.due_ms is not None:
        filters.append({"range": {"due_ms": {"lte": query.due_ms}}})
    if query.queued_ms is not None:
        filters.append(
            {"range": {"queued_ms": {"gte": query.queued_ms[0], "lte": query.queued_ms[1]}}}
        )

    return filters


def _action(row: Row, mark: str) -> str:
    """Return a row as two lines of a bulk request, on the condition that it is as it was read."""
    number = (
        {"if_seq_no": row.version[0], "if_primary_term": row.version[1]}
        if row.version != NEW
        else {}
    )
    how = "index" if number else "create"
    fields = {name: getattr(row, name) for name in _FIELDS}
    sums = dict(zip(SUMS, row.sums, strict=True))
    entry = {**fields, **sums, "mark": mark, "causes": _causes(row)}

    return f"{json.dumps({how: {'_id': row.key, **number}})}\n{json.dumps(entry)}\n"


def _causes(row: Row) -> list[str]:
    """Return why files of a batch failed, each reason once; only dashboards read it."""
    if not row.sums[SUMS.index("failed")]:
        return []
    batch = batch_of(row)
    given_up = [batch.error] if batch.state in GIVEN_UP else []
    return sorted(
        {*given_up, *(it.reason for it in batch.result.outcomes if it.state == "failed")} - {""}
    )


def _row(entry: Mapping[str, Any]) -> Row:
    source = {"body": "", **entry["_source"]}
    fields = {name: source[name] for name in _FIELDS}
    version = (entry["_seq_no"], entry["_primary_term"])
    return Row(**fields, sums=tuple(source[name] for name in SUMS), version=version)


def _total(state: Mapping[str, Any]) -> Total:
    sums = tuple(round(state[name]["value"]) for name in SUMS)
    return Total(state["doc_count"], round(state["due_ms"]["value"]), sums)
