"""Bring the summaries up to date with the index of the documents.

Nothing is recorded before: the stored summaries show which are missing. So after any interruption
the next ingest does the rest.
"""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from esrag.engines import Engine
from esrag.errors import GeneratorError
from esrag.filters import Terms
from esrag.generating.summarising import summarise
from esrag.ingesting import Progress
from esrag.ingesting.indexing import Encoding, Portions
from esrag.jobs.work import Work
from esrag.models.metering import MeteredModel
from esrag.models.profiles import choose_model
from esrag.records import Chunk, StoredDocument
from esrag.summarising import Summary
from esrag.summarising.extractive import sum_up
from esrag.summarising.storing import fingerprint, index_name, prepare, revision_of
from esrag.text import format_count

EXTRACTIVE = "extractive/1"  # changes when the same chunks give another summary
_TOGETHER = 50  # documents whose chunks are read at once
_MIN_CHUNKS = 2  # of a section that is summed up: a single one says as much by itself
_LEVELS = 2  # headings that name a section


@dataclass(frozen=True, slots=True)
class Standing:
    """How summaries stand to the documents: these lack theirs, and these ids are gone.

    `is_other` if they were made with another model, so that all are made again.
    """

    due: tuple[StoredDocument, ...] = ()
    gone: tuple[str, ...] = ()
    is_other: bool = False

    @property
    def is_current(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.due or self.gone or self.is_other)


def compare_summaries(work: Work, index: str) -> Standing:
    """Compare the stored summaries with the documents of an index. Raises: EngineError."""
    documents, summaries = work.engine(index), work.engine(index_name(index))
    is_wanted = work.settings.summaries.of != "nothing" and documents.exists()
    wanted = {it.doc_id: it for it in documents.documents()} if is_wanted else {}
    if not summaries.exists():
        return Standing(due=tuple(wanted.values()))

    is_other = is_wanted and summaries.fingerprint() != fingerprint(work.context.embedder)
    stored = {it.doc_id: it.revision for it in summaries.documents()}
    maker = _name_maker(work)
    due = [
        it for it in wanted.values() if is_other or stored.get(it.doc_id) != revision_of(it, maker)
    ]
    return Standing(tuple(due), tuple(sorted(stored.keys() - wanted.keys())), is_other)


def require_writer(work: Work) -> None:
    """Raise SettingsError if a language model is to sum up, and none is configured."""
    wanted = work.settings.summaries
    if wanted.of != "nothing" and wanted.writer == "model":
        choose_model(work.context.models(), "fast")
        work.context.prompts.check()


def update_summaries(work: Work, index: str, progress: Progress) -> None:
    """Make each document of an index have its summary, and nothing else one.

    Calling it twice changes nothing. Raises: EngineError, EmbeddingError, SettingsError.
    """
    before = compare_summaries(work, index)
    if before.is_current:
        return

    summaries = work.engine(index_name(index))
    is_wanted = work.settings.summaries.of != "nothing"
    made = fingerprint(work.context.embedder) if is_wanted else summaries.fingerprint()
    with summaries.writer(made, rebuild=before.is_other) as writer:
        standing = compare_summaries(work, index)  # another process may have done it by now
        if standing.gone and not before.is_other:
            writer.remove(standing.gone)
        if standing.due:
            progress.say(f"summing up {format_count(len(standing.due), 'document')}")
        with Portions(lambda: nullcontext(writer), _open_encoding(work, summaries)) as portions:
            _sum_up_all(standing.due, _Summariser(work, progress), work.engine(index), portions)
    for source, reasons in portions.refused.items():
        progress.say(f"no summary of {source}: {reasons[0]}")


def _open_encoding(work: Work, summaries: Engine) -> Encoding | None:
    context = work.context
    if context.embedder is None:
        return None
    return Encoding(context.embedder, summaries.vectors_of, context.vectors)


def _name_maker(work: Work, writer: str = "") -> str:
    """Return what summaries depend on besides the document; `writer` in place of the settings'."""
    wanted, made_by = work.settings.summaries, EXTRACTIVE
    if (writer or wanted.writer) == "model":
        model = choose_model(work.context.models(), "fast")
        made_by = f"{model.fingerprint} {work.context.prompts.fingerprint}"
    return f"{wanted.of} {wanted.sentences} {made_by}"


def _sum_up_all(
    documents: Sequence[StoredDocument],
    summariser: "_Summariser",
    engine: Engine,
    portions: Portions,
) -> None:
    """Sum up documents with the chunks that are stored of them."""
    for start in range(0, len(documents), _TOGETHER):
        together = {it.doc_id: it for it in documents[start : start + _TOGETHER]}
        chunks = engine.chunks(Terms("doc_id", tuple(together)))
        for doc_id, own in groupby(chunks, key=attrgetter("doc_id")):
            document = together[doc_id]
            summaries, maker = summariser.sum_up([*own])
            portions.add(prepare(document, summaries, revision_of(document, maker)))


class _Summariser:
    """Sums up documents; by their own sentences from the first failure of a language model on."""

    def __init__(self, work: Work, progress: Progress) -> None:
        wanted = work.settings.summaries
        self._work, self._progress, self._wanted = work, progress, wanted
        self._model: MeteredModel | None = None
        if wanted.of != "nothing" and wanted.writer == "model":
            self._model = choose_model(work.context.models(), "fast")

    def sum_up(self, chunks: Sequence[Chunk]) -> tuple[list[Summary], str]:
        """Return the summaries of a document with its chunks, and what they were made by."""
        parts = [("", chunks)]
        if self._wanted.of == "sections":
            parts += _iter_sections(chunks)
        summaries = [
            Summary(
                text=self._write(own),
                section=section,
                start_page=own[0].start_page,
                end_page=own[-1].end_page,
            )
            for section, own in parts
        ]
        return summaries, _name_maker(self._work, "model" if self._model else "extractive")

    def _write(self, chunks: Sequence[Chunk]) -> str:
        most = self._wanted.sentences
        written = self._ask(chunks, most, self._model) if self._model else ""
        return written or sum_up(chunks, most)

    def _ask(self, chunks: Sequence[Chunk], most: int, model: MeteredModel) -> str:
        """Return the summary of a language model, "" if it fails."""
        text = "\n".join(chunk.text for chunk in chunks)
        try:
            return summarise(text, most, model, self._work.context.prompts)
        except GeneratorError as error:
            self._model = None
            why = f"{error.line}; the next ingest asks it again"
            self._progress.say(f"summed up in the documents' own sentences: {why}")
            return ""


def _iter_sections(chunks: Sequence[Chunk]) -> Iterator[tuple[str, list[Chunk]]]:
    """Yield the main sections of a document that has several, each with its chunks."""
    found = [(path, [*own]) for path, own in groupby(chunks, key=_section_of) if path]
    if len(found) > 1:
        yield from ((path, own) for path, own in found if len(own) >= _MIN_CHUNKS)


def _section_of(chunk: Chunk) -> str:
    return " > ".join(chunk.section.split(" > ")[:_LEVELS])
