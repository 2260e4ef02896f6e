"""Open the store of runs that the settings name."""

from pathlib import Path

from esrag.engines import engine_options
from esrag.errors import SettingsError
from esrag.runs.sqlite import SqliteRuns
from esrag.runs.store import RunStore
from esrag.settings import Settings, is_address

FILE = "runs.sqlite3"


def open_runs(settings: Settings) -> RunStore:
    """Return the store: a file that is named, else one in the folder of the index, else its server.

    Nothing is opened yet. Raises: SettingsError if `runs.url` is not a file.
    """
    url = settings.runs.url
    if "://" in url:
        message = f"runs.url must be a file, found an address: {url.partition('://')[0]}://…"
        hint = "name a file, such as runs.sqlite3, or nothing: runs are kept with the index"
        raise SettingsError(message, hint=hint)
    if url or not is_address(settings.engine.url):
        return SqliteRuns(Path(url or Path(settings.engine.url) / FILE), settings.runs)

    from esrag.engines.server.connection import Connection
    from esrag.runs.server import ServerRuns

    connection = Connection(engine_options(settings.engine))
    return ServerRuns(connection, settings.engine.index, settings.runs)
