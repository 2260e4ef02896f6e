"""What one process works with, whether it is the command itself or a worker."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from esrag.context import Context, open_context, open_engine
from esrag.engines import Engine
from esrag.errors import SettingsError
from esrag.ingesting.batches import Ingestion, fingerprint
from esrag.ledger.ledger import Ledger
from esrag.ledger.opening import open_ledger
from esrag.liveness import make_owner
from esrag.records import Fingerprint
from esrag.settings import Settings


@dataclass
class Work:
    """What one process works with; a part is opened when it is first needed.

    `own_files` are the settings files in use, which are not ingested.
    """

    settings: Settings = field(repr=False)
    owner: str = field(default_factory=make_owner)
    own_files: Sequence[str] = ()
    _engines: dict[str, Engine] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def ledger(self) -> Ledger:
        """Return the ledger of the settings."""
        return open_ledger(self.settings)

    @cached_property
    def context(self) -> Context:
        """Return the context with the engine and the embedder."""
        return open_context(self.settings)

    @cached_property
    def made(self) -> Fingerprint:
        """Return the fingerprint of an index that is made here."""
        return fingerprint(self.settings, self.context.embedder)

    @cached_property
    def ingestion(self) -> Ingestion:
        """Return the loader of files, which ends with the process."""
        return Ingestion(self.settings, self.context.embedder, self.context.vectors)

    def engine(self, index: str) -> Engine:
        """Return an index at the address of the settings, by its name."""
        if index not in self._engines:
            self._engines[index] = open_engine(
                self.settings.engine.model_copy(update={"index": index})
            )
        return self._engines[index]

    def close(self) -> None:
        """Close everything that was opened."""
        opened = vars(self)  # a cached property is there once it was asked for
        for part in ("ingestion", "ledger"):
            if part in opened:
                opened[part].close()
        for engine in self._engines.values():
            engine.close()
        if "context" in opened:
            _close_context(self.context)


def _close_context(context: Context) -> None:
    """Close the engine, the facts, the cache and the runs of a context."""
    context.engine.close()
    if facts := context.facts():
        facts.close()
    if context.cache:
        context.cache.close()
    with suppress(SettingsError):  # a wrong runs.url, which an ingest does not need
        if runs := context.runs():
            runs.close()
