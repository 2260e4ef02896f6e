"""What `make release` builds from the last commit.

The script itself builds twice and compares the bytes.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import gettempdir

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = f"esrag-{PROJECT['version']}"

pytestmark = pytest.mark.packaging


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A folder with a release, and what the script printed.

    Its docker is installed and has no daemon.
    """
    commands = tmp_path_factory.mktemp("commands")
    (commands / "docker").write_text("#!/bin/sh\nexit 1\n")
    (commands / "docker").chmod(0o755)
    path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    folder = tmp_path_factory.mktemp("release") / "dist"

    done = subprocess.run(
        [ROOT / ".ci" / "release", folder],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def committed():
    """The time of the last commit, in seconds."""
    return int(subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def test_a_release_is_four_files_with_their_checksums(release):
    """The checksums are those of the files, and the wheel runs where it was installed."""
    folder, printed = release
    sums = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())

    assert set(sums) == {f"{NAME}.tar.gz", f"{NAME}-py3-none-any.whl", f"{NAME}.cdx.json"}
    assert {path.name for path in folder.iterdir()} == {*sums, "SHA256SUMS"}
    assert sums == {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sums}
    assert f"esrag, version {PROJECT['version']}\n" in printed


def test_an_image_that_was_not_built_is_not_claimed(release):
    """One line says why, and none names an image."""
    lines = [line for line in release[1].splitlines() if "image" in line]
    assert lines == [
        "container image: not built: docker is installed, but its daemon does not answer"
    ]


def test_the_archives_depend_on_the_commit_alone(release, committed):
    """Names are sorted; times, owners and modes are fixed."""
    folder, _ = release
    with tarfile.open(folder / f"{NAME}.tar.gz") as archive:
        members = archive.getmembers()
    with zipfile.ZipFile(folder / f"{NAME}-py3-none-any.whl") as archive:
        times = {datetime(*entry.date_time, tzinfo=UTC).timestamp() for entry in archive.infolist()}

    names = [member.name for member in members]
    assert names == sorted(names, key=lambda name: name.split("/"))
    assert {(member.mtime, member.uid, member.gid, member.uname) for member in members} == {
        (committed, 0, 0, "")
    }
    assert {member.mode for member in members} == {0o644, 0o755}
    assert times == {committed - committed % 2}  # a zip counts in steps of two seconds


def test_the_sbom_lists_what_the_wheel_installs(release):
    """Every dependency with its version, none of the tools for development, and no address or path
    of a machine.
    """
    text = (release[0] / f"{NAME}.cdx.json").read_text()
    sbom = json.loads(text)
    listed = {component["name"].lower().replace("_", "-") for component in sbom["components"]}

    assert (sbom["bomFormat"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "esrag")
    assert {re.match(r"[\w-]+", line)[0] for line in PROJECT["dependencies"]} <= listed
    assert not listed & {"pytest", "mypy", "twine", "sphinx", "pip", "elasticsearch"}
    assert all(component["purl"].endswith(component["version"]) for component in sbom["components"])
    assert re.findall(r"\w+://[^\"]*", text) == [sbom["$schema"]]
    assert [place for place in (ROOT, Path.home(), gettempdir()) if f"{place}/" in text] == []
