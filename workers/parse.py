"""The parse worker: reads requests on stdin, parses one file for each, answers on stdout in lines of JSON.

Started by `esrag.loading.isolated` as `python -m esrag.workers.parse TIMEOUT_S MEMORY_BYTES MAX_BYTES MAX_CHARACTERS
sealed|open`; see workers/README.md for the protocol. It ends when its stdin does.
"""

import hashlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from esrag.errors import EsragError, ParsingError
from esrag.loading import Skipped
from esrag.loading.guarded import parts
from esrag.loading.isolated import document_fields
from esrag.loading.pages import watch_pages
from esrag.loading.reading import read
from esrag.loading.sources import path_of
from esrag.records import Source

from .sandbox import forbid_sockets

PAGES_EVERY_S = 0.25  # seldom enough that the lines never fill the pipe of a parent that is busy


def main(arguments: list[str]) -> None:
    """Answers requests until there are no more."""
    timeout_s, memory_bytes = float(arguments[0]), int(arguments[1])
    max_bytes, max_characters = int(arguments[2]), int(arguments[3])
    _limit(resource.RLIMIT_AS, memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    if arguments[4] == "sealed":
        forbid_sockets()
    answers = _own_stdout()
    watch_pages(_Pages(answers))
    for line in sys.stdin.buffer:
        # SIGALRM ends the process, native code or not; it also ends a worker whose parent was killed.
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        try:
            lines = [json.dumps(answer) for answer in _answers(json.loads(line), max_bytes, max_characters)]
            signal.setitimer(signal.ITIMER_REAL, 0)  # the parent may take long to read what it was given before
            answers.write("".join(f"{line}\n" for line in lines).encode())
            answers.flush()
        except BrokenPipeError:
            return


def _answers(request: dict[str, Any], max_bytes: int, max_characters: int) -> Iterator[dict[str, Any]]:
    """Documents and skipped parts, then the end or the error."""
    try:
        source, keep_hidden = request["source"], request.get("keep_hidden", False)
        data = read(source, max_bytes, request.get("root", ""))
        for part in parts(Source(request["doc_id"], path_of(source).name, data, keep_hidden), max_characters):
            if isinstance(part, Skipped):
                yield {"skipped": [part.where, part.reason]}
            else:
                yield {"document": document_fields(part)}
        yield {"done": hashlib.sha256(data).hexdigest()}
    except EsragError as error:
        yield {"error": [type(error).__name__, str(error), error.hint]}
    except MemoryError:
        message = "needs more memory to be parsed than loading.memory_bytes allows"
        yield {"error": [ParsingError.__name__, message, ""]}


class _Pages:
    """Writes a line now and then that says how many pages of a file are read; the last ones are left to its end."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._next_s = 0.0

    def __call__(self, page: int, pages: int) -> None:
        if time.monotonic() < self._next_s:
            return
        self._answers.write(json.dumps({"page": [page, pages]}).encode() + b"\n")
        self._answers.flush()
        self._next_s = time.monotonic() + PAGES_EVERY_S


def _own_stdout() -> BinaryIO:
    """The pipe to the parent, out of reach of a library that prints: what it prints goes where stderr goes."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return pipe


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


if __name__ == "__main__":
    main(sys.argv[1:])
