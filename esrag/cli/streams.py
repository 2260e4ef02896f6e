"""The standard streams of a command, and their failures.

If stdout or stderr cannot be written any more, the work continues, the output is dropped, and the
exit code reports it at the end. A command that only prints calls `stop_unread` first. It then ends
as soon as the reader closes the pipe, as `cat` and `git` do.
"""

import os
import select
import signal
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from esrag.cli.output import remark

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAX_READ_CHARACTERS = (
    100_000  # per read: ten times the maximum length of a question, so that a longer one is refused
)
_STDOUT = 1
_OUTPUTS: list["_Output"] = []


class _Output(FileIO):
    """The file of stdout or stderr; `failure` is the first error of a write."""

    failure: OSError | None = None
    stops = False  # whether a failed write ends the command

    def write(self, data: "Buffer", /) -> int:
        """Write bytes, and wait for the reader of a non-blocking pipe.

        Raises: OSError, once, if stdout `stops`.
        """
        try:
            return self._write_waiting(data)
        except BrokenPipeError as error:
            self.failure = error
            if self.stops:
                _end_by_sigpipe()
            self._write_nowhere()
        except OSError as error:
            # For example a full disk, which may have room again for a worker's next line.
            is_first, self.failure = self.failure is None, error
            if self.stops and is_first and self.fileno() == _STDOUT:
                raise
        return memoryview(data).nbytes

    def _write_waiting(self, data: "Buffer") -> int:
        """Write bytes as soon as the stream takes some."""
        while (written := super().write(data)) is None:
            select.select([], [self], [])
        return written

    def _write_nowhere(self) -> None:
        """Redirect the stream to the null device, also for child processes."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def open_streams() -> None:
    """Open closed standard streams, and guard stdout and stderr.

    Otherwise the next opened file, even an index, would get the number of a closed stream. Stdin
    may hold any bytes: names of files may, and questions ignore invalid ones.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 -- open to the end
        elif mode == "w":
            setattr(sys, name, _guard(stream))

    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")


def stop_unread() -> None:
    """End the command as soon as its output cannot be written, because it only prints."""
    for output in _OUTPUTS:
        output.stops = True


def read_text() -> str:
    """Return the text on stdin, up to a little more than the longest question."""
    return sys.stdin.read(MAX_READ_CHARACTERS)


def read_all(max_bytes: int) -> bytes:
    """Return the bytes on stdin, up to `max_bytes`."""
    return sys.stdin.buffer.read(max_bytes)


def read_line() -> str:
    """Return the next line of stdin, or "" at its end. An overlong line is truncated."""
    line = sys.stdin.readline(MAX_READ_CHARACTERS)
    rest = line
    while len(rest) == MAX_READ_CHARACTERS and not rest.endswith("\n"):
        rest = sys.stdin.readline(MAX_READ_CHARACTERS)
    return line


def finish(code: int) -> int:
    """Return `code`, or a failure if the report of a successful command could not be written.

    If the reader of the report closed the pipe, end the process by SIGPIPE. Stderr has only
    remarks, so its failures are ignored.
    """
    sys.stdout.flush()
    failure = next((output.failure for output in _OUTPUTS if output.fileno() == _STDOUT), None)
    if code or failure is None:
        return code

    if isinstance(failure, BrokenPipeError):
        _end_by_sigpipe()
    remark(f"error: standard output: {failure.strerror}; the work itself is done")
    return 1


def _guard(stream: TextIO) -> TextIO:
    """Return the stream over a file that records its own failure.

    Characters that cannot be encoded are escaped.
    """
    if not isinstance(stream, TextIOWrapper):
        return stream

    output = _Output(stream.fileno(), "w", closefd=False)
    _OUTPUTS.append(output)
    return TextIOWrapper(
        BufferedWriter(output),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
    )


def _end_by_sigpipe() -> NoReturn:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPIPE})
    os.kill(os.getpid(), signal.SIGPIPE)
    # Reached if a debugger or a container's first process ignores the signal.
    os._exit(128 + signal.SIGPIPE)
