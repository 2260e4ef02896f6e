"""Stages by name, the built-in ones and anybody's."""

import re
from pathlib import Path

import pytest

from esrag import plugins
from esrag.errors import SettingsError


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a package with entry points on the path, as an installer would.

    Gives a function that does so.
    """

    def install(package, entries, code=""):
        (tmp_path / f"{package}.py").write_text(code)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entries)
        plugins._entries.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    plugins._entries.cache_clear()


@pytest.mark.parametrize(
    "plugin", plugins.plugins(), ids=lambda plugin: f"{plugin.stage}-{plugin.name}"
)
def test_every_built_in_loads(plugin):
    """What the package registers is there, under the class its entry names."""
    assert plugins.load(plugin.stage, plugin.name).__name__ == plugin.target.partition(":")[2]


def test_every_stage_has_an_implementation():
    """No stage is empty, and names are sorted."""
    assert all(
        plugins.names(stage) == tuple(sorted(plugins.names(stage))) != ()
        for stage in plugins.STAGES
    )


@pytest.mark.parametrize("name", ["nope", "", "os:system", "../cut"])
def test_an_unknown_name_lists_the_known(name):
    """A name is looked up, never imported; the error says what there is."""
    with pytest.raises(SettingsError, match="no chunker named") as caught:
        plugins.load("chunkers", name)
    assert repr(name) in str(caught.value)
    assert all(known in caught.value.hint for known in plugins.names("chunkers"))


def test_an_installed_package_adds_a_stage(installed):
    """A package adds a chunker by its entry point alone, and is named as its source."""
    installed(
        "lines_for_esrag",
        "[esrag.chunkers]\nlines = lines_for_esrag:Lines\n",
        "class Lines: pass\n",
    )
    assert plugins.load("chunkers", "lines").__name__ == "Lines"
    assert (
        plugins.Plugin(
            stage="chunkers",
            name="lines",
            target="lines_for_esrag:Lines",
            package="lines_for_esrag",
        )
        in plugins.plugins()
    )


def test_an_installed_package_wins_over_the_built_in(installed):
    """Who installs a package with a known name means it."""
    installed(
        "a_better_one", "[esrag.chunkers]\nsentence = a_better_one:Better\n", "class Better: pass\n"
    )
    assert plugins.load("chunkers", "sentence").__name__ == "Better"
    assert plugins.names("chunkers").count("sentence") == 1


@pytest.mark.parametrize("target", ["gone_for_esrag.away:Lines", "gone_for_esrag:Missing"])
def test_a_package_that_does_not_load_is_named(installed, target):
    """A broken package is an error when its stage is used, not before, and says whose it is."""
    installed("gone_for_esrag", f"[esrag.chunkers]\nbroken = {target}\n")
    assert "broken" in plugins.names("chunkers")
    with pytest.raises(SettingsError, match="does not load") as caught:
        plugins.load("chunkers", "broken")
    assert target in str(caught.value)
    assert "gone_for_esrag" in caught.value.hint


REQUIRED = """Metadata-Version: 2.1
Name: esrag
Version: 1.0
Requires-Dist: numpy>=2
Requires-Dist: celery[redis]<6,>=5.7; extra == "queue"
Requires-Dist: b>=1; extra == "search"
Requires-Dist: a; python_version > "3" and extra == 'search'
"""


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ('{"dir_info": {"editable": true}, "url": "file://%s"}', "pip install -e '{}[queue]'"),
        ('{"dir_info": {}, "url": "file://%s"}', "pip install '{}[queue]'"),
        (
            '{"archive_info": {}, "url": "file://%s/esrag-1.0-py3-none-any.whl"}',
            "pip install '{}/{wheel}[queue]'",
        ),
        (
            '{"archive_info": {}, "url": "file://%s/gone.whl"}',
            "pip install 'celery[redis]<6,>=5.7'",
        ),
        ('{"url": "https://example.org/esrag.whl"}', "pip install 'celery[redis]<6,>=5.7'"),
        ("[]", "pip install 'celery[redis]<6,>=5.7'"),
        ("", "pip install 'celery[redis]<6,>=5.7'"),
    ],
)
def test_what_to_install_names_the_checkout_the_wheel_or_the_packages(
    tmp_path, monkeypatch, origin, command
):
    """Never esrag by its name, which anybody could register."""
    source = tmp_path / "a checkout"
    source.mkdir()
    wheel = source / "esrag-1.0-py3-none-any.whl"
    wheel.touch()
    info = tmp_path / "esrag-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(REQUIRED)
    if origin:
        (info / "direct_url.json").write_text(origin.replace("%s", str(source).replace(" ", "%20")))
    monkeypatch.syspath_prepend(tmp_path)

    assert plugins.install_hint("queue") == command.format(source, wheel=wheel.name)
    assert "esrag[" not in plugins.install_hint("search")
    if "-e" not in command and "{}" not in command:
        assert plugins.install_hint("search") == "pip install a 'b>=1'"


def test_no_message_tells_to_install_esrag_by_name():
    """Not one in the package."""
    package = Path(plugins.__file__).parent
    texts = {path: path.read_text() for path in package.rglob("*.py")}
    assert [
        path for path, text in texts.items() if re.search(r"pip install ['\"]?esrag\b", text)
    ] == []
