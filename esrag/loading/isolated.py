"""Loaders in a process of their own, with a time and a memory limit.

The process is restarted after each source that ended it.
"""

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from threading import Thread
from types import TracebackType
from typing import IO, Any, Self, cast

from esrag.enriching.rules import Rule
from esrag.errors import LoadingError, ParsingError, UnsupportedFormat
from esrag.loading import Skipped
from esrag.loading.serialising import document_from
from esrag.loading.sources import is_address
from esrag.records import Document
from esrag.settings import ENVIRONMENT_PREFIX, LoadingSettings

_WORKER = "esrag.workers.parse"  # by name: the package does not import its workers
# What an interpreter needs to find its packages, and to read the names of files as this one does.
_PASSED_ON = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ"),
    *("PYTHONHOME", "PYTHONPATH", "PYTHONUTF8"),
)
_MAX_HELD = (
    1000  # documents of a source that are held at once, while the worker parses the next source
)
_ERRORS: Mapping[str, type[LoadingError]] = {
    "UnsupportedFormat": UnsupportedFormat,
    "ParsingError": ParsingError,
}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a source gave: how many documents, and the SHA-256 of the very bytes it was parsed from.

    Many documents come as an iterator, to be read once and before the next source's: it raises
    ParsingError if the worker dies before the last.
    """

    sha256: str
    count: int
    documents: Iterable[Document]
    skipped: tuple[Skipped, ...]


class Parser:
    """Parses files in the worker process, one at a time.

    A context manager that ends the worker and its children.

    The worker of files has no network and none of our variables. That of object stores has the
    network and all variables that are not ours, since the store's library reads its credentials
    from them.

    `timeout_s` of the settings is per source; `memory_bytes` is the worker's address space.
    """

    def __init__(
        self,
        settings: LoadingSettings,
        enrichers: Sequence[str] = (),
        rules: Sequence[Rule] = (),
    ) -> None:
        self._timeout_s, self._memory_bytes = settings.timeout_s, settings.memory_bytes
        self._limits = [
            str(settings.timeout_s),
            str(settings.memory_bytes),
            str(settings.max_bytes),
            str(settings.max_characters),
        ]
        self._wanted = {
            "keep_hidden": settings.hidden == "keep",
            "columns": settings.columns.model_dump(),
            "enrichers": list(enrichers),
            "rules": [asdict(rule) for rule in rules],
        }
        self._worker: subprocess.Popen[bytes] | None = None
        self._is_sealed = True
        self.reading: Callable[[str, int, int], None] = _ignore

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the worker, so that it is ready when the first file is to be parsed."""
        self._start(is_sealed=True)

    def close(self) -> None:
        """End the worker. The next source starts another."""
        if self._worker is not None:
            _kill_group(self._worker.pid)
            self._worker.communicate()
            self._worker = None

    def parse(
        self, sources: Iterable[tuple[str, str] | tuple[str, str, str]]
    ) -> Iterator[Parsed | LoadingError]:
        """Yield for each source and document id, in order, what it contains or why it gave nothing.

        A third value is the folder that the source must be in when it is read.

        While the caller works on one result the worker parses the next source, unless its documents
        are too many to be held.
        """
        asked: subprocess.Popen[bytes] | None = None
        name = ""

        try:
            for source in chain(sources, [None]):
                outcome = self._receive(asked, name) if asked else None
                if isinstance(outcome, Parsed) and isinstance(outcome.documents, Iterator):
                    yield outcome
                    with suppress(ParsingError):
                        # The rest must not be read as the next source's.
                        deque(outcome.documents, maxlen=0)
                    outcome = None
                asked = self._ask(*source) if source else None
                name = source[0] if source else ""
                if outcome:
                    yield outcome
        finally:
            if asked:
                self.close()  # the rest of an answer must not be read as the next source's

    def _ask(self, source: str, doc_id: str, root: str = "") -> subprocess.Popen[bytes]:
        worker = self._start(is_sealed=not is_address(source))
        requests = cast("IO[bytes]", worker.stdin)

        with suppress(BrokenPipeError):  # the worker has died since: its answer will have no end
            request = {
                "source": source,
                "doc_id": doc_id,
                "root": root,
                **self._wanted,
            }
            requests.write(json.dumps(request).encode() + b"\n")
            requests.flush()
        return worker

    def _receive(self, worker: subprocess.Popen[bytes], name: str) -> Parsed | LoadingError:
        match self._read_answer(worker, name):
            case {"error": [kind, message, hint]}:
                return _ERRORS.get(kind, ParsingError)(message, hint=hint)
            case {"documents": int(count), "sha256": sha256, "skipped": skipped}:
                parts = tuple(Skipped(where, reason) for where, reason in skipped)
                documents = self._documents(worker, count)
                return _hold(Parsed(sha256, count, documents=documents, skipped=parts))
            case _:  # its last line is cut off
                return self._explain_death(worker)

    def _read_answer(self, worker: subprocess.Popen[bytes], name: str) -> Any:
        """Return the line that says what a source gave, and report the pages that come before."""
        self.reading(name, 0, 0)
        line = _read_line(worker)
        while line and "page" in line:
            self.reading(name, *line["page"])
            line = _read_line(worker)
        return line

    def _documents(self, worker: subprocess.Popen[bytes], count: int) -> Iterator[Document]:
        """Yield the documents that follow.

        Raises: ParsingError if the worker dies before the last.
        """
        for _ in range(count):
            match _read_line(worker):
                case {"document": fields}:
                    yield document_from(fields)
                case _:
                    raise self._explain_death(worker)

    def _start(self, *, is_sealed: bool) -> subprocess.Popen[bytes]:
        """Return a worker of that kind, and replace one that has ended or is of the other kind."""
        if self._worker is not None and (
            self._worker.poll() is not None or self._is_sealed != is_sealed
        ):
            self.close()

        if self._worker is None:
            self._is_sealed = is_sealed
            self._worker = self._launch(is_sealed=is_sealed)
            Thread(target=_end_with, args=(self._worker.pid,), daemon=True).start()
        return self._worker

    def _launch(self, *, is_sealed: bool) -> subprocess.Popen[bytes]:
        kind = "sealed" if is_sealed else "open"
        return subprocess.Popen(  # noqa: S603 -- our own module, the limits are numbers
            # -P: no module from the current folder
            [sys.executable, "-P", "-m", _WORKER, *self._limits, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is the parent's
            env=_environment(is_sealed=is_sealed),
        )

    def _explain_death(self, worker: subprocess.Popen[bytes]) -> ParsingError:
        """Return why the worker died, as an error of the source it was given."""
        self.close()
        if worker.returncode == -signal.SIGALRM:
            hint = "raise loading.timeout_s if the file is worth it"
            return ParsingError(f"took longer than {self._timeout_s:g} s to be parsed", hint=hint)
        size = f"{self._memory_bytes // 2**20} MiB"
        message = f"killed the parser (its memory limit of {size}, or a crash in a native library)"
        return ParsingError(message, hint="raise loading.memory_bytes if the file is worth it")


def _hold(parsed: Parsed) -> Parsed | LoadingError:
    """Return the same with all documents at hand, unless they are too many to be held."""
    if parsed.count > _MAX_HELD:
        return parsed
    try:
        return replace(parsed, documents=tuple(parsed.documents))
    except ParsingError as error:
        return error


def _environment(*, is_sealed: bool) -> dict[str, str]:
    """Return the environment of a worker, without ESRAG_ variables.

    That of a sealed worker has no other secrets either.
    """
    passed = {
        name: value
        for name, value in os.environ.items()
        if (name in _PASSED_ON if is_sealed else not name.startswith(ENVIRONMENT_PREFIX))
    }
    return {**passed, "OPENBLAS_NUM_THREADS": "1"}  # its threads' stacks count as memory


def _end_with(leader: int) -> None:
    """Wait for a worker to end, and end its children: they may hold the pipe that is read."""
    with suppress(ChildProcessError):  # it was waited for already, by who ended them too
        os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
        _kill_group(leader)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # the group is empty
        os.killpg(leader, signal.SIGKILL)


def _ignore(_name: str, _page: int, _pages: int) -> None:
    """Ignore progress."""


def _read_line(worker: subprocess.Popen[bytes]) -> Any:
    """Return the next line of an answer; None at the end, or for an incomplete line."""
    line = cast("IO[bytes]", worker.stdout).readline()
    return json.loads(line) if line.endswith(b"\n") else None
