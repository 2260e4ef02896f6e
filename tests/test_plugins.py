"""Stages by name, the built-in ones and anybody's."""

import pytest

from esrag import plugins
from esrag.errors import SettingsError


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Puts a package with entry points on the path, as an installer would; gives a function that does so."""

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


@pytest.mark.parametrize("plugin", plugins.plugins(), ids=lambda plugin: f"{plugin.stage}-{plugin.name}")
def test_every_built_in_loads(plugin):
    """What the package registers is there, under the class its entry names."""
    assert plugins.load(plugin.stage, plugin.name).__name__ == plugin.target.partition(":")[2]


def test_every_stage_has_an_implementation():
    """No stage is empty, and names are sorted."""
    assert all(plugins.names(stage) == tuple(sorted(plugins.names(stage))) != () for stage in plugins.STAGES)


@pytest.mark.parametrize("name", ["nope", "", "os:system", "../cut"])
def test_an_unknown_name_lists_the_known(name):
    """A name is looked up, never imported; the error says what there is."""
    with pytest.raises(SettingsError, match="no chunker named") as caught:
        plugins.load("chunkers", name)
    assert repr(name) in str(caught.value)
    assert all(known in caught.value.hint for known in plugins.names("chunkers"))


def test_an_installed_package_adds_a_stage(installed):
    """A package adds a chunker by its entry point alone, and is named as its source."""
    installed("lines_for_esrag", "[esrag.chunkers]\nlines = lines_for_esrag:Lines\n", "class Lines: pass\n")
    assert plugins.load("chunkers", "lines").__name__ == "Lines"
    assert plugins.Plugin("chunkers", "lines", "lines_for_esrag:Lines", "lines_for_esrag") in plugins.plugins()


def test_an_installed_package_wins_over_the_built_in(installed):
    """Who installs a package with a known name means it."""
    installed("a_better_one", "[esrag.chunkers]\nsentence = a_better_one:Better\n", "class Better: pass\n")
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
