"""The ingest pipeline for a batch of files: load → enrich → chunk → embed → index."""

import hashlib
import json
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from time import monotonic

from esrag import plugins
from esrag.caching.vectors import VectorCache
from esrag.chunking import Chunker, TokenSpans
from esrag.chunking.cut import chunks, text_to_index
from esrag.embedding import Embedder
from esrag.engines import Prepared, Writer
from esrag.enriching.rules import Rule
from esrag.errors import LoadingError, ParsingError, UnsupportedFormat
from esrag.ingesting import Outcome, Progress, Result, Skip, Task
from esrag.ingesting.indexing import PORTION_CHUNKS, Encoding, Known, Portions
from esrag.loading.budgets import Budgets
from esrag.loading.isolated import Parsed, Parser
from esrag.loading.reading import sha256_of, stamp
from esrag.loading.serialising import document_fields
from esrag.records import Document, Fingerprint, StoredDocument
from esrag.settings import Settings
from esrag.text import character_spans, format_count, word_spans

# Raised when the same bytes give other text, chunks or terms, so that an index is rebuilt.
LOADING_VERSION = 30
_STORED = {"added", "changed", "renamed"}  # outcomes of files that are in the index
_READINGS = 3  # of a file that changes while it is ingested
_CHANGES = "changes while it is read: run ingest again when it is written"


@dataclass(frozen=True, slots=True)
class Target:
    """The index to fill: its writer for as long as a portion is stored, and the vectors it has."""

    made: Fingerprint
    writing: Callable[[], AbstractContextManager[Writer]]
    known: Known


def fingerprint(settings: Settings, embedder: Embedder | None) -> Fingerprint:
    """Return the fingerprint of an index made with these settings.

    Raises: SettingsError for an unknown chunker.
    """
    cut = settings.chunking
    plugins.load("chunkers", cut.strategy)  # now, and not when an index was made for it
    sizes = f"{cut.size}/{cut.overlap}{' characters' if cut.unit == 'characters' else ''}"
    reading = f"{cut.strategy} {sizes}, loaders {LOADING_VERSION}{_name_reading(settings)}"
    return Fingerprint(
        embedder.fingerprint if embedder else "", embedder.dimensions if embedder else 0, reading
    )


def _name_reading(settings: Settings) -> str:
    """Return how files are read, as far as the settings say so."""
    hidden = ", hidden text kept" if settings.loading.hidden == "keep" else ""
    columns = {name: column for name, column in settings.loading.columns if column}
    context = settings.chunking.context
    return "".join((
        hidden,
        f", columns {json.dumps(columns)}" if columns else "",
        f", context {json.dumps(context)}" if context else "",
    ))  # fmt: skip


def digest_rules(settings: Settings) -> str:
    """Return a digest of what enriches documents, 16 hexadecimal digits; "" if nothing does.

    Raises: SettingsError for an unknown enricher.
    """
    rules = [asdict(rule) for rule in _list_rules(settings)]
    chain = [name for name in settings.enriching.chain if rules or name != "rules"]
    for name in chain:
        plugins.load("enrichers", name)
    plugged = [plugins.distribution_of("enrichers", name) for name in chain]
    written = json.dumps([chain, plugged, rules], sort_keys=True)
    return hashlib.blake2b(written.encode(), digest_size=8).hexdigest() if chain else ""


def _list_rules(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules by field, in the order of the settings."""
    return tuple(
        Rule(
            field=name,
            over=rule.over,
            pattern=rule.pattern,
            template=rule.template,
            kind=rule.type,
        )
        for name, rule in settings.enriching.rules.items()
    )


class Ingestion:
    """Loads batches of files."""

    def __init__(
        self, settings: Settings, embedder: Embedder | None, cache: VectorCache | None = None
    ) -> None:
        limits, cut = settings.loading, settings.chunking
        tokens: TokenSpans = embedder.tokens if embedder else word_spans
        self._limits = limits
        self._parser = Parser(limits, settings.enriching.chain, _list_rules(settings))
        self._rules, self._context = digest_rules(settings), cut.context
        self._chunker: Chunker = plugins.load("chunkers", cut.strategy)(
            cut.size, cut.overlap, character_spans if cut.unit == "characters" else tokens
        )
        self._embedder = embedder
        self._cache = cache

    def watch(self, reading: Callable[[str, int, int], None]) -> None:
        """Tell `reading` from now on which file is being parsed, and how many of its pages are."""
        self._parser.reading = reading

    def close(self) -> None:
        """End the parsing process; the next batch starts another."""
        self._parser.close()

    def load(
        self,
        tasks: Sequence[Task],
        target: Target,
        progress: Progress,
        heartbeat: Callable[[], None],
        budgets: Budgets | None = None,
    ) -> Result:
        """Make the index hold what the files hold now; loading twice changes nothing.

        `progress` is called with each file; an exception of `heartbeat` stops the loading.
        `budgets` has the time that is left for the folders of the files, by default all of it.

        Raises: EngineError, ModelError, EmbeddingError.
        """
        self._warm_up(tasks)
        left = budgets or Budgets(self._limits.budget_s)
        batch = _Batch(progress, heartbeat, left, max_bytes=self._limits.max_bytes)
        encoding = self._open_encoding(target, heartbeat)

        for _ in range(_READINGS):
            tasks = self._store(tasks, target, batch, encoding)
            if not tasks:
                break

        batch.fail(tasks)
        batch.remove_replaced(target.writing)
        return batch.result(encoding)

    def _store(
        self, tasks: Sequence[Task], target: Target, batch: "_Batch", encoding: Encoding | None
    ) -> list[Task]:
        """Read files and store their documents in portions; return files that changed meanwhile."""
        with Portions(target.writing, encoding, batch.keep_current) as portions:
            for task, parsed in batch.read(tasks, self._parser):
                chunks = 0
                for one in self._prepare_all(task, parsed, batch, target.made):
                    chunks += len(one.chunks)
                    portions.add(one)
                batch.mark_loaded(task, chunks)
                batch.tell(portions)

        batch.take(portions)
        return batch.take_changed(tasks)

    def _warm_up(self, tasks: Sequence[Task]) -> None:
        """Open the model while the parser starts; with a cache perhaps nothing is to be encoded."""
        if tasks and self._embedder and not self._cache:
            self._parser.start()
            self._embedder.embed(())

    def _open_encoding(self, target: Target, heartbeat: Callable[[], None]) -> Encoding | None:
        """Return what encodes the chunks, or None without a model."""
        if self._embedder is None:
            return None
        return Encoding(self._embedder, target.known, self._cache, heartbeat)

    def _prepare_all(
        self, task: Task, parsed: Parsed, batch: "_Batch", made: Fingerprint
    ) -> Iterator[Prepared]:
        """Yield a file's documents one by one, and tell now and then how many of them are done."""
        for number, document in enumerate(batch.documents(task, parsed), start=1):
            yield self._prepare(document, task, parsed, made)
            if number % PORTION_CHUNKS == 0:
                batch.progress.within(task.source, number, parsed.count)

    def _prepare(
        self, document: Document, task: Task, parsed: Parsed, made: Fingerprint
    ) -> Prepared:
        """Return the document with its chunks, ready to store; vectors come with the portion."""
        document = replace(document, metadata={**document.metadata, "folder": task.folder})
        cut = chunks(document, self._chunker, self._context)
        stored = StoredDocument(
            doc_id=document.doc_id,
            source=task.source,
            source_sha256=parsed.sha256,
            revision=_revision(document, made),
            kind=document.kind,
            title=document.title,
            characters=len(document.text),
            page_count=len(document.pages),
            chunk_count=len(cut),
            metadata=document.metadata,
            source_documents=parsed.count,
            rules=self._rules,
        )

        return Prepared(
            document=stored,
            chunks=cut,
            indexed_texts=tuple(text_to_index(chunk) for chunk in cut),
            vectors=None,
        )


@dataclass(slots=True)
class _Batch:
    """The outcomes of the files so far, by source."""

    progress: Progress
    heartbeat: Callable[[], None]
    budgets: Budgets
    max_bytes: int
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    parts: dict[str, list[Skip]] = field(default_factory=dict)
    # Characters of a file that a reader would not see.
    hidden: Counter[str] = field(default_factory=Counter)
    replaced: set[str] = field(default_factory=set)  # something else is or was stored of them
    changed: set[str] = field(default_factory=set)
    stamps: dict[str, str] = field(default_factory=dict)
    # Chunks of the files of which `progress` was not told yet.
    untold: dict[str, int] = field(default_factory=dict)
    chunks: int = 0

    def read(self, tasks: Sequence[Task], parser: Parser) -> Iterator[tuple[Task, Parsed]]:
        """Yield the documents of each file that could be parsed; record how the others ended."""
        handed: deque[Task] = deque()
        answers = parser.parse(self._hand_over(tasks, handed))
        for parsed, took_s in _measure(answers):
            task = handed.popleft()
            self.budgets.spend(_folder_of(task), took_s)
            self.heartbeat()
            if isinstance(parsed, LoadingError):
                self._give_up(task, parsed)
            else:
                yield task, parsed

    def _hand_over(
        self, tasks: Iterable[Task], handed: deque[Task]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield the parser's request for each file, after noting the state of the file."""
        for task in tasks:
            folder = _folder_of(task)
            if self.budgets.is_spent(folder):
                self._give_up(task, _over_budget(folder, self.budgets.seconds))
                continue

            with suppress(LoadingError):  # the parser says why
                self.stamps[task.source] = stamp(task.source)
            handed.append(task)
            yield task.source, task.doc_id, task.root

    def _give_up(self, task: Task, error: LoadingError) -> None:
        """Note why nothing came of a file."""
        self.outcomes[task.source] = outcome = _explain(task, error)
        self.progress.step(task.source, f"{outcome.state}: {error}")

    def documents(self, task: Task, parsed: Parsed) -> Iterator[Document]:
        """Yield one file's documents to store; nothing of a file that has changed since."""
        source = task.source
        self._begin(task, parsed)
        try:
            for document in parsed.documents:
                self.hidden[source] += document.hidden
                if source not in self.changed:
                    yield document
        except LoadingError as error:  # the parser was killed
            self.outcomes[source] = _explain(task, error)

    def _begin(self, task: Task, parsed: Parsed) -> None:
        """Note what is known of a file before its documents come."""
        source = task.source
        self.parts[source] = [
            Skip(f"{source}:{it.where}", it.reason, failed=False) for it in parsed.skipped
        ]
        self.outcomes[source] = Outcome(source, task.state, sha256=parsed.sha256)
        self.hidden[source] = 0
        if task.state == "changed":
            self.replaced.add(source)

    def mark_loaded(self, task: Task, chunks: int) -> None:
        """Note that all of a file is about to be stored."""
        outcome = self.outcomes[task.source]
        if outcome.state == "failed":
            self.progress.step(task.source, f"failed: {outcome.reason}")
        else:
            self.outcomes[task.source] = replace(outcome, hidden=self.hidden.pop(task.source, 0))
            self.untold[task.source] = chunks

    def keep_current(self, documents: Sequence[Prepared]) -> list[Prepared]:
        """Return the documents whose file is unchanged since it was read, under the writer's lock.

        Otherwise a batch that was delayed for long could replace a newer state by an old one.
        """
        read = {one.document.source: one.document.source_sha256 for one in documents}
        changed = {source for source, sha256 in read.items() if not self._is_still(source, sha256)}
        self.changed |= changed
        self.replaced |= changed
        return [one for one in documents if one.document.source not in self.changed]

    def _is_still(self, source: str, sha256: str) -> bool:
        """Return whether a file is still what was read of it.

        That includes a file that is gone since: the next ingest removes it.
        """
        try:
            now = stamp(source)
            if now != self.stamps.get(source):
                if sha256_of(source, self.max_bytes) != sha256:
                    return False
                self.stamps[source] = now
        except LoadingError:
            return True
        return True

    def tell(self, portions: Portions) -> None:
        """Report the files that have nothing left to store, and not before."""
        waiting = portions.list_waiting() | self.changed
        for source in [source for source in self.untold if source not in waiting]:
            chunks = self.untold.pop(source)
            if reasons := portions.refused.get(source):
                self.outcomes[source] = Outcome(source, "failed", _refusal(reasons))
            outcome = self.outcomes[source]
            came = f": {outcome.reason}" if outcome.reason else f", {format_count(chunks, 'chunk')}"
            self.progress.step(source, outcome.state + came)

    def take(self, portions: Portions) -> None:
        """Record what was stored and what was refused of a reading."""
        self.tell(portions)
        self.chunks += portions.stored
        self.untold.clear()  # those that changed are read again

    def take_changed(self, tasks: Iterable[Task]) -> list[Task]:
        """Return the files that have changed since they were read, and forget that they have."""
        changed = [task for task in tasks if task.source in self.changed]
        self.changed.clear()
        return changed

    def fail(self, tasks: Iterable[Task]) -> None:
        """Record files that kept changing as failed."""
        for task in tasks:
            self.outcomes[task.source] = Outcome(task.source, "failed", _CHANGES)
            self.progress.step(task.source, f"failed: {_CHANGES}")

    def remove_replaced(self, writing: Callable[[], AbstractContextManager[Writer]]) -> None:
        """Remove what was stored before of the files that were replaced."""
        if self.replaced:
            with writing() as writer:
                writer.remove_former(self._collect_replaced())

    def _collect_replaced(self) -> dict[str, str]:
        """Return the files that keep only the documents just read, with their hash.

        This is called under the writer's lock. A file that failed, or has changed since, keeps
        everything that is stored.
        """
        good = (
            self.outcomes[it] for it in sorted(self.replaced) if self.outcomes[it].state in _STORED
        )
        return {it.source: it.sha256 for it in good if self._is_still(it.source, it.sha256)}

    def result(self, encoding: Encoding | None) -> Result:
        """Return the outcome of the batch."""
        return Result(
            outcomes=tuple(self.outcomes.values()),
            parts=tuple(part for found in self.parts.values() for part in found),
            chunks=self.chunks,
            embedded=encoding.embedded if encoding else 0,
            reused=encoding.reused if encoding else 0,
        )


def _measure(
    answers: Iterator[Parsed | LoadingError],
) -> Iterator[tuple[Parsed | LoadingError, float]]:
    """Yield each answer of the parser with the seconds that it took."""
    started_s = monotonic()
    for parsed in answers:
        yield parsed, monotonic() - started_s
        started_s = monotonic()


def _folder_of(task: Task) -> str:
    """Return the folder that was named.

    It is the file's own folder if links may lead anywhere, or if the file itself was named.
    """
    return task.root or task.source.rpartition("/")[0]


def _over_budget(folder: str, seconds: float) -> ParsingError:
    message = f"was not read: the files of {folder} have taken {seconds:g} s to be parsed"
    return ParsingError(message, hint="run the same command again, or raise loading.budget_s")


def _explain(task: Task, error: LoadingError) -> Outcome:
    kept = "what was stored of it before is kept" if task.state == "changed" else ""
    reason = "; ".join(filter(None, (error.line, kept)))
    return Outcome(
        task.source, "skipped" if isinstance(error, UnsupportedFormat) else "failed", reason
    )


def _refusal(reasons: Sequence[str]) -> str:
    """Return why the engine did not take every document of a file."""
    return reasons[0] + (
        f" ({len(reasons)} of its documents were refused)" if len(reasons) > 1 else ""
    )


def _revision(document: Document, made: Fingerprint) -> str:
    """Return a fingerprint of content, loader, chunker and model: 32 hexadecimal digits."""
    everything = json.dumps([document_fields(document), asdict(made)], sort_keys=True)
    return hashlib.blake2b(everything.encode(), digest_size=16).hexdigest()
