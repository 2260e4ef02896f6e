"""Collections that the benchmarks ask, and what esrag finds there for a question."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from esrag.context import Context
from esrag.gathering import Gathered, select
from esrag.ingesting import Silent
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ingest
from esrag.retrieval import retrieve
from esrag.settings.layers import resolve


def open_index(
    paths: Sequence[Path], folder: Path, settings: Mapping[str, object] | None = None
) -> Context:
    """Return a collection that is asked without refusals; it is ingested unless it is there."""
    flags = {"engine.url": str(folder), "answer.refusal": 0, **(settings or {})}
    work = Work(resolve(flags, environ={}).settings)
    ingest(IngestRequest([*map(str, paths)]), work, Silent())
    return work.context


def find(question: str, context: Context) -> Gathered:
    """Return the evidence for a question, and all that it states."""
    return select(question, question, retrieve(question, context), context)
