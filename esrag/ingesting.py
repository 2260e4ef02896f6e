"""One ingest under way: load → chunk → embed → index, a batch at a time, and the report of what came of it."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Protocol

from esrag import plugins, sync
from esrag.batches import Batches
from esrag.chunking import Chunker, TokenSpans
from esrag.chunking.cut import chunks, indexed_text
from esrag.embedding import Embedder
from esrag.engines import Prepared, Writer
from esrag.errors import LoadingError, UnsupportedFormat
from esrag.loading.isolated import Parsed, Parser, document_fields
from esrag.records import Document, Fingerprint, StoredDocument
from esrag.settings import Settings
from esrag.text import word_spans

LOADING_VERSION = 1  # raised when the loaders read the same bytes differently, so that an index is made anew


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
    skipped: tuple[sync.Skip, ...] = ()
    took_ms: int = 0


class Progress(Protocol):
    """Is told what an ingest is doing with files, or a move with documents."""

    def start(self, total: int) -> None:
        """So many are to be done."""
        ...

    def step(self, name: str, detail: str) -> None:
        """One is done; `detail` says what came of it."""
        ...


def fingerprint(settings: Settings, embedder: Embedder | None) -> Fingerprint:
    """What an index made with these settings carries."""
    cut = settings.chunking
    reading = f"{cut.strategy} {cut.size}/{cut.overlap}, loaders {LOADING_VERSION}"
    return Fingerprint(embedder.fingerprint if embedder else "", embedder.dimensions if embedder else 0, reading)


class Run:
    """One ingest under way: loads tasks, gathers batches, stores them, counts."""

    def __init__(self, settings: Settings, embedder: Embedder | None, writer: Writer, progress: Progress) -> None:
        self.settings = settings
        self.embedder = embedder
        self.batches = Batches(writer, embedder)
        self.writer = writer
        self.progress = progress
        tokens: TokenSpans = embedder.tokens if embedder else word_spans
        cut = settings.chunking
        self.chunker: Chunker = plugins.load("chunkers", cut.strategy)(cut.size, cut.overlap, tokens)
        self.made = fingerprint(settings, embedder)
        self.skips: list[sync.Skip] = []
        self.written: set[str] = set()
        self.stale: list[str] = []
        self.states: dict[str, sync.State] = {}

    def load(self, plan: sync.Plan) -> IngestReport:
        """Every task, then what is gone."""
        self.progress.start(len(plan.tasks))
        limits = self.settings.loading
        reader = Parser(limits.timeout_s, limits.memory_bytes, limits.max_bytes, limits.max_characters)
        with reader as parser, self.batches:
            if plan.tasks and self.embedder:
                parser.start()
                self.embedder.embed(())  # opens the model while the worker starts
            for task, parsed in zip(plan.tasks, parser.parse((t.path, t.doc_id) for t in plan.tasks), strict=True):
                self.progress.step(sync.source_of(task.path), self._task(task, parsed))
        self.writer.remove([i for i in (*plan.removed_ids, *self.stale) if i not in self.written])
        return self._report(plan)

    def _report(self, plan: sync.Plan) -> IngestReport:
        refused = self.batches.refused
        done = Counter(state for source, state in self.states.items() if source not in refused)
        skipped = (*plan.skips, *self.skips, *(_refusal(source, reasons) for source, reasons in refused.items()))
        return IngestReport(
            added=done["added"],
            changed=done["changed"],
            renamed=done["renamed"],
            removed=plan.removed,
            unchanged=plan.unchanged,
            failed=sum(skip.failed for skip in skipped),
            chunks=self.batches.stored,
            embedded=self.batches.embedded,
            reused=self.batches.reused,
            skipped=skipped,
        )

    def _task(self, task: sync.Task, parsed: Parsed | LoadingError) -> str:
        """Takes one file's documents into the batch; gives what came of it in a few words."""
        source = sync.source_of(task.path)
        if isinstance(parsed, LoadingError):
            kept = "what was stored of it before is kept" if task.stored_ids else ""
            reason = "; ".join(filter(None, (str(parsed), parsed.hint, kept)))
            failed = not isinstance(parsed, UnsupportedFormat)
            self.skips.append(sync.Skip(source, reason, failed=failed))
            return f"{'failed' if failed else 'skipped'}: {parsed}"
        self.skips += [sync.Skip(f"{source}:{part.where}", part.reason, failed=False) for part in parsed.skipped]
        count = 0
        for document in parsed.documents:
            prepared = self._prepared(document, task, parsed)
            self.batches.add(prepared)
            self.written.add(prepared.document.doc_id)
            count += len(prepared.chunks)
        self.stale += task.stored_ids
        self.states[source] = task.state
        return f"{task.state}, {count} chunks"

    def _prepared(self, document: Document, task: sync.Task, parsed: Parsed) -> Prepared:
        """Chunks and what is stored of the document; its vectors come with the batch."""
        document = replace(document, metadata={**document.metadata, "folder": task.folder})
        cut = chunks(document, self.chunker)
        stored = StoredDocument(
            doc_id=document.doc_id,
            source=sync.source_of(task.path),
            source_sha256=parsed.sha256,
            revision=_revision(document, self.made),
            kind=document.kind,
            title=document.title,
            characters=len(document.text),
            page_count=len(document.pages),
            chunk_count=len(cut),
            metadata=document.metadata,
            source_documents=len(parsed.documents),
        )
        return Prepared(stored, cut, tuple(indexed_text(chunk) for chunk in cut), None)


def _refusal(source: str, reasons: Sequence[str]) -> sync.Skip:
    """What became of a file of which the engine would not take every document."""
    more = f" ({len(reasons)} of its documents were refused)" if len(reasons) > 1 else ""
    return sync.Skip(source, reasons[0] + more)


def _revision(document: Document, made: Fingerprint) -> str:
    """A fingerprint of content, loader, chunker and model: 32 hexadecimal digits."""
    everything = json.dumps([document_fields(document), asdict(made)], sort_keys=True)
    return hashlib.blake2b(everything.encode(), digest_size=16).hexdigest()
