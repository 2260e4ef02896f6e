"""Progress of a loader, reported to the parent of its process."""

from collections.abc import Callable

_watchers: list[Callable[[int, int], None]] = []


def watch_pages(watcher: Callable[[int, int], None]) -> None:
    """Tell `watcher` of each page that a loader has read, and how many there are."""
    _watchers.append(watcher)


def report_page(page: int, pages: int) -> None:
    """Say that a page was read; pages count from 1."""
    for watcher in _watchers:
        watcher(page, pages)
