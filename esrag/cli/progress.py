"""Progress: a bar on a terminal; elsewhere a line for each file or document, or ten for many questions."""

import sys
from types import TracebackType
from typing import Self

from esrag.cli.output import one_line, remark

_MANY_DOCUMENTS = 10_000  # of one file: of fewer its end says enough


class BarProgress:
    """A bar on stderr, for people; shown once its total is known: what comes before, a download, has its own."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, TextColumn("{task.fields[name]}", markup=False), console=Console(stderr=True))
        self.task = self.bar.add_task("", total=None, name="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def start(self, total: int) -> None:
        """So many are to be done."""
        self.bar.update(self.task, total=total)
        self.bar.start()

    def step(self, name: str, detail: str) -> None:  # noqa: ARG002 -- the report at the end has the details
        """One is done."""
        self.bar.update(self.task, advance=1, name=_short(name))

    def reading(self, name: str, page: int, pages: int) -> None:
        """Show the file that is being parsed, and how far it is."""
        how_far = f"  page {page:,} of {pages:,}" if pages else ""
        self.bar.update(self.task, name=f"{_short(name)}{how_far}")

    def within(self, name: str, done: int, total: int) -> None:
        """So many documents of one are done."""
        self.bar.update(self.task, name=f"{_short(name)}: {done} of {total} documents")

    def at(self, done: int, pace: str, name: str) -> None:
        """So many files are done, by others; `name` is a file under way."""
        self.bar.update(self.task, completed=done, name=f"{pace}  {_short(name)}")

    def say(self, text: str) -> None:
        """Print a remark above the bar; other output would end up within it."""
        self.bar.console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)


class LineProgress:
    """One line a file or document on stderr, for logs."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self._tenths = ("", 0)

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

    def reading(self, name: str, page: int, pages: int) -> None:
        """A log has a line when the file is done."""

    def within(self, name: str, done: int, total: int) -> None:
        """So many documents of one are done: ten lines, of a file that takes long."""
        before, self._tenths = self._tenths, (name, done * 10 // total)
        if total >= _MANY_DOCUMENTS and self._tenths > (name, 0) and self._tenths != before:
            remark(f"[{self.done}/{self.total}] {name}: {done} of {total} documents")

    def at(self, done: int, pace: str) -> None:
        """So many files are done, by others."""
        remark(f"[{done}/{self.total}] {pace}")

    def say(self, text: str) -> None:
        """A remark among the lines."""
        remark(text)


class FewLines(LineProgress):
    """Ten lines on stderr, or fewer, for what is not worth a line each."""

    def step(self, name: str, detail: str) -> None:  # noqa: ARG002 -- the report at the end has the details
        """One is done."""
        self.done += 1
        if self.done * 10 // self.total > (self.done - 1) * 10 // self.total:
            remark(f"[{self.done}/{self.total}] {name}")


def _short(name: str) -> str:
    r"""The last part of a path, without what could act on the terminal.

    >>> _short("/docs/a\x1b[2J\nb.md")
    'a[2J b.md'
    """
    return one_line(name.rpartition("/")[2])[:40]


def progress() -> BarProgress | LineProgress:
    """The one that fits where stderr goes."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def few() -> BarProgress | FewLines:
    """As `progress`, with few lines."""
    return BarProgress() if sys.stderr.isatty() else FewLines()
