"""What came of a job, and whether ledger and index agree."""

from collections.abc import Iterator
from dataclasses import dataclass

from esrag.jobs.work import Work
from esrag.ledger import Job
from esrag.ledger.ledger import Ledger
from esrag.sync import Skip


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did; files are counted, but for `chunks`, `embedded` and `reused`, which count chunks."""

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
    took_ms: int = 0


def report(ledger: Ledger, job: Job) -> IngestReport:
    """What came of a job so far."""
    counts = ledger.counts(job.job_id)
    skips = [*job.skips, *_skips(ledger, job)]
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
    )


def _skips(ledger: Ledger, job: Job) -> Iterator[Skip]:
    """What was left out and why, by batch."""
    for batch in ledger.batches(job.job_id):
        if batch.state in ("failed", "dead"):
            yield from (Skip(task.source, batch.error) for task in batch.tasks)
        for outcome in batch.result.outcomes:
            if outcome.state in ("failed", "skipped"):
                yield Skip(outcome.source, outcome.reason, failed=outcome.state == "failed")
        yield from batch.result.parts


def problems(work: Work) -> list[str]:
    """What contradicts itself, a line each: the ledger, the index, or what one says of the other.

    Every file of a job is in the index, or its failure is written down, or it is still to be done; every chunk is there
    once and belongs to a document; the figures of a job are those of its batches.
    """
    engine = work.stages.engine
    found = list(work.ledger.problems())
    return [*found, *engine.check(), *unaccounted(work)] if engine.exists() else found


def unaccounted(work: Work) -> list[str]:
    """What the ledger says was stored and the index does not hold, in a line."""
    stored = {document.source for document in work.stages.engine.documents()}
    said = {source for source, word in last_words(work).items() if not word.failed}
    missing = sorted(said - stored)
    if not missing:
        return []
    return [f"{len(missing)} files are not in the index and no failure says why: {missing[0]} is the first"]


@dataclass(frozen=True, slots=True)
class LastWord:
    """What the newest job that had to do with a file says of it: it was stored, or it failed."""

    job_id: str
    failed: bool


def last_words(work: Work) -> dict[str, LastWord]:
    """The last word of the ledger on each source of the index; those that are gone or hold nothing are left out."""
    words: dict[str, LastWord] = {}
    for job in sorted(work.ledger.jobs(), key=lambda job: job.job_id):
        if job.index != work.settings.engine.index or (job.rebuild and job.state != "done"):
            continue
        if job.rebuild:  # it holds nothing but this
            words.clear()
        for source in job.gone:
            words.pop(source, None)
        for batch in work.ledger.batches(job.job_id):
            if batch.state in ("failed", "dead"):
                words |= {task.source: LastWord(job.job_id, failed=True) for task in batch.tasks}
            for outcome in batch.result.outcomes:
                words[outcome.source] = LastWord(job.job_id, failed=outcome.state == "failed")
                if outcome.state == "skipped":
                    del words[outcome.source]
    return words
