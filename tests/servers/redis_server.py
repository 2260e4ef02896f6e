"""A real redis-server for tests: started over a folder, stopped by its process id.

Not named `redis`: this folder is put in front of `sys.path`, and the client is imported by that
name.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from ports import free_port

_STARTS_WITHIN_S = 10


@dataclass(frozen=True)
class Server:
    """A running redis-server."""

    port: int
    process: subprocess.Popen

    @property
    def url(self):
        """Its address, database 0."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self):
        """What signals are sent to."""
        return self.process.pid

    def stop(self, with_signal=signal.SIGTERM):
        """Ends it and waits until it is gone; a stopped one is let run first.

        A second time does nothing.
        """
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
            self.process.send_signal(signal.SIGCONT)
        self.process.wait(20)


def start(folder, *arguments, port=0):
    """A redis-server that keeps nothing on disk unless the arguments say so.

    `port` 0 is any free one.

    Without the program the test is skipped with the reason; on CI it fails.
    """
    program = shutil.which("redis-server")
    if program is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            "redis-server is not installed"
        )
    Path(folder).mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    mine = (
        "--port",
        port,
        "--bind",
        "127.0.0.1",
        "--dir",
        folder,
        "--save",
        "",
        "--appendonly",
        "no",
    )
    command = [program, *map(str, (*mine, *arguments))]
    log = Path(folder) / "redis.log"
    with log.open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    server = Server(port, process)
    _wait_for(server, log)
    return server


def start_tls(folder, authority, *arguments):
    """One that speaks TLS besides, with a certificate of that authority for 127.0.0.1.

    Also its address for that.

    It asks nobody for a certificate, unless the arguments say so.
    """
    issued, port = authority.issue("server", "IP:127.0.0.1"), free_port()
    files = ("--tls-cert-file", issued, "--tls-key-file", issued.with_suffix(".key"))
    trust = ("--tls-ca-cert-file", authority.certificate, "--tls-auth-clients", "no")
    return start(
        folder, "--tls-port", port, *files, *trust, *arguments
    ), f"rediss://127.0.0.1:{port}/0"


def _wait_for(server, log):
    """Returns once it answers and has loaded what it kept."""
    end = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < end and server.process.poll() is None:
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", server.port), 1) as connection,
        ):
            connection.sendall(b"PING\r\n")
            if not connection.recv(64).startswith(b"-LOADING"):
                return
        time.sleep(0.02)
    server.stop(signal.SIGKILL)
    raise RuntimeError(f"redis-server does not start: {log.read_text(errors='replace')[-2000:]}")
