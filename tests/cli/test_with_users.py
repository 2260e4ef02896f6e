"""The commands on a server that asks who is there: users, API keys with few rights, and TLS."""

import base64
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import pytest

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.server import ServerEngine
from esrag.errors import EngineError

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from front import Authority, Front, fingerprint
from made import FINGERPRINT, prepared

pytestmark = pytest.mark.live
PASSWORD = "korrektes Pferd: Ähre/7@"
ASK = ["read", "view_index_metadata"]
INGEST_AGAIN = [*ASK, "write", "maintenance"]
INGEST = ["read", "write", "manage"]


@pytest.fixture(scope="module")
def server(start_server, tmp_path_factory):
    """An Elasticsearch with users; `elastic`'s password is no plain word."""
    server = start_server("elasticsearch", tmp_path_factory.mktemp("users"), password=PASSWORD)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def front(server):
    """What stands before it, which asks for the right to ask what it is."""
    front = Front(server.url)
    yield front
    front.close()


@pytest.fixture(scope="module")
def index():
    """The index that most tests read."""
    return "u-shared"


@pytest.fixture
def there(esrag, corpus, front, index):
    """The command line on the server, as nobody yet; whatever it says, it tells no secret."""

    def run(*arguments, **variables):
        settings = {f"ESRAG_ENGINE__{name.upper()}": value for name, value in variables.items()}
        where = {"ESRAG_ENGINE__URL": front.url, "ESRAG_ENGINE__INDEX": index}
        ran = esrag(*arguments, **where | settings)
        for secret in (PASSWORD, variables.get("password"), variables.get("api_key")):
            assert not secret or secret not in ran.out + ran.err
        return ran

    return run


@pytest.fixture
def filled(there, front, index):
    """The same, and the shared index holds the corpus."""
    engine = opened(front, index, **USER)
    if not engine.exists():
        assert there("ingest", "docs", **USER).code == 0
    engine.close()
    return there


USER = {"username": "elastic", "password": PASSWORD}


def opened(front, index, **options):
    """The engine itself, for what would take many commands."""
    return ServerEngine(EngineOptions(front.url, index, **options))


@pytest.fixture
def key(server):
    """Makes API keys with these rights on the indexes of a name, and none on the cluster."""

    def make(privileges, names="u-*"):
        rights = {"indices": [{"names": [names], "privileges": privileges}] if privileges else []}
        status, made = server.request(
            "POST", "/_security/api_key", {"name": "k", "role_descriptors": {"r": rights}}
        )
        assert status == 200, made
        return made["encoded"]

    return make


def unique():
    """The name of an index that is not there yet."""
    return f"u-{uuid.uuid4().hex[:12]}"


def refusal(ran):
    """The line of an error, which comes with a hint and the exit code 1."""
    error, hint = ran.err.splitlines()[-2:]
    assert (ran.code, error[:7], hint[:6]) == (1, "error: ", "hint: ")
    return error


def test_a_user_is_let_in(filled, front):
    """With user and password as settings or in the address, every command works."""
    url = front.url.replace("//", "//elastic:korrektes%20Pferd:%20%C3%84hre%2F7%40@")
    found = filled("search", "kettle", "--json", **USER).json
    assert (found["path"], found["hits"][0]["doc_id"]) == ("rrf-client", "kettle")
    assert (
        "path: rrf-client"
        in filled("ask", "How much does the kettle hold?", "--explain", url=url).out
    )
    assert len(filled("docs", "--json", url=url).lines) == 3
    assert len(filled("chunks", "--json", url=url).lines) >= 3
    assert filled("doctor", **USER).code == 0


STRANGERS = {
    "nobody": {},
    "wrong password": {"username": "elastic", "password": "s3cret"},
    "no password": {"username": "elastic"},
    "no key": {"api_key": base64.b64encode(b"no-key-of-this-id:s3cret").decode()},
    "broken key": {"api_key": "s3cret-that-is-no-base64"},
}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_is_told_so(there, front, who):
    """A 401 is one line and what to set.

    The server is not taken to be away, so it is asked once and not for long.
    """
    front.heard.clear()
    assert "answered 401" in refusal(there("search", "kettle", **STRANGERS[who]))
    assert ["GET /"] == [what for what, _ in front.heard]


def test_doctor_tells_a_stranger_so(there):
    """As an error of the server's line, with what to set."""
    examined = there("doctor", **STRANGERS["wrong password"])
    assert (examined.code, "answered 401" in examined.out, "engine.api_key" in examined.out) == (
        1,
        True,
        True,
    )


def test_secrets_are_not_shown(there, esrag, front):
    """Neither by `config show`, nor in a stack trace, nor in the text of an object."""
    url = front.url.replace("//", "//elastic:s3cret-3@")
    secrets = {"username": "elastic", "password": "s3cret-1", "api_key": "s3cret-2", "url": url}
    shown = there("config", "show", "--origin", **secrets)
    assert (shown.code, shown.out.count("********"), "s3cret" in shown.out) == (0, 3, False)

    where = {f"ESRAG_ENGINE__{name.upper()}": value for name, value in secrets.items()}
    command, variables = esrag.command("--debug", "docs"), esrag.environment(**where)
    traced = subprocess.run(
        command, cwd=esrag.folder, env=variables, capture_output=True, text=True, check=False
    )
    assert ("answered 401" in traced.stderr, "s3cret" in traced.stdout + traced.stderr) == (
        True,
        False,
    )

    options = EngineOptions(url, password="s3cret-1", api_key="s3cret-2")
    engine = ServerEngine(options)
    assert "s3cret" not in repr(options) + repr(engine) + repr(engine._connection)


def test_a_revoked_key_is_a_stranger(filled, front, server, index, key):
    """A key works until it is revoked, also for a program that runs.

    It is not repeated in the answer.
    """
    made = key(ASK)
    engine = opened(front, index, api_key=made)
    assert engine.exists()
    assert server.request("DELETE", "/_security/api_key", {"name": "k", "owner": True})[0] == 200
    with pytest.raises(EngineError, match="answered 401"):
        engine.exists()
    engine.close()
    assert "answered 401" in refusal(filled("search", "kettle", api_key=made))


def test_a_key_to_ask_with(filled, front, key):
    """`read` and `view_index_metadata` on the index are enough.

    Neither version nor licence need be told.
    """
    made = key(ASK)
    front.heard.clear()
    found = filled("search", "kettle", "--json", api_key=made).json
    assert (found["path"], found["hits"][0]["doc_id"]) == ("rrf-client", "kettle")
    assert "1.7 litres" in filled("ask", "How much does the kettle hold?", api_key=made).out
    assert [] == [what for what, _ in front.heard if "_license" in what]
    assert filled("doctor", api_key=made).code == 0


def test_a_key_to_ask_with_does_not_ingest(filled, front, index, key):
    """What would change something is refused in a line that names the privilege.

    Nothing has changed.
    """
    engine = opened(front, index, **USER)
    before = engine.generation()
    error = refusal(filled("ingest", "docs", api_key=key(ASK)))
    assert "granted by the index privileges [" in error
    assert "write" in error
    assert before == engine.generation()
    engine.close()


def test_a_key_to_ingest_with(there, key):
    """`read`, `write` and `manage` make an index, write it and put a new one in its place, without
    the cluster.
    """
    index, made = unique(), key(INGEST)
    assert there("ingest", "docs", "--json", api_key=made, index=index).json["added"] == 3
    assert (
        there("ingest", "docs", "--rebuild", "--json", api_key=made, index=index).json["added"] == 3
    )


def test_a_key_for_the_commands_on_indexes(there, key):
    """With the rights to ask an index is looked at.

    With those to make one it is copied, exchanged and removed.
    """
    index, asking, making = unique(), key(ASK), key(INGEST)
    assert there("index", "create", api_key=making, index=index).code == 0
    assert there("ingest", "docs", api_key=making, index=index).code == 0
    assert there("index", "migrate", api_key=making, index=index).code == 0
    assert there("index", "refresh", api_key=key(INGEST_AGAIN), index=index).code == 0
    for command in ("list", "info", "check-recall"):
        assert there("index", command, api_key=asking, index=index).code == 0
    commands = ["index", "swap", f"{index}-000001"], ["index", "drop", "--yes", f"{index}-000002"]
    for command in (*commands, ["index", "migrate"]):
        assert "granted by the index privileges [" in refusal(
            there(*command, api_key=asking, index=index)
        )
    for command in commands:
        assert there(*command, api_key=making, index=index).code == 0


def stored(front, index, api_key, name="d"):
    """Writes a document, whose vectors are looked for first, and finds it."""
    engine = opened(front, index, api_key=api_key)
    document = prepared(name, ["zebra", "yak"])
    try:
        with engine.writer(FINGERPRINT) as writer:
            engine.vectors_of(document.indexed_texts)
            writer.replace([document])
        return name in [found.doc_id for found in engine.documents()]
    finally:
        engine.close()


def test_every_privilege_to_ingest_is_needed(front, key):
    """A first ingest takes three privileges; a key without one of them is told which."""
    for lacking in INGEST:
        few = key([privilege for privilege in INGEST if privilege != lacking])
        with pytest.raises(
            EngineError, match=rf"answered 403.*granted by the index privileges \[.*\b{lacking}\b"
        ):
            stored(front, unique(), few)
    assert stored(front, unique(), key(INGEST))


def test_every_privilege_to_ingest_again_is_needed(front, key):
    """An index that exists is written with four privileges.

    A key without one of them is told which.
    """
    index = unique()
    assert stored(front, index, key(INGEST))
    for lacking in INGEST_AGAIN:
        few = key([privilege for privilege in INGEST_AGAIN if privilege != lacking])
        with pytest.raises(
            EngineError, match=rf"answered 403.*granted by the index privileges \[.*\b{lacking}\b"
        ):
            stored(front, index, few, lacking)
    assert stored(front, index, key(INGEST_AGAIN), "e")


def test_an_index_may_not_be_made_by_whoever_may_write(front, key):
    """An alias is given by `manage` only, so that an index must be there before a key of fewer
    rights may write it.
    """
    with pytest.raises(EngineError, match="indices:admin/aliases"):
        stored(front, unique(), key([*INGEST_AGAIN, "create_index"]))


@pytest.mark.parametrize("elsewhere", [["all"], []])
def test_a_key_for_something_else(filled, key, elsewhere):
    """Without rights on the index there is no answer, and no word of a licence."""
    error = refusal(filled("search", "kettle", api_key=key(elsewhere, names="other")))
    assert "answered 403" in error
    assert "licen" not in error


def test_a_right_that_is_taken_away_is_no_licence_that_ended(filled, front, server, index):
    """A program that runs keeps its path after a 403 of a permission, and says whose it is."""
    role = {"indices": [{"names": ["u-*"], "privileges": ASK}]}
    user = {"password": "s3cret-word", "roles": ["reading"]}
    assert server.request("PUT", "/_security/role/reading", role)[0] == 200
    assert server.request("PUT", "/_security/user/reader", user)[0] == 200
    engine = opened(front, index, username="reader", password="s3cret-word")
    question = SearchRequest("kettle", method="keyword")
    assert engine.search(question).hits
    assert server.request("PUT", "/_security/role/reading", {"indices": []})[0] == 200
    with pytest.raises(EngineError, match=r"answered 403: .* is unauthorized for user"):
        engine.search(question)
    engine.close()


def test_the_licence_may_change_under_a_running_program(filled, front, server, index):
    """Basic, trial, basic: each question is answered, by the program that runs and by the command
    line.
    """
    engine = opened(front, index, **USER)
    vector = np.full(
        engine.fingerprint().dimensions, engine.fingerprint().dimensions ** -0.5, dtype=np.float32
    )
    answers = []
    for licence, change in (("basic", None), ("trial", "start_trial"), ("basic", "start_basic")):
        if change:
            assert server.request("POST", f"/_license/{change}?acknowledge=true")[0] == 200
        assert licence == server.request("GET", "/_license")[1]["license"]["type"]
        found = filled("search", "kettle", "--json", **USER).json
        answers.append(
            (engine.search(SearchRequest("kettle", vector)), found["path"], found["hits"])
        )
    engine.close()
    assert answers == [answers[0]] * 3
    assert ("rrf-client", "rrf-client") == (answers[0][0].path, answers[0][1])


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Signs the certificates of these tests."""
    return Authority(tmp_path_factory.mktemp("tls") / "authority")


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch"])
def test_over_tls(esrag, corpus, request, authority, engine):
    """With the authority or the fingerprint all is as without TLS.

    Else the server is refused, and nothing is sent.
    """
    certificate = authority.issue(engine, "IP:127.0.0.1")
    front = Front(request.getfixturevalue(engine), certificate)
    request.addfinalizer(front.close)

    def run(*arguments, **variables):
        settings = {"url": front.url, "index": f"tls-{engine}", **USER, **variables}
        return esrag(
            *arguments,
            **{f"ESRAG_ENGINE__{name.upper()}": value for name, value in settings.items()},
        )

    refused = run("ingest", "docs")
    assert ("certificate verify failed" in refusal(refused), "engine.ca_file" in refused.err) == (
        True,
        True,
    )
    missing = run("ingest", "docs", ca_file="not-there.pem")
    assert (missing.code, "not-there.pem: No such file" in missing.err) == (2, True)
    assert [] == front.heard

    assert run("ingest", "docs", "--json", ca_file=str(authority.certificate)).json["added"] == 3
    answered = run(
        "ask", "How much does the kettle hold?", certificate_fingerprint=fingerprint(certificate)
    )
    assert "1.7 litres" in answered.out
