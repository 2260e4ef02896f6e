"""The lock file pins everything that CI installs, by version and hash, and names no registry."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements-dev.lock").read_text()
PINNED = dict(re.findall(r"^([a-z0-9][a-z0-9-]*)==([^ ;\\]+)", LOCK, re.MULTILINE))


def names(requirements):
    """The packages of requirements, as a lock file spells them."""
    written = [re.match(r"[\w.-]+", line)[0] for line in requirements if isinstance(line, str)]
    return [re.sub(r"[._]+", "-", name).lower() for name in written]


def test_everything_that_is_named_is_pinned():
    """What esrag needs to run, and every group for its development."""
    groups = PROJECT["dependency-groups"].values()
    wanted = names(
        [*PROJECT["project"]["dependencies"], *(line for group in groups for line in group)]
    )
    assert [name for name in wanted if name not in PINNED] == []


def test_every_version_has_a_hash():
    """So that nothing else is installed under its name."""
    entries = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert {re.split("[=@ ]", entry)[0] for entry in entries} == set(PINNED) != set()
    assert all("--hash=sha256:" in entry for entry in entries)


def test_no_registry_is_named():
    """Everybody installs from the registry of their own settings."""
    assert "://" not in LOCK
    assert "--index-url" not in LOCK
