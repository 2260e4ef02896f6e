"""An embedding service is paid by the text: what it has answered is never asked for again, whatever
died meanwhile.
"""

import os
import signal
import subprocess
from collections import Counter

import pytest
from made_up_models import Answering, Service
from waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.timeout(180)]

FILES, SENTENCES = 6, 60  # 3 files a batch: a batch is more than one request of at most 96 texts


@pytest.fixture
def service():
    """A service that counts what it is asked."""
    running = Service()
    yield running
    running.stop()


@pytest.fixture
def settings(variables, service, tmp_path):
    """Of an ingest that embeds with that service and keeps what it gave."""
    embedding = {
        "PROVIDER": "openai",
        "MODEL": "made-up",
        "URL": f"{service.url}/v1",
        "API_KEY": service.key,
    }
    return (
        variables
        | {f"ESRAG_EMBEDDING__{name}": value for name, value in embedding.items()}
        | {
            "ESRAG_CACHE__URL": str(tmp_path / "cache.db"),
            "ESRAG_CHUNKING__SIZE": "16",
            "ESRAG_CHUNKING__OVERLAP": "0",
        }
        | {"ESRAG_QUEUE__BATCH_FILES": "3"}
    )


@pytest.fixture(autouse=True)
def docs(esrag):
    """Files of many chunks, no two alike."""
    folder = esrag.folder / "docs"
    folder.mkdir()
    for number in range(FILES):
        said = (
            f"Sentence {line} of file {number} speaks of the wooden table number "
            f"{line * 7 + number}."
            for line in range(SENTENCES)
        )
        (folder / f"file{number}.txt").write_text("\n\n".join(said))
    return folder


def paid(service):
    """The texts that it was asked for, request by request.

    Without the small one that asks for its width.
    """
    asked = [body["input"] for path, _, body in list(service.asked) if path.endswith("/embeddings")]
    return [texts for texts in asked if texts != ["esrag"]]


def hang_at(service, number):
    """The request after so many more hangs, half answered, until whoever waits for it is killed."""
    service.script[:] = [Answering()(200)] * number + [Answering().hang()]


@pytest.mark.parametrize("queued", [True, False], ids=["worker", "command"])
def test_a_job_that_goes_on_pays_for_nothing_twice(esrag, start_worker, service, settings, queued):
    """Killed in the second request of a batch and resumed: each text was asked for once, but those
    of that request.
    """
    settings = settings if queued else settings | {"ESRAG_QUEUE__URL": ""}
    if queued:
        esrag("ingest", "docs", "--no-wait", **settings)
    hang_at(service, 2)  # its width and a first request are answered
    if queued:
        killed = start_worker(**settings).process
    else:
        killed = subprocess.Popen(
            esrag.command("ingest", "docs"),
            cwd=esrag.folder,
            env=esrag.environment(**settings),
            start_new_session=True,
            stderr=subprocess.DEVNULL,
        )
    wait_until(lambda: len(paid(service)) == 2 and not service.script, within_s=60)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait(10)
    kept, in_flight = paid(service)
    assert set(kept) & set(in_flight) == set()
    if queued:
        start_worker(**settings)
        ran = esrag("jobs", "show", "--follow", "--json", **settings)
    else:
        ran = esrag("ingest", "docs", "--json", **settings)
    assert (ran.code, ran.json["failed"]) == (0, 0)
    times = Counter(text for texts in paid(service) for text in texts)
    assert len(times) == len(esrag("chunks", "--json").lines) >= FILES * SENTENCES / 2
    assert {text for text, count in times.items() if count > 1} <= set(in_flight)
    assert max(times.values()) <= 2
