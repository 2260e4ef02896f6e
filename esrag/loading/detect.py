"""Which loader takes a source: the surest by its bytes, then by its name."""

from pathlib import PurePath

from esrag import plugins
from esrag.errors import UnsupportedFormat
from esrag.loading import Loader


def loader_for(name: str, data: bytes) -> tuple[str, Loader]:
    """The surest loader and its name; ties go to the first by name.

    Raises: UnsupportedFormat if none takes it.
    """
    best: tuple[float, str, Loader] | None = None
    for candidate in plugins.names("loaders"):
        loader: Loader = plugins.load("loaders", candidate)()
        sure = loader.recognises(name, data)
        if sure > (best[0] if best else 0.0):
            best = (sure, candidate, loader)
    if best is None:
        suffix = PurePath(name).suffix
        kind = f"is named {suffix} but is neither that nor text" if suffix[1:] in plugins.names("loaders") else ""
        supported = ", ".join(plugins.names("loaders"))
        raise UnsupportedFormat(kind or "is of no supported format", hint=f"supported: {supported}")
    return best[1], best[2]
