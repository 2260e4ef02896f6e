"""Embedders that are a service: what is sent, what is done about each kind of failure, and no key
is ever shown.
"""

import json
import logging
import traceback
from email.utils import formatdate
from importlib.util import find_spec
from time import monotonic, time

import numpy as np
import pytest
from made_up_models import stream

from esrag.embedding import EmbedderOptions, check_vectors
from esrag.embedding.cohere import CohereEmbedder
from esrag.embedding.hashing import HashingEmbedder
from esrag.embedding.openai import OpenAIEmbedder
from esrag.embedding.service import TRIES, WINDOW
from esrag.errors import EmbeddingError, ServiceBusy, SettingsError
from esrag.http import seconds_to_wait

PROVIDERS = [
    pytest.param(
        CohereEmbedder,
        marks=pytest.mark.skipif(find_spec("cohere") is None, reason="needs the extra cohere"),
    ),
    OpenAIEmbedder,
]
TEXTS = ["a kettle", "a lamp"]
BUSY = {"Retry-After": "7"}


@pytest.fixture(params=PROVIDERS, ids=lambda cls: cls.provider)
def opened(request, service, clock):
    """Opens each service's embedder, its width already learnt: `opened(option=…)`."""

    def open_one(*, learnt=True, timeout_s=5.0, **options):
        given = service.options(request.param.provider, **options)
        embedder = request.param(given, sleep=clock.sleep, clock=clock, timeout_s=timeout_s)
        assert not learnt or embedder.dimensions == service.dimensions
        return embedder

    return open_one


def rows_of(body):
    """The vectors of an answer of either service, to be changed in place."""
    return (
        body["embeddings"]["float"]
        if "embeddings" in body
        else [entry["embedding"] for entry in body["data"]]
    )


def without_one(body):
    """An answer with a vector too few."""
    (body["embeddings"]["float"] if "embeddings" in body else body["data"]).pop()
    return body


def with_value(value):
    """Puts a value into the first vector of an answer."""

    def change(body):
        rows_of(body)[0][0] = value
        return body

    return change


def narrower(body):
    """An answer whose vectors all lack their last number."""
    for row in rows_of(body):
        row.pop()
    return body


def ragged(body):
    """An answer whose first vector lacks its last number."""
    rows_of(body)[0].pop()
    return body


def zeros(body):
    """An answer that points nowhere."""
    rows_of(body)[0][:] = [0.0] * len(rows_of(body)[0])
    return body


def shown(error):
    """All that an error can show: its line, its hint, its representation and its trace
    with causes.
    """
    return "".join([str(error), repr(error), error.hint, *traceback.format_exception(error)])


def test_vectors_are_those_of_the_service_in_the_order_of_the_texts(opened):
    """Unit rows, whatever the order and the length in which the service gives them."""
    expected = HashingEmbedder(EmbedderOptions("")).embed(TEXTS)
    assert np.allclose(opened().embed(TEXTS), expected, atol=1e-6)


def test_openai_reads_bytes_in_base64(service):
    """The form its own clients ask for."""
    embedder = OpenAIEmbedder(service.options("openai"))
    lists = embedder.embed(TEXTS)
    service.in_base64 = True
    assert np.allclose(embedder.embed(TEXTS), lists, atol=1e-6)


def test_cohere_is_told_what_a_text_is(service):
    """Passages and questions are asked for each in their own way, as floats, and nothing may be
    cut.
    """
    pytest.importorskip("cohere")
    embedder = CohereEmbedder(service.options("cohere"))
    embedder.embed(["a kettle"])
    embedder.embed(["which kettle?"], kind="query")
    sent = [body for _, _, body in service.asked]
    assert [body["input_type"] for body in sent] == [
        "search_document",
        "search_document",
        "search_query",
    ]
    assert {(body["model"], *body["embedding_types"], body["truncate"]) for body in sent} == {
        ("made-up", "float", "NONE")
    }


def test_the_key_is_sent_and_nobody_else_sees_it(service, opened):
    """In a header, and in no representation of the options."""
    embedder = opened()
    assert service.asked[-1][1]["Authorization"] == f"Bearer {service.key}"
    assert service.key not in repr(service.options("openai", limits_url="redis://u:p@h")) + repr(
        vars(embedder)["_limits"]
    )
    assert "redis://" not in repr(service.options("openai", limits_url="redis://u:p@h"))


def test_openai_needs_no_key(service):
    """A service of one's own often has none; then no header is sent."""
    OpenAIEmbedder(service.options("openai", api_key="")).embed(TEXTS)
    assert all("Authorization" not in headers for _, headers, _ in service.asked)


def test_cohere_needs_a_key():
    """The error names the variable; a key in the client's own variable is not taken."""
    pytest.importorskip("cohere")
    with pytest.raises(SettingsError, match="needs a key") as caught:
        CohereEmbedder(EmbedderOptions("embed-v4.0"))
    assert caught.value.hint == "set ESRAG_EMBEDDING__API_KEY"


@pytest.mark.parametrize("key", ["sk-zwölf", "two\nlines", "a key", "\x00"])
def test_a_key_that_cannot_be_sent_is_not_quoted(key):
    """No header can hold it, and what refuses it further down would print it."""
    with pytest.raises(SettingsError, match="holds characters") as caught:
        OpenAIEmbedder(EmbedderOptions("m", api_key=key))
    assert key not in shown(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://host",
        "host:80",
        "http://",
        "https://me:s3cret@host/v1",
        "http://h:p",
        "http://a b",
    ],
)
def test_an_address_that_is_none_is_refused_and_not_quoted(url):
    """Only http and https, without a password in it."""
    with pytest.raises(SettingsError, match=r"embedding\.url must be") as caught:
        OpenAIEmbedder(EmbedderOptions("m", url=url))
    assert url not in shown(caught.value)


def test_requests_hold_what_the_service_takes(service, opened):
    """Never more texts than allowed, all texts, and none twice."""
    embedder = opened()
    texts = [f"text {number}" for number in range(2 * embedder.max_texts + 3)]
    vectors = embedder.embed(texts)
    sent = [body.get("texts") or body["input"] for _, _, body in service.asked[1:]]
    assert [len(few) for few in sent] == [embedder.max_texts, embedder.max_texts, 3]
    assert [text for few in sent for text in few] == texts
    assert np.array_equal(vectors[-1], embedder.embed(texts[-1:])[0])


def test_a_long_text_is_sent_in_windows(service, opened):
    """Each window within the limit, every word in one of them, and its vector is their mean."""
    embedder = opened()
    words = [f"word{number}" for number in range(1000)]
    vector = embedder.embed([" ".join(words)])[0]
    sent = service.asked[-1][2].get("texts") or service.asked[-1][2]["input"]
    assert all(len(embedder.tokens(part)) <= WINDOW for part in sent)
    assert "".join(sent).replace(" ", "") == "".join(words)
    mean = np.mean(embedder.embed(sent), axis=0)
    assert vector @ mean / np.linalg.norm(mean) > 0.999


def test_a_text_without_anything_to_read_is_not_sent_as_it_is(service, opened):
    """Services refuse an empty text, and one blank text would fail all the others of
    its request.
    """
    opened().embed(["", " \n"])
    assert (service.asked[-1][2].get("texts") or service.asked[-1][2]["input"]) == [".", "."]


def test_the_fingerprint_says_what_changes_a_vector(opened, service):
    """Provider, model, width and window, and no address.

    The width is learnt once, with one request.
    """
    embedder = opened()
    expected = f"{embedder.provider} made-up 256 {WINDOW}"
    assert [embedder.fingerprint, embedder.fingerprint] == [expected, expected]
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    "change", [without_one, with_value(float("nan")), with_value(1e999), narrower, ragged, zeros]
)
def test_vectors_that_are_none_are_never_returned(opened, service, answering, change, clock):
    """A wrong count, NaN, infinity, a wrong width, ragged rows and zeros are an error at once."""
    embedder = opened()
    service.script = [answering.changed(change)]
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(TEXTS)
    assert not isinstance(caught.value, ServiceBusy)
    assert (len(service.asked), clock.slept) == (2, [])


def test_openai_indexes_must_be_those_of_the_texts(service, answering):
    """Two vectors for one text are none for another."""

    def doubled(body):
        body["data"][0]["index"] = body["data"][1]["index"]
        return body

    embedder = OpenAIEmbedder(service.options("openai"))
    _ = embedder.dimensions
    service.script = [answering.changed(doubled)]
    with pytest.raises(EmbeddingError, match="does not answer as an embedding service"):
        embedder.embed(TEXTS)


@pytest.mark.parametrize(
    "body", ["[]", '"text"', "null", "{}", "<html>hello</html>", "[" * 100_000, '{"data": [1]}']
)
def test_an_answer_of_something_else_is_an_error(opened, service, answering, body):
    """A page, a list, an object of another form: one line that says where to look, and no second
    try.
    """
    embedder = opened()
    service.script = [answering(200, body)]
    with pytest.raises(EmbeddingError, match="answer"):
        embedder.embed(TEXTS)
    assert len(service.asked) == 2


def test_who_is_told_when_to_come_back_does(opened, service, answering, clock):
    """429 with Retry-After in seconds: waited as told, once, and the work goes on."""
    embedder = opened()
    service.script = [answering(429, {"message": "slow down"}, BUSY)]
    check_vectors(embedder.embed(TEXTS), 2, service.dimensions)
    assert clock.slept == [pytest.approx(7)]


def test_the_wait_may_be_a_date(opened, service, answering, clock):
    """429 with Retry-After as an HTTP date."""
    embedder = opened()
    service.script = [
        answering(
            429, {"message": "slow down"}, {"Retry-After": formatdate(time() + 30, usegmt=True)}
        )
    ]
    embedder.embed(TEXTS)
    assert sum(clock.slept) == pytest.approx(30, abs=3)


def test_others_wait_too_when_one_is_turned_away(opened, service, answering, clock):
    """Another embedder of the same service and process does not send before."""
    one, other = opened(), opened()
    _ = other.dimensions
    service.script = [answering(429, {"message": "slow down"}, {"Retry-After": "60"})] * TRIES
    with pytest.raises(ServiceBusy):
        one.embed(TEXTS)
    service.script, before = (
        [answering(429, {"message": "slow down"}, {"Retry-After": "90"})],
        clock.now,
    )
    one.embed(TEXTS)
    assert clock.now - before == pytest.approx(90)
    one._limits.block(50)
    before = clock.now
    other.embed(TEXTS)
    assert clock.now - before == pytest.approx(50)


def test_a_wait_that_is_too_long_is_handed_back(opened, service, answering, clock):
    """An hour is not slept through with a batch in hand: the error says how long, and the next
    request is not sent.
    """
    embedder = opened()
    service.script = [answering(429, {"message": "quota used up"}, {"Retry-After": "3600"})]
    for _ in range(2):
        with pytest.raises(ServiceBusy, match="another 3600 s") as caught:
            embedder.embed(TEXTS)
        assert caught.value.wait_s == pytest.approx(3600)
    assert (len(service.asked), clock.slept, caught.value.exit_code) == (2, [], 4)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504, 529])
def test_a_service_that_stumbles_is_asked_again(opened, service, answering, clock, status):
    """Twice an error of the server, then vectors; the second wait is the longer one."""
    embedder = opened()
    service.script = [answering(status, {"message": "try again"})] * 2
    check_vectors(embedder.embed(TEXTS), 2, service.dimensions)
    assert 0.5 <= clock.slept[0] <= 1 <= clock.slept[1] <= 2


def test_half_an_answer_is_none(opened, service, answering):
    """A connection that ends in the middle of the vectors: asked again."""
    embedder = opened()
    service.script = [answering.part()]
    check_vectors(embedder.embed(TEXTS), 2, service.dimensions)
    assert len(service.asked) == 3


def test_an_answer_that_stops_in_its_middle_is_not_waited_for(opened, service, answering):
    """The time-out holds for the body too."""
    embedder = opened(timeout_s=0.3)
    service.script = [answering.hang()]
    check_vectors(embedder.embed(TEXTS), 2, service.dimensions)
    assert len(service.asked) == 3


def test_the_time_out_is_for_the_whole_answer(opened, service):
    """One that comes byte by byte is not waited for either."""
    embedder = opened(timeout_s=0.3)
    service.script = [lambda handler, _: stream(handler, [" "] * 600, wait_s=0.05)]
    began = monotonic()
    check_vectors(embedder.embed(TEXTS), 2, service.dimensions)
    assert len(service.asked) == 3
    assert monotonic() - began < 10


def test_an_answer_without_an_end_is_not_kept(service, answering):
    """Of a service that sends more than vectors take, no more than that is read."""
    embedder = OpenAIEmbedder(service.options("openai"))
    embedder.embed(TEXTS)
    service.script = [answering.changed(lambda body: json.dumps(body) + " " * 2**22)]
    with pytest.raises(EmbeddingError, match="does not answer as an embedding service does"):
        embedder.embed(TEXTS)


def test_tries_are_bounded(opened, service, answering, clock):
    """Six of them, then an error that may pass and says what the service said last."""
    embedder = opened()
    service.script = [answering(503, {"message": "under repair"})] * TRIES
    with pytest.raises(ServiceBusy, match=r"answered 503: under repair \(6 tries\)") as caught:
        embedder.embed(TEXTS)
    assert len(service.asked) == 1 + TRIES
    assert 15.5 <= sum(clock.slept) <= 31
    assert caught.value.exit_code == 4


def test_nobody_there_is_said_so(opened, service):
    """A refused connection: after the tries, the address and where to look."""
    embedder = opened(learnt=False)
    service.stop()
    with pytest.raises(ServiceBusy, match=r"did not answer: .*refused") as caught:
        embedder.embed(TEXTS)
    assert "embedding.url" in caught.value.hint


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_fails_at_once(opened, service, answering, clock, status):
    """One request, and the hint names the variable."""
    service.script = [answering(status, {"error": {"message": "bad key"}, "message": "bad key"})]
    with pytest.raises(SettingsError, match=f"answered {status}: bad key") as caught:
        opened(learnt=False).embed(TEXTS)
    assert "ESRAG_EMBEDDING__API_KEY" in caught.value.hint
    assert (len(service.asked), clock.slept) == (1, [])


@pytest.mark.parametrize(
    ("status", "kind"), [(400, EmbeddingError), (422, EmbeddingError), (404, SettingsError)]
)
def test_a_refused_request_shows_the_services_words(opened, service, answering, status, kind):
    """At once, in one line, without the key and without what a terminal would act on."""
    embedder = opened()
    words = f"too \x1b[31mlong\nfor {service.key}" + "!" * 1000
    service.script = [answering(status, {"error": {"message": words}, "message": words})]
    with pytest.raises(kind) as caught:
        embedder.embed(TEXTS)
    assert f"answered {status}: too [31mlong for ********!" in str(caught.value)
    assert len(str(caught.value)) < 400
    assert service.key not in shown(caught.value)
    assert len(service.asked) == 2


def test_a_redirect_is_not_followed(opened, service, answering):
    """The key would go along to wherever it leads."""
    embedder = opened()
    service.script = [
        answering(307, {"message": "over there"}, {"Location": f"{service.url}/v1/embeddings"})
    ]
    with pytest.raises(SettingsError, match="answered 307") as caught:
        embedder.embed(TEXTS)
    assert "embedding.url" in caught.value.hint
    assert len(service.asked) == 2


@pytest.mark.parametrize(
    "said", [None, "", "soon", "-3", "nan", "1e999", "9" * 5000, "Thu, 99 Foo 2030 00:00:00 GMT"]
)
def test_what_is_no_wait_is_none(said):
    """A header of another form is as good as none."""
    assert seconds_to_wait(said, time()) is None


def test_waits_are_bounded():
    """A date in the past is now; none is longer than a day."""
    assert seconds_to_wait("Thu, 01 Jan 1970 00:01:00 GMT", 1000) == 0
    assert (
        seconds_to_wait("Fri, 01 Jan 2100 00:01:00 GMT", 1000)
        == seconds_to_wait("999999999", 0)
        == 86_400
    )


def test_the_limits_hold_over_a_run(opened, service, clock):
    """At 60 requests and 1,000 tokens a minute, 30 texts of 50 tokens take more than a minute, in
    many requests.
    """
    embedder = opened(requests_per_minute=60, tokens_per_minute=1000)
    started = clock.now
    embedder.embed(["word " * 50] * 30)
    assert 75 <= clock.now - started <= 110
    sent = [body.get("texts") or body["input"] for _, _, body in service.asked]
    assert max(len(few) for few in sent) == 2


@pytest.mark.parametrize(
    "provider", [param.values[0] if hasattr(param, "values") else param for param in PROVIDERS]
)
@pytest.mark.parametrize("status", [400, 401, 500])
def test_no_log_and_no_trace_holds_the_key(
    service, answering, clock, caplog, capfd, provider, status
):
    """Everything that a failing run prints or logs at any level, with the service giving the key
    back in its words.
    """
    caplog.set_level(logging.DEBUG)
    echo = {"error": {"message": f"bad key {service.key}"}, "message": f"bad key {service.key}"}
    service.script = [answering(status, echo)] * TRIES
    embedder = provider(service.options(provider.provider), sleep=clock.sleep, clock=clock)
    with pytest.raises((EmbeddingError, SettingsError)) as caught:
        embedder.embed(TEXTS)
    printed = "".join(capfd.readouterr()) + caplog.text + shown(caught.value)
    assert "bad key ********" in printed
    assert service.key not in printed


def test_the_command_line_never_shows_the_key(esrag, corpus, service, answering):
    """Neither what `esrag ingest` prints nor any file it leaves holds it, whether it
    fails or not.
    """
    options = service.options("openai")
    variables = {
        "ESRAG_EMBEDDING__PROVIDER": "openai",
        "ESRAG_EMBEDDING__MODEL": "made-up",
        "ESRAG_EMBEDDING__URL": options.url,
        "ESRAG_EMBEDDING__API_KEY": options.api_key,
    }
    service.script = [
        answering(401, {"error": {"message": f"no {service.key}"}, "message": f"no {service.key}"})
    ]
    failed = esrag("ingest", corpus, **variables)
    done = esrag("ingest", corpus, **variables)
    shown_settings = esrag("config", "show", **variables)
    found = esrag("search", "kettle", "--json", **variables)
    assert (failed.code, done.code, found.code) == (2, 0, 0)
    assert "ESRAG_EMBEDDING__API_KEY" in failed.err
    assert json.loads(found.out)["hits"]
    printed = "".join(ran.out + ran.err for ran in (failed, done, shown_settings, found))
    kept = b"".join(path.read_bytes() for path in esrag.folder.rglob("*") if path.is_file())
    assert service.key.encode() not in printed.encode() + kept
