"""What one process works with, whether it is the command itself or a worker."""

from dataclasses import dataclass, field
from functools import cached_property

from esrag.engines import Engine
from esrag.ingesting.batches import Ingestion, fingerprint
from esrag.ledger.ledger import Ledger
from esrag.ledger.opening import open_ledger
from esrag.liveness import new_owner
from esrag.records import Fingerprint
from esrag.settings import Settings
from esrag.stages import Stages, open_engine, open_stages


@dataclass
class Work:
    """What one process works with; a part is opened when it is first needed."""

    settings: Settings = field(repr=False)
    owner: str = field(default_factory=new_owner)
    _engines: dict[str, Engine] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def ledger(self) -> Ledger:
        """Where it is written down."""
        return open_ledger(self.settings)

    @cached_property
    def stages(self) -> Stages:
        """The engine in use, and the embedder."""
        return open_stages(self.settings)

    @cached_property
    def made(self) -> Fingerprint:
        """What an index is made with here."""
        return fingerprint(self.settings, self.stages.embedder)

    @cached_property
    def ingestion(self) -> Ingestion:
        """Loads files; ends with the process."""
        return Ingestion(self.settings, self.stages.embedder, self.stages.vectors)

    def engine(self, index: str) -> Engine:
        """An index at the address of the settings, by its name."""
        if index not in self._engines:
            self._engines[index] = open_engine(self.settings.engine.model_copy(update={"index": index}))
        return self._engines[index]

    def close(self) -> None:
        """Lets go of what was opened."""
        opened = vars(self)  # a cached property is there once it was asked for
        for part in ("ingestion", "ledger"):
            if part in opened:
                opened[part].close()
        for engine in (*self._engines.values(), *([self.stages.engine] if "stages" in opened else ())):
            engine.close()
        if "stages" in opened and self.stages.cache:
            self.stages.cache.close()
