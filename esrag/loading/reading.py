"""Reads a source once, as it is at one moment."""

import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from esrag.errors import ParsingError
from esrag.loading.object_stores import CHANGES, place_of, require_size
from esrag.loading.sources import is_address, is_below, path_of

_TRIES = 3
_PIECE_BYTES = 2**20
_PAUSE_S = 0.1  # a program that writes a file in pieces has often finished by then


def read(source: str, max_bytes: int, root: str = "") -> bytes:
    """Return the bytes of a regular file or an object that did not change while they were read.

    A file must be in the real folder `root`, wherever links led when it was listed; "" allows any
    place.

    Raises: ParsingError for a file that cannot be read, is not regular, is too large, keeps
    changing, or is outside.
    """
    if is_address(source):
        return b"".join(place_of(source).pieces(max_bytes))

    path = path_of(source)
    try:
        return _read_unchanged(path, max_bytes, root)
    except OSError as error:
        raise access_error(path, error) from error
    except ValueError as error:  # a NUL in the name
        raise ParsingError(f"cannot be read: {error}") from error


def _read_unchanged(path: Path, max_bytes: int, root: str) -> bytes:
    """Return the bytes of a file, after some tries if it changes. Raises: ParsingError, OSError."""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_PAUSE_S)
        data = _read_once(path, max_bytes, root)
        if data is not None:
            return data
    raise ParsingError(CHANGES)


def sha256_of(source: str, max_bytes: int = sys.maxsize) -> str:
    """Return the hash of the bytes as they are now, in hexadecimal digits.

    Raises: ParsingError for a file that cannot be read, is not regular or is too large.
    """
    if is_address(source):
        return _hash(place_of(source).pieces(max_bytes))

    path = path_of(source)
    try:
        with _open_regular(path) as file:
            return _hash(_iter_pieces(file, max_bytes))
    except OSError as error:
        raise access_error(path, error) from error


def _iter_pieces(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    """Yield as many bytes as the file has when it is opened: some of the kernel's have no end."""
    status = os.fstat(file.fileno())
    require_regular(status.st_mode)
    require_size(status.st_size, max_bytes)

    left = status.st_size
    while left and (piece := file.read(min(left, _PIECE_BYTES))):
        yield piece
        left -= len(piece)


def _hash(pieces: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def stamp(source: str) -> str:
    """Return a value that changes when a source is written, without reading the source.

    Raises: ParsingError.
    """
    if is_address(source):
        return place_of(source).stamp()

    path = path_of(source)
    try:
        status = path.stat()
    except OSError as error:
        raise access_error(path, error) from error

    return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"


def read_unlinked(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of a file that is not a link; empty bytes for a missing one.

    Raises: ParsingError.
    """
    try:
        with open(path, "rb", opener=_without_links) as file:
            status = os.fstat(file.fileno())
            require_regular(status.st_mode)
            require_size(status.st_size, max_bytes)
            return file.read(status.st_size)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise access_error(path, error) from error


def _read_once(path: Path, max_bytes: int, root: str) -> bytes | None:
    """Return the bytes, or None if the file changed meanwhile."""
    with _open_regular(path) as file:
        before = os.fstat(file.fileno())
        require_regular(before.st_mode)
        if root:
            _require_inside(path, before, root)
        require_size(before.st_size, max_bytes)
        data = file.read(before.st_size + 1)
        after = os.fstat(file.fileno())

    unchanged = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if unchanged and len(data) == before.st_size else None


def _open_regular(path: Path) -> BinaryIO:
    # Checked first, because a device may take its opening as a command.
    require_regular(path.stat().st_mode)
    return open(path, "rb", opener=_without_waiting)


def _require_inside(path: Path, opened: os.stat_result, root: str) -> None:
    """Raise ParsingError if the opened file is not below the folder, whatever links lead to it."""
    real = os.path.realpath(path)
    if not is_below(real, os.fspath(path_of(root))):
        raise ParsingError("leads outside the folder that was named: --follow-links follows it")
    if not os.path.samestat(opened, os.lstat(real)):  # a link was put in its place meanwhile
        raise ParsingError(CHANGES)


def _without_waiting(path: str, flags: int) -> int:
    # Else a named pipe put in its place waits for a writer.
    return os.open(path, flags | os.O_NONBLOCK)


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def access_error(path: Path, error: OSError) -> ParsingError:
    """Return the error for a file that the system refuses to open."""
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return ParsingError("is a link that leads nowhere")
    return ParsingError(f"cannot be read: {error.strerror or error}")


def require_regular(mode: int) -> None:
    """Raise ParsingError for the mode of a folder, a named pipe, a socket or a device."""
    kinds = ((stat.S_ISDIR, "folder"), (stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"))
    if not stat.S_ISREG(mode):
        kind = next((name for test, name in kinds if test(mode)), "device")
        raise ParsingError(f"is a {kind}, not a regular file")
