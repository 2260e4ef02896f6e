"""What is installed is what is in the tree: wheel, sdist, editable install, and a plugin from
another package.
"""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAPPED = {"mappings": "esrag/mappings", "templates": "esrag/templates", "workers": "esrag/workers"}
SUFFIXES = {".py", ".safetensors", ".json", ".sql", ".j2", ".yaml", ".md", ".typed"}

pytestmark = pytest.mark.packaging


def run(*command, cwd="/", **variables):
    """The command's output; what it says on failure is the failure's text.

    Commands are run from elsewhere.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ESRAG_")} | variables
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def in_tree():
    """Every file that belongs into the package, by the name it has there."""
    for folder in ("esrag", *MAPPED):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                yield f"{MAPPED.get(folder, 'esrag')}/{path.relative_to(ROOT / folder).as_posix()}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and sdist, built from the tree; the sdist is unpacked and built from in turn."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    """The wheel's path; `build` makes it from the sdist, so the sdist is whole too."""
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory, wheel):
    """A fresh environment with the wheel in it.

    Only the dependencies come from the one that runs the tests.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    theirs = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("\n".join(theirs))
    run(folder / "bin" / "pip", "install", "--no-index", "--no-deps", wheel)
    return folder


def test_the_wheel_holds_exactly_the_tree(wheel):
    """Every source and data file of the four folders, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert held == set(in_tree())


def test_the_sdist_holds_the_folders_outside_the_package(built):
    """A wheel can be made from it: the mapped folders, the licence and the README are in."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {
        "mappings/embedded.sql",
        "templates/explain.txt.j2",
        "workers/parse.py",
        "LICENSE",
        "README.md",
    } <= names


def test_the_installed_wheel_ingests_and_asks(environment, tmp_path):
    """From a folder that has nothing to do with the tree."""
    (tmp_path / "kettle.txt").write_text("The kettle holds 1.7 litres of water.")
    esrag = environment / "bin" / "esrag"
    variables = {
        "ESRAG_EMBEDDING__PROVIDER": "hashing",
        "ESRAG_EMBEDDING__MODEL": "hashing",
        "ESRAG_ANSWER__REFUSAL": "0",
    }
    assert str(environment) in run(
        environment / "bin" / "python", "-c", "import esrag; print(esrag.__file__)"
    )

    run(esrag, "ingest", "kettle.txt", cwd=tmp_path, **variables)
    assert "1.7 litres of water. [c1]" in run(
        esrag, "ask", "How much does the kettle hold?", cwd=tmp_path, **variables
    )


def test_a_plugin_is_added_by_installing_a_package(environment, tmp_path):
    """A loader for `.shout` files from another distribution is listed, and loads them."""
    package = tmp_path / "plugin"
    package.mkdir()
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "esrag-shout"\nversion = "1"\n'
        '[project.entry-points."esrag.loaders"]\nshout = "esrag_shout:ShoutLoader"\n'
        '[tool.setuptools]\npy-modules = ["esrag_shout"]\n'
    )
    (package / "esrag_shout.py").write_text(
        "from esrag.records import Document\n"
        "class ShoutLoader:\n"
        "    def recognises(self, name, data):\n"
        "        return 1.0 if name.endswith('.shout') else 0.0\n"
        "    def load(self, source):\n"
        "        yield Document(source.doc_id, 'shout', source.data.decode().lower())\n"
    )
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", tmp_path, package)
    run(
        environment / "bin" / "pip",
        "install",
        "--no-index",
        "--no-deps",
        next(tmp_path.glob("*.whl")),
    )
    esrag = environment / "bin" / "esrag"
    assert "esrag-shout" in run(esrag, "plugins")

    (tmp_path / "loud.shout").write_text("THE LAMP IS GREEN.")
    run(esrag, "ingest", "loud.shout", cwd=tmp_path, ESRAG_EMBEDDING__MODEL="none")
    assert "the lamp is green." in run(esrag, "chunks", cwd=tmp_path, ESRAG_EMBEDDING__MODEL="none")


def test_the_editable_install_sees_the_mapped_folders():
    """What the developers run: templates, schema and workers come from the tree itself."""
    import esrag.mappings
    import esrag.templates
    import esrag.workers

    for module, folder in (
        (esrag.mappings, "mappings"),
        (esrag.templates, "templates"),
        (esrag.workers, "workers"),
    ):
        assert Path(module.__path__[0]).resolve() == ROOT / folder
