"""`esrag doctor`: check that every part works, and advise what to do if not."""

import shlex
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from esrag.cli.options import json_option, resolve, settings_options
from esrag.cli.output import print_json, print_text
from esrag.text import format_count

if TYPE_CHECKING:
    from esrag.context import Context
    from esrag.engines import Finding
    from esrag.engines.recall import Recall
    from esrag.errors import EsragError
    from esrag.jobs.work import Work
    from esrag.ledger.ledger import Ledger
    from esrag.settings import Settings
    from esrag.settings.layers import Resolved

MAX_SAMPLED_CHUNKS = 20_000  # takes some seconds on a server

LOOK_AGAIN_S = 0.5  # between two batches a job is idle for a moment


@click.command()
@json_option
@settings_options
def doctor(*, as_json: bool, **options: Any) -> int:
    """Check every part, and report each problem and its remedy."""
    from esrag.jobs.work import Work

    resolved = resolve(**options)
    with closing(Work(resolved.settings)) as work:
        findings, code = _look_at(work)
    for finding in (_settings(resolved), *findings):
        _print(finding, as_json=as_json)
    return code


def _print(finding: "Finding", *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": "esrag.finding/1", **asdict(finding)})
    else:
        advice = f": {finding.advice}" if finding.advice else ""
        print_text(f"{finding.level:8} {finding.what}{advice}")


def _settings(resolved: "Resolved") -> "Finding":
    """Report which settings files and which index are in use."""
    from esrag.engines import Finding
    from esrag.settings import mask_value

    files = " and ".join(str(path) for path in resolved.files)
    used = f"settings from {files}" if files else "no settings file"
    return Finding("ok", f"{used}, index in {mask_value(resolved.settings.engine.url)}")


def _look_at(work: "Work") -> "tuple[list[Finding], int]":
    """Return the findings without duplicates, and the exit code."""
    from esrag.errors import EngineUnreachable

    index, code = _collect(_check_index(work))
    if code != EngineUnreachable.exit_code:  # otherwise each check waits for the same timeout
        index = _check_contents(work, index)
    findings = _without_repeats(
        *_check_model(work.context),
        *_collect(_check_rerankers(work.context))[0],
        *index,
        *_check_permissions(work.settings),
        *_collect(_check_cache(work.settings))[0],
    )
    return findings, code or int(any(finding.level == "error" for finding in findings))


def _check_contents(work: "Work", index: "list[Finding]") -> "list[Finding]":
    """Return what the engine, the index and the ledger say, with the findings on the index."""
    sound = _collect(_check_stores(work))[0]
    ledger = _collect(_check_ledger(work))[0]
    return [*work.context.engine.examine(), *sound, *index, *ledger]


def _without_repeats(*findings: "Finding") -> "list[Finding]":
    """Return the findings, each problem once."""
    found: dict[str, Finding] = {}
    for finding in findings:
        found.setdefault(finding.what, finding)
    return [*found.values()]


def _collect(looking: "Iterator[Finding]") -> "tuple[list[Finding], int]":
    """Return the findings, up to and including the first error, and the exit code of that error."""
    from esrag.errors import EngineUnreachable, EsragError

    findings: list[Finding] = []
    try:
        for finding in looking:
            findings.append(finding)  # noqa: PERF402 -- keeps what was found before an error
    except EsragError as error:
        return [*findings, _to_finding(error)], error.exit_code if isinstance(
            error, EngineUnreachable
        ) else 1
    return findings, 0


def _to_finding(error: "EsragError") -> "Finding":
    from esrag.engines import Finding

    return Finding("error", str(error), error.hint)


def _check_model(context: "Context") -> "Iterator[Finding]":
    from esrag.engines import Finding
    from esrag.errors import EsragError
    from esrag.retrieving.legs import query_vector

    if context.embedder is None:
        yield Finding("ok", "no model: keyword search only (embedding.model: none)")
        return
    try:
        query_vector("Does the encoder work?", context.embedder)
        yield Finding("ok", f"encoder works: {context.embedder.fingerprint}")
    except EsragError as error:
        yield _to_finding(error)


def _check_rerankers(context: "Context") -> "Iterator[Finding]":
    """Check that the configured rerankers have what they need. Raises: EsragError."""
    from esrag.engines import Finding

    if chain := context.rerankers():
        yield Finding("ok", f"reranks: {', '.join(name for name, _ in chain)}")


def _check_cache(settings: "Settings") -> "Iterator[Finding]":
    """Check that the cache can be used. Raises: EsragError."""
    from esrag.caching.diagnostics import examine

    yield from examine(settings)


def _check_index(work: "Work") -> "Iterator[Finding]":
    """Check that the index exists and fits the settings. Raises: EsragError."""
    from esrag.engines import Finding
    from esrag.retrieving.legs import require_same_model

    context = work.context
    engine = context.engine
    if not engine.exists():
        yield Finding("warning", "nothing has been ingested yet", "run: esrag ingest FOLDER")
        return
    require_same_model(engine, context.embedder)
    yield from _check_chunking(engine.fingerprint().chunker, work.made.chunker)


def _check_chunking(was: str, now: str) -> "Iterator[Finding]":
    """Check that the chunks of the index are what an ingest would make."""
    from esrag.engines import Finding

    if was != now:  # searching still works
        what = (
            f"the index was chunked with {was}, but the settings say {now}: nothing can be ingested"
        )
        yield Finding(
            "warning", what, "run: esrag ingest --rebuild, or restore the chunking settings"
        )


def _check_stores(work: "Work") -> "Iterator[Finding]":
    """Check that index and ledger are sound and agree. Raises: EsragError."""
    from esrag.jobs.reporting import problems

    wrong = False
    for problem in problems(work):
        wrong = True
        yield problem
    if not wrong and work.context.engine.exists():
        yield from _measure(work.context)


def _measure(context: "Context") -> "Iterator[Finding]":
    """Report the size of a sound index, its model and its recall."""
    from esrag.engines import Finding

    sizes = [document.chunk_count for document in context.engine.documents()]
    made = context.engine.fingerprint().model or "no model"
    yield Finding("ok", f"index is sound: {format_count(len(sizes), 'document')}, made with {made}")
    yield from _check_recall(context, sum(sizes))


def _check_ledger(work: "Work") -> "Iterator[Finding]":
    """Report jobs that nothing is running, and failed files. Raises: EsragError."""
    from esrag.engines import Finding
    from esrag.jobs.reporting import read_last_words

    yield from _check_jobs(work)
    failed = [word.job_id for word in read_last_words(work).values() if word.state == "failed"]
    if failed:
        yield Finding(
            "warning",
            f"{format_count(len(failed), 'file')} could not be ingested",
            f"run: esrag jobs show {max(failed)}",
        )


def _check_jobs(work: "Work") -> "Iterator[Finding]":
    """Report jobs that nothing is running."""
    from esrag.engines import Finding

    has_queue = bool(work.settings.queue.url)
    advice = "start a worker: esrag worker" if has_queue else "run: esrag ingest FOLDER"
    for job_id in _iter_idle(work.ledger):
        what = f"job {job_id} is open, and no worker or command is running it"
        yield Finding("warning", what, advice)


def _iter_idle(ledger: "Ledger") -> Iterator[str]:
    """Yield the ids of the jobs that are idle twice, some time apart."""
    from esrag.cli.watching import is_idle

    idle = [job for job in ledger.jobs() if is_idle(ledger, job, ledger.counts(job.job_id))]
    time.sleep(LOOK_AGAIN_S if idle else 0)
    for job in (ledger.job(job.job_id) for job in idle):
        if is_idle(ledger, job, ledger.counts(job.job_id)):
            yield job.job_id


def _check_permissions(settings: "Settings") -> "Iterator[Finding]":
    """Check that other users can neither read nor lock the stored files."""
    from esrag.engines import Finding
    from esrag.private import find_shared

    if shared := find_shared(_iter_stored_files(settings)):
        what = f"other users have access to stored files, such as {shared[0]}"
        yield Finding("warning", what, f"run: chmod -R go-rwx {shlex.join(map(str, shared))}")


def _iter_stored_files(settings: "Settings") -> "Iterator[Path]":
    """Yield the files of the indexes, their locks, the ledger, the cache and the kept runs.

    Databases on servers have none.
    """
    from esrag.engines.embedded.indexes import names
    from esrag.ledger import opening as ledger
    from esrag.loading.files import SQLITE_ENDS
    from esrag.runs import opening as runs
    from esrag.settings import is_address

    folder = None if is_address(settings.engine.url) else Path(settings.engine.url)
    if folder:
        yield from (folder / name for name in names(folder))
        yield from sorted(folder.glob(".*.lock"))
    beside = [(settings.ledger.url, ledger.FILE), (settings.runs.url, runs.FILE)]
    urls = [url or (str(folder / name) if folder else "") for url, name in beside]
    for url in (*urls, settings.cache.url):
        if url and "://" not in url:
            yield from (Path(f"{url}{suffix}") for suffix in SQLITE_ENDS)


def _check_recall(context: "Context", chunks: int) -> "Iterator[Finding]":
    """Sample the recall of the vector leg, which reads every vector."""
    from esrag.engines import Finding
    from esrag.engines.recall import recall

    if chunks > MAX_SAMPLED_CHUNKS:
        yield Finding(
            "ok",
            f"{chunks:,} chunks are too many to sample recall: "
            "esrag index check-recall measures it",
        )
    elif measured := recall(context.engine, 10, 10, candidates=100):
        yield _judge_recall(measured)


def _judge_recall(measured: "Recall") -> "Finding":
    from esrag.engines import Finding
    from esrag.engines.recall import MIN_RECALL

    vectors = f"{measured.questions} stored vectors"
    what = f"recall@10 of the vector leg over {vectors}: {measured.mean:.2f}"
    if measured.mean < MIN_RECALL:
        return Finding("warning", what, "run: esrag index check-recall")
    return Finding("ok", what)
