"""Documents that are removed by hand."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from esrag.engines import Engine
from esrag.errors import UsageError
from esrag.filters import Filter
from esrag.jobs.recording import record_removal
from esrag.jobs.work import Work
from esrag.loading.files import to_source
from esrag.loading.sources import is_below
from esrag.records import StoredDocument
from esrag.retrieving.filter_check import check_filter, require_of_documents
from esrag.summarising.storing import index_name
from esrag.text import find_closest


@dataclass(frozen=True, slots=True)
class Removal:
    """The documents to remove, selected by ids, by files and folders, or by a condition."""

    doc_ids: Sequence[str] = ()
    sources: Sequence[str] = ()
    where: Filter | None = None


def find_documents(
    removal: Removal, work: Work
) -> tuple[tuple[StoredDocument, ...], tuple[str, ...]]:
    """Return the documents to remove, by id, and notes on conditions that nothing meets.

    Raises: UsageError for an id, a source or a field that the index does not have; IndexMissing,
    EngineError.
    """
    _require_one_selection(removal)
    engine = work.engine(work.settings.engine.index)
    stored = tuple(engine.documents())
    if removal.where:
        return _select_by_condition(removal.where, stored, engine)
    if removal.sources:
        return tuple(_select_by_source(removal.sources, stored)), ()

    known, wanted = {document.doc_id for document in stored}, {*removal.doc_ids}
    for doc_id in removal.doc_ids:
        _require_known("document", doc_id, known)
    return tuple(document for document in stored if document.doc_id in wanted), ()


def _require_one_selection(removal: Removal) -> None:
    """Raise UsageError unless exactly one of the three fields is set."""
    if sum(map(bool, (removal.doc_ids, removal.sources, removal.where))) != 1:
        hint = "name ids, or --source PATH, or --where CONDITION; esrag docs lists the documents"
        raise UsageError("expected exactly one of ids, sources and a condition", hint=hint)


def _select_by_condition(
    where: Filter, stored: Sequence[StoredDocument], engine: Engine
) -> tuple[tuple[StoredDocument, ...], tuple[str, ...]]:
    require_of_documents(where)
    notes = check_filter(where, engine)
    doc_ids = {chunk.doc_id for chunk in engine.chunks(where)}
    return tuple(document for document in stored if document.doc_id in doc_ids), notes


def _select_by_source(
    sources: Sequence[str], stored: Sequence[StoredDocument]
) -> Iterator[StoredDocument]:
    """Yield the documents of files, and of everything below folders.

    Raises: UsageError for an unknown place, or an empty name, which would be the current folder.
    """
    if "" in sources:
        raise UsageError(
            "expected the path of a source, found an empty name", hint="name a file or folder"
        )

    places = [to_source(source) for source in sources]
    known = {document.source for document in stored}
    for place in places:
        if not any(is_below(source, place) for source in known):
            _require_known("source", place, known)
    yield from (
        document for document in stored if any(is_below(document.source, place) for place in places)
    )


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise UsageError for a name that the index does not have."""
    if name not in known:
        alike = find_closest(name, known)
        hint = (
            f"did you mean {' or '.join(alike)}?"
            if alike
            else "esrag docs --json lists what there is"
        )
        raise UsageError(f"the index has no {what} {name!r}", hint=hint)


def remove(documents: Sequence[StoredDocument], work: Work) -> tuple[StoredDocument, ...]:
    """Remove documents from the index, after recording it in the ledger.

    Return those that were still stored.

    Raises: EngineError, IndexBusy, LedgerError.
    """
    engine, meant = (
        work.engine(work.settings.engine.index),
        {document.doc_id for document in documents},
    )
    with engine.writer(engine.fingerprint()) as writer:
        present = tuple(document for document in engine.documents() if document.doc_id in meant)
        if present:
            record_removal(
                work, engine.fingerprint(), sorted({document.source for document in present})
            )
            writer.remove([document.doc_id for document in present])
    _remove_summaries([document.doc_id for document in present], work)
    return present


def _remove_summaries(doc_ids: Sequence[str], work: Work) -> None:
    summaries = work.engine(index_name(work.settings.engine.index))
    if doc_ids and summaries.exists():
        with summaries.writer(summaries.fingerprint()) as writer:
            writer.remove(doc_ids)
