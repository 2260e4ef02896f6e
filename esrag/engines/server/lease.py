"""One writer at a time on a server: an entry that names its holder and expires by itself."""

import time
from collections.abc import Mapping
from typing import Any

from esrag.engines.server.connection import Connection, Refused
from esrag.engines.server.entries import Entry
from esrag.errors import IndexBusy, IndexMissing
from esrag.liveness import is_dead, make_owner

_PATH = "_doc/lease"
# Renewed with every batch. Parsing a file may take two minutes, and encoding a batch takes seconds.
# A holder that died on this machine is detected at once; one that died on another machine costs
# this wait.
_LASTS_S = 300
_LOOKS_S = 0.1
_CONFLICT, _NOT_FOUND = 409, 404


class Lease:
    """A lease, held from `take` to `give_back`.

    `after_a_death` is true if the previous holder did not give the lease back.
    """

    def __init__(self, connection: Connection, index: str) -> None:
        self._connection = connection
        self._path = f"/{index}/{_PATH}"
        self._holder = make_owner()
        self._index = index
        self._held: Mapping[str, Any] = {}
        self.after_a_death = False

    def take(self, wait_s: float) -> None:
        """Wait for the present holder and take the lease.

        Raises: IndexBusy, IndexMissing if the index was deleted meanwhile.
        """
        until = time.monotonic() + wait_s
        while not self._try_to_take():
            if time.monotonic() > until:
                hint = "wait for it to end, or raise engine.lock_wait_s"
                raise IndexBusy(
                    f"another program has been writing {self._index} for {wait_s:g} s", hint=hint
                )
            time.sleep(_LOOKS_S)

    def renew(self) -> None:
        """Extend the lease. Raises: IndexBusy if another program has taken it meanwhile."""
        if not self._put(self._held):
            raise IndexBusy(
                f"another program has begun to write {self._index}", hint="run esrag ingest again"
            )

    def give_back(self) -> None:
        """Release the lease for the next writer."""
        try:
            self._connection.request("DELETE", self._path, **self._held)
        except Refused as error:
            # Another program holds it, or it was given back.
            if error.status not in (_CONFLICT, _NOT_FOUND):
                raise

    def _try_to_take(self) -> bool:
        found = self._find()
        if found is None:
            return self._put({"op_type": "create"})
        self.after_a_death = _is_over(found["_source"]) and self._put(_unchanged_since(found))
        return self.after_a_death

    def _put(self, condition: Mapping[str, Any]) -> bool:
        """Write the entry and return whether the lease is ours; false if another program won."""
        entry = {"entry": "lease", "holder": self._holder, "expires": int(time.time()) + _LASTS_S}
        try:
            answer = self._connection.request("PUT", self._path, entry, **condition)
        except Refused as error:
            if error.status != _CONFLICT:
                raise
            answer = self._find()  # another program was faster, or our response got lost
            if answer is None or answer["_source"]["holder"] != self._holder:
                return False

        self._held = _unchanged_since(answer)
        return True

    def _find(self) -> Entry | None:
        try:
            found: Entry = self._connection.request("GET", self._path)
        except Refused as error:
            # The index's first entry would recreate it.
            if error.kind == "index_not_found_exception":
                raise IndexMissing(
                    f"the index {self._index} is gone", hint="run the same command again"
                ) from error
            if error.status == _NOT_FOUND:
                return None
            raise
        return found


def _unchanged_since(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the condition that the entry has not been written since."""
    return {"if_seq_no": answer["_seq_no"], "if_primary_term": answer["_primary_term"]}


def _is_over(entry: Entry) -> bool:
    """Return whether the lease has expired, or its holder was a process here that has died."""
    return int(str(entry["expires"])) < time.time() or is_dead(str(entry["holder"]))
