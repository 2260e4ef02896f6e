"""Import a file of facts: read, check, compare with what is stored, and write what differs."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from esrag.engines import Engine
from esrag.facts import Fact
from esrag.facts.checking import split_sound
from esrag.facts.reading import Fault, read_facts
from esrag.facts.storing import compare_with_stored, list_facts, write_change
from esrag.loading.files import to_source


@dataclass(frozen=True, slots=True)
class FactsReport:
    """What became of the rows of a file; `left_out` are those that are no facts or cannot stand."""

    added: int
    changed: int
    removed: int
    unchanged: int
    left_out: tuple[Fault, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag facts import --json` prints."""
        left_out = [asdict(fault) for fault in self.left_out]
        return {"schema": "esrag.fact_import/1", **asdict(self), "left_out": left_out}


def import_facts(
    file: Path, engine: Engine, max_bytes: int, *, dry_run: bool = False
) -> FactsReport:
    """Make the index hold the facts of a file; `dry_run` changes nothing.

    Raises: UsageError for a file that holds no facts, EngineError, IndexBusy.
    """
    stored = [*list_facts(engine)]
    sound, faults = read_sound(file, stored, max_bytes)
    change = compare_with_stored(sound, stored, to_source(str(file)))
    if not dry_run:
        write_change(change, engine)
    return FactsReport(
        added=len(change.added),
        changed=len(change.changed),
        removed=len(change.removed),
        unchanged=change.unchanged,
        left_out=tuple(faults),
    )


def read_sound(file: Path, stored: list[Fact], max_bytes: int) -> tuple[list[Fact], list[Fault]]:
    """Return the facts of a file that agree with those of other files, and other rows.

    Raises: UsageError.
    """
    read = [*read_facts(file, max_bytes)]
    rows = [part for part in read if not isinstance(part, Fault)]
    own = to_source(str(file))
    sound, conflicts = split_sound(rows, [fact for fact in stored if fact.file != own])
    return sound, [*(part for part in read if isinstance(part, Fault)), *conflicts]
