"""Progress of an ingest or a move: a bar with a known total on a terminal, one line a file or document elsewhere."""

import sys
from types import TracebackType
from typing import Self

from esrag.cli.output import remark


class BarProgress:
    """A bar on stderr, for people."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, TextColumn("{task.fields[name]}", markup=False), console=Console(stderr=True))
        self.task = self.bar.add_task("", total=None, name="")

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def start(self, total: int) -> None:
        """So many are to be done."""
        self.bar.update(self.task, total=total)

    def step(self, name: str, detail: str) -> None:  # noqa: ARG002 -- the report at the end has the details
        """One is done."""
        self.bar.update(self.task, advance=1, name=name.rpartition("/")[2][:40])


class LineProgress:
    """One line a file or document on stderr, for logs."""

    def __init__(self) -> None:
        self.done = self.total = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to take down."""

    def start(self, total: int) -> None:
        """So many are to be done."""
        self.total = total

    def step(self, name: str, detail: str) -> None:
        """One is done."""
        self.done += 1
        remark(f"[{self.done}/{self.total}] {name}: {detail}")


def progress() -> BarProgress | LineProgress:
    """The one that fits where stderr goes."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()
