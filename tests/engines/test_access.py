"""Who is trusted with a password, and how one gets in: both clients, the same certificates, the
same outcome.
"""

from urllib.parse import unquote

import pytest
from front import Authority, Front, fingerprint
from scripted import Answer, ScriptedServer

from esrag.engines import EngineOptions
from esrag.engines.server import ServerEngine
from esrag.errors import EngineError, EngineUnreachable, EsragError, SettingsError

PRODUCTS = ["elasticsearch", "opensearch"]
NOTHING_THERE = Answer({"error": "no such index", "status": 404}, 404)


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """Signs what these tests trust."""
    return Authority(tmp_path_factory.mktemp("trusted") / "authority")


@pytest.fixture(scope="module")
def certificate(authority):
    """The server's certificate, for its names."""
    return authority.issue("server", "DNS:localhost,IP:127.0.0.1")


# Of an index: what it was made with, and not its whole mapping.
ASKED = (
    "*.aliases,*.mappings._meta.esrag,*.mappings.properties.embedding,"
    "*.settings.index.number_of_shards"
)


@pytest.fixture
def serve():
    """Starts servers that know no index, behind TLS where they have a certificate."""
    servers, fronts = [], []

    def start(product, *certificates, number=None):
        servers.append(ScriptedServer(product, number))
        servers[-1].answer("library", NOTHING_THERE)
        fronts.append(Front(servers[-1].url, *certificates))
        return fronts[-1]

    yield start
    for one in [*fronts, *servers]:
        one.close()


def exists(url, **options):
    """Asks whether there is an index: the first request, and the first by the product's
    own client.
    """
    engine = ServerEngine(
        EngineOptions(url, "library", username="me", password="s3cret", **options)
    )
    try:
        return engine.exists()
    finally:
        engine.close()


def refused(front, kind=EngineError, **options):
    """The one line of an error; no request, and so no password, has reached the server."""
    with pytest.raises(kind) as caught:
        exists(options.pop("url", front.url), **options)
    assert not isinstance(caught.value, EngineUnreachable)
    assert [] == front.heard
    assert "\n" not in str(caught.value)
    assert "s3cret" not in str(caught.value) + repr(caught.value)
    return caught.value


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_authority_is_trusted(serve, authority, certificate, product):
    """With the authority's file the server is let in, by number and by name, and gets the password
    every time.
    """
    front = serve(product, certificate)
    assert not exists(front.url, ca_file=str(authority.certificate))
    assert not exists(
        front.url.replace("127.0.0.1", "localhost"), ca_file=str(authority.certificate)
    )
    assert {"Basic bWU6czNjcmV0"} == {who for _, who in front.heard}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_unknown_authority_is_not(serve, certificate, product):
    """Without the file nothing is sent, and the hint says what to set."""
    error = refused(serve(product, certificate))
    assert "certificate verify failed" in str(error)
    assert "engine.ca_file" in error.hint


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_certificate_for_another_name_is_refused(serve, authority, product, host):
    """A certificate of the right authority does not do for any server."""
    other = "IP:127.0.0.1" if host == "localhost" else "DNS:localhost"
    front = serve(product, authority.issue(f"{product}-{host}", other))
    error = refused(
        front, url=front.url.replace("127.0.0.1", host), ca_file=str(authority.certificate)
    )
    assert host in str(error)


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_fingerprint_is_trusted(serve, certificate, product):
    """The certificate's own fingerprint does, with or without colons, whoever signed it and for
    whatever name.
    """
    front = serve(product, certificate)
    assert not exists(front.url, certificate_fingerprint=fingerprint(certificate))
    digits = fingerprint(certificate).replace(":", "").lower()
    assert not exists(front.url, certificate_fingerprint=digits, verify_certificates=False)


@pytest.mark.parametrize("product", PRODUCTS)
def test_another_fingerprint_is_refused(serve, authority, certificate, product):
    """Even where the authority is known or certificates are not verified; the line
    names what came.
    """
    front = serve(product, certificate)
    wrong = fingerprint(authority.certificate)
    for options in ({}, {"ca_file": str(authority.certificate)}, {"verify_certificates": False}):
        error = refused(front, certificate_fingerprint=wrong, **options)
        assert fingerprint(certificate).replace(":", "").lower() in str(error)


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_fingerprint_is_not_looked_for_along_the_chain(serve, authority, tmp_path, product):
    """A stranger who sends the authority's certificate after one of his own is refused: he has
    copied it.
    """
    stranger = Authority(tmp_path / "stranger", authority.name)
    forged = stranger.issue("server", "IP:127.0.0.1")
    chain = tmp_path / "chain.pem"
    chain.write_text(forged.read_text() + authority.certificate.read_text())
    refused(
        serve(product, forged, chain), certificate_fingerprint=fingerprint(authority.certificate)
    )


@pytest.mark.parametrize("trusted", ["authority", "fingerprint", "name"])
def test_opensearch_is_not_mistaken_later_either(serve, authority, certificate, tmp_path, trusted):
    """Its own client, which takes over after the first answer, looks at the certificate as well."""
    ca_file = {"ca_file": str(authority.certificate)}
    stranger = Authority(tmp_path / "stranger", authority.name).issue("server", "IP:127.0.0.1")
    other_name = authority.issue("elsewhere", "DNS:elsewhere")
    options = (
        {"certificate_fingerprint": fingerprint(certificate)}
        if trusted == "fingerprint"
        else ca_file
    )
    front = serve("opensearch", certificate)
    later = serve("opensearch", other_name if trusted == "name" else stranger)
    engine = ServerEngine(EngineOptions(front.url, "library", username="me", **options))
    assert "opensearch" == engine._connection.server.product
    front.context = later.context
    with pytest.raises(EngineError, match="no secure connection"):
        engine.exists()
    engine.close()
    assert ["GET /"] == [what for what, _ in front.heard]


@pytest.mark.parametrize("product", PRODUCTS)
def test_verification_can_be_switched_off(serve, certificate, product):
    """By name, and only so."""
    front = serve(product, certificate)
    assert not exists(front.url, verify_certificates=False)
    refused(serve(product, certificate))


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_without_certificates_is_seen_first(serve, certificate, tmp_path, content):
    """A file that is missing or holds something else is named before anything is sent."""
    path = tmp_path / "authority.pem"
    if content:
        path.write_text(content)
    error = refused(serve("elasticsearch", certificate), SettingsError, ca_file=str(path))
    assert str(path) in str(error)
    assert "engine.ca_file" in error.hint


@pytest.mark.parametrize(
    ("url", "options", "sent"),
    [
        ("http://me:s%40crets@{}", {}, "Basic bWU6c0BjcmV0cw=="),
        ("http://{}", {"username": "me", "password": "gewürz:€"}, "Basic bWU6Z2V3w7xyejrigqw="),
        ("http://me:other@{}", {"password": "s3cret"}, "Basic bWU6czNjcmV0"),
        ("http://me:other@{}", {"api_key": "a2V5OmtleQ==\n"}, "ApiKey a2V5OmtleQ=="),
        ("http://{}", {}, ""),
    ],
)
@pytest.mark.parametrize("product", PRODUCTS)
def test_both_clients_send_the_same_credentials(serve, product, url, options, sent):
    """In the address or as settings, in any alphabet.

    A key goes before a user, a line's end is no part of it.
    """
    front = serve(product)
    engine = ServerEngine(
        EngineOptions(url.format(front.url.removeprefix("http://")), "library", **options)
    )
    assert not engine.exists()
    engine.close()
    # One client writes a comma as it is, the other as %2C.
    heard = [(unquote(what), by) for what, by in front.heard]
    assert [("GET /", sent), (f"GET /library?filter_path={ASKED}", sent)] == heard


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://me:s3c/ret@localhost:1", {}),
        ("http://me:s3c#ret@localhost:1", {}),
        ("http://me:s3c?r@et@localhost:1", {}),
        ("http://me:[s3cret]@localhost:1", {}),
        ("http://me:s3cr℀et@localhost:1", {}),
        ("http://me:s3cret@localhost:port", {}),
        ("http://me:s3cret@", {}),
        ("http://me:s3cret@a..b:1", {}),
        ("http://me:s3cret@a b:1", {}),
        ("http://localhost:1", {"api_key": "s3c\nret"}),
        ("http://localhost:1", {"api_key": "s3cret €"}),
    ],
)
def test_a_secret_that_cannot_be_sent_is_not_told(url, options):
    """What cannot be an address or a key is refused without a word of it, in the stack trace
    either.
    """
    with pytest.raises(EsragError) as caught:
        ServerEngine(EngineOptions(url, "library", **options)).exists()
    assert "engine." in str(caught.value) + caught.value.hint
    error = caught.value
    while error:
        assert "s3c" not in str(error) + repr(error)
        error = error.__cause__ or error.__context__


REFUSALS = {
    "elasticsearch": (
        "action [cluster:monitor/main] is unauthorized for API key id [k] of user [me]"
    ),
    "opensearch": "no permissions for [cluster:monitor/main] and User [name=me, backend_roles=[]]",
}


@pytest.mark.parametrize("product", PRODUCTS)
def test_who_may_not_ask_what_the_server_is_may_still_use_it(product):
    """Without the cluster privilege `monitor` the root is a 403.

    Its words tell which server that is.
    """
    server = ScriptedServer(product)
    body = {"error": {"type": "security_exception", "reason": REFUSALS[product]}, "status": 403}
    server.answer("root", Answer(body, 403))
    server.answer("library", NOTHING_THERE)
    try:
        assert not exists(server.url)
    finally:
        server.close()
    assert f"{product}-py" in server.asked("library")[0].headers["user-agent"]


def test_a_403_of_something_else_is_an_error():
    """A proxy that forbids everything is not taken for a search engine."""
    server = ScriptedServer()
    server.answer("root", Answer(b"<h1>Forbidden</h1>", 403, {"content-type": "text/html"}))
    try:
        with pytest.raises(EngineError, match="answered 403"):
            exists(server.url)
    finally:
        server.close()
