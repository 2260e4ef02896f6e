"""The indexes of esrag on a server: an alias, and behind it one of its numbered indexes."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from esrag.engines import EngineOptions, StoredIndex
from esrag.engines.checks import require_index_name, require_same
from esrag.engines.server.connection import Connection, Refused
from esrag.engines.server.entries import STATE_ID
from esrag.engines.server.mapping import (
    VectorField,
    fingerprint_of,
    index_body,
    template_body,
    template_name,
    vector_field_of,
)
from esrag.errors import EngineError, IndexMissing
from esrag.records import Fingerprint


@dataclass(frozen=True, slots=True)
class Index:
    """What stands behind the alias."""

    name: str
    made: Fingerprint
    shards: int
    vectors: VectorField | None


class Indexes:
    """What stands behind the alias `engine.index`, and what could."""

    def __init__(self, connection: Connection, options: EngineOptions) -> None:
        self._connection = connection
        self._options = options

    def current(self) -> Index:
        """What stands behind the alias. Raises: IndexMissing, IndexMismatch, EngineError."""
        index = self.found()
        if index is None:
            message = f"there is no index {self._options.index} on {self._connection.shown_url}"
            raise IndexMissing(message, hint="make one with: esrag ingest FOLDER")
        return index

    def found(self) -> Index | None:
        """What stands behind the alias, if anything does. Raises: IndexMismatch, EngineError."""
        alias = self._options.index
        answer = self.described(alias)
        if answer is None:
            return None
        if len(answer) != 1:
            behind = ", ".join(sorted(answer))
            hint = "keep one of them, or set engine.index to another name"
            raise EngineError(f"the alias {alias} stands for several indexes: {behind}", hint=hint)
        ((name, body),) = answer.items()
        return _index(name, body)

    def described(self, name: str, **parameters: Any) -> dict[str, Any] | None:
        """The indexes behind a name, as the server describes them; None where there is none."""
        answer: dict[str, Any] | None = self._connection.found(f"/{name}", **parameters)
        return answer

    def named(self, name: str) -> Index:
        """An index of ours by its own name or its alias. Raises: IndexMissing, IndexMismatch."""
        require_index_name(name)
        found = self.described(name)
        if not found:
            message = f"there is no index {name} on {self._connection.shown_url}"
            raise IndexMissing(message, hint="esrag index list shows what there is")
        ((own_name, body),) = found.items()
        return _index(own_name, body)

    def stored(self) -> Iterator[StoredIndex]:
        """Every index of ours on the server, by name."""
        shown = "*.aliases,*.mappings._meta.esrag"
        answer = self._connection.request("GET", "/_all", filter_path=shown)
        for name in sorted(answer):
            said = answer[name].get("mappings", {}).get("_meta", {}).get("esrag")
            if said:
                made = fingerprint_of(answer[name]["mappings"], name)
                counts = self._counts(name)
                in_use = self._options.index in answer[name].get("aliases", ())
                yield StoredIndex(name, in_use, made, counts["document"], counts["chunk"], self._size_bytes(name))

    def _counts(self, name: str) -> Mapping[str, int]:
        """How many entries there are, by kind."""
        body = {"size": 0, "aggs": {"kinds": {"terms": {"field": "entry"}}}}
        answer = self._connection.request("POST", f"/{name}/_search", body, allow_partial_search_results=False)
        found = {bucket["key"]: bucket["doc_count"] for bucket in answer["aggregations"]["kinds"]["buckets"]}
        return {"document": 0, "chunk": 0, **found}

    def _size_bytes(self, name: str) -> int | None:
        """Bytes on the disks, copies counted; None where a user or key may not ask."""
        with suppress(Refused):
            answer = self._connection.request("GET", f"/{name}/_stats/store")
            return int(answer["_all"]["total"]["store"]["size_in_bytes"])
        return None

    def free_name(self) -> str:
        """The number after the highest that the alias has, or had and kept."""
        numbered = re.compile(rf"{re.escape(self._options.index)}-(\d{{6}})")
        names = self.described(f"{self._options.index}-*", filter_path="*.aliases") or ()
        numbers = [int(found[1]) for found in map(numbered.fullmatch, names) if found]
        return f"{self._options.index}-{max(numbers, default=0) + 1:06}"

    def make(self, fingerprint: Fingerprint) -> Index:
        """A new index behind the alias; where another program was quicker, its index."""
        try:
            self._create(self.free_name(), fingerprint, 0, self._options.index)
        except Refused as error:
            if error.kind != "resource_already_exists_exception":
                raise
        index = self.current()
        require_same(index.made, fingerprint)
        return index

    def make_beside(self, fingerprint: Fingerprint, generation: int = 0) -> str:
        """A new, empty index beside the one in use; an alias marks it as unfinished until it is swapped in."""
        name = self.free_name()
        self._create(name, fingerprint, generation, self._unfinished)
        return name

    def _create(self, name: str, fingerprint: Fingerprint, generation: int, alias: str) -> None:
        """An empty index; its alias comes with it in one step."""
        body = index_body(self._connection.server.product, fingerprint, self._options)
        self._put_template(body)  # first, since a former one would be mixed into the new index
        self._connection.request("PUT", f"/{name}", {**body, "aliases": {alias: {}}})
        self.set_generation(name, generation)

    def _put_template(self, body: Mapping[str, Any]) -> None:
        """What the server makes of an entry that comes late, after its index was dropped: an index as strict."""
        alias = self._options.index
        try:
            self._connection.request("PUT", f"/_index_template/{template_name(alias)}", template_body(alias, body))
        except Refused as error:
            if error.status != 403:  # noqa: PLR2004 -- a user or key for the index alone may not, and needs not
                raise

    def set_generation(self, name: str, generation: int) -> None:
        """Says how often the content changed."""
        state = {"entry": "state", "generation": generation}
        self._connection.request("PUT", f"/{name}/_doc/{STATE_ID}", state, refresh=True)

    def swap(self, old: str, new: str, *, keep: bool) -> None:
        """Puts one index in another's place behind the alias, in one step; the old one is kept or removed by it."""
        alias = self._options.index
        gone = {"remove": {"index": old, "alias": alias}} if keep else {"remove_index": {"index": old}}
        marked = {"remove": {"index": new, "alias": self._unfinished, "must_exist": False}}
        actions = [{"add": {"index": new, "alias": alias}}, marked, *([gone] if old else ())]
        try:
            self._connection.request("POST", "/_aliases", {"actions": actions})
        except EngineError:
            if list(self.described(alias) or ()) != [new]:  # else it was done, and only the answer was lost
                raise

    def drop(self, name: str) -> None:
        """Removes an index, by its own name."""
        self._connection.request("DELETE", f"/{name}")

    def drop_unfinished(self) -> None:
        """Removes what a rebuild or a move left that was cut short."""
        for name in self.described(self._unfinished) or ():
            self.drop(name)

    @property
    def _unfinished(self) -> str:
        """An alias that `engine.index` cannot be: settings allow small letters only."""
        return f"{self._options.index}-UNFINISHED"


def _index(name: str, body: Mapping[str, Any]) -> Index:
    shards = int(body["settings"]["index"]["number_of_shards"])
    return Index(name, fingerprint_of(body["mappings"], name), shards, vector_field_of(body["mappings"]))
