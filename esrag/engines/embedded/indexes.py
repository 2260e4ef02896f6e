"""The indexes in one folder: listing, locking, exchanging and deleting them."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from esrag.engines import UNFINISHED, StoredIndex
from esrag.engines.embedded import index_folder
from esrag.engines.embedded.databases import value
from esrag.engines.embedded.index_folder import Places, failures
from esrag.engines.preconditions import require_index_name
from esrag.errors import EngineError, IndexBusy, IndexMismatch, IndexMissing
from esrag.private import make_file, make_folder


def names(url: Path) -> list[str]:
    """Return the names of the indexes in a folder, in order. Raises: EngineError."""
    with failures(url):
        paths = [path for path in url.iterdir() if path.name[0] != "."] if url.is_dir() else []
    return sorted(path.name for path in paths if _is_index(path))


def find_existing(url: Path, name: str) -> Places:
    """Return the places of an existing index. Raises: IndexMissing, UsageError."""
    require_index_name(name)
    if name not in names(url):
        raise IndexMissing(f"no index {name} in {url}", hint="esrag index list shows the indexes")
    return Places(url, name)


def choose_free_name(places: Places) -> str:
    """Return the index's name with the first number that is not taken."""
    number = 1
    while (places.url / f"{places.name}-{number:06}").exists():
        number += 1
    return f"{places.name}-{number:06}"


def read_stored_index(places: Places) -> StoredIndex:
    """Describe an index. Raises: IndexMissing, EngineError."""
    with index_folder.read_once(places) as connection:
        return StoredIndex(
            name=places.name,
            in_use=True,
            fingerprint=index_folder.state(connection).fingerprint,
            documents=value(connection, "SELECT count(*) FROM documents"),
            chunks=value(connection, "SELECT count(*) FROM chunks"),
            size_bytes=_count_bytes(places.find_current()),
            problem=UNFINISHED if places.unfinished.exists() else "",
        )


def _count_bytes(folder: Path) -> int:
    """Return the size of a folder's files, except those that are removed or moved meanwhile."""
    size_bytes = 0
    with suppress(FileNotFoundError):  # the folder itself
        for path in folder.iterdir():
            with suppress(FileNotFoundError):
                size_bytes += path.stat().st_size
    return size_bytes


def describe_all(places: Places) -> Iterator[StoredIndex]:
    """Describe every index in the folder, by name."""
    for name in names(places.url):
        in_use = name == places.name
        try:
            yield replace(read_stored_index(Places(places.url, name)), in_use=in_use)
        except EngineError as error:
            yield StoredIndex(name, in_use, problem=str(error))


@contextmanager
def lock_index(places: Places, wait_s: float) -> Iterator[None]:
    """Hold the write lock of an index, and repair what a killed program left. Raises: IndexBusy."""
    lock = FileLock(places.lock, timeout=wait_s)
    with failures(places.folder, writing=True):
        make_folder(places.url)
        make_file(places.lock)
        _acquire(lock, places.folder)
    try:
        _mend(places)
        yield
    finally:
        lock.release()


def _acquire(lock: BaseFileLock, folder: Path) -> None:
    try:
        lock.acquire()
    except Timeout as error:
        hint = "wait for it to end, or raise engine.lock_wait_s"
        message = f"another program has been writing {folder} for {lock.timeout:g} s"
        raise IndexBusy(message, hint=hint) from error


def raise_generation(places: Places, beyond: int) -> None:
    """Raise the generation of an index beyond its own and `beyond`, before it replaces another."""
    with failures(places.folder, writing=True):
        with closing(index_folder.open_reading(places.folder)) as connection:
            made = index_folder.state(connection).fingerprint
        with closing(index_folder.open_writing(places.folder, made)) as connection:
            connection.execute("UPDATE state SET generation = max(generation, ?) + 1", (beyond,))


def drop_unfinished(places: Places) -> None:
    """Delete indexes left by interrupted moves of this one, except those being written."""
    own = re.compile(rf"{re.escape(places.name)}-\d{{6,}}")  # and not those of its facts
    for name in names(places.url):
        other = Places(places.url, name)
        if own.fullmatch(name) and other.unfinished.exists():
            with suppress(IndexBusy), lock_index(other, 0):
                drop(other)


def exchange(places: Places, other: Places) -> None:
    """Exchange the names of two indexes; the first may be missing.

    A reader of the first name sees either the one index or the other.
    """
    with failures(places.folder, writing=True):
        other.unfinished.unlink(missing_ok=True)
        aside = places.set_aside(other.name)
        if places.folder.exists():
            places.folder.rename(aside)
        other.folder.rename(places.folder)
        if aside.exists():
            aside.rename(other.folder)


def drop(places: Places) -> None:
    """Delete an index atomically: if killed, either all of it is gone or nothing."""
    with failures(places.folder, writing=True):
        places.folder.rename(places.new)
        discard(places.new)


def discard(folder: Path) -> None:
    """Delete one of our folders. Raises: IndexMismatch if it belongs to another program."""
    if folder.exists():
        if not index_folder.is_ours_by_names(folder):
            hint = "move it away, or choose another engine.url"
            raise IndexMismatch(
                f"{folder} holds something that is not an index of esrag", hint=hint
            )
        shutil.rmtree(folder)


def _mend(places: Places) -> None:
    """Complete or undo what a killed program left.

    After an interrupted rebuild or swap, the former index is restored, or moved to the place it was
    meant to have. An unfinished index is deleted. So is the former one if a rebuild had already
    replaced it.
    """
    with failures(places.folder, writing=True):
        for waiting, place in places.iter_interrupted_swaps():
            waiting.rename(place if places.folder.exists() else places.folder)
        if places.old.exists() and not places.folder.exists():
            places.old.rename(places.folder)
        discard(places.old)
        discard(places.new)


def _is_index(folder: Path) -> bool:
    try:
        begun = (folder / index_folder.DATABASE).is_file() or Places(
            folder.parent, folder.name
        ).unfinished.is_file()
        return begun and index_folder.is_ours_by_names(folder)
    except OSError:  # another user's folder
        return False
