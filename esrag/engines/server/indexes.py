"""The indexes of esrag on a server: an alias, and behind it one of its numbered indexes."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from esrag.engines import UNFINISHED, EngineOptions, StoredIndex
from esrag.engines.preconditions import choose_first_generation, require_index_name
from esrag.engines.server.connection import Connection, Refused
from esrag.engines.server.entries import STATE_ID
from esrag.engines.server.lease import Lease
from esrag.engines.server.mapping import (
    VectorField,
    fingerprint_of,
    index_body,
    template_body,
    template_name,
    vector_field_of,
)
from esrag.errors import EngineError, IndexBusy, IndexMissing, UsageError
from esrag.records import Fingerprint

_TRIES = 5
# Only these parts of a mapping are read before every question; the whole would be long.
_READ = (
    "*.aliases,*.mappings._meta.esrag,*.mappings.properties.embedding,"
    "*.settings.index.number_of_shards"
)


@dataclass(frozen=True, slots=True)
class Index:
    """The index behind the alias."""

    name: str
    made: Fingerprint
    shards: int
    vectors: VectorField | None


class _AlreadyThere(Exception):  # noqa: N818 -- describes the name
    """An index with that name exists."""


class Indexes:
    """The index behind the alias `engine.index`, and the other indexes on the server."""

    def __init__(self, connection: Connection, options: EngineOptions) -> None:
        self._connection = connection
        self._options = options

    def find_current(self) -> Index:
        """Return the index behind the alias. Raises: IndexMissing, IndexMismatch, EngineError."""
        index = self.find()
        if index is None:
            message = f"no index {self._options.index} on {self._connection.shown_url}"
            raise IndexMissing(message, hint="create one with: esrag ingest FOLDER")
        return index

    def find(self) -> Index | None:
        """Return the index behind the alias, if any. Raises: IndexMismatch, EngineError."""
        return self._one(self._options.index)

    def resolve(self, name: str) -> Index:
        """Return one of our indexes by its own name or its alias.

        Raises: IndexMissing, IndexMismatch, EngineError.
        """
        require_index_name(name)
        index = self._one(name)
        if index is None:
            message = f"no index {name} on {self._connection.shown_url}"
            raise IndexMissing(message, hint="esrag index list shows the indexes")
        return index

    def require_alias(self, index: Index | None) -> None:
        """Raise UsageError if `engine.index` names an index itself, which cannot be replaced."""
        if index and index.name == self._options.index:
            hint = "set engine.index to its alias"
            raise UsageError(
                f"engine.index is {index.name}, which is an index, not an alias", hint=hint
            )

    def _one(self, name: str) -> Index | None:
        answer = self.describe(name, filter_path=_READ)
        if not answer:
            return None
        if len(answer) != 1:
            behind = ", ".join(sorted(answer))
            hint = "keep one of them, or set engine.index to another name"
            raise EngineError(f"the alias {name} points to several indexes: {behind}", hint=hint)

        ((own_name, body),) = answer.items()
        return _index(own_name, body)

    def describe(self, name: str, **parameters: Any) -> dict[str, Any] | None:
        """Return the server's description of the indexes behind a name, or None."""
        answer: dict[str, Any] | None = self._connection.get(f"/{name}", **parameters)
        return answer

    def describe_all(self) -> Iterator[StoredIndex]:
        """Describe every index of ours on the server, by name."""
        answer = self._connection.request("GET", "/_all", filter_path=_READ)
        for name in sorted(answer):
            if answer[name].get("mappings", {}).get("_meta", {}).get("esrag"):
                aliases = answer[name].get("aliases", ())
                try:
                    problem = UNFINISHED if self._unfinished in aliases else ""
                    yield self.summarise(
                        _index(name, answer[name]), problem, in_use=self._options.index in aliases
                    )
                except EngineError as error:
                    yield StoredIndex(name, self._options.index in aliases, problem=str(error))

    def summarise(self, index: Index, problem: str = "", *, in_use: bool = True) -> StoredIndex:
        """Describe the content of an index. Raises: EngineError."""
        documents, chunks = (self._count(index.name, entry) for entry in ("document", "chunk"))
        return StoredIndex(
            name=index.name,
            in_use=in_use,
            fingerprint=index.made,
            documents=documents,
            chunks=chunks,
            size_bytes=self._size_bytes(index.name),
            problem=problem,
        )

    def _count(self, name: str, entry: str) -> int:
        answer = self._connection.ask(f"/{name}/_count?q=entry:{entry}")
        if answer["_shards"]["failed"]:
            raise EngineError(f"{answer['_shards']['failed']} shards of {name} cannot be read")
        return int(answer["count"])

    def _size_bytes(self, name: str) -> int | None:
        """Return the bytes on disk including replicas; None if the user or key may not ask."""
        with suppress(Refused):
            answer = self._connection.request("GET", f"/{name}/_stats/store")
            return int(answer["_all"]["total"]["store"]["size_in_bytes"])
        return None

    def choose_free_name(self) -> str:
        """Return the number after the highest one in use by the alias or kept from before."""
        numbered = re.compile(rf"{re.escape(self._options.index)}-(\d{{6}})")
        names = self.describe(f"{self._options.index}-*", filter_path="*.aliases") or ()
        numbers = [int(found[1]) for found in map(numbered.fullmatch, names) if found]
        return f"{self._options.index}-{max(numbers, default=0) + 1:06}"

    def make(self, fingerprint: Fingerprint) -> Index:
        """Create an index behind the alias; if another program was faster, return its index."""
        # Before the lookup: a program that comes in between has the same name, or is seen.
        name = self.choose_free_name()
        if self.find() is None:
            with suppress(_AlreadyThere):
                self._create(name, fingerprint, 0, self._options.index)
        return self.find_current()

    def make_beside(self, fingerprint: Fingerprint, generation: int = 0) -> str:
        """Create an empty index next to the one in use; an alias marks it as unfinished."""
        for _ in range(_TRIES):
            name = (
                self.choose_free_name()
            )  # before anything is dropped, so that no name is used twice
            self.drop_unfinished()
            with suppress(_AlreadyThere):  # another program was faster, or our response got lost
                self._create(name, fingerprint, generation, self._unfinished)
                return name
        raise EngineError(f"no name is free after {name}", hint="run the same command again")

    def _create(self, name: str, fingerprint: Fingerprint, generation: int, alias: str) -> None:
        """Create an empty index together with its alias in one step."""
        body = index_body(self._connection.server.product, fingerprint, self._options)
        # First, since an earlier template would be mixed into the new index.
        self._put_template(body)
        try:
            self._connection.request("PUT", f"/{name}", {**body, "aliases": {alias: {}}})
        except Refused as error:
            raise (
                _AlreadyThere if error.kind == "resource_already_exists_exception" else error
            ) from error
        self.set_generation(name, choose_first_generation(generation))

    def _put_template(self, body: Mapping[str, Any]) -> None:
        """Store a template, so that a late entry recreates a deleted index with strict mappings."""
        alias = self._options.index
        try:
            self._connection.request(
                "PUT", f"/_index_template/{template_name(alias)}", template_body(alias, body)
            )
        except Refused as error:
            if error.status != 403:  # noqa: PLR2004 -- a key restricted to the index may not, and need not
                raise

    def set_generation(self, name: str, generation: int) -> None:
        """Set the generation, which counts changes of content."""
        state = {"entry": "state", "generation": generation}
        self._connection.request("PUT", f"/{name}/_doc/{STATE_ID}", state, refresh=True)

    def swap(self, old: str, new: str, *, keep: bool) -> None:
        """Replace one index behind the alias by another in one step; keep or delete the old one."""
        alias = self._options.index
        gone = (
            {"remove": {"index": old, "alias": alias}} if keep else {"remove_index": {"index": old}}
        )
        marked = {"remove": {"index": new, "alias": self._unfinished, "must_exist": False}}
        actions = [{"add": {"index": new, "alias": alias}}, marked, *([gone] if old else ())]

        try:
            self._connection.request("POST", "/_aliases", {"actions": actions})
        except EngineError:
            # Else it was done, and only the response was lost.
            if list(self.describe(alias) or ()) != [new]:
                raise

    def drop(self, name: str) -> None:
        """Delete an index by its own name; a missing one is not an error."""
        try:
            self._connection.request("DELETE", f"/{name}")
        except Refused as error:
            if error.kind != "index_not_found_exception":
                raise

    def drop_unfinished(self) -> None:
        """Delete indexes left by interrupted rebuilds or moves, except those being written."""
        for name in self.describe(self._unfinished) or ():
            with suppress(IndexBusy, IndexMissing):
                Lease(self._connection, name).take(0)
                self.drop(name)

    @property
    def _unfinished(self) -> str:
        """Return the alias that marks unfinished indexes.

        It contains capitals, which `engine.index` cannot have, so the two never clash.
        """
        return f"{self._options.index}-UNFINISHED"


def _index(name: str, body: Mapping[str, Any]) -> Index:
    shards = int(body["settings"]["index"]["number_of_shards"])
    return Index(
        name=name,
        made=fingerprint_of(body["mappings"], name),
        shards=shards,
        vectors=vector_field_of(body["mappings"]),
    )
