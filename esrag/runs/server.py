"""Kept runs and the feedback on them, as an index on Elasticsearch or OpenSearch."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import uuid4

from esrag.engines.server.connection import Connection, Refused, refusal
from esrag.engines.server.siblings import CONFLICT, FORBIDDEN, Kind, Sibling
from esrag.errors import EsragError
from esrag.runs import Feedback, Verdict
from esrag.runs.stats import Outcome, read_outcome
from esrag.runs.store import Record, find_oldest, rate_now, run_id_error, serialise
from esrag.settings import RunsSettings

_RUNS = Kind(name="runs", noun="store of runs", schema=1, error=EsragError)
_PAGE_RUNS = 50  # of whole records some 5 MB
_PAGE_SIZES = 1000
_MAX_FEEDBACK = 10_000  # as many as both servers return at once
_NEWEST = [{"at": "desc"}, {"run_id": "desc"}]
_OLDEST = [{"at": "asc"}, {"run_id": "asc"}]


class ServerRuns:
    """Runs and feedback as entries of one index, `at` the time of the run; see `RunStore`.

    Both have the time of the run, so that they are removed together.
    """

    def __init__(self, connection: Connection, index: str, settings: RunsSettings) -> None:
        self._sibling = Sibling(connection, index, _RUNS)
        self._settings = settings

    def add(self, record: Record) -> None:
        """Keep a record; see `RunStore.add`."""
        text = serialise(record, self._settings)
        size_bytes = len(text.encode("utf-8", "replace"))
        shown = _show(read_outcome(record))

        # Before the record is written, because what was just written cannot be searched yet.
        self._remove_old(self._settings.max_bytes - size_bytes)
        self._create(record["run_id"], _entry("run", record, bytes=size_bytes, body=text, **shown))

    def runs(self) -> Iterator[tuple[Record, tuple[Feedback, ...]]]:
        """Yield the records; see `RunStore.runs`."""
        self._expire()
        body = {"query": self._match_kept("run"), "size": _PAGE_RUNS, "sort": _NEWEST}
        after: list[Any] = []

        while True:
            page = {**body, **({"search_after": after} if after else {})}
            entries = self._sibling.search(page, refresh=not after)["hits"]["hits"]
            if not entries:
                return
            feedback = self._feedback([entry["_source"]["run_id"] for entry in entries])
            for entry in entries:
                yield json.loads(entry["_source"]["body"]), feedback[entry["_source"]["run_id"]]
            after = entries[-1]["sort"]

    def run(self, run_id: str) -> tuple[Record, tuple[Feedback, ...]]:
        """Return a record; see `RunStore.run`."""
        self._expire()
        record = self._find(run_id)
        return record, self._feedback([run_id])[run_id]

    def rate(self, run_id: str, verdict: Verdict, note: str) -> Feedback:
        """Keep what a reader says; see `RunStore.rate`."""
        feedback = rate_now(run_id, verdict, note)
        record = self._find(run_id)

        told = {"rated_at": feedback.at, "verdict": verdict, "note": note}
        self._create(f"feedback {uuid4().hex}", _entry("feedback", record, **told))
        return feedback

    def close(self) -> None:
        """Close the connections; see `RunStore.close`."""
        self._sibling.close()

    def _create(self, entry_id: str, entry: Mapping[str, Any]) -> None:
        """Write an entry; its id is new, so a conflict means that it was sent twice."""
        action = f"{json.dumps({'create': {'_id': entry_id}})}\n{json.dumps(entry)}\n"
        (answer,) = self._sibling.bulk([action])
        if "error" in answer and answer["status"] != CONFLICT:
            url = self._sibling.shown_url
            raise refusal(url, answer["status"], answer, about=entry_id)

    def _find(self, run_id: str) -> Record:
        """Return a record as last written. Raises: UsageError for an unknown or too old one."""
        oldest = find_oldest(self._settings)
        for entry in self._sibling.entries([run_id]):
            if entry["_source"]["kind"] == "run" and entry["_source"]["at"] >= oldest:
                record: Record = json.loads(entry["_source"]["body"])
                return record

        known = self._list_kept(_NEWEST, ["run_id"])
        raise run_id_error(run_id, [run["run_id"] for run in known])

    def _list_kept(self, sort: Sequence[Any], fields: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return fields of the first runs that are not too old."""
        body = {
            "query": self._match_kept("run"),
            "size": _PAGE_SIZES,
            "sort": sort,
            "_source": fields,
        }
        entries = self._sibling.search(body, refresh=True)["hits"]["hits"]
        return [entry["_source"] for entry in entries]

    def _feedback(self, run_ids: Sequence[str]) -> Mapping[str, tuple[Feedback, ...]]:
        """Return the feedback by run, the oldest first."""
        rated: list[Mapping[str, Any]] = [{"terms": {"run_id": list(run_ids)}}]
        body = {
            "query": {"bool": {"filter": [*rated, {"term": {"kind": "feedback"}}]}},
            "size": _MAX_FEEDBACK,
            "sort": [{"rated_at": "asc"}],
        }
        found: dict[str, tuple[Feedback, ...]] = dict.fromkeys(run_ids, ())

        for entry in self._sibling.search(body, refresh=True)["hits"]["hits"]:
            feedback = _read_feedback(entry["_source"])
            found[feedback.run_id] += (feedback,)
        return found

    def _expire(self) -> None:
        """Remove what is too old, unless this user may only read."""
        try:
            self._sibling.delete(self._match_expired())
        except Refused as error:
            if error.status != FORBIDDEN:
                raise

    def _remove_old(self, max_bytes: int) -> None:
        """Remove what is too old, and the oldest runs as long as all exceed a size."""
        self._sibling.delete(self._match_expired())
        body = {
            "query": self._match_kept("run"),
            "size": 0,
            "aggs": {"bytes": {"sum": {"field": "bytes"}}},
        }
        answer = self._sibling.search(body, refresh=True)
        excess = round(answer.get("aggregations", {}).get("bytes", {}).get("value", 0)) - max_bytes
        if excess > 0:
            self._remove_oldest(excess)

    def _remove_oldest(self, size_bytes: int) -> None:
        """Remove the oldest runs that have this size together, with their feedback."""
        while size_bytes > 0:
            run_ids = []
            for run in self._list_kept(_OLDEST, ["run_id", "bytes"]):
                if size_bytes > 0:
                    run_ids.append(run["run_id"])
                    size_bytes -= run["bytes"]
            if not run_ids:
                return
            self._sibling.delete({"terms": {"run_id": run_ids}})

    def _match_kept(self, kind: str) -> Mapping[str, Any]:
        """Return a query for the entries of a kind that are not too old."""
        newer = {"range": {"at": {"gte": find_oldest(self._settings)}}}
        return {"bool": {"filter": [{"term": {"kind": kind}}, newer]}}

    def _match_expired(self) -> Mapping[str, Any]:
        return {"range": {"at": {"lt": find_oldest(self._settings)}}}


def _entry(kind: str, record: Record, **fields: Any) -> Mapping[str, Any]:
    """Return the entry of a run, or one that belongs to it, with the time of the run."""
    return {"kind": kind, "run_id": record["run_id"], "at": record["at"], **fields}


def _show(outcome: Outcome) -> Mapping[str, Any]:
    """Return the fields for dashboards: the names that are not "", and the time of all stages."""
    named = {name: value for name, value in asdict(outcome).items() if value != ""}
    return named | {"took_ms": sum(outcome.took_ms.values())}


def _read_feedback(source: Mapping[str, Any]) -> Feedback:
    return Feedback(
        run_id=source["run_id"],
        verdict=source["verdict"],
        note=source["note"],
        at=source["rated_at"],
    )
