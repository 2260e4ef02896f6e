"""The request of an ingest, compared with the content of the index."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from esrag.engines import Engine
from esrag.errors import EngineError, IndexBusy, IndexMissing
from esrag.ingesting import planning
from esrag.ingesting.batches import digest_rules
from esrag.jobs.recording import job_key, list_promised_ids
from esrag.jobs.work import Work
from esrag.loading.files import Listing, Selection, list_files
from esrag.settings import Settings


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Paths, folders and globs of the files to index; `rebuild` reads all of them again."""

    arguments: Sequence[str]
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    keep_missing: bool = False
    rebuild: bool = False

    def key(self, settings: Settings) -> str:
        """Return the key by which a later ingest of the same files finds this job."""
        return job_key(settings, self.arguments, self.include, self.exclude, self.rebuild)


def plan_ingest(request: IngestRequest, work: Work) -> planning.Plan:
    """Return what an ingest would do; nothing is written.

    Raises: EngineError if stored chunks of an unchanged file are damaged.
    """
    found = _read_stored(request, work.context.engine)
    stored = planning.require_rules(found, digest_rules(work.settings))
    listing = list_files(request.arguments, _select(request, work))

    plan = planning.plan(
        listing,
        stored,
        keep_missing=request.keep_missing,
        rebuild=request.rebuild,
        max_bytes=work.settings.loading.max_bytes,
        promised=list_promised_ids(work, work.settings.engine.index),
    )
    _verify_unchanged(plan, listing, stored, work.context.engine)
    return plan


def _verify_unchanged(
    plan: planning.Plan,
    listing: Listing,
    stored: Mapping[str, planning.StoredSource],
    engine: Engine,
) -> None:
    """Raise EngineError if stored chunks that the plan keeps are damaged."""
    listed = {file.source for file in listing.files}
    unchanged = (listed & stored.keys()) - {task.source for task in plan.tasks}
    if unchanged:
        engine.verify_chunks(sorted(unchanged))


def _select(request: IngestRequest, work: Work) -> Selection:
    """Return which files of the named folders are taken, except those of esrag itself.

    These are the settings files, the index, the ledger, the cache and the runs.
    """
    settings = work.settings
    addresses = (settings.ledger.url, settings.cache.url, settings.runs.url)
    written = [url for url in addresses if url and "://" not in url]
    own = frozenset(os.path.realpath(path) for path in (*written, *work.own_files))
    return Selection(
        include=request.include,
        exclude=request.exclude,
        follow_links=settings.loading.follow_links,
        ignore_files=settings.loading.ignore_files,
        own=own,
    )


def _read_stored(request: IngestRequest, engine: Engine) -> Mapping[str, planning.StoredSource]:
    """Return what the index holds by source.

    A rebuild that names its files may replace an index that cannot be read.
    """
    try:
        return planning.group_by_source(engine.documents())
    except IndexMissing:
        return {}
    except EngineError as error:
        if isinstance(error, IndexBusy) or not (request.rebuild and request.arguments):
            raise
        return {}


def warn_of_long_chunks(work: Work) -> str:
    """Return advice if chunks may be longer than the encoder's window, else "".

    Raises: ModelError.
    """
    embedder, cut = work.context.embedder, work.settings.chunking
    size = cut.size
    if embedder is None or cut.unit == "characters" or size <= embedder.window:
        return ""

    came = f"chunking.size is {size}, and the encoder reads {embedder.window} tokens at once"
    return (
        f"{came}: a longer chunk gets the mean of its parts' vectors; "
        f"a size of {embedder.window} or less avoids it"
    )
