"""Open the ledger that the settings name."""

from pathlib import Path

from esrag.engines import engine_options
from esrag.errors import SettingsError
from esrag.ledger.ledger import Ledger
from esrag.ledger.sqlite import SqliteStore
from esrag.ledger.store import Store
from esrag.settings import Settings, is_address

FILE = "ledger.sqlite3"


def open_ledger(settings: Settings) -> Ledger:
    """Return the ledger of the settings, without opening its file or server.

    It is the file that is named, else a file in the folder of the index, else on its server.

    Raises: SettingsError if `ledger.url` is not a file.
    """
    return Ledger(_store(settings), settings.queue.lease_s, settings.queue.attempts)


def _store(settings: Settings) -> Store:
    url = settings.ledger.url
    if "://" in url:
        raise SettingsError(
            f"ledger.url must be a file, got an address: {url.partition('://')[0]}://…"
        )
    if url:
        return SqliteStore(Path(url))
    if not is_address(settings.engine.url):
        return SqliteStore(Path(settings.engine.url) / FILE)
    from esrag.engines.server.connection import Connection
    from esrag.ledger.server import ServerStore

    return ServerStore(Connection(engine_options(settings.engine)), settings.engine.index)
