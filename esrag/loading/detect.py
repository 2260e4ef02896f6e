"""Which loader takes a source: the surest by its bytes, then by its name."""

from pathlib import PurePath

from esrag import plugins
from esrag.errors import LoadingError, ParsingError, UnsupportedFormat
from esrag.loading import Loader

_BY_NAME = 0.5


def loader_for(name: str, data: bytes) -> tuple[str, Loader]:
    """Return the surest loader with its name; ties go to the first by name.

    Raises: UnsupportedFormat if none takes it; ParsingError if one should, by the name, and the
    bytes are not its.
    """
    best: tuple[float, str, Loader] | None = None
    for candidate in plugins.names("loaders"):
        loader: Loader = plugins.load("loaders", candidate)()
        sure = loader.recognises(name, data)
        if sure > (best[0] if best else 0.0):
            best = (sure, candidate, loader)
    if best is None:
        raise _refusal(name)
    return best[1], best[2]


def _refusal(name: str) -> LoadingError:
    """Return why a file has no loader.

    That is a failure if its name claims a known format; otherwise the file is skipped.
    """
    names = plugins.names("loaders")
    suffix = PurePath(name).suffix
    by_name = (plugins.load("loaders", one)().recognises(name, b"") for one in names)
    if suffix[1:].lower() in names or max(by_name) >= _BY_NAME:
        return ParsingError(f"is named {suffix}, but is neither that nor text (damaged?)")
    return UnsupportedFormat("is of no supported format", hint="esrag plugins lists the formats")
