"""The source of a document, as one string: a path, or an address in a store.

This string is stored, shown and sent.
"""

import os
import re
from pathlib import Path

_ADDRESS = re.compile(r"(?!file://)(?:[\w+.-]+::)*[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)
_SPELLED_OUT = re.compile(r"\\u(dc[89a-f][0-9a-f])")


def is_address(source: str) -> bool:
    """Return whether a source is in a store, such as `s3://bucket/key`, rather than a path.

    `file://` is another spelling of a path.

    >>> is_address("s3://bucket/key"), is_address("file:///docs"), is_address("docs")
    (True, False, False)
    """
    return _ADDRESS.match(source) is not None


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is that of a folder or of something in it, by their names.

    >>> is_below("/docs/a", "/docs"), is_below("/docs", "/docs/"), is_below("/a", "/")
    (True, True, True)
    >>> is_below("/docs2", "/docs")
    False
    """
    folder = folder.rstrip("/")
    return path == folder or path.startswith(f"{folder}/")


def source_of(path: Path) -> str:
    """Return a path as it is stored and shown; bytes that are not UTF-8 are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def path_of(source: str) -> Path:
    r"""Return the path that `source_of` spelled out, or that follows `file://`.

    >>> source_of(path_of(r"/docs/\udcff.md")) == r"/docs/\udcff.md"
    True
    >>> path_of("file:///docs/plan.pdf").as_posix()
    '/docs/plan.pdf'
    """
    name = source.removeprefix("file://")
    if os.path.lexists(name):  # it may hold a backslash of its own
        return Path(name)
    return Path(_SPELLED_OUT.sub(lambda match: chr(int(match[1], 16)), name))
