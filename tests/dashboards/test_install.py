"""Installing into Kibana and OpenSearch Dashboards: what is sent, what becomes of every answer, who
learns a secret.
"""

import socket

import pytest
from front import Authority, Front, fingerprint
from scripted import JSON, Answer

from esrag.dashboards import client, install
from esrag.engines import EngineOptions
from esrag.errors import EngineError, EngineUnreachable, SettingsError

PRODUCTS = ["kibana", "opensearch-dashboards"]
ENGINE = EngineOptions("http://search.example:9200", "library", username="me", password="s3cret")
HTML = {"content-type": "text/html"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """What hangs is given up soon."""
    monkeypatch.setattr(client, "_TIMEOUT_S", 0.3)


def failed(url, kind=EngineError, engine=ENGINE):
    """The error an install ends with: of this very kind, one line that can be read, and no secret
    in it.
    """
    with pytest.raises(EngineError if kind is EngineError else kind) as caught:
        install(url, engine)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1500
    assert (
        "s3cret"
        not in f"{caught.value} {caught.value.hint} {caught.value!r} {caught.value.__cause__!r}"
    )
    return caught.value


@pytest.mark.parametrize("product", PRODUCTS)
def test_everything_is_installed(kibana, product):
    """The product is asked what it is, gets one file under its own header, and takes
    every object.
    """
    server = kibana(product)
    installed = install(server.url, ENGINE)
    assert ["status", "_import"] == [request.what for request in server.requests]
    (request,) = server.asked("_import")
    assert {f"{server.prefix}-xsrf"} == {name for name in request.headers if name.endswith("-xsrf")}
    assert (product, {"kibana": "9.5.3", "opensearch-dashboards": "3.8.0"}[product]) == (
        installed.product,
        installed.version,
    )
    assert set(server.stored) == {(item.type, item.id) for item in installed.objects}
    assert f"{server.url}/app/dashboards#/view/esrag-overview-library" == installed.url
    assert ("dashboard", "esrag-overview-library") in server.stored


def test_an_install_is_repeated_and_one_for_another_index_stands_beside_it(kibana):
    """The same ids again; none of another index."""
    server = kibana()
    install(server.url, ENGINE)
    before = dict(server.stored)
    install(server.url, ENGINE)
    assert before == server.stored
    install(server.url, EngineOptions(ENGINE.url, "library-view"))
    assert before.items() <= server.stored.items()
    assert 2 * len(before) == len(server.stored)


@pytest.mark.parametrize("path", ["/base", "/base/", "/base/s/team"])
def test_a_base_path_is_kept(kibana, path):
    """Kibana behind a path, or one of its spaces."""
    server = kibana()
    assert install(server.url + path, ENGINE).url.startswith(
        server.url + path.rstrip("/") + "/app/"
    )
    assert {path.rstrip("/") + "/api/status"} == {
        request.path for request in server.asked("status")
    }


def test_an_answer_with_200_may_hold_failures(kibana):
    """Each of the first three is named with its reason, the others are counted."""
    server = kibana()
    wrong = [
        {"type": "search", "id": "one", "error": {"type": "conflict"}},
        {
            "type": "search",
            "id": "two",
            "error": {"type": "unknown", "message": "is\nbroken", "statusCode": 400},
        },
        {
            "type": "dashboard",
            "id": "three",
            "error": {"type": "missing_references", "references": []},
        },
        {"type": "dashboard", "id": "four", "error": {"type": "conflict"}},
    ]
    server.answer("_import", server.report(8, wrong))
    said = str(failed(server.url))
    assert (
        "took 8 of 25 objects: search one: conflict; search two: unknown: is broken; "
        "dashboard three: " in said
    )
    assert said.endswith("; and 1 more")


@pytest.mark.parametrize(
    "body",
    [
        {"success": True, "successCount": 3},
        {"success": False, "successCount": 0},
        {"success": "yes", "successCount": 25},
        {"success": False, "errors": ["what", {"error": "why"}]},
        {},
    ],
)
def test_a_success_that_is_none(kibana, body):
    """Nothing counts but the server's word that it took all of them."""
    server = kibana()
    server.answer("_import", Answer(body, 200, server.said))
    assert "of 25 objects" in str(failed(server.url))


@pytest.mark.parametrize(
    ("status", "words"), [(401, "engine.api_key"), (403, "may not"), (404, "base path")]
)
@pytest.mark.parametrize("what", ["status", "_import"])
def test_a_refusal_says_what_to_do(kibana, what, status, words):
    """By the first request or by the second."""
    server = kibana()
    server.answer(what, server.refusal(status, f"not\nlike this{' and on' * 999}"))
    error = failed(server.url)
    assert f"answered {status}: not like this and on" in str(error)
    assert words in error.hint


def test_any_other_refusal_is_quoted(kibana):
    """With the reason that was given, or that there was none."""
    server = kibana()
    server.answer("_import", Answer(b"", 500, server.said))
    assert "answered 500: no reason given" in str(failed(server.url))
    server.answer("_import", Answer({"error": "Internal"}, 500, server.said))
    assert "answered 500: Internal" in str(failed(server.url))


def test_a_redirect_is_not_followed(kibana):
    """Credentials are for the address that was given."""
    server = kibana()
    server.answer("status", Answer(b"", 302, {**server.said, "location": "/elsewhere"}))
    assert "answered 302" in str(failed(server.url))
    assert {"status"} == {request.what for request in server.requests}


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html><body>Welcome</body></html>", 200, HTML),
        Answer(b"<html><body>No such page</body></html>", 404, HTML),
        Answer({"cluster_name": "c", "version": {"number": "9.5.3"}}, 200, JSON),
        Answer({"error": "no handler found", "status": 400}, 400, JSON),
        Answer(b"", 200, {}),
    ],
    ids=["page", "no page", "json", "search engine", "empty"],
)
def test_something_else_at_the_address(kibana, answer):
    """Nothing is sent to a server that does not say it is Kibana or Dashboards."""
    server = kibana()
    server.answer("status", answer)
    assert "kibana.url" in failed(server.url).hint
    assert [] == server.asked("_import")


@pytest.mark.parametrize(
    "body", [b"<html>Sign in</html>", b"[1]", b"{", b"[" * 100_000, b"\xff\xfe"]
)
def test_an_import_answered_by_something_else(kibana, body):
    """What is no JSON object is no answer."""
    server = kibana()
    server.answer("_import", Answer(body, 200, server.said))
    assert "does not answer as" in str(failed(server.url))


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"version": "9"}', b'{"status": {"overall": {"level": "available"}}}']
)
def test_a_version_that_is_not_told(kibana, body):
    """Kibana tells a stranger its level alone; the objects are installed all the same."""
    server = kibana()
    server.answer("status", Answer(body, 200, server.said))
    assert "" == install(server.url, ENGINE).version


def test_a_server_that_starts(kibana):
    """It answers, but not yet."""
    server = kibana()
    server.answer(
        "status", Answer(b"Kibana server is not ready yet", 503, {"content-type": "text/plain"})
    )
    assert "not ready yet" in str(failed(server.url, EngineUnreachable))


@pytest.mark.parametrize("what", ["status", "_import"])
@pytest.mark.parametrize("fault", ["half", "reset", "hang"])
def test_a_server_that_breaks_off(kibana, what, fault):
    """Half an answer, and none, by either request: it cannot be reached."""
    server = kibana()
    server.answer(what, Answer({"a": "b" * 99}, 200, server.said, fault=fault))
    assert server.url in str(failed(server.url, EngineUnreachable))
    assert 1 == len(server.asked(what))


def test_nothing_listens():
    """One line with the address, its password left out."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        error = failed(f"http://me:s3cret@{host}", EngineUnreachable)
    assert f"cannot reach http://{host}: " in str(error)
    assert "refused" in str(error)


@pytest.mark.parametrize(
    ("user", "options", "sent"),
    [
        ("", {}, None),
        ("", {"username": "me", "password": "gewürz"}, "Basic bWU6Z2V3w7xyeg=="),
        ("", {"api_key": "a2V5"}, "ApiKey a2V5"),
        ("you:p%40ss@", {}, "Basic eW91OnBAc3M="),
        (
            "you:p%40ss@",
            {"username": "me", "password": "s3cret", "api_key": "a2V5"},
            "Basic eW91OnBAc3M=",
        ),
    ],
)
def test_who_asks(kibana, user, options, sent):
    """The engine's user or key, but for a user in Kibana's own address.

    Both requests say so, the link does not.
    """
    server = kibana()
    installed = install(
        server.url.replace("//", f"//{user}"), EngineOptions(ENGINE.url, "library", **options)
    )
    assert [sent, sent] == [request.headers.get("authorization") for request in server.requests]
    assert installed.url.startswith(server.url)


@pytest.mark.parametrize(
    ("url", "engine", "words"),
    [
        ("", ENGINE, "kibana.url"),
        ("http://me:s3cret@host:port", ENGINE, "kibana.url"),
        ("http://me:s3c/ret@host", ENGINE, "kibana.url"),
        ("http://localhost:5601", EngineOptions(".esrag"), "engine.url"),
        ("https://localhost:5601", EngineOptions(ENGINE.url, ca_file="/not/there"), "/not/there"),
    ],
)
def test_settings_that_do_not_do(url, engine, words):
    """Named before anything is sent."""
    assert words in str(failed(url, SettingsError, engine))


def test_tls_is_that_of_the_engine(kibana, tmp_path):
    """An authority, a fingerprint, or no verification by name; else nothing is sent."""
    authority = Authority(tmp_path / "authority")
    certificate = authority.issue("kibana", "IP:127.0.0.1")
    front = Front(kibana().url, certificate)
    try:
        for options in (
            {"ca_file": str(authority.certificate)},
            {"certificate_fingerprint": fingerprint(certificate)},
            {"verify_certificates": False},
        ):
            assert "kibana" == install(front.url, EngineOptions(ENGINE.url, **options)).product
        heard = len(front.heard)
        for options in ({}, {"certificate_fingerprint": fingerprint(authority.certificate)}):
            error = failed(
                front.url,
                engine=EngineOptions(ENGINE.url, username="me", password="s3cret", **options),
            )
            assert "engine.ca_file" in error.hint
        assert heard == len(front.heard)
    finally:
        front.close()


def test_https_to_a_server_without_it(kibana):
    """A connection that cannot be made secure is an error that does not pass by waiting."""
    assert "no secure connection" in str(failed(kibana().url.replace("http://", "https://")))
