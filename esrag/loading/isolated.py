"""Loaders in a process of their own, with a time and a memory limit, restarted after each source that killed it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, Self, cast

from esrag.errors import LoadingError, ParsingError, UnsupportedFormat
from esrag.loading import Skipped
from esrag.records import Document, Page, Section, Span

_WORKER = "esrag.workers.parse"  # by name: the package does not import its workers
_ERRORS: Mapping[str, type[LoadingError]] = {"UnsupportedFormat": UnsupportedFormat, "ParsingError": ParsingError}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a source gave, and the SHA-256 of the very bytes it was parsed from."""

    sha256: str
    documents: tuple[Document, ...]
    skipped: tuple[Skipped, ...]


class Parser:
    """Parses files in the worker process, one at a time; a context manager that ends the worker.

    `timeout_s` is per source; `memory_bytes` is the worker's address space; `max_bytes` and `max_characters` are the
    largest source and the longest document.
    """

    def __init__(self, timeout_s: float, memory_bytes: int, max_bytes: int, max_characters: int) -> None:
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._limits = [str(value) for value in (timeout_s, memory_bytes, max_bytes, max_characters)]
        self._worker: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Starts the worker, so that it is there by the time the first file is to be parsed."""
        self._running()

    def close(self) -> None:
        """Ends the worker; what is parsed next starts another."""
        if self._worker is not None:
            self._worker.kill()
            self._worker.communicate()
            self._worker = None

    def parse(self, sources: Iterable[tuple[str, str]]) -> Iterator[Parsed | LoadingError]:
        """For each source and document id, in order: what it gave, or why it gave nothing.

        While the caller works on one result the worker parses the next source.
        """
        asked: subprocess.Popen[bytes] | None = None
        try:
            for source in (*sources, None):
                outcome = self._outcome(asked) if asked else None
                asked = self._ask(*source) if source else None
                if outcome:
                    yield outcome
        finally:
            if asked:
                self.close()  # what is left of an answer must not be the next source's

    def _ask(self, source: str, doc_id: str) -> subprocess.Popen[bytes]:
        worker = self._running()
        requests = cast("IO[bytes]", worker.stdin)
        with suppress(BrokenPipeError):  # the worker has died since: its answer will have no end
            requests.write(json.dumps({"source": source, "doc_id": doc_id}).encode() + b"\n")
            requests.flush()
        return worker

    def _outcome(self, worker: subprocess.Popen[bytes]) -> Parsed | LoadingError:
        documents: list[Document] = []
        skipped: list[Skipped] = []
        for line in cast("IO[bytes]", worker.stdout):
            match json.loads(line) if line.endswith(b"\n") else None:
                case {"document": fields}:
                    documents.append(document_from(fields))
                case {"skipped": [where, reason]}:
                    skipped.append(Skipped(where, reason))
                case {"error": [kind, message, hint]}:
                    return _ERRORS.get(kind, ParsingError)(message, hint=hint)
                case {"done": sha256}:
                    return Parsed(sha256, tuple(documents), tuple(skipped))
        return self._death(worker)  # also where its last line is cut off

    def _running(self) -> subprocess.Popen[bytes]:
        if self._worker is not None and self._worker.poll() is not None:
            self.close()
        if self._worker is None:
            self._worker = subprocess.Popen(  # noqa: S603 -- our own module, the limits are numbers
                [sys.executable, "-P", "-m", _WORKER, *self._limits],  # -P: no module from the folder we stand in
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is the parent's
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # its threads' stacks count as memory
            )
        return self._worker

    def _death(self, worker: subprocess.Popen[bytes]) -> ParsingError:
        """Why the worker died, as an error of the source it was given."""
        self.close()
        if worker.returncode == -signal.SIGALRM:
            hint = "raise loading.timeout_s if the file is worth it"
            return ParsingError(f"took longer than {self._timeout_s:g} s to be parsed", hint=hint)
        size = f"{self._memory_bytes // 2**20} MiB"
        message = f"killed the parser (its memory limit of {size}, or a crash in a native library)"
        return ParsingError(message, hint="raise loading.memory_bytes if the file is worth it")


def document_fields(document: Document) -> dict[str, Any]:
    """A document as JSON can hold it."""
    return {
        "doc_id": document.doc_id,
        "kind": document.kind,
        "text": document.text,
        "title": document.title,
        "pages": [[page.number, page.start, page.end] for page in document.pages],
        "sections": [[section.path, section.start, section.end] for section in document.sections],
        "tables": [[table.start, table.end] for table in document.tables],
        "metadata": dict(document.metadata),
    }


def document_from(fields: Mapping[str, Any]) -> Document:
    """The document that `document_fields` wrote down."""
    spans = {
        "pages": tuple(Page(*page) for page in fields["pages"]),
        "sections": tuple(Section(tuple(path), start, end) for path, start, end in fields["sections"]),
        "tables": tuple(Span(*table) for table in fields["tables"]),
    }
    return Document(**{**fields, **spans})
