"""`esrag doctor`: is everything in place, and if not, what to do."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from esrag.cli.options import json_option, settings_of, settings_options
from esrag.cli.output import print_json, print_text

if TYPE_CHECKING:
    from esrag.pipeline import Stages
    from esrag.settings import Settings

LEAST_FREE_BYTES = 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `advice` is empty where it is in order."""

    level: Literal["ok", "warning", "error"]
    what: str
    advice: str = ""


@click.command()
@json_option
@settings_options
def doctor(*, as_json: bool, **options: Any) -> int:
    """Look at every part, and say what is wrong and what to do."""
    from esrag.pipeline import open_stages

    settings = settings_of(**options)
    findings = list(_findings(settings, open_stages(settings)))
    for finding in findings:
        if as_json:
            print_json({"schema": "esrag.finding/1", **asdict(finding)})
        else:
            print_text(f"{finding.level:8} {finding.what}" + (f": {finding.advice}" if finding.advice else ""))
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _findings(settings: "Settings", stages: "Stages") -> Iterator[Finding]:
    from esrag.settings import is_address

    if not is_address(settings.engine.url):
        yield _full_text()
        yield _free_space(settings.engine.url)
    yield from _model(stages)
    yield from _index(stages)


def _full_text() -> Finding:
    import sqlite3

    with_fts5 = sqlite3.connect(":memory:").execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()[0]
    version = f"SQLite {sqlite3.sqlite_version}"
    if with_fts5:
        return Finding("ok", f"{version} with full-text search")
    return Finding("error", f"{version} lacks FTS5", "use a Python whose sqlite3 has it")


def _free_space(url: str) -> Finding:
    folder = Path(url).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    what = f"{free / 2**30:.1f} GiB free at {folder}"
    return (
        Finding("ok", what) if free >= LEAST_FREE_BYTES else Finding("warning", what, "make room before a large ingest")
    )


def _model(stages: "Stages") -> Iterator[Finding]:
    from esrag.errors import EsragError
    from esrag.retrieving.legs import query_vector

    if stages.embedder is None:
        yield Finding("ok", "no model: keyword search only (embedding.model: none)")
        return
    try:
        query_vector("Does the encoder work?", stages.embedder)
        yield Finding("ok", f"encoder works: {stages.embedder.fingerprint}")
    except EsragError as error:
        yield Finding("error", str(error), error.hint)


def _index(stages: "Stages") -> Iterator[Finding]:
    from esrag.errors import EsragError
    from esrag.retrieving.legs import require_same_model

    engine = stages.engine
    try:
        if not engine.exists():
            yield Finding("warning", "nothing was ingested yet", "run: esrag ingest FOLDER")
            return
        problems = engine.check()
        yield from (Finding("error", problem, "run: esrag ingest --rebuild") for problem in problems)
        if not problems:
            documents = sum(1 for _ in engine.documents())
            yield Finding(
                "ok", f"index is sound: {documents:,} documents, made with {engine.fingerprint().model or 'no model'}"
            )
        require_same_model(engine, stages.embedder)
    except EsragError as error:
        yield Finding("error", str(error), error.hint)
