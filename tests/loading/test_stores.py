"""Documents in an object store: listed, read, asked about and never mistaken for gone, over a real
S3 server.
"""

import hashlib
import re
import socket
from dataclasses import replace

import fsspec
import pytest

from esrag.errors import LoadingError, ParsingError
from esrag.ingesting.planning import group_by_source, plan
from esrag.loading.files import Problem, Selection, list_files
from esrag.loading.isolated import Parser
from esrag.loading.object_stores import place_of
from esrag.loading.reading import read, sha256_of, stamp
from esrag.records import StoredDocument
from esrag.settings import LoadingSettings

moto = pytest.importorskip("moto.server", reason="moto is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed")

# Libraries of the server and the client that this file runs beside each other; none of it is ours
# to mend.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def server():
    """A server of S3 on a port of its own."""
    made = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def variables(server):
    """What the environment says of that server."""
    host, port = server.get_host_and_port()
    return settings_of(f"http://{host}:{port}")


NOBODY = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}


def settings_of(url):
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_MAX_ATTEMPTS": "1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@pytest.fixture
def store(server, variables, monkeypatch, request):
    """A bucket of the test's own, and the client that others put objects into it with."""
    import boto3

    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()  # which knows the address of before
    name = "test-" + hashlib.sha256(request.node.name.encode()).hexdigest()[:12]
    client = boto3.client("s3")
    client.create_bucket(Bucket=name)
    yield Bucket(client, name)
    client.close()


class Bucket:
    """Objects of one bucket by key."""

    def __init__(self, client, name):
        self.client, self.url, self.name = client, f"s3://{name}", name

    def put(self, key, data):
        self.client.put_object(Bucket=self.name, Key=key, Body=data)

    def delete(self, key):
        self.client.delete_object(Bucket=self.name, Key=key)

    def fill(self, *keys):
        for key in keys:
            self.put(key, f"The key of this object is {key}".encode())


def relatives(listing):
    return [file.relative for file in listing.files]


def stored_of(*sources):
    """What an index holds of sources that are as they were read."""
    return group_by_source(
        StoredDocument(
            doc_id=it,
            source=it,
            source_sha256=sha256_of(it),
            revision="",
            kind="plain",
            title="",
            characters=1,
            page_count=0,
            chunk_count=1,
        )
        for it in sources
    )


def test_a_folder_of_a_store_is_ingested_as_one_on_a_disk_is(esrag, store, variables):
    """Added, unchanged, changed, renamed and removed are told by content.

    What is found is cited by its address.
    """
    store.put("docs/lamp.md", "The lamp is red.")
    store.put("docs/den/kettle.txt", "The kettle holds 1.7 litres.")
    store.put("docs/gone.txt", "The door squeaks.")

    def counts():
        report = esrag("ingest", f"{store.url}/docs", "--json", **variables).json
        return [
            report[name]
            for name in ("added", "changed", "renamed", "removed", "unchanged", "failed")
        ]

    store.put("docs/same.txt", "The stairs are steep.")
    assert counts() == [4, 0, 0, 0, 0, 0]
    store.put("docs/lamp.md", "The lamp is blue.")
    store.delete("docs/gone.txt")
    store.delete("docs/den/kettle.txt")
    store.put("docs/attic/pot.txt", "The kettle holds 1.7 litres.")
    assert counts() == [0, 1, 1, 1, 1, 0]
    rebuilt = esrag("ingest", "--rebuild", **variables | NOBODY)
    assert rebuilt.code == 1
    assert (
        f"error: {store.url}/docs/attic/pot.txt: cannot be read: Could not connect" in rebuilt.err
    )
    stored = {
        it["doc_id"]: it["source"].removeprefix(store.url) for it in esrag("docs", "--json").lines
    }
    assert stored == {
        "lamp": "/docs/lamp.md",
        "pot": "/docs/attic/pot.txt",
        "same": "/docs/same.txt",
    }
    answer = esrag("ask", "How much does the kettle hold?", "--where", "folder=attic", "--json")
    assert "1.7 litres" in answer.out


def test_a_store_that_does_not_answer_takes_nothing_away(store, monkeypatch):
    """Unreachable is an error, whatever is asked: nothing counts as gone, and a rebuild stops
    before it begins.
    """
    store.fill("a.md", "b.md")
    stored = stored_of(f"{store.url}/a.md", f"{store.url}/b.md")
    listing = list_files([store.url])
    monkeypatch.setenv("AWS_ENDPOINT_URL", NOBODY["AWS_ENDPOINT_URL"])
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    planned = plan(list_files([store.url, f"{store.url}/*.md"]), stored)
    assert (planned.removed, planned.gone, planned.tasks) == (0, (), ())
    assert all("Could not connect" in skip.reason and skip.failed for skip in planned.skips)
    assert [skip.source for skip in planned.skips] == [store.url, f"{store.url}/*.md"]
    for when in ({"rebuild": True}, {}):
        died_since = replace(listing, files=listing.files[:1])
        with pytest.raises(LoadingError, match=r"b\.md: cannot be read: Could not connect"):
            plan(died_since, stored, **when)


def test_what_is_excluded_or_was_asked_for_by_a_glob_is_not_gone(store):
    """Only what a store says is no longer there is removed, and only below a folder
    that was named.
    """
    store.fill("a.md", "b.md", "c.md", "docs/d.md", "docs-2/e.md")
    stored = stored_of(*(file.source for file in list_files([store.url]).files))
    for key in ("c.md", "docs/d.md", "docs-2/e.md"):
        store.delete(key)
    store.fill("docs/f.md", "c.md/is-a-folder-now")

    def gone(arguments, *globs, **options):
        listing = list_files(arguments, Selection(*globs))
        return [source.removeprefix(store.url) for source in plan(listing, stored, **options).gone]

    assert gone([f"{store.url}/*.md"]) == gone([store.url], keep_missing=True) == []
    assert gone([f"{store.url}/docs"]) == ["/docs/d.md"]
    assert gone([store.url], ["a.*"], ["b.*"]) == ["/c.md", "/docs-2/e.md", "/docs/d.md"]


def test_a_bucket_or_folder_that_is_not_there_is_an_error_and_nothing_is_removed(store):
    """A store has no empty folders: one that was emptied looks like one that was never there."""
    store.fill("docs/a.md")
    stored = stored_of(f"{store.url}/docs/a.md")
    store.delete("docs/a.md")
    urls = (f"{store.url}/docs", "s3://no-such-bucket/docs", "s3://no-such-bucket")
    listing = list_files(urls)
    assert listing.problems == tuple(Problem(url, "no such object or folder") for url in urls)
    assert plan(listing, stored).removed == 0
    assert plan(list_files([store.url]), stored).removed == 1


def test_no_credentials_is_one_line(esrag, store, variables):
    """The store's own library looks for them, and says when it finds none."""
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(esrag.folder)}
    ran = esrag("ingest", store.url, **variables | none)
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "Unable to locate credentials; credentials come from" in ran.err


def test_a_package_that_is_missing_is_one_line_with_what_to_install(esrag, variables):
    """Stores are an extra."""
    (esrag.folder / "s3fs.py").write_text("raise ImportError")
    ran = esrag("ingest", "s3://bucket", "gs://bucket", **variables, PYTHONPATH=str(esrag.folder))
    assert ran.code == 1
    assert re.search(
        r"s3://bucket: s3:// needs a package that is not installed; pip install .*s3.*\n", ran.err
    )
    assert "gs:// needs a package that is not installed; Please install gcsfs" in ran.err


KEYS = (
    *(
        "a.md",
        "sub/a.md",
        "sub/deep/b.txt",
        "ü é.md",
        "100%.md",
        "d%20e.md",
        "c#1.md",
        "c?v=1.md",
        "+ +.md",
        "x::y.md",
    ),
    *(
        "[a].md",
        "star*.md",
        "tail /x.md",
        "same",
        "sub.d/x",
        "quote'\".md",
        "back\\slash.md",
        "rtl\u202egpj.md",
    ),
    *(
        ".hidden",
        ".git/x.md",
        "up/../y.md",
        "node_modules/z.md",
        "sub/~$c.docx",
        "ledger.sqlite3",
        "cache.sqlite3-wal",
    ),
)


def test_a_store_is_listed_as_a_disk_is(store, tmp_path):
    """The same names give the same files in the same order, under the same filters and globs, and
    the same bytes.
    """
    store.fill(*KEYS)
    for key in (key for key in KEYS if ".." not in key):
        path = tmp_path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"The key of this object is {key}")
    filters = ([], [["*.md"]], [["sub/*"], ["deep"]], [[], ["sub", "*#*"]])
    requests = [("", *given) for given in filters] + [
        ("/*.md",),
        ("/**/*.md",),
        ("/s*",),
        ("/sub/*", ["*.md"]),
        ("/[a].md",),
    ]
    for end, *given in requests:
        listing = list_files([store.url + end], Selection(*given))
        assert (
            relatives(listing)
            == sorted(relatives(list_files([str(tmp_path) + end], Selection(*given))))
            != []
        )
        assert listing.problems == ()
        assert listing.folders == (() if end else (store.url,))
    for file in list_files([f"{store.url}/"]).files:
        assert file.source == f"{store.url}/{file.relative}"
        assert read(file.source, 1000) == (tmp_path / file.relative).read_bytes()
        assert sha256_of(file.source) == sha256_of(str(tmp_path / file.relative))


def test_an_object_that_is_named_is_taken_once_whatever_it_is_called(store):
    """Hidden or not, by two spellings of its address; what only looks like a glob is a
    name first.
    """
    store.fill(*KEYS)
    named = [f"{store.url}/{key}" for key in KEYS]
    listing = list_files([*named, *named, f"S3{store.url[2:]}/a.md"], Selection(exclude=["*"]))
    assert [file.source for file in listing.files] == named
    assert listing.problems == ()


def test_an_object_beside_a_folder_of_its_name_is_another(store):
    """Stores have no folders: `same` and `same/x` are both there, and a marker of a folder is no
    document.
    """
    store.fill("same", "same/x", "marked/y")
    store.put("marked/", b"")
    assert relatives(list_files([store.url])) == ["marked/y", "same", "same/x"]
    assert relatives(list_files([f"{store.url}/marked/"])) == ["y"]
    assert read(f"{store.url}/same", 1000) == b"The key of this object is same"


def test_names_that_cannot_be_listed_are_said(store):
    """A key with two slashes is in a folder without a name."""
    store.fill("a.md", "sub//b.md")
    listing = list_files([store.url])
    assert relatives(listing) == ["a.md"]
    assert listing.problems == (
        Problem(f"{store.url}/sub/", "has names that begin with /, which are not listed"),
    )


def test_empty_and_too_large_objects_are_left_out_unread(store, caplog):
    """The size is known before a byte is asked for."""
    caplog.set_level("INFO", "werkzeug")
    store.put("empty.md", b"")
    store.put("large.md", b"x" * 5000)
    store.put("fits.md", b"The door squeaks.")
    planned = plan(list_files([store.url]), {}, max_bytes=100)
    assert [task.doc_id for task in planned.tasks] == ["fits"]
    empty, large = planned.skips
    assert (empty.reason, empty.failed) == ("is empty", False)
    assert large.reason.startswith("has 5000 bytes, loading.max_bytes allows 100")
    assert "GET /" + store.name + "/fits.md" in caplog.text
    assert "GET /" + store.name + "/large.md" not in caplog.text


def test_an_object_that_is_written_while_it_is_read_is_not_taken(store):
    """Pieces of two versions never make one document."""
    store.put("a.md", b"a" * 100_000)
    pieces = place_of(f"{store.url}/a.md").pieces(10**9, piece_bytes=10_000)
    next(pieces)
    store.put("a.md", b"b" * 100_000)
    with pytest.raises(ParsingError, match=r"cannot be read: The remote file .* no longer exists"):
        list(pieces)


def test_a_stamp_changes_with_the_object(store):
    """So that what is still there as it was need not be read again."""
    url = f"{store.url}/a.md"
    store.put("a.md", b"one")
    before = stamp(url)
    assert stamp(url) == before
    store.put("a.md", b"two")
    assert stamp(url) != before
    store.delete("a.md")
    with pytest.raises(LoadingError, match="no such object"):
        stamp(url)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "simplecache::s3://bucket/a",
            "zip://a.md::s3://bucket/a.zip",
            "zip::file:///etc/a.zip",
            "dir::file:///etc",
        ),
        *(
            "local:///etc/hostname",
            "FILE:///etc/hostname",
            "memory://a",
            "data://text/plain,a",
            "reference://a",
        ),
        *("git:///srv/docs", "http://127.0.0.1/a.md", "https://127.0.0.1/", "S3A::s3://bucket/a"),
    ],
)
def test_what_is_no_store_is_refused_by_name(address):
    """No chain, nothing of this machine by another name, no page whose links would be followed."""
    listing = list_files([address])
    (problem,) = listing.problems
    assert listing.files == ()
    assert "is not read: not a store by itself" in problem.reason
    for use in (sha256_of, stamp, lambda source: read(source, 100)):
        with pytest.raises(ParsingError, match="not a store by itself"):
            use(address)


def test_a_password_is_neither_stored_nor_shown():
    """An address with one is refused, and the report leaves it out."""
    for address in (
        "s3://key:sec/ret@bucket/a.md",
        "sftp://me:sec/ret@host:22/a.md",
        "ftp://me:@host/a",
    ):
        (problem,) = list_files([address]).problems
        assert problem.reason.startswith("holds a password")
        assert "sec" not in problem.source + problem.reason
    assert "protocol" in list_files(["none://host:22/a@b"]).problems[0].reason


@pytest.mark.parametrize(
    "address",
    [
        "s3://",
        "s3:///",
        "none://a",
        "s3://*/a",
        "s3://b\udcff/a",
        "s3://Bad Name!/a",
        "s3://bucket/a**b",
    ],
)
def test_addresses_that_name_nothing_are_problems(store, address):
    """One line each, and the others go on."""
    store.fill("a.md")
    listing = list_files([address, f"{store.url}/a.md"])
    assert [problem.source for problem in listing.problems] == [address]
    assert relatives(listing) == ["a.md"]


def test_a_server_that_never_answers_ends_with_the_time_limit(monkeypatch):
    """The parse worker opens a store itself, under its own limits."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for name, value in settings_of(f"http://127.0.0.1:{silent.getsockname()[1]}").items():
            monkeypatch.setenv(name, value)
        with Parser(
            LoadingSettings(
                timeout_s=3, memory_bytes=4 * 2**30, max_bytes=1000, max_characters=1000
            )
        ) as parser:
            (outcome,) = parser.parse([("s3://bucket/a.md", "a")])
    assert str(outcome) == "took longer than 3 s to be parsed"
