"""Workers that fetch their files from an object store or by `file://` themselves: a job holds
addresses and no text.
"""

import os
import signal

import pytest

moto = pytest.importorskip("moto.server", reason="moto is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed")

# Libraries of the server and its client that this file runs beside each other; none of it is ours
# to mend.
pytestmark = [
    pytest.mark.faults,
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

NOBODY = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
TEXTS = {
    f"docs/room{number % 2}/note{number}.txt": f"Note number {number} is about oiled beech."
    for number in range(5)
}


@pytest.fixture(scope="module")
def server():
    """What the environment says of a real server of S3."""
    made = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    host, port = made.get_host_and_port()
    yield {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    made.stop()


@pytest.fixture
def bucket(server):
    """The address of an empty bucket, and what puts an object into it."""
    import boto3

    keys = {
        "aws_access_key_id": "key",
        "aws_secret_access_key": "secret",
        "region_name": "us-east-1",
    }
    client = boto3.client("s3", endpoint_url=server["AWS_ENDPOINT_URL"], **keys)
    name = f"bucket-{os.urandom(6).hex()}"
    client.create_bucket(Bucket=name)
    yield (
        f"s3://{name}",
        lambda key, text: client.put_object(Bucket=name, Key=key, Body=text.encode()),
    )
    client.close()


@pytest.fixture
def folder(tmp_path):
    """The same of a folder on a disk that all share."""

    def put(key, text):
        path = tmp_path / "shared" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return f"file://{tmp_path}/shared", put


@pytest.fixture(params=["bucket", "folder"])
def place(request):
    """Each of them."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def settings(esrag, variables, server):
    """Of ingests and workers that reach the store."""
    return variables | server | {"ESRAG_ENGINE__URL": str(esrag.folder / ".esrag")}


def test_a_worker_fetches_what_was_named(esrag, start_worker, ingests, settings, place):
    """From another folder, as it is when it is fetched.

    One that is killed meanwhile too: the index of one process.
    """
    address, put = place
    for key, text in (TEXTS | {"docs/slow.txt": "WAIT FOR go"}).items():
        put(key, text)
    handed = esrag("ingest", f"{address}/docs", "--no-wait", "--json", **settings).json
    put("docs/room1/note3.txt", "This was written after the job.")
    elsewhere = ["env", "-C", "/", *esrag.command("worker")]
    worker = start_worker(command=elsewhere, **settings)
    ingests.running(ingests.work.ledger.job(handed["job_id"]))
    os.killpg(worker.pid, signal.SIGKILL)
    ingests.let("go")
    start_worker(command=elsewhere, **settings)
    shown = esrag("jobs", "show", "--follow", "--json", **settings)
    assert (shown.code, shown.json["state"], shown.json["added"]) == (0, "done", 6)
    alone = settings | {"ESRAG_QUEUE__URL": "", "ESRAG_ENGINE__URL": "alone"}
    assert esrag("ingest", f"{address}/docs", **alone).code == 0
    for command in ("docs", "chunks"):
        assert esrag(command, "--json", **settings).out == esrag(command, "--json", **alone).out
    assert "This was written after the job." in esrag("chunks", "--json", **settings).out


def test_a_worker_that_may_not_read_a_store_says_so(esrag, start_worker, settings, bucket):
    """Each object is a failure with its reason.

    With a worker that has credentials the next ingest stores them all.
    """
    address, put = bucket
    for key, text in TEXTS.items():
        put(key, text)
    worker = start_worker(**settings | NOBODY | {"HOME": str(esrag.folder)})
    ran = esrag("ingest", address, "--json", **settings)
    assert (ran.code, ran.json["added"], ran.json["failed"]) == (1, 0, 5)
    (why,) = esrag("jobs", "show", "--json", **settings).json["errors"]
    assert "Unable to locate credentials" in why["reason"]
    assert why["count"] == 5
    worker.end()
    start_worker(**settings)
    ran = esrag("ingest", address, "--json", **settings)
    assert (ran.code, ran.json["added"], ran.json["failed"]) == (0, 5, 0)
    assert {it["source"] for it in esrag("docs", "--json").lines} == {
        f"{address}/{key}" for key in TEXTS
    }
