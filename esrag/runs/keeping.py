"""A run is kept when the settings ask for it."""

from dataclasses import replace

from esrag.errors import EsragError
from esrag.filters import Filter
from esrag.results import AskResult
from esrag.runs import build_record
from esrag.runs.store import open_runs
from esrag.settings import Settings


def keep_run(asked: AskResult, settings: Settings, where: Filter | None) -> AskResult:
    """Return the result with the id of its kept record, or with a note that it could not be kept.

    Raises: SettingsError if `runs.url` is missing or an address.
    """
    if settings.runs.keep == "off":
        return asked

    store, record = open_runs(settings), build_record(asked, settings, where)
    try:
        store.add(record)
    except EsragError as error:
        return asked.with_notes([f"the run was not kept: {error.line}"])
    return replace(asked, run_id=record["run_id"])
