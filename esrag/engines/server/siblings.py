"""Indexes next to that of the documents: one holds the ledger, another one the records of runs.

A sibling is written through its alias only: after the index was deleted, a late write creates no
other one. Its mapping says what it is and in which version, and another index of its name is
neither read nor written.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from esrag.engines.server.connection import BUSY, Connection, Refused, refusal
from esrag.errors import EngineError, EsragError

CONFLICT, NOT_FOUND, FORBIDDEN = 409, 404, 403
_BULK_BYTES = 8 * 2**20  # both servers advise 5 to 15 MiB a request
_WAITS_S = (0.5, 1, 2, 4, 8, 16)
_NO_INDEX, _INDEX_THERE = "index_not_found_exception", "resource_already_exists_exception"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a sibling holds.

    `name` ends its alias and names its mapping and its section of the settings. `noun` names it in
    errors, which are of the class `error`.
    """

    name: str
    noun: str
    schema: int
    error: type[EsragError]


class Sibling:
    """A sibling of the index `index`; its name gives the same rights as those on that index."""

    def __init__(self, connection: Connection, index: str, kind: Kind) -> None:
        self._connection, self._kind = connection, kind
        self._alias = f"{index}-{kind.name}"
        self._is_ours = False

    @property
    def shown_url(self) -> str:
        """Address of the server without user and password."""
        return self._connection.shown_url

    def entries(self, ids: Sequence[str], without: str = "") -> list[Mapping[str, Any]]:
        """Return the entries with these ids as last written, `without` some fields."""
        if not ids or not self.exists():
            return []
        excluded = {"_source_excludes": without} if without else {}
        return self._connection.read(self._alias, ids, **excluded)

    def search(self, body: Mapping[str, Any], *, refresh: bool) -> Mapping[str, Any]:
        """Return what a search finds, all of it or an error; nothing if the index is missing."""
        if not self.exists():
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

    def delete(self, query: Mapping[str, Any]) -> None:
        """Delete the entries that a query finds, except those that are written meanwhile."""
        if not self.exists():
            return
        parameters: dict[str, Any] = {"conflicts": "proceed", "ignore_unavailable": True}
        self._connection.request(
            "POST", f"/{self._alias}/_delete_by_query", {"query": query}, **parameters
        )

    def bulk(self, actions: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return what the server says of each action.

        The index is made if it is missing. Actions that the server had no room for are sent again.
        """
        if not self.exists():
            self._make()
        answers: dict[int, Mapping[str, Any]] = {}
        left: Sequence[int] = range(len(actions))

        for wait_s in (*_WAITS_S, None):
            for some in _portions(left, actions):
                answers |= zip(some, self._send([actions[number] for number in some]), strict=True)
            left = [number for number in left if self._is_to_be_sent_again(answers[number])]
            if not left or wait_s is None:
                break
            if any(answers[number]["status"] == NOT_FOUND for number in left):
                self._make()
            time.sleep(wait_s)

        return [answers[number] for number in range(len(actions))]

    def exists(self) -> bool:
        """Return whether the index exists.

        Raises: the kind's error for a newer or a foreign one.
        """
        if self._is_ours:
            return True
        answer = self._connection.get(f"/{self._alias}/_mapping")
        for name, index in (answer or {}).items():
            self._require_ours(name, index["mappings"].get("_meta", {}))
            self._is_ours = True
        return self._is_ours

    def close(self) -> None:
        """Close the connections; the next use opens them again."""
        self._connection.close()
        self._is_ours = False

    def _refresh(self) -> None:
        """Make what was written searchable; a user who may only read finds it a second later."""
        try:
            self._connection.request("POST", f"/{self._alias}/_refresh", ignore_unavailable=True)
        except Refused as error:
            if error.status != FORBIDDEN:
                raise

    def _is_to_be_sent_again(self, answer: Mapping[str, Any]) -> bool:
        """Return whether an action failed for now; a full disk does not pass by itself."""
        if "error" not in answer:
            return False
        error = refusal(self.shown_url, answer["status"], answer)
        return error.kind == _NO_INDEX or (error.status in BUSY and not error.hint)

    def _send(self, actions: Sequence[str]) -> list[Mapping[str, Any]]:
        """Send one request. Raises: EngineError if the server does not answer for each action."""
        answer = self._connection.request(
            "POST", f"/{self._alias}/_bulk", "".join(actions), require_alias=True
        )
        items = [next(iter(item.values())) for item in answer.get("items", ())]
        if len(items) != len(actions):
            told = f"answered for {len(items)} of {len(actions)} entries of a bulk"
            raise EngineError(f"{self.shown_url} {told}", hint="run the command again")
        return items

    def _make(self) -> None:
        """Make the index and its alias in one step, unless another program was quicker."""
        kind = self._kind
        text = (files("esrag.mappings") / f"{kind.name}.json").read_text(encoding="utf-8")
        try:
            self._connection.request(
                "PUT",
                f"/{self._alias}-{kind.schema}",
                {**json.loads(text), "aliases": {self._alias: {}}},
            )
        except Refused as error:
            if error.kind != _INDEX_THERE:
                raise

    def _require_ours(self, name: str, meta: Mapping[str, Any]) -> None:
        kind = self._kind
        made = meta.get(f"esrag_{kind.name}")
        if made is None:
            hint = f"set {kind.name}.url to a file, or move it away"
            raise kind.error(f"the index {name} is not a {kind.noun} of esrag", hint=hint)

        if made["schema"] > kind.schema:
            versions = f"version {made['schema']}, this one reads {kind.schema}"
            message = f"the {kind.noun} {name} was made by a newer esrag: {versions}"
            raise kind.error(message, hint=f"upgrade esrag, or set {kind.name}.url to a file")


def _portions(numbers: Iterable[int], actions: Sequence[str]) -> Iterator[list[int]]:
    """Yield the numbers of actions in portions of _BULK_BYTES; a larger action is alone."""
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
