"""Ingesting: files → documents → chunks → vectors → the index, planned by content, in batches."""

from dataclasses import dataclass
from typing import Literal, Protocol

State = Literal["added", "changed", "renamed"]


@dataclass(frozen=True, slots=True)
class Task:
    """One file to load, with the id of its document and the folder to filter it by.

    `state` is how it differs from what is stored. `sha256` is the hash of its bytes when it was
    listed. `root` is the folder that it must be in when it is read.
    """

    source: str
    doc_id: str
    folder: str
    state: State
    sha256: str = ""
    root: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """A source or a part of one that is left out, and why.

    `failed` is False if there was nothing to find.
    """

    source: str
    reason: str
    failed: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one file: added, changed, renamed, or failed or skipped with the reason.

    `failed` includes dead letters. `sha256` is the hash of the bytes that were stored; `at_ms` is
    when the outcome was recorded. `hidden` counts the characters of hidden text that were left out.
    """

    source: str
    state: State | Literal["failed", "skipped"]
    reason: str = ""
    sha256: str = ""
    at_ms: int = 0
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a batch.

    `parts` are the parts of files that were left out; the other fields count chunks.
    """

    outcomes: tuple[Outcome, ...] = ()
    parts: tuple[Skip, ...] = ()
    chunks: int = 0
    embedded: int = 0
    reused: int = 0


class Progress(Protocol):
    """A listener for the progress of an ingest by file, or of a migration by document."""

    def start(self, total: int) -> None:
        """Note the total of files to process."""
        ...

    def step(self, name: str, detail: str) -> None:
        """Note that one file is done; `detail` is its outcome."""
        ...

    def say(self, text: str) -> None:
        """Print a remark."""
        ...

    def reading(self, name: str, page: int, pages: int) -> None:
        """Show which file is being parsed and how far; 0 of 0 pages where that is not known."""
        ...

    def within(self, name: str, done: int, total: int) -> None:
        """Note how many of the documents of one file are done."""
        ...


class Silent:
    """Progress that is not shown."""

    def start(self, total: int) -> None:
        """Do nothing."""

    def step(self, name: str, detail: str) -> None:
        """Do nothing."""

    def say(self, text: str) -> None:
        """Do nothing."""

    def reading(self, name: str, page: int, pages: int) -> None:
        """Do nothing."""

    def within(self, name: str, done: int, total: int) -> None:
        """Do nothing."""
