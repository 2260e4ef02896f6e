"""A copy of what the documents speak of, and the environment of a user who installed esrag and set
nothing.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """A folder with the repository's docs and examples, free to be changed."""
    for name in ("docs", "examples"):
        shutil.copytree(ROOT / name, tmp_path / "checkout" / name)
    return tmp_path / "checkout"


@pytest.fixture
def user():
    """The variables of a shell in which `esrag` and `python` are those that run the tests."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ESRAG_")}
    return clean | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
