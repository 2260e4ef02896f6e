"""Show progress as a bar on a terminal, elsewhere as lines in a log."""

import sys
from types import TracebackType
from typing import Self

from esrag.cli.output import remark, to_one_line

_MANY_DOCUMENTS = 10_000  # of one file; for fewer, the line at its end is enough


class BarProgress:
    """A bar on stderr that appears with its total; an earlier download has a bar of its own."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self.bar = progress.Progress(
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.fields[name]}", markup=False),
            console=Console(stderr=True),
        )
        self.task = self.bar.add_task("", total=None, name="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def start(self, total: int) -> None:
        """Show the bar, for `total` files."""
        self.bar.update(self.task, total=total)
        self.bar.start()

    def step(self, name: str, detail: str) -> None:  # noqa: ARG002 -- the report at the end has the details
        """Count a file as done."""
        self.bar.update(self.task, advance=1, name=_shorten(name))

    def reading(self, name: str, page: int, pages: int) -> None:
        """Show which file is being parsed, and its current page."""
        how_far = f"  page {page:,} of {pages:,}" if pages else ""
        self.bar.update(self.task, name=f"{_shorten(name)}{how_far}")

    def within(self, name: str, done: int, total: int) -> None:
        """Show how many documents of a file are done."""
        self.bar.update(self.task, name=f"{_shorten(name)}: {done} of {total} documents")

    def at(self, done: int, pace: str, name: str) -> None:
        """Show how many files workers have completed; `name` is a file in progress."""
        self.bar.update(self.task, completed=done, name=f"{pace}  {_shorten(name)}")

    def say(self, text: str) -> None:
        """Print a remark above the bar, where it does not disturb the bar."""
        self.bar.console.print(to_one_line(text), markup=False, highlight=False, soft_wrap=True)


class LineProgress:
    """One line per file or document on stderr, for logs."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self._tenths = ("", 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing: lines need no cleanup."""

    def start(self, total: int) -> None:
        """Set the number of files."""
        self.total = total

    def step(self, name: str, detail: str) -> None:
        """Print a line for a completed file."""
        self.done += 1
        remark(f"[{self.done}/{self.total}] {name}: {detail}")

    def reading(self, name: str, page: int, pages: int) -> None:
        """Print nothing: a log gets a line when the file is done."""

    def within(self, name: str, done: int, total: int) -> None:
        """Print at most ten lines on the documents of a large file."""
        before, self._tenths = self._tenths, (name, done * 10 // total)
        if total >= _MANY_DOCUMENTS and self._tenths > (name, 0) and self._tenths != before:
            remark(f"[{self.done}/{self.total}] {name}: {done} of {total} documents")

    def at(self, done: int, pace: str) -> None:
        """Print how many files workers have completed."""
        remark(f"[{done}/{self.total}] {pace}")

    def say(self, text: str) -> None:
        """Print a remark."""
        remark(text)


class FewLines(LineProgress):
    """At most ten lines on stderr in total."""

    def step(self, name: str, detail: str) -> None:  # noqa: ARG002 -- the report at the end has the details
        """Count one as done, and print every tenth of the total."""
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            remark(f"[{self.done}/{self.total}] {name}")


def _shorten(name: str) -> str:
    r"""Return the last part of a path, without anything that could control the terminal.

    >>> _shorten("/docs/a\x1b[2J\nb.md")
    'a[2J b.md'
    """
    return to_one_line(name.rpartition("/")[2])[:40]


def choose_progress() -> BarProgress | LineProgress:
    """Return a bar if stderr is a terminal, otherwise lines."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def choose_brief_progress() -> BarProgress | FewLines:
    """Return a bar if stderr is a terminal, otherwise at most ten lines."""
    return BarProgress() if sys.stderr.isatty() else FewLines()
