import sys
import uuid
from pathlib import Path

import pytest

from esrag.engines import EngineOptions
from esrag.engines.embedded import EmbeddedEngine
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import RETRIES

# For made.py, which the killed and the waiting processes import too.
sys.path.insert(0, str(Path(__file__).parent))
from scripted import ScriptedServer


def _made(name, request, folder, store, options, index=None, retries=RETRIES):
    if name == "embedded":
        return EmbeddedEngine(EngineOptions(str(folder / store), index or "esrag", **options))
    options = EngineOptions(request.getfixturevalue(name), index or store, **options)
    return ServerEngine(options, retries)


@pytest.fixture
def make(tmp_path, request):
    """Makes engines over one store, or another one when it is named, of the kind under test, and
    closes them.
    """
    made, unique = [], f"t-{uuid.uuid4().hex[:12]}"

    def made_by(name="embedded", store="store", index=None, retries=RETRIES, **options):
        made.append(_made(name, request, tmp_path, f"{unique}-{store}", options, index, retries))
        return made[-1]

    yield made_by
    for engine in made:
        engine.close()


@pytest.fixture
def start_scripted():
    """Starts servers that answer as they are told, and closes them."""
    servers = []

    def start(product="elasticsearch", number=None):
        servers.append(ScriptedServer(product, number))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def make_engine(tmp_path_factory, request):
    """Makes one engine of each kind for a whole module."""
    folder, unique = tmp_path_factory.mktemp("engines"), f"m-{uuid.uuid4().hex[:12]}"
    return lambda name: _made(name, request, folder, unique, {})
