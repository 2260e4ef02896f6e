"""The folder that a command works in: its own or one above, as git finds a repository."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

SETTINGS_FILE = "esrag.yaml"
INDEX_FOLDER = ".esrag"


def project_folder(start: Path) -> Path:
    """Return the nearest folder that has `esrag.yaml` or `.esrag`, from `start` upwards.

    That is `start` itself if none has.
    """
    for folder in _walk_up(start):
        if any(_exists(folder / name) for name in (SETTINGS_FILE, INDEX_FOLDER)):
            return folder

    return start


def expand_home(path: str) -> str:
    """Return a path with the home in place of a leading `~`; as it is if there is no such home."""
    return os.path.expanduser(path)  # noqa: PTH111 -- Path.expanduser fails without a home


def _walk_up(start: Path) -> Iterator[Path]:
    """Yield `start` and the folders above it.

    The last is the user's home, or the one before a folder that others may write to.
    """
    yield start
    try:
        here = start.resolve(strict=True)
        device = here.stat().st_dev
    except OSError:  # the folder was removed, or a link leads in a circle
        return

    home = Path(os.path.realpath(expand_home("~")))
    while here not in {home, here.parent} and _is_private(here):
        here = here.parent
        if not _is_private(here) or here.stat().st_dev != device:
            return
        yield here


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 -- Path.exists() fails in a folder that cannot be entered


def _is_private(folder: Path) -> bool:
    """Return whether the folder is the user's own and not writable for everybody, as /tmp is."""
    try:
        status = folder.stat()
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not status.st_mode & stat.S_IWOTH
