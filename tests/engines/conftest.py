import sys
from pathlib import Path

import pytest

from esrag import plugins
from esrag.engines import EngineOptions

sys.path.insert(0, str(Path(__file__).parent))  # for made.py, which the killed and the waiting processes import too


@pytest.fixture
def make(tmp_path):
    """Makes engines over one folder, of the class under test, and closes them."""
    made = []

    def made_by(name="embedded", url=None, **options):
        engine = plugins.load("engines", name)(EngineOptions(str(url or tmp_path / "store"), **options))
        made.append(engine)
        return engine

    yield made_by
    for engine in made:
        engine.close()
