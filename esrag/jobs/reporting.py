"""The outcome of a job, and whether ledger and index agree."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from esrag.context import open_siblings
from esrag.engines import Finding
from esrag.ingesting import Skip
from esrag.ingesting.planning import StoredSource, group_by_source
from esrag.jobs.running import is_still_gone
from esrag.jobs.summaries import compare_summaries
from esrag.jobs.work import Work
from esrag.ledger import REMOVAL_KEY, Batch, Job
from esrag.ledger.ledger import Ledger
from esrag.ledger.store import GIVEN_UP
from esrag.text import format_count


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The outcome of an ingest.

    `chunks`, `embedded` and `reused` count chunks; the other fields count files. Hidden text was
    left out of `hidden_files`, `hidden_characters` in all.
    """

    added: int = 0
    changed: int = 0
    renamed: int = 0
    removed: int = 0
    unchanged: int = 0
    failed: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    skipped: tuple[Skip, ...] = ()
    hidden_characters: int = 0
    hidden_files: int = 0
    took_ms: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag ingest --json` prints."""
        return {
            "schema": "esrag.ingest/1",
            **asdict(self),
            "skipped": [asdict(skip) for skip in self.skipped],
        }


def report(ledger: Ledger, job: Job) -> IngestReport:
    """Return the outcome of a job so far."""
    counts = ledger.counts(job.job_id)
    skips = [*job.skips, *_iter_skips(ledger, job)]
    batches = ledger.batches(job.job_id)
    hidden = [
        outcome.hidden for batch in batches for outcome in batch.result.outcomes if outcome.hidden
    ]

    return IngestReport(
        added=counts.files.get("added", 0),
        changed=counts.files.get("changed", 0),
        renamed=counts.files.get("renamed", 0),
        removed=job.removed,
        unchanged=job.unchanged,
        failed=sum(skip.failed for skip in skips),
        chunks=counts.chunks,
        embedded=counts.embedded,
        reused=counts.reused,
        skipped=tuple(skips),
        hidden_characters=sum(hidden),
        hidden_files=len(hidden),
    )


def _iter_skips(ledger: Ledger, job: Job) -> Iterator[Skip]:
    """Yield what was left out and why, by batch."""
    for batch in ledger.batches(job.job_id):
        if batch.state in GIVEN_UP:
            yield from (Skip(task.source, batch.error) for task in batch.left)
        for outcome in batch.result.outcomes:
            if outcome.state in ("failed", "skipped"):
                yield Skip(outcome.source, outcome.reason, failed=outcome.state == "failed")
        yield from batch.result.parts


def problems(work: Work) -> Iterator[Finding]:
    """Yield contradictions within the index, within the ledger, or between the two.

    Every file of a job is in the index as it was read, or its failure is recorded, or it is still
    pending. What was removed is gone. Every chunk is there once and belongs to a document. The
    figures of a job are those of its batches.

    Raises: LedgerError, EngineError.
    """
    engine = work.context.engine
    if engine.exists():
        yield from (
            Finding("error", line, "run: esrag ingest --rebuild") for line in engine.check()
        )
    advice = "a bug: esrag jobs prune removes old jobs"
    yield from (Finding("error", line, advice) for line in work.ledger.problems())
    if engine.exists():
        yield from (
            Finding("error", line, "run: esrag ingest FOLDER") for line in _disagreements(work)
        )
    yield from _check_siblings(work)


def _check_siblings(work: Work) -> Iterator[Finding]:
    """Yield the defects of the facts and the summaries, and documents that lack a summary."""
    for name, sibling in open_siblings(work.settings.engine).items():
        if sibling.exists():
            advice = f"run: esrag index drop {name}, then import or ingest again"
            yield from (Finding("error", f"{name}: {line}", advice) for line in sibling.check())

    standing = compare_summaries(work, work.settings.engine.index)
    if standing.is_other:
        what = "the summaries were made with another model"
        yield Finding("warning", what, "run: esrag ingest FOLDER")
    elif standing.due:
        what = f"{format_count(len(standing.due), 'document')} without an up-to-date summary"
        yield Finding("warning", what, "run: esrag ingest FOLDER")


def _disagreements(work: Work) -> Iterator[str]:
    """Yield a line for each kind of difference between the index and the ledger."""
    # Before the index is read: a batch that ends in between is pending here.
    words = read_last_words(work)
    stored = group_by_source(work.context.engine.documents())

    for what, sources in _compare(words, stored):
        if sources:
            yield f"{format_count(len(sources), 'file')} {what}: {min(sources)} is the first"


def _compare(
    words: Mapping[str, "LastWord"], stored: Mapping[str, StoredSource]
) -> Iterator[tuple[str, set[str]]]:
    """Yield each kind of difference, with the sources concerned."""
    said = {source: word.sha256 for source, word in words.items() if word.state == "stored"}
    yield "not in the index, and no failure says why", said.keys() - stored.keys()

    damaged = {it for it in said.keys() & stored.keys() if not _is_whole(stored[it], said[it])}
    yield "in the index otherwise than when read", damaged

    removed = {source for source, word in words.items() if word.state == "removed"}
    yield "still in the index after removal", set(filter(is_still_gone, removed & stored.keys()))


def _is_whole(stored: StoredSource, sha256: str) -> bool:
    """Return whether all documents of a file are stored, from these bytes, and no older ones."""
    return stored.complete and sha256 in ("", stored.sha256)


@dataclass(frozen=True, slots=True)
class LastWord:
    """The last record of a file: stored, from bytes of this hash, or removed, and when.

    Otherwise the file failed, is pending, or does not matter: `dropped` sources had documents
    removed by hand.
    """

    job_id: str
    state: Literal["stored", "removed", "failed", "pending", "dropped"]
    at_ms: int
    sha256: str = ""


def read_last_words(work: Work) -> Mapping[str, LastWord]:
    """Return the last record of each source of the index.

    A file that cannot be processed keeps the record before.
    """
    words: dict[str, LastWord] = {}
    for job in sorted(work.ledger.jobs(), key=lambda job: job.job_id):
        if not _bears_on(job, work.settings.engine.index):
            continue
        if job.rebuild:  # it holds nothing but this
            words = {source: word for source, word in words.items() if word.at_ms > job.ended_ms}
        for source, word in _iter_words(work.ledger, job):
            former = words.get(source)
            if former is None or _counts_more(word, former):
                words[source] = word
    return words


def _bears_on(job: Job, index: str) -> bool:
    """Return whether a job has changed an index; a rebuild does so when it is done."""
    if job.index != index or job.state == "recording":
        return False
    return job.state == "done" or not job.rebuild


def _counts_more(word: LastWord, former: LastWord) -> bool:
    """Return whether a record replaces the former one.

    A failure stands until it is known to be repaired; otherwise the later record counts.
    """
    if former.state == "failed":
        return word.state != "pending"
    return word.state == "failed" or word.at_ms >= former.at_ms


def _iter_words(ledger: Ledger, job: Job) -> Iterator[tuple[str, LastWord]]:
    """Yield the records that a job has of files.

    For files that it has not processed, nothing is known until the job ends.
    """
    over_ms = job.ended_ms or sys.maxsize
    removed: Literal["removed", "dropped"] = "dropped" if job.key == REMOVAL_KEY else "removed"
    for source in job.gone:
        yield source, LastWord(job.job_id, removed if job.state == "done" else "pending", over_ms)
    for batch in ledger.batches(job.job_id):
        state: Literal["failed", "pending"] = "failed" if batch.state in GIVEN_UP else "pending"
        yield from ((task.source, LastWord(job.job_id, state, over_ms)) for task in batch.left)
        yield from _iter_outcomes(batch)


def _iter_outcomes(batch: Batch) -> Iterator[tuple[str, LastWord]]:
    for outcome in batch.result.outcomes:
        if outcome.state == "failed":
            yield outcome.source, LastWord(batch.job_id, "failed", outcome.at_ms)
        elif outcome.state != "skipped":
            word = LastWord(batch.job_id, "stored", outcome.at_ms, sha256=outcome.sha256)
            yield outcome.source, word
