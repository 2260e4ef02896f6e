"""The Python API: an index that is opened once and then asked, searched and filled."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Lock
from types import TracebackType
from typing import Self

from esrag.citations import OnSentence, ignore
from esrag.context import open_context
from esrag.errors import UsageError
from esrag.filters import Where, to_filter
from esrag.ingesting import Progress, Silent
from esrag.jobs.planning import IngestRequest
from esrag.jobs.removing import Removal, find_documents
from esrag.jobs.removing import remove as remove_documents
from esrag.jobs.reporting import IngestReport
from esrag.jobs.work import Work
from esrag.pipeline import ask, ingest, search
from esrag.records import Chunk, StoredDocument
from esrag.results import AskResult, Hits
from esrag.settings import Settings
from esrag.settings.layers import flatten, resolve
from esrag.verifying.drafts import DraftVerdict, Passage, verify_draft

StrPath = str | os.PathLike[str]


def open_index(
    location: StrPath | None = None,
    *,
    settings: Mapping[str, object] | None = None,
    preset: str | None = None,
) -> "Index":
    """Open an index for questions and ingests; it need not exist yet.

    `location` is the folder of the index or the address of a server (the setting `engine.url`).
    `settings` are dotted keys or nested mappings, and may hold secrets. They override the
    environment, the settings file and the preset.

    Raises: SettingsError, ModelError.
    """
    values = flatten(settings or {})
    values |= {} if location is None else {"engine.url": os.fspath(location)}
    values |= {} if preset is None else {"preset": preset}
    return Index(resolve(values, is_code=True).settings)


class Index:
    """An open index.

    Questions and searches may come from many threads; ingests and removals wait for each other.
    """

    def __init__(self, settings: Settings) -> None:
        self._work = Work(settings)
        self._context = self._work.context
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
    def settings(self) -> Settings:
        """Return the settings of the index."""
        return self._context.settings

    def ask(
        self, question: str, *, where: Where = None, on_sentence: OnSentence = ignore
    ) -> AskResult:
        """Return the cited answer to a question, or the refusal.

        `where` restricts the passages, such as `{"folder": "nist", "year": [2023, 2024]}` or
        `["year>=2023"]`. `on_sentence` is called with each sentence as it passes its check.

        Raises: UsageError, IndexMissing, IndexMismatch, ContextTooLarge, GeneratorError.
        """
        return ask(question, self._context, to_filter(where), on_sentence)

    def stream(self, question: str, *, where: Where = None) -> "AnswerStream":
        """Return an iterable over the sentences of an answer.

        Raises: as `ask`, during the iteration.
        """
        return AnswerStream(self, question, where)

    def search(self, question: str, *, k: int | None = None, where: Where = None) -> Hits:
        """Return the best `k` chunks for a question, best first.

        `k` is the setting `retrieval.k` by default.

        Raises: as `ask`.
        """
        context = (
            self._context.with_settings({"retrieval.k": k}) if k is not None else self._context
        )
        return Hits(question, search(question, context, to_filter(where)))

    def ingest(
        self,
        *paths: StrPath,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        keep_missing: bool = False,
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Make the index hold what files, folders and globs hold now.

        This process does it, even if a queue is set. A file that cannot be loaded is in the report.

        Raises: UsageError, EngineError, EmbeddingError, LedgerError.
        """
        if not paths and not rebuild:
            raise UsageError(
                "expected a path to ingest, found none",
                hint='name a file or folder: index.ingest("docs")',
            )

        request = IngestRequest(
            arguments=[os.fspath(path) for path in paths],
            include=include,
            exclude=exclude,
            keep_missing=keep_missing,
            rebuild=rebuild,
        )
        with self._writing:
            return ingest(request, self._work, progress or Silent())

    def documents(self) -> Iterator[StoredDocument]:
        """Yield the stored documents in the order of their ids. Raises: IndexMissing."""
        return self._context.engine.documents()

    def chunks(self, *, where: Where = None) -> Iterator[Chunk]:
        """Yield the stored chunks by document and position. Raises: IndexMissing, UsageError."""
        return self._context.engine.chunks(to_filter(where))

    def remove(
        self, *doc_ids: str, sources: Sequence[StrPath] = (), where: Where = None
    ) -> tuple[StoredDocument, ...]:
        """Remove documents by id, source or condition, and return them.

        Raises: UsageError, EngineError.
        """
        removal = Removal(doc_ids, [os.fspath(source) for source in sources], to_filter(where))
        with self._writing:
            documents, _ = find_documents(removal, self._work)
            return remove_documents(documents, self._work)

    def verify(self, draft: str, passages: Sequence[Passage]) -> DraftVerdict:
        """Check each sentence of a draft against the passages that it cites, from `c1`.

        Raises: UsageError.
        """
        return verify_draft(
            draft, passages, self._context.encode, quotes=self.settings.answer.quotes
        )

    def close(self) -> None:
        """Close files, connections and the parsing process."""
        self._work.close()


class AnswerStream:
    """The sentences of an answer as they pass their checks.

    `result` is the whole answer once they are read. It is a refusal if a later sentence failed. A
    cached answer yields its sentences at once.
    """

    def __init__(self, index: Index, question: str, where: Where) -> None:
        self._index, self._question, self._where = index, question, where
        self._result: AskResult | None = None

    def __iter__(self) -> Iterator[str]:
        sentences: SimpleQueue[str | None] = SimpleQueue()
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(
                self._index.ask, self._question, where=self._where, on_sentence=sentences.put
            )
            asked.add_done_callback(lambda _: sentences.put(None))
            yield from iter(sentences.get, None)
            self._result = asked.result()

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


def verify(
    draft: str, passages: Sequence[Passage], *, settings: Mapping[str, object] | None = None
) -> DraftVerdict:
    """Check each sentence of a draft against the passages that it cites, without an index.

    It does what `esrag verify` does. The first passage is `c1`: its text, or a mapping of `text`,
    `title` and `section`. `settings` are as in `open`.

    Raises: UsageError for values that are not passages, SettingsError, ModelError.

    >>> settings = {"embedding.model": "none"}
    >>> found = verify("It has 7 watts. [c1]", ["It has 7 watts."], settings=settings)
    >>> found.supported
    True
    """
    resolved = resolve(flatten(settings or {}), is_code=True).settings
    return verify_draft(
        draft, passages, open_context(resolved).encode, quotes=resolved.answer.quotes
    )
