"""What the tests share: the installed command line, run as a user runs it."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest
from forkserver import ForkServer
from ports import free_port

import esrag as package
from esrag.embedding import model_files
from esrag.errors import ModelError

MAX_S = 120
_FORKS = ForkServer()

hypothesis.settings.register_profile("esrag", deadline=None)  # a loaded machine is no failure
hypothesis.settings.load_profile("esrag")


@pytest.hookimpl(tryfirst=True)  # before xdist's own, which reads the groups
def pytest_collection_modifyitems(items):
    """In several processes, what shares servers, an index or a wheel is one process's: each would
    make its own.

    pytest-xdist 3.8 gives no group to one process with pytest 9.2 (its issue 1386), which is why
    that is not used yet.

    Of the tests without a group, the slow ones start first: none of them is left to run alone.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        for marker in ("live", "packaging", "quality"):
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.xdist_group(f"{marker} {_server(item.name)}"))


def pytest_sessionfinish():
    """End the processes that run the commands."""
    _FORKS.stop()


def _server(name):
    """The one server that a test is about, by its name: those of each are another process's.

    Else nothing.
    """
    named = [server for server in ("opensearch", "elasticsearch") if server in name]
    return named[0] if len(named) == 1 else ""


@dataclass(frozen=True)
class Ran:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """The one object on stdout."""
        return json.loads(self.out)

    @property
    def lines(self):
        """One object a line."""
        return [json.loads(line) for line in self.out.splitlines()]


def _ran(done):
    """What a process printed, without a stack trace."""
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True)
class CommandLine:
    """`esrag` in a folder of its own, with the hashing embedder unless told otherwise.

    `prefix` is run before it. A command takes `max_s` seconds at most.
    """

    folder: Path
    variables: dict
    prefix: tuple = ()
    max_s: int = MAX_S

    def __call__(self, *arguments, stdin="", **variables):
        """Runs `esrag ARGUMENTS`; keyword arguments are environment variables. A stack trace is a
        failure.

        The command is a fork of a process with the imports done, unless a variable could change
        these.
        """
        if self.prefix or not _FORKS.fits(self.environment(**variables)):
            return self.in_new_process(*arguments, stdin=stdin, **variables)

        done = _FORKS.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**variables),
            stdin=stdin,
            timeout=self.max_s,
        )
        return _ran(done)

    def in_new_process(self, *arguments, stdin="", **variables):
        """Runs `esrag ARGUMENTS` as a shell does."""
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**variables),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=self.max_s,
            check=False,
        )
        return _ran(done)

    def command(self, *arguments):
        """The words of the command."""
        return [*self.prefix, Path(sys.executable).with_name("esrag"), *map(str, arguments)]

    def environment(self, **variables):
        """The variables a command runs with."""
        mine = {name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")}
        return mine | self.variables | variables


@pytest.fixture
def esrag(tmp_path):
    """The command line in an empty folder; quick, since no model is opened."""
    folder = tmp_path / "work"
    folder.mkdir()
    variables = {
        "ESRAG_EMBEDDING__PROVIDER": "hashing",
        "ESRAG_EMBEDDING__MODEL": "hashing",
        "ESRAG_ANSWER__REFUSAL": "0",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    return CommandLine(folder, variables)


@pytest.fixture
def open_pages(esrag, monkeypatch):
    """A function that opens an index of pages, given by name, from Python."""
    monkeypatch.chdir(esrag.folder)
    with ExitStack() as stack:

        def opened(pages, settings):
            for name, text in pages.items():
                (esrag.folder / name).write_text(text)
            index = stack.enter_context(package.open("index", settings=settings))
            index.ingest(*pages)
            return index

        yield opened


@pytest.fixture
def corpus(esrag):
    """Three small documents in a folder `docs` beside the index."""
    folder = esrag.folder / "docs"
    (folder / "kitchen").mkdir(parents=True)
    (folder / "kitchen" / "kettle.md").write_text(
        "# Kettle\n\n## Size\n\nThe kettle holds 1.7 litres. It weighs 900 grams.\n\n"
        "## Use\n\nFill it to the mark. It boils in three minutes.\n"
    )
    (folder / "kitchen" / "toaster.txt").write_text(
        "The toaster has two slots. Its cable is 80 centimetres long.\n"
    )
    (folder / "lamp.html").write_text(
        "<html><head><title>Lamp</title></head><body><h1>Lamp</h1><p>The lamp takes an E27 bulb "
        "of at most "
        "60 watts. It has a dimmer and a linen shade, and its foot is made of oiled "
        "beech.</p></body></html>"
    )
    return folder


@pytest.fixture(scope="session")
def real_model():
    """The folder of the default model.

    Without its weights the test is skipped, or fails where CI must have them.
    """
    try:
        return model_files.locate("all-MiniLM-L6-v2", offline=True).path
    except ModelError as error:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            f"{error}: run `esrag models get`"
        )


@pytest.fixture(scope="session")
def start_server():
    """Starts a real server over a folder.

    Where none can be had, a skip with the reason, and on CI a failure.
    """
    import servers

    def start(engine, folder, **options):
        try:
            return servers.start(engine, port=free_port(), data=folder, **options)
        except servers.Unavailable as error:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(error))

    return start


@pytest.fixture(scope="session")
def opensearch(start_server, tmp_path_factory):
    """The address of a real OpenSearch."""
    server = start_server("opensearch", tmp_path_factory.mktemp("opensearch"))
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def elasticsearch(start_server, tmp_path_factory):
    """The address of a real Elasticsearch, which has no licence to fuse by ranks."""
    server = start_server("elasticsearch", tmp_path_factory.mktemp("elasticsearch"))
    yield server.url
    server.stop()
