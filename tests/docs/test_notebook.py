"""The example notebook, run from its first cell to its last."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.weights
@pytest.mark.usefixtures("real_model")
def test_the_notebook_runs(tmp_path):
    """In a kernel of its own, over a copy of the examples."""
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder)
    execute = [Path(sys.executable).with_name("jupyter"), "execute", "--inplace", "notebook.ipynb"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        execute,
        cwd=folder,
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
        timeout=240,
    )

    cells = json.loads((folder / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    _, ingested, asked, _ = cells
    corpus = [path for path in (folder / "demo").rglob("*") if path.is_file()]
    assert ingested["outputs"][0]["data"]["text/plain"] == [str(len(corpus))]
    printed = "".join(asked["outputs"][0]["text"])
    assert "17 metres a second" in printed
    assert "('The ferry Fulmar', " in printed
