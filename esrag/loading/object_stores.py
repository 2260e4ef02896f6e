"""What is in an object store or on a file server, through fsspec.

Only an address that the user named, and what the store lists below it, is ever opened: no chain of
protocols, nothing of this machine, no page whose links would be followed. Credentials are the
store's library's to find.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from esrag.errors import ParsingError
from esrag.plugins import install_hint

# They read this machine's memory and files, wrap another file system, or list a page by the links
# in it.
_NO_STORES = {
    *("asynclocal", "data", "dir", "dvc", "file", "git", "local", "memory", "pyscript"),
    *(
        "async_wrapper",
        "asyncwrapper",
        "blockcache",
        "cached",
        "dask",
        "filecache",
        "generic",
        "libarchive",
    ),
    *("reference", "simplecache", "tar", "zip"),
    *("http", "https"),
}
_PASSWORD = re.compile(r"^([^:]+://[^/:@]*):(?!\d+(?:/|$))[^@]*@")
_MESSAGE_CHARACTERS = 300
CHANGES = "changes while it is read: run ingest again when it is written"


@dataclass(frozen=True, slots=True)
class Place:
    """An address, and where that is in which file system of fsspec (which has no types)."""

    url: str
    store: Any
    path: str

    def kind(self) -> Literal["file", "folder", ""]:
        """Return what is there; "" for nothing.

        Raises: ParsingError if the store does not say.
        """
        with translate_errors():
            try:
                return "folder" if self.store.info(self.path)["type"] == "directory" else "file"
            except FileNotFoundError:
                return ""

    def entries(self, below: str = "") -> Iterator[tuple[str, bool]]:
        """Yield the names in the folder, or in one below it, each with whether it is a folder.

        A folder that has no name is given as "". Raises: ParsingError.
        """
        folder = f"{self.path.rstrip('/')}/{below}" if below else self.path
        with translate_errors():
            found = [
                (entry["name"].rstrip("/"), entry["type"] == "directory")
                for entry in self.store.ls(folder, detail=True)
            ]
        for path, is_folder in found:
            own = path.strip("/") == folder.strip("/")
            if is_folder or not own:  # otherwise it is the folder itself
                yield "" if own else path.rpartition("/")[2], is_folder

    def pieces(self, max_bytes: int, piece_bytes: int = 2**23) -> Iterator[bytes]:
        """Yield the bytes of an object in pieces.

        Raises: ParsingError, also if the object changed meanwhile.
        """
        with translate_errors(), self.store.open(self.path, "rb", block_size=piece_bytes) as stream:
            size = getattr(stream, "size", None) or self.store.info(self.path)["size"] or 0
            require_size(size, max_bytes)
            read = 0
            while piece := stream.read(min(piece_bytes, size + 1 - read)):
                read += len(piece)
                yield piece
            if read != size:
                raise ParsingError(CHANGES)

    def stamp(self) -> str:
        """Return a value that changes when the object is written.

        Raises: ParsingError.
        """
        with translate_errors():
            return str(self.store.ukey(self.path))


def place_of(url: str) -> Place:
    """Return the place that an address names; no request is sent yet.

    Raises: ParsingError for an address of an unknown store, with a password, or that needs a
    missing package.
    """
    protocol, _, rest = url.partition("://")
    protocol = protocol.lower()

    _require_store(protocol)
    _require_no_password(url)
    url = f"{protocol}://{rest.rstrip('/')}"
    if not rest.strip("/"):
        raise ParsingError("names no bucket or server")
    with translate_errors():
        store = _open(protocol, url)
        store.invalidate_cache()  # of listings: the current content is requested
        return Place(url, store, store._strip_protocol(url))  # noqa: SLF001 -- fsspec's own way from one to the other


def _require_store(protocol: str) -> None:
    """Raise ParsingError for a protocol that would open something of this machine or a chain."""
    if "::" in protocol or protocol in _NO_STORES:
        message = f"{protocol}:// is not read: not a store by itself"
        raise ParsingError(
            message, hint="name files by their paths, and stores as in s3://bucket/folder"
        )


def _require_no_password(url: str) -> None:
    if _PASSWORD.match(url):
        hint = "put it where the store's own library looks for it, such as AWS_SECRET_ACCESS_KEY"
        raise ParsingError("holds a password, which would be stored with every document", hint=hint)


def without_password(url: str) -> str:
    """Return an address without its password, which can be shown.

    >>> without_password("s3://key:secret@bucket/a@b"), without_password("sftp://host:22/a@b")
    ('s3://key:…@bucket/a@b', 'sftp://host:22/a@b')
    """
    return _PASSWORD.sub(r"\1:…@", url)


def require_size(size: int, max_bytes: int) -> None:
    """Raise ParsingError for a source that is larger than allowed."""
    if size > max_bytes:
        raise ParsingError(
            f"has {size} bytes, loading.max_bytes allows {max_bytes}: split it or raise the limit"
        )


def _open(protocol: str, url: str) -> Any:
    import fsspec

    try:
        kind = fsspec.get_filesystem_class(protocol)
    except ImportError as error:
        hint = install_hint("s3") if protocol in {"s3", "s3a"} else str(error)
        raise ParsingError(
            f"{protocol}:// needs a package that is not installed", hint=hint
        ) from error
    except ValueError as error:
        raise ParsingError(f"{protocol}:// is not a protocol that fsspec knows") from error
    return fsspec.filesystem(protocol, **kind._get_kwargs_from_urls(url))  # noqa: SLF001 -- as fsspec does for a URL


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn whatever a store's library raises into a one-line ParsingError."""
    try:
        yield
    except (ParsingError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise ParsingError("no such object or folder") from error
    except Exception as error:
        raise _explain(error) from error


def _explain(error: Exception) -> ParsingError:
    """Return the error of a store's library as one line."""
    words = " ".join(str(getattr(error, "strerror", "") or error).split())
    said = words or type(error).__name__
    denied = isinstance(error, PermissionError) or "credential" in said.lower()
    hint = "credentials come from where the store's own library looks for them" if denied else ""
    return ParsingError(f"cannot be read: {said[:_MESSAGE_CHARACTERS]}", hint=hint)
