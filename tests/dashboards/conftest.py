import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
# spoken.py, scripted.py, front.py.
sys.path[:0] = [str(TESTS / name) for name in ("dashboards", "engines", "servers")]


@pytest.fixture
def kibana():
    """Starts servers that speak Kibana's API, or that of OpenSearch Dashboards."""
    from spoken import SpokenServer

    servers = []

    def start(product="kibana"):
        servers.append(SpokenServer(product))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
