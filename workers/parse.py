"""The parse worker: reads requests on stdin, parses one file for each, answers in lines of JSON.

Started by `esrag.loading.isolated` as `python -m esrag.workers.parse TIMEOUT_S MEMORY_BYTES
MAX_BYTES MAX_CHARACTERS sealed|open`; see workers/README.md for the protocol. It ends when its
stdin does.
"""

import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from esrag import plugins
from esrag.enriching import enrich
from esrag.enriching.rules import Rule
from esrag.errors import EsragError, ParsingError
from esrag.loading import Skipped
from esrag.loading.guarded import parts
from esrag.loading.pages import watch_pages
from esrag.loading.reading import read
from esrag.loading.serialising import document_fields
from esrag.loading.sources import path_of
from esrag.records import Columns, Document, Source

from .sandbox import forbid_sockets

PAGES_EVERY_S = 0.25  # seldom enough that the lines never fill the pipe of a parent that is busy
# Bytes of an answer in memory; a longer one goes to a temporary file.
_MAX_HELD_BYTES = 16 * 2**20


def main(arguments: list[str]) -> None:
    """Answer requests until there are no more."""
    timeout_s, memory_bytes = float(arguments[0]), int(arguments[1])
    max_bytes, max_characters = int(arguments[2]), int(arguments[3])
    _confine(memory_bytes, is_sealed=arguments[4] == "sealed")
    answers = _own_stdout()
    watch_pages(_Pages(answers))

    for line in sys.stdin.buffer:
        # SIGALRM ends the process, native code or not; it also ends a worker whose parent was
        # killed.
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        with SpooledTemporaryFile(max_size=_MAX_HELD_BYTES) as documents:
            first = _parse(json.loads(line), documents, max_bytes, max_characters)
            # The parent may take long to read what it was given before.
            signal.setitimer(signal.ITIMER_REAL, 0)
            try:
                _write(answers, first, documents)
            except BrokenPipeError:
                return


def _parse(
    request: dict[str, Any], documents: IO[bytes], max_bytes: int, max_characters: int
) -> dict[str, Any]:
    """Parse a source to its end, and return the first line of the answer.

    The documents are written into a file, one per line. So nothing of a source that fails half-way
    is stored, and two million rows are never in memory.
    """
    try:
        data = read(request["source"], max_bytes, request.get("root", ""))
        found = parts(_source(request, data), max_characters)
        count, skipped = _write_documents(_enrich(found, request), documents)
        return {"documents": count, "sha256": hashlib.sha256(data).hexdigest(), "skipped": skipped}
    except EsragError as error:
        return {"error": [type(error).__name__, str(error), error.hint]}
    except MemoryError:
        message = "needs more memory to be parsed than loading.memory_bytes allows"
    except OSError as error:
        room = "needs room for its documents in the folder for temporary files"
        message = f"{room}: {error.strerror or error}"
    return {"error": [ParsingError.__name__, message, ""]}


def _source(request: dict[str, Any], data: bytes) -> Source:
    return Source(
        doc_id=request["doc_id"],
        name=path_of(request["source"]).name,
        data=data,
        keep_hidden=request.get("keep_hidden", False),
        columns=Columns(**request.get("columns", {})),
    )


def _enrich(
    found: Iterable[Document | Skipped], request: dict[str, Any]
) -> Iterator[Document | Skipped]:
    """Yield the parts of a source, its documents with the fields that enrichers find."""
    rules = [Rule(**rule) for rule in request.get("rules", ())]
    names = request.get("enrichers", ())
    enrichers = [(name, plugins.load("enrichers", name)(rules)) for name in names]
    for part in found:
        if isinstance(part, Document):
            yield enrich(part, request["source"], enrichers)
        else:
            yield part


def _write_documents(
    found: Iterable[Document | Skipped], documents: IO[bytes]
) -> tuple[int, list[list[str]]]:
    """Write the documents; return how many there were, and what was skipped for which reason."""
    count, skipped = 0, []
    for part in found:
        if isinstance(part, Skipped):
            skipped.append([part.where, part.reason])
        else:
            documents.write(json.dumps({"document": document_fields(part)}).encode() + b"\n")
            count += 1
    return count, skipped


def _write(answers: BinaryIO, first: dict[str, Any], documents: IO[bytes]) -> None:
    """Write an answer: its first line, then the documents if there was no error."""
    answers.write(json.dumps(first).encode() + b"\n")
    if "error" not in first:
        documents.seek(0)
        shutil.copyfileobj(documents, answers)
    answers.flush()


class _Pages:
    """Writes now and then how many pages of a file are read.

    The last ones are left to its end.
    """

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._next_s = 0.0

    def __call__(self, page: int, pages: int) -> None:
        if time.monotonic() < self._next_s:
            return
        self._answers.write(json.dumps({"page": [page, pages]}).encode() + b"\n")
        self._answers.flush()
        self._next_s = time.monotonic() + PAGES_EVERY_S


def _confine(memory_bytes: int, *, is_sealed: bool) -> None:
    """Limit what this process may take, and whether it may reach others."""
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    if is_sealed:
        forbid_sockets()


def _own_stdout() -> BinaryIO:
    """Return the pipe to the parent, and redirect stdout to stderr.

    A library that prints cannot reach the pipe then.
    """
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main(sys.argv[1:])
