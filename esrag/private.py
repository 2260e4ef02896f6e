"""Folders and files that only their user can read, as they hold text of the user's documents."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER_MODE, FILE_MODE = 0o700, 0o600  # a stricter umask narrows them further


def make_folder(path: Path) -> None:
    """Make a folder and those above it; one that exists keeps its permissions. Raises: OSError."""
    for folder in reversed((path, *path.parents)):
        if not folder.exists():
            folder.mkdir(mode=FOLDER_MODE, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file if it is missing. Raises: OSError.

    An existing file is not opened: closing it again would end the locks that SQLite holds on it in
    this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def opener(path: str, flags: int) -> int:
    """Open a file for `open`; a new one is private. Raises: OSError."""
    return os.open(path, flags, FILE_MODE)


def find_shared(places: Iterable[Path]) -> list[Path]:
    """Return the files and folders that other users may access, themselves or in part."""
    return [place for place in places if any(map(_is_shared, (place, *place.rglob("*"))))]


def _is_shared(path: Path) -> bool:
    try:
        return bool(path.lstat().st_mode & ~FOLDER_MODE & 0o777)
    except OSError:  # gone meanwhile
        return False
