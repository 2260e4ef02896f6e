"""What a loader can reach from the parse worker: no secret, no network, and nothing that outlives
the worker.
"""

import json
import os
import socket
import subprocess
import sys
import time

import psutil
import pytest

from esrag.errors import ParsingError
from esrag.loading.isolated import Parser
from esrag.settings import LoadingSettings

GIB = 2**30
CURIOUS = """
import json, os, signal, socket, subprocess, sys, time
from esrag.records import Document

def tried(action, *arguments):
    try:
        action(*arguments)
        return "done"
    except OSError as error:
        return type(error).__name__

def connect(family, address):
    with socket.socket(family) as there:
        there.connect(address)

class Curious:
    def recognises(self, name, data):
        return 1.0 if name.endswith(".curious") else 0.0

    def load(self, source):
        asked = json.loads(source.data)
        found = {"environment": dict(os.environ)}
        if "port" in asked:
            found["tcp"] = tried(connect, socket.AF_INET, ("127.0.0.1", asked["port"]))
            found["unix"] = tried(connect, socket.AF_UNIX, asked["socket"])
            child = [sys.executable, "-c", "import socket; socket.socket()"]
            found["child"] = subprocess.run(child, stderr=subprocess.DEVNULL).returncode
        if "marker" in asked and not os.fork():
            for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            found["setsid"] = tried(os.setsid)
            with open(asked["marker"], "w") as file:
                file.write(f"{os.getpid()} {found['setsid']}")
            time.sleep(600)
        if "sleep" in asked:
            time.sleep(600)
        yield Document(doc_id=source.doc_id, kind="curious", text=json.dumps(found))
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """An installed package with a loader that looks around; gives what it is asked as a file."""
    packages = tmp_path / "packages"
    (packages / "curious-1.0.dist-info").mkdir(parents=True)
    (packages / "curious.py").write_text(CURIOUS)
    (packages / "curious-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: curious\nVersion: 1.0\n"
    )
    (packages / "curious-1.0.dist-info" / "entry_points.txt").write_text(
        "[esrag.loaders]\ncurious = curious:Curious\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(packages))

    def asking(**asked):
        path = tmp_path / "a.curious"
        path.write_text(json.dumps(asked))
        return str(path)

    return asking


def parsed(parser, source):
    (outcome,) = parser.parse([(source, "d")])
    if isinstance(outcome, Exception):
        raise outcome
    return json.loads(outcome.documents[0].text)


def test_a_loader_sees_no_secret_and_reaches_nobody(plugin, tmp_path, monkeypatch):
    """Neither our keys nor another program's.

    No listener on this machine, not by a path and not from a child.
    """
    for name in (
        "ESRAG_MODELS__DEFAULT__API_KEY",
        "ESRAG_ENGINE__URL",
        "AWS_SECRET_ACCESS_KEY",
        "CO_API_KEY",
        "SSH_AUTH_SOCK",
    ):
        monkeypatch.setenv(name, "s3cret-s3cret")
    tcp, unix = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    unix.bind(str(tmp_path / "s"))
    unix.listen()

    with (
        tcp,
        unix,
        Parser(
            LoadingSettings(
                timeout_s=30, memory_bytes=2 * GIB, max_bytes=1000, max_characters=10**6
            )
        ) as parser,
    ):
        found = parsed(parser, plugin(port=tcp.getsockname()[1], socket=str(tmp_path / "s")))
    assert "s3cret" not in json.dumps(found)
    assert not [name for name in found["environment"] if name.startswith("ESRAG_")]
    assert (found["tcp"], found["unix"], found["child"]) == (
        "PermissionError",
        "PermissionError",
        1,
    )


def waited_for(condition):
    """Whether it comes true within a minute, however loaded the machine is."""
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("sleeps", [True, False])
def test_what_a_loader_starts_ends_with_the_worker(plugin, tmp_path, sleeps):
    """A child that ignores signals and wants a session of its own is ended, at a time-out and at
    the end.
    """
    marker = tmp_path / "marker"
    asked = {"marker": str(marker)} | ({"sleep": True} if sleeps else {})

    def is_written():
        return marker.exists() and " " in marker.read_text()

    with Parser(
        LoadingSettings(timeout_s=3, memory_bytes=2 * GIB, max_bytes=1000, max_characters=10**6)
    ) as parser:
        if sleeps:
            with pytest.raises(ParsingError, match="took longer than 3 s"):
                parsed(parser, plugin(**asked))
        else:
            parsed(parser, plugin(**asked))
            assert waited_for(is_written)
    assert waited_for(is_written)
    child, setsid = marker.read_text().split()
    assert setsid == "PermissionError"
    assert waited_for(
        lambda: not psutil.pid_exists(int(child)) or psutil.Process(int(child)).status() == "zombie"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_a_plain_user_is_as_confined_as_root(tmp_path):
    """The filter needs no privilege; the user's own files stay readable."""
    code = (
        "import os, socket\nfrom esrag.workers.sandbox import forbid_sockets\n"
        "os.setgroups([]); os.setgid(65534); os.setuid(65534); forbid_sockets()\n"
        "a, b = socket.socketpair()\n"
        "try: socket.socket()\nexcept PermissionError: print('refused', os.geteuid())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    assert ran.stdout == "refused 65534\n"
