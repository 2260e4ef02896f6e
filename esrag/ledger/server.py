"""The ledger as an index on Elasticsearch or OpenSearch, for programs of several machines.

The index is written through its alias only: after the index was deleted, a late write creates no
other one.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from uuid import uuid4

from esrag.engines.server.connection import BUSY, Connection, Refused, refusal
from esrag.errors import EngineError, LedgerError
from esrag.ledger.rows import GIVEN_UP, NEW, SCHEMA_VERSION, SUMS, Query, Row, Total, batch_of

_FIELDS = ("key", "kind", "job_id", "state", "due_ms", "queued_ms", "body")
_BULK_BYTES = 8 * 2**20  # both servers advise 5 to 15 MiB a request
_WAITS_S = (0.5, 1, 2, 4, 8, 16)
_CONFLICT, _NOT_FOUND, _FORBIDDEN = 409, 404, 403
_NO_INDEX, _INDEX_THERE = "index_not_found_exception", "resource_already_exists_exception"


class ServerStore:
    """Rows as entries of one index; an entry's version is its sequence number and primary term.

    `index` is the alias that the ledger belongs to. The name gives the same rights as those on that
    index.
    """

    def __init__(self, connection: Connection, index: str) -> None:
        self._connection = connection
        self._alias = f"{index}-ledger"
        self._is_ours = False

    def get(self, keys: Sequence[str], *, bodies: bool = True) -> Sequence[Row]:
        """Return the rows of these keys, as last written; see `Store.get`."""
        return [_row(entry) for entry in self._entries(keys, "mark" if bodies else "mark,body")]

    def write(self, rows: Sequence[Row]) -> Sequence[bool]:
        """Write rows, each by itself; see `Store.write`."""
        mark = uuid4().hex
        answers = self._bulk([_action(row, mark) for row in rows])

        for row, answer in zip(rows, answers, strict=True):
            if "error" in answer and answer["status"] != _CONFLICT:
                raise refusal(self._connection.shown_url, answer["status"], answer, about=row.key)
        refused = [row.key for row, answer in zip(rows, answers, strict=True) if "error" in answer]
        # A request whose answer got lost was sent again, and came upon what it had written itself.
        ours = {
            entry["_source"]["key"]
            for entry in self._entries(refused)
            if entry["_source"]["mark"] == mark
        }
        return [row.key not in refused or row.key in ours for row in rows]

    def remove(self, keys: Sequence[str]) -> None:
        """Remove rows; see `Store.remove`."""
        actions = [json.dumps({"delete": {"_id": key}}) + "\n" for key in keys]
        for key, answer in zip(keys, self._bulk(actions), strict=True):
            if "error" in answer and answer["status"] != _NOT_FOUND:
                raise refusal(self._connection.shown_url, answer["status"], answer, about=key)

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
        return (
            [_row(entry) for entry in self._searched(body, refresh=not after)["hits"]["hits"]]
            if limit
            else []
        )

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
        states = (
            self._searched(body, refresh=True)
            .get("aggregations", {})
            .get("states", {})
            .get("buckets", ())
        )
        return {state["key"]: _total(state) for state in states}

    def close(self) -> None:
        """Close the connections; see `Store.close`."""
        self._connection.close()
        self._is_ours = False

    def _entries(self, keys: Sequence[str], without: str = "body") -> list[Mapping[str, Any]]:
        """Return the entries under keys, as last written."""
        if not keys or not self._is_there():
            return []
        return self._connection.read(self._alias, keys, _source_excludes=without)

    def _refresh(self) -> None:
        """Make all writes visible to searches.

        A user who may only read finds what was there a second ago.
        """
        try:
            self._connection.request("POST", f"/{self._alias}/_refresh", ignore_unavailable=True)
        except Refused as error:
            if error.status != _FORBIDDEN:
                raise

    def _searched(self, body: Mapping[str, Any], *, refresh: bool) -> Mapping[str, Any]:
        """Yield everything that a search finds, or raise an error; nothing without a ledger."""
        if not self._is_there():
            return {"hits": {"hits": []}}
        if refresh:
            self._refresh()
        parameters: dict[str, Any] = {
            "ignore_unavailable": True,
            "allow_partial_search_results": False,
        }
        answer: Mapping[str, Any] = self._connection.request(
            "POST", f"/{self._alias}/_search", body, **parameters
        )
        return answer

    def _bulk(self, actions: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the server's answer to each action.

        Actions that it had no room or no index for are sent again.
        """
        if not self._is_there():
            self._make()
        answers: dict[int, Mapping[str, Any]] = {}
        left: Sequence[int] = range(len(actions))

        for wait_s in (*_WAITS_S, None):
            for some in _portions(left, actions):
                answers |= zip(
                    some, self._answers([actions[number] for number in some]), strict=True
                )
            left = [number for number in left if self._is_to_be_sent_again(answers[number])]
            if not left or wait_s is None:
                break
            if any(answers[number]["status"] == _NOT_FOUND for number in left):
                self._make()
            time.sleep(wait_s)

        return [answers[number] for number in range(len(actions))]

    def _is_to_be_sent_again(self, answer: Mapping[str, Any]) -> bool:
        """Return whether an action was rejected for now; a full disk does not pass by itself."""
        if "error" not in answer:
            return False
        error = refusal(self._connection.shown_url, answer["status"], answer)
        return error.kind == _NO_INDEX or (error.status in BUSY and not error.hint)

    def _answers(self, actions: Sequence[str]) -> list[Mapping[str, Any]]:
        """Send one request.

        Raises: EngineError if the server does not answer each action.
        """
        answer = self._connection.request(
            "POST", f"/{self._alias}/_bulk", "".join(actions), require_alias=True
        )
        items = [next(iter(item.values())) for item in answer.get("items", ())]
        if len(items) != len(actions):
            said = (
                f"{self._connection.shown_url} answered for {len(items)} of "
                f"{len(actions)} entries of a bulk"
            )
            raise EngineError(said, hint="run the command again")
        return items

    def _is_there(self) -> bool:
        """Return whether there is a ledger.

        Raises: LedgerError for something else under its name, or a newer one.
        """
        if self._is_ours:
            return True
        answer = self._connection.get(f"/{self._alias}/_mapping")
        for name, index in (answer or {}).items():
            _require_ours(name, index["mappings"].get("_meta", {}).get("esrag_ledger"))
            self._is_ours = True
        return self._is_ours

    def _make(self) -> None:
        """Create the index and its alias in one step, unless another program was quicker."""
        body = json.loads((files("esrag.mappings") / "ledger.json").read_text(encoding="utf-8"))
        try:
            self._connection.request(
                "PUT", f"/{self._alias}-{SCHEMA_VERSION}", {**body, "aliases": {self._alias: {}}}
            )
        except Refused as error:
            if error.kind != _INDEX_THERE:
                raise


def _require_ours(name: str, made: Mapping[str, Any] | None) -> None:
    hint = "set ledger.url to a file, or move it away"
    if made is None:
        raise LedgerError(f"the index {name} is not a ledger of esrag", hint=hint)
    if made["schema"] > SCHEMA_VERSION:
        version = made["schema"]
        message = (
            f"the ledger {name} was made by a newer esrag: version {version}, "
            f"this one reads {SCHEMA_VERSION}"
        )
        raise LedgerError(message, hint="upgrade esrag, or set ledger.url to a file")


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
    entry = (
        {name: getattr(row, name) for name in _FIELDS}
        | dict(zip(SUMS, row.sums, strict=True))
        | {"mark": mark}
    )
    entry |= {"causes": _causes(row)}
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


def _portions(numbers: Iterable[int], actions: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of actions in portions of at most _BULK_BYTES; a larger action is alone."""
    portion: list[int] = []
    size_bytes = 0

    for number in numbers:
        if portion and size_bytes + len(actions[number]) > _BULK_BYTES:
            yield portion
            portion, size_bytes = [], 0
        portion.append(number)
        size_bytes += len(actions[number])
    if portion:
        yield portion
