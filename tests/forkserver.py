"""Run the installed command in a fork of a process that has imported it already.

A new process spends most of a short command's time on imports. A fork skips these and is a process
all the same: it has its own memory, environment, folder, streams, signals and exit code, so
commands cannot influence each other. Run as a script, this file is the process that forks.
"""

import atexit
import contextlib
import gc
import itertools
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from importlib import import_module
from pathlib import Path

IMPORTED_LATE = (  # by the commands themselves, when they run
    "esrag.pipeline",
    "esrag.engines.embedded",
    "esrag.engines.embedded.diagnostics",
    "elasticsearch",
    "opensearchpy",
    "esrag.embedding.hashing",
    "esrag.generating.extractive",
    "esrag.jobs.work",
    "esrag.ledger.sqlite",
    "esrag.loading.isolated",
    "esrag.settings.layers",
    "jinja2",
    "nupunkt",
)
OWN_PREFIXES = ("ESRAG_", "XDG_", "PYTEST_")  # variables that matter only once a command runs
REQUEST_FDS = 5


class ForkServer:
    """Two processes that fork in turn: hashes of texts differ, as those of two commands do."""

    def __init__(self):
        """Start nothing until the first command."""
        self._environment = dict(os.environ)
        self._lock = threading.Lock()
        self._processes = []
        self._controls = None

    def fits(self, environment):
        """Return whether a fork sees what a new process with these variables would see."""
        changed = environment.items() ^ self._environment.items()
        return all(name.startswith(OWN_PREFIXES) for name, _ in changed)

    def run(self, command, *, cwd, env, stdin, timeout):
        """Run a Python script with its arguments. Returns what `subprocess.run` returns. Raises:
        TimeoutExpired.
        """
        request = {"command": [*map(str, command)], "cwd": str(cwd), "env": env}
        with contextlib.ExitStack() as opened:
            files = [opened.enter_context(tempfile.TemporaryFile()) for _ in range(4)]
            for file, text in zip(files, (json.dumps(request), stdin), strict=False):
                file.write(text.encode())
                file.seek(0)

            ours, theirs = (opened.enter_context(end) for end in socket.socketpair())
            socket.send_fds(self._control(), [b"run"], [it.fileno() for it in (theirs, *files)])
            theirs.close()
            code = _exit_code(ours, command, timeout)
            return subprocess.CompletedProcess(command, code, *map(_text, files[2:]))

    def stop(self):
        """End both processes."""
        for process, control in self._processes:
            control.close()
            process.wait(30)

    def _control(self):
        """Return the socket of the process that is next, and start them for the first command."""
        with self._lock:
            if self._controls is None:
                self._processes = [self._start(), self._start()]
                self._controls = itertools.cycle([control for _, control in self._processes])
            return next(self._controls)

    def _start(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        return process, ours


def _exit_code(replies, command, timeout):
    """Read the number of the process, then its exit code. A process that takes too long is
    killed.
    """
    with replies.makefile() as lines:
        pid = int(lines.readline())
        replies.settimeout(timeout)
        try:
            return int(lines.readline())
        except BaseException as error:
            os.kill(pid, signal.SIGKILL)
            if isinstance(error, TimeoutError):
                raise subprocess.TimeoutExpired(command, timeout) from error
            raise


def _text(file):
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n").replace("\r", "\n")


def serve(control):
    """Fork for each request until the tests end. Returns the request in the child."""
    waiting = select.epoll()
    waiting.register(control.fileno(), select.EPOLLIN)
    running = {}  # file descriptor of a process → its number and the socket for its exit code
    while True:
        for ready, _ in waiting.poll():
            if ready != control.fileno():
                _report(*running.pop(ready))
                waiting.unregister(ready)
                os.close(ready)
                continue

            message, fds, _, _ = socket.recv_fds(control, 16, REQUEST_FDS)
            if not message:
                os._exit(0)
            reply, request = socket.socket(fileno=fds[0]), fds[1]
            pid = os.fork()
            if not pid:
                for number, fd in enumerate(fds[2:]):
                    os.dup2(fd, number)
                with os.fdopen(request) as file:
                    asked = json.load(file)
                for _, other in running.values():
                    other.detach()
                reply.detach()
                control.detach()
                waiting.close()
                os.closerange(3, 1 << 16)
                return asked

            for fd in fds[1:]:
                os.close(fd)
            reply.sendall(f"{pid}\n".encode())
            running[os.pidfd_open(pid)] = pid, reply
            waiting.register([*running][-1], select.EPOLLIN)


def _report(pid, reply):
    _, status = os.waitpid(pid, 0)
    with reply, contextlib.suppress(OSError):  # nobody waits for it any more
        reply.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def main():
    """Import what the commands need, then run those that are asked for, each in a fork."""
    from esrag.cli.main import COMMANDS

    for module in {*IMPORTED_LATE, *(target.split(":")[0] for target, _ in COMMANDS.values())}:
        import_module(module)
    gc.collect()
    gc.freeze()  # a collection in a fork would copy what it shares with this process

    request = serve(socket.socket(fileno=int(sys.argv[1])))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    script, *_ = sys.argv = request["command"]
    sys.path[0] = str(Path(script).parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        _leave(ended.code)


def _leave(code):
    """End the process as Python does, but free no module: that takes longer than most commands."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
