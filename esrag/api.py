"""The Python API: an index that is opened once and then asked, searched and filled."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

from esrag.citations import OnSentence, ignore
from esrag.context import Context, open_context
from esrag.errors import UsageError
from esrag.facts.importing import FactsReport, import_facts
from esrag.filters import Where, to_filter
from esrag.ingesting import Progress, Silent
from esrag.jobs.removing import Removal, find_documents
from esrag.jobs.removing import remove as remove_documents
from esrag.jobs.reporting import IngestReport
from esrag.jobs.request import IngestRequest
from esrag.jobs.work import Work
from esrag.pipeline import ask, find_route, ingest, search
from esrag.records import Chunk, StoredDocument
from esrag.results import AskResult, Hits
from esrag.retrieving.legs import prepare_question
from esrag.routing import Route
from esrag.settings import Settings
from esrag.settings.layers import flatten, resolve, with_absolute_paths
from esrag.verifying.drafts import DraftVerdict, Passage, verify_draft

StrPath = str | os.PathLike[str]


def open(  # noqa: A001 -- read as esrag.open
    location: StrPath | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    preset: StrPath | None = None,
) -> "Index":
    """Open an index for questions and ingests; it need not exist yet.

    `location` is the folder of the index or the address of a server (the setting `engine.url`).
    `settings` are dotted keys or nested mappings, and may hold secrets. They override the
    environment, the settings file and the preset, which is a name or a folder. Relative paths start
    at the current folder, also if that changes later.

    Raises: UsageError, SettingsError, ModelError.
    """
    values = _flatten(settings)
    if location is not None:
        values["engine.url"] = _to_path(location, "a folder or an address")
    if preset is not None:
        values["preset"] = _to_path(preset, "the name or the folder of a preset")
    resolved = resolve(values, is_code=True)
    own_files = [str(Path(name).absolute()) for name in resolved.own_files]
    return Index(with_absolute_paths(resolved.settings), own_files=own_files)


class Index:
    """An open index; questions may come from many threads, and ingests wait for each other.

    Every method raises UsageError for an argument of another type, and after `close`.
    """

    def __init__(self, settings: Settings, *, own_files: Sequence[str] = ()) -> None:
        self._work = Work(settings, own_files=own_files)
        self._opened = self._work.context
        self._is_closed = False
        self._writing = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _context(self) -> Context:
        """The opened parts. Raises: UsageError after `close`."""
        if self._is_closed:
            raise UsageError("the index was closed", hint="open it again: esrag.open(…)")
        return self._opened

    @property
    def settings(self) -> Settings:
        """The settings that are in force."""
        return self._opened.settings

    def ask(
        self, question: str, *, where: Where = None, on_sentence: OnSentence = ignore
    ) -> AskResult:
        """Return the cited answer to a question, or the refusal.

        `where` restricts the passages, such as `{"folder": "nist", "year": [2023, 2024]}` or
        `["year>=2023"]`. `on_sentence` is called with each sentence as it passes its check.

        Raises: UsageError, IndexMissing, IndexMismatch, ContextTooLarge, GeneratorError.
        """
        context = self._context
        if not callable(on_sentence):
            raise _unexpected_error("a function of a sentence", on_sentence)
        return ask(_to_text(question, "a question"), context, to_filter(where), on_sentence)

    def route(self, question: str, *, where: Where = None) -> Route:
        """Return how a question would be answered, and who decided it. Raises: as `ask`."""
        context, question = self._context, _to_text(question, "a question")
        return find_route(prepare_question(question), context, to_filter(where))

    def stream(self, question: str, *, where: Where = None) -> "AnswerStream":
        """Return an iterable over the sentences of an answer. Raises: as `ask`, when iterated."""
        return AnswerStream(self, question, where)

    def search(self, question: str, *, k: int | None = None, where: Where = None) -> Hits:
        """Return the best `k` chunks for a question, best first.

        `k` is the setting `retrieval.k` by default.

        Raises: as `ask`.
        """
        context, question = self._context, _to_text(question, "a question")
        if isinstance(k, bool) or not isinstance(k, int | None):
            raise _unexpected_error("a number of hits as k", k)
        if k is not None:
            context = context.with_settings({"retrieval.k": k})
        return Hits(question, search(question, context, to_filter(where)))

    def ingest(
        self,
        *paths: StrPath,
        include: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
        keep_missing: bool = False,
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Make the index hold what files, folders and globs hold, also if a queue is set.

        `include` and `exclude` are globs, one or several. A file that cannot be loaded is in the
        report. Raises: UsageError, EngineError, EmbeddingError, LedgerError.
        """
        _ = self._context
        _require_paths(paths, rebuild=rebuild)

        hint = "pass them one by one: index.ingest(*paths)"
        request = IngestRequest(
            arguments=[_to_path(path, "a path to ingest", hint) for path in paths],
            include=_to_paths(include, "a glob as include"),
            exclude=_to_paths(exclude, "a glob as exclude"),
            keep_missing=keep_missing,
            rebuild=rebuild,
        )
        with self._writing:
            return ingest(request, self._work, progress or Silent())

    def import_facts(self, path: StrPath) -> FactsReport:
        """Make the index hold the facts of a CSV, TSV or JSONL file; see `esrag facts import`.

        Rows that are no facts or cannot stand are in the report. Raises: UsageError, EngineError.
        """
        facts = self._context.facts()
        if facts is None:
            raise AssertionError("an opened index has facts, which may not exist yet")

        file = Path(_to_path(path, "the path of a file"))
        with self._writing:
            return import_facts(file, facts, self.settings.loading.max_bytes)

    def documents(self) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids. Raises: IndexMissing."""
        return self._context.engine.documents()

    def chunks(self, *, where: Where = None) -> Iterator[Chunk]:
        """Yield the stored chunks by document and position. Raises: IndexMissing, UsageError."""
        return self._context.engine.chunks(to_filter(where))

    def remove(
        self, *doc_ids: str, sources: StrPath | Sequence[StrPath] = (), where: Where = None
    ) -> tuple[StoredDocument, ...]:
        """Remove documents by id, by source or by condition, and return them.

        Raises: UsageError, EngineError.
        """
        _ = self._context
        hint = "pass them one by one: index.remove(*doc_ids)"
        removal = Removal(
            [_to_text(doc_id, "the id of a document", hint) for doc_id in doc_ids],
            _to_paths(sources, "the path of a source"),
            to_filter(where),
        )
        _require_one_way(removal)

        with self._writing:
            documents, _ = find_documents(removal, self._work)
            return remove_documents(documents, self._work)

    def verify(self, draft: str, passages: Sequence[Passage]) -> DraftVerdict:
        """Check each sentence of a draft against the passages that it cites: the first is `c1`.

        Raises: UsageError.
        """
        context = self._context
        return verify_draft(draft, passages, context.entail, quotes=self.settings.answer.quotes)

    def close(self) -> None:
        """Close files, connections and the parsing process; a second time does nothing."""
        self._is_closed = True
        self._work.close()


class AnswerStream:
    """The sentences of an answer as they pass their checks, and then its `result`.

    The result is a refusal if a later sentence failed. A cached answer yields its sentences at
    once. A reader may leave at any time: the answer ends with its next sentence, in a thread that
    nobody waits for, and is neither cached nor kept.
    """

    def __init__(self, index: Index, question: str, where: Where) -> None:
        self._index, self._question, self._where = index, question, where
        self._result: AskResult | None = None

    def __iter__(self) -> Iterator[str]:
        came: SimpleQueue[str | AskResult | BaseException] = SimpleQueue()
        is_left = Event()
        args = (came, is_left)
        Thread(target=self._answer, args=args, name="esrag-stream", daemon=True).start()

        try:
            while isinstance(item := came.get(), str):
                yield item
        finally:
            is_left.set()
        if isinstance(item, BaseException):
            raise item
        self._result = item

    def _answer(self, came: "SimpleQueue[str | AskResult | BaseException]", is_left: Event) -> None:
        """Put each sentence into a queue, then the result or the error."""

        def pass_on(sentence: str) -> None:
            if is_left.is_set():
                raise _LeftError
            came.put(sentence)

        try:
            came.put(self._index.ask(self._question, where=self._where, on_sentence=pass_on))
        except BaseException as error:  # noqa: BLE001 -- raised where the sentences are read
            came.put(error)

    @property
    def result(self) -> AskResult:
        """Return the whole answer.

        Raises: UsageError before the stream was read to its end.
        """
        if self._result is None:
            raise UsageError(
                "the answer is not complete yet", hint="read the stream to its end first"
            )
        return self._result


class _LeftError(Exception):
    """The reader of a stream has left; it ends the thread that writes the answer."""


def verify(
    draft: str, passages: Sequence[Passage], *, settings: Mapping[str, object] | None = None
) -> DraftVerdict:
    """Check each sentence of a draft against the passages that it cites, as `esrag verify` does.

    No index is needed. The first passage is `c1`: its text, or a mapping of `text`, `title` and
    `section`. `settings` are as in `open`.

    Raises: UsageError for values that are not passages, SettingsError, ModelError.

    >>> words_only = {"embedding.model": "none"}
    >>> verify("It has 7 watts. [c1]", ["It has 7 watts."], settings=words_only).supported
    True
    """
    resolved = resolve(_flatten(settings), is_code=True).settings
    return verify_draft(
        draft, passages, open_context(resolved).entail, quotes=resolved.answer.quotes
    )


def _flatten(settings: Mapping[str, object] | None) -> dict[str, object]:
    if not isinstance(settings, Mapping | None):
        raise _unexpected_error("a mapping of settings", settings)
    return flatten(settings or {})


def _require_paths(paths: Sequence[StrPath], *, rebuild: bool) -> None:
    if not paths and not rebuild:
        hint = 'name a file or folder: index.ingest("docs")'
        raise UsageError("expected a path to ingest, found none", hint=hint)


def _require_one_way(removal: Removal) -> None:
    if sum(map(bool, (removal.doc_ids, removal.sources, removal.where))) != 1:
        hint = 'index.remove("id"), index.remove(sources=…) or index.remove(where=…)'
        raise UsageError("expected ids, sources or a condition, and one of these only", hint=hint)


def _to_text(value: object, expected: str, hint: str = "") -> str:
    if not isinstance(value, str):
        raise _unexpected_error(f"{expected} as text", value, hint)
    return value


def _to_path(value: object, expected: str, hint: str = "") -> str:
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(path, str):
        raise _unexpected_error(expected, value, hint)
    return path


def _to_paths(values: object, expected: str) -> list[str]:
    """Return one path or several as a list."""
    if isinstance(values, str | os.PathLike):
        return [_to_path(values, expected)]
    if not isinstance(values, Sequence):
        raise _unexpected_error(expected, values)
    return [_to_path(value, expected) for value in values]


def _unexpected_error(expected: str, value: object, hint: str = "") -> UsageError:
    """Return the error for an argument of another type."""
    return UsageError(f"expected {expected}, found {type(value).__name__}", hint=hint)
