"""A settings file that lies in a folder decides where texts and keys go only after the user has
allowed it.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

KEY = "k3y-of-the-user"


@pytest.fixture
def stranger():
    """A server that keeps what it is sent, and its address."""
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.headers["Authorization"], body.decode()))
            self.send_response(401)
            self.end_headers()

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.received, server.url = received, f"http://127.0.0.1:{server.server_port}/v1"
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def asked(esrag, corpus):
    """Asks a question that the index answers, with a key of the user's in the environment."""
    esrag("ingest", "docs")
    return lambda **variables: esrag(
        "ask",
        "How many litres does the kettle hold?",
        ESRAG_MODELS__DEFAULT__API_KEY=KEY,
        **variables,
    )


def redirect(folder, url, name="esrag.yaml"):
    model = f"models: {{default: {{model: x, url: {url}}}}}"
    (folder / name).write_text(f"generator: {{name: model}}\n{model}\n")


def test_a_file_sends_neither_key_nor_passages_until_it_is_allowed(esrag, asked, stranger):
    """Nothing arrives before, not even without a key.

    The error is one line and the command that allows it.
    """
    redirect(esrag.folder, stranger.url)
    refused = [asked(), esrag("ask", "How many litres does the kettle hold?")]

    assert [ran.code for ran in refused] == [2, 2]
    assert refused[0].err.splitlines() == [
        "error: esrag.yaml sets models.default.model, models.default.url, and was not allowed to",
        (
            "hint: read it, and if your texts and keys may go there, run: esrag config allow "
            "esrag.yaml"
        ),
    ]
    assert stranger.received == []

    allowed = esrag("config", "allow", "esrag.yaml")
    assert (allowed.code, allowed.out) == (
        0,
        f"models.default.model: x\nmodels.default.url: {stranger.url}\n",
    )
    asked()
    assert stranger.received[0][0] == f"Bearer {KEY}"
    assert "litres" in stranger.received[0][1]


def test_a_change_ends_what_was_allowed(esrag, asked, stranger):
    """Another content, another path with the same content, and `deny`."""
    redirect(esrag.folder, "https://service.example")
    assert esrag("config", "allow").code == 0
    redirect(esrag.folder, stranger.url)
    ran = asked()
    assert (ran.code, "has changed since it was allowed" in ran.err) == (2, True)

    assert esrag("config", "allow").code == 0
    assert esrag("config", "deny").code == 0
    assert asked().code == 2

    redirect(esrag.folder, stranger.url, "other.yaml")
    assert esrag("config", "allow", "other.yaml").code == 0
    assert asked().code == 2
    assert stranger.received == []


def test_what_is_allowed_is_kept_for_the_user_alone(esrag):
    """Folder and file of the record; a record that cannot be kept is an error."""
    redirect(esrag.folder, "https://service.example")
    assert esrag("config", "allow").code == 0
    folder = esrag.folder.parent / "state" / "esrag" / "allowed"
    (record,) = folder.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (folder, record)] == [0o700, 0o600]

    in_the_way = esrag.folder / "file"
    in_the_way.write_text("")
    ran = esrag("config", "allow", XDG_STATE_HOME=str(in_the_way))
    assert (ran.code, ran.err.startswith("error: not a directory")) == (1, True)


def test_a_file_that_is_not_allowed_can_be_looked_at(esrag):
    """`config show` prints it, and says that it needs to be allowed."""
    redirect(esrag.folder, "https://me:hunter2@service.example")
    ran = esrag("config", "show", "--origin")
    assert ran.code == 0
    assert "  # url: https://********@service.example  # esrag.yaml" in ran.out
    assert (
        "esrag.yaml sets models.default.model, models.default.url, and was not allowed to"
        in ran.err
    )
    assert "hunter2" not in ran.out + ran.err + esrag("config", "allow").out


def test_calibrate_writes_into_an_allowed_file_and_leaves_it_allowed(esrag, corpus):
    """What esrag itself writes needs no second look.

    Of a file that was not allowed it makes none that is.
    """
    esrag("ingest", "docs")
    rows = [
        {"question": "How many litres does the kettle hold?", "answers": ["1.7 litres"]},
        {"question": "What bulb does the lamp take?", "answers": ["E27"]},
        {"question": "Who won the 2018 World Cup?", "answerable": False},
        {"question": "When was the treaty of Westphalia signed?", "answerable": False},
    ]
    (esrag.folder / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 6))
    text = "models: {default: {url: https://service.example}}\n"
    (esrag.folder / "esrag.yaml").write_text(text)
    esrag("config", "allow")

    assert esrag("calibrate", "q.jsonl", "--write").code == 0
    assert (esrag.folder / "esrag.yaml").read_text() != text
    assert esrag("docs").code == 0
    (esrag.folder / "esrag.yaml").write_text(text + "# mine\n")
    assert (
        esrag(
            "calibrate", "q.jsonl", "--write", ESRAG_MODELS__DEFAULT__URL="https://mine.example"
        ).code
        == 0
    )
    assert esrag("docs").code == 2
