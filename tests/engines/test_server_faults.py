"""What becomes of everything that a server can answer, or not answer.

Most answers were recorded from a real one.
"""

import json
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from made import FINGERPRINT, prepared, unit_rows
from scripted import JSON, RECORDED, Answer, recorded

from esrag.engines import EngineOptions, SearchRequest
from esrag.engines.preconditions import text_hash
from esrag.engines.server import ServerEngine, writing
from esrag.engines.server.connection import RETRIES, RetryPolicy
from esrag.engines.server.entries import (
    CHUNK_SOURCE,
    chunk_entry,
    document_entry,
    entry_id,
    failure_entry,
)
from esrag.engines.server.mapping import index_body, meta
from esrag.errors import (
    EngineError,
    EngineUnreachable,
    EsragError,
    IndexBusy,
    IndexMismatch,
    IndexMissing,
    UsageError,
)
from esrag.filters import Terms

DOCUMENT = prepared("d", ["zebra", "yak", "gnu", "emu"])
CHUNKS = [chunk.chunk_id for chunk in DOCUMENT.chunks]
QUESTION = SearchRequest("zebra", unit_rows(99, 1)[0], size=2, candidates=4)
LICENCE, UNKNOWN = "basic_rrf_in_msearch", "core_rrf_in_msearch"
EMBEDDING = index_body("elasticsearch", FINGERPRINT, EngineOptions())["mappings"]["properties"][
    "embedding"
]
GIVEN = Answer({"_seq_no": 7, "_primary_term": 1})
QUICK = RetryPolicy(  # the same number of tries, without the waiting
    request_waits_s=(0.001,) * len(RETRIES.request_waits_s),
    bulk_waits_s=(0.001,) * len(RETRIES.bulk_waits_s),
    timeout_s=1,  # enough for a loaded machine
)
NOTHING = {"_shards": {"failed": 0}, "timed_out": False, "hits": {"hits": []}, "status": 200}


@pytest.fixture
def serve(start_scripted):
    """Starts servers that have an index of one document."""

    def start(product="elasticsearch", number=None):
        server = start_scripted(product, number)
        server.answer("library", Answer({"library-000001": index_of(meta(FINGERPRINT))}))
        server.answer("state", Answer({"_source": {"entry": "state", "generation": 1}}))
        server.answer("lease", lease)
        server.answer("_count", Answer({"count": 1}))
        server.answer("esrag-library", Answer({"acknowledged": True}))  # the template
        server.answer("_mget", Answer({"docs": []}))
        server.answer("_refresh", Answer({}))
        server.answer("_bulk", taken)
        server.answer("_msearch", found)
        return server

    return start


@pytest.fixture
def server(serve):
    """An Elasticsearch with every licence."""
    return serve()


@pytest.fixture
def opened():
    """Opens engines and closes them."""
    engines = []

    def open_(url, retries=QUICK, **options):
        engines.append(ServerEngine(EngineOptions(url, "library", **options), retries))
        return engines[-1]

    yield open_
    for engine in engines:
        engine.close()


@pytest.fixture
def engine(server, opened):
    """An engine on it."""
    return opened(server.url)


def index_of(said):
    """An index as a server describes it."""
    mappings = (
        {} if said is None else {"_meta": {"esrag": said}, "properties": {"embedding": EMBEDDING}}
    )
    return {"settings": {"index": {"number_of_shards": "1"}}, "mappings": mappings}


def actions_of(request):
    """The ids of a bulk, in order."""
    return [
        next(iter(line.values()))["_id"]
        for line in request.lines
        if line.keys() <= {"index", "delete"}
    ]


def items(request, *wrong):
    """A bulk's answer: taken, but for the first ones, which get these items."""
    right = [{"index": {"_id": key, "status": 201}} for key in actions_of(request)]
    return Answer({"errors": bool(wrong), "items": [*wrong, *right[len(wrong) :]]})


def taken(request):
    """Every entry is taken."""
    return items(request)


def recorded_item(name, number=-1):
    """One item of a recorded bulk."""
    return recorded(name).body["items"][number]


def hit(number, score):
    """A hit with everything any of the requests asks for."""
    entry = chunk_entry(DOCUMENT, number)
    return {
        "_id": entry_id("chunk", CHUNKS[number]), "_score": score, "fields": {(
            "chunk_id"
        ): [CHUNKS[number]]},
        "_source": {name: entry[name] for name in CHUNK_SOURCE if name in entry},
    }  # fmt: skip


def found(request):
    """Both legs find the first two chunks."""
    hits = {**NOTHING, "hits": {"hits": [hit(0, 0.9), hit(1, 0.8)]}}
    return Answer({"responses": [hits] * (len(request.lines) // 2)})


def licensed_only(name):
    """Answers a fusion by ranks as the recorded server did, and everything else."""
    return lambda request: recorded(name) if asks_for_fusion(request) else found(request)


def asks_for_fusion(request):
    """Whether the server is to fuse."""
    return any("retriever" in line or "hybrid" in line.get("query", {}) for line in request.lines)


def lease(request):
    """Nobody holds it, and it is given to whoever asks."""
    return Answer({"found": False}, 404) if request.method == "GET" else GIVEN


def write(engine, document=DOCUMENT):
    """Stores one document."""
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([document])


def failure(use, kind=EngineError):
    """The error a use ends with: of this very kind, and one line."""
    with pytest.raises(kind) as caught:
        use()
    assert "\n" not in str(caught.value)
    return caught.value


# Writing


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.faults
def test_entries_without_room_are_sent_again(server, engine, status):
    """Of a bulk's items only those with 429 or 503 are repeated, until the server takes them (case
    19).
    """
    busy = {"index": recorded_item("limits_bulk_429_items")["index"] | {"status": status}}
    server.answer("_bulk", taken, lambda r: items(r, busy, busy), lambda r: items(r, busy), taken)
    write(engine)
    chunks = [entry_id("chunk", key) for key in CHUNKS]
    assert [chunks, chunks[:2], chunks[:1]] == [actions_of(r) for r in server.asked("_bulk")[1:4]]


def test_entries_that_never_find_room_are_an_error(server, engine):
    """A queue that stays full ends in one error and not in silence."""
    busy = recorded_item("limits_bulk_429_items")
    server.answer("_bulk", taken, lambda r: items(r, busy))
    assert 429 == failure(lambda: write(engine)).status
    assert len(QUICK.bulk_waits_s) + 2 == len(server.asked("_bulk"))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "failed to parse field [page] of type [integer] in document with id 'bad1'"),
        (2, "dynamic introduction of [surprise]"),
        (3, "has a different number of dimensions"),
        (4, "does not support vectors with zero magnitude"),
    ],
)
@pytest.mark.faults
def test_a_document_with_a_refused_entry_is_set_aside(server, engine, number, words):
    """Case 21: a 400 is not repeated, the others are stored, and of this document, old chunks and
    all, only why not.
    """
    former = document_entry(DOCUMENT.document, ["old", CHUNKS[0]])
    server.answer("_mget", Answer({"docs": [{"found": True, "_source": former}]}))
    wrong, busy = (
        recorded_item("basic_bulk_partial", number),
        recorded_item("limits_bulk_429_items"),
    )
    server.answer("_bulk", taken, lambda r: items(r, wrong, busy), taken)
    with engine.writer(FINGERPRINT) as writer:
        ((doc_id, reason),) = writer.replace([DOCUMENT, prepared("e", ["ibis"])]).items()
    assert doc_id == "d"
    assert f"{server.url} answered 400 for {CHUNKS[0]}: " in reason
    assert words in reason
    assert "Preview of field" not in reason  # what follows there is the document's
    assert "\n" not in reason
    _, _, again, finished, gone, instead = server.asked("_bulk")
    assert [entry_id("chunk", CHUNKS[1])] == actions_of(again)
    assert [entry_id("document", "e")] == actions_of(finished)
    assert [{"delete": {"_id": entry_id("chunk", key)}} for key in ("old", *CHUNKS)] == gone.lines
    assert [entry_id("document", "d")] == actions_of(instead)
    said = {"entry": "failure", "doc_id": "d", "source": DOCUMENT.document.source, "reason": reason}
    assert said == {key: value for key, value in instead.lines[1].items() if key != "stored_at"}


def test_nothing_more_is_sent_of_a_document_whose_record_is_refused(server, engine):
    """Its chunks would belong to nothing."""
    server.answer("_bulk", lambda r: items(r, recorded_item("basic_bulk_partial", 1)), taken)
    with engine.writer(FINGERPRINT) as writer:
        assert ["d"] == list(writer.replace([DOCUMENT]))
    _, gone, instead = server.asked("_bulk")
    assert {"delete"} == {key for line in gone.lines for key in line}
    assert "failure" == instead.lines[1]["entry"]


def test_a_failure_gives_way_to_the_document(server, engine):
    """A document that was refused once is stored as a new one, and removed as any other."""
    failed = failure_entry(DOCUMENT.document, "for a reason")
    server.answer("_mget", Answer({"docs": [{"found": True, "_source": failed}]}))
    write(engine)
    intent, _, finished = server.asked("_bulk")
    assert "" == intent.lines[1]["source_sha256"]
    assert finished.lines[1] | {"stored_at": ""} == document_entry(DOCUMENT.document, CHUNKS) | {
        "stored_at": ""
    }
    with engine.writer(FINGERPRINT) as writer:
        writer.remove(["d"])
    assert [{"delete": {"_id": entry_id("document", "d")}}] == server.asked("_bulk")[-1].lines


@pytest.mark.parametrize(("number", "status"), [(5, 409), (8, 404)])
def test_an_item_that_is_no_fault_of_the_entry_is_an_error(server, engine, number, status):
    """A conflict or an index that is gone would hit every document: none is set aside."""
    server.answer("_bulk", taken, lambda r: items(r, recorded_item("basic_bulk_partial", number)))
    error = failure(lambda: write(engine))
    assert status == error.status
    assert CHUNKS[0] in str(error)
    assert 2 == len(server.asked("_bulk"))


def test_a_record_that_cannot_be_read_is_not_one_that_is_not_there(server, engine):
    """A shard that is just starting: it is asked again, for the former chunks would
    stay for ever.
    """
    former = document_entry(DOCUMENT.document, [*CHUNKS, "old"])
    unread = {
        "_id": "x",
        "error": {"type": "no_shard_available_action_exception", "reason": "No shard available"},
    }
    server.answer(
        "_mget", Answer({"docs": [unread]}), Answer({"docs": [{"found": True, "_source": former}]})
    )
    write(engine)
    gone = [
        line["delete"]["_id"]
        for request in server.asked("_bulk")
        for line in request.lines
        if "delete" in line
    ]
    assert [entry_id("chunk", "old")] == gone
    server.answer("_mget", Answer({"docs": [unread]}))
    assert "No shard available" in str(failure(lambda: write(engine)))


def test_a_shard_that_cannot_be_counted_is_no_empty_index(server, engine):
    """Else readers of a full index would see nothing of what is written until the end."""
    server.answer(
        "_count", Answer({"count": 0, "_shards": {"total": 2, "successful": 1, "failed": 1}})
    )
    assert "1 shards could not be counted" in str(failure(lambda: write(engine)))


def test_a_document_with_an_entry_that_no_request_holds_is_set_aside(server, engine):
    """It is the document's fault, and the others go on."""
    large = entry_id("chunk", CHUNKS[1])

    def refuses(request):
        indexed = [line["index"]["_id"] for line in request.lines if "index" in line]
        return recorded("limits_bulk_413") if large in indexed else taken(request)

    server.answer("_bulk", refuses)
    with engine.writer(FINGERPRINT) as writer:
        reasons = writer.replace([DOCUMENT, prepared("other", ["gnu"])])
    assert ["d"] == list(reasons)
    assert "413" in reasons["d"]


def test_removing_what_is_not_there_is_no_error(server, engine):
    """The server says 404 of a chunk that another removed, and no error."""
    former = document_entry(DOCUMENT.document, [*CHUNKS, "old"])
    server.answer("_mget", Answer({"docs": [{"found": True, "_source": former}]}))
    server.answer(
        "_bulk", taken, taken, lambda r: items(r, recorded_item("basic_bulk_partial", 6)), taken
    )
    write(engine)
    _, _, gone, _ = server.asked("_bulk")
    assert [{"delete": {"_id": entry_id("chunk", "old")}}] == gone.lines


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [("basic_block_write_bulk", 0, "FORBIDDEN/8"), ("basic_bulk_partial", 1, "failed to")],
)
def test_a_refused_removal_names_its_entry(server, engine, name, number, words):
    """A write block is an error that ends the removal and names the chunk.

    So is a 400, which no document explains.
    """
    former = document_entry(DOCUMENT.document, CHUNKS[:1])
    server.answer("_mget", Answer({"docs": [{"found": True, "_source": former}]}))
    server.answer("_bulk", lambda r: items(r, recorded_item(name, number)))
    with engine.writer(FINGERPRINT) as writer:
        said = str(failure(lambda: writer.remove(["d"])))
    assert CHUNKS[0] in said
    assert words in said


@pytest.mark.parametrize(
    ("answer", "words", "hint"),
    [
        (recorded("security_403_bulk"), "is unauthorized for API key", "may not"),
        (recorded("basic_index_closed"), "closed", ""),
        (Answer({"error": "no handler found for uri [/x]"}, 400), "no handler found", ""),
        (
            Answer(b"{nonsense", 200, {"X-elastic-product": "Elasticsearch", **JSON}),
            "does not answer",
            "engine.url",
        ),
        (Answer({"items": []}), "answered for 0 of 1 entries", "again"),
        (Answer({"took": 1}), "answered for 0 of 1 entries", "again"),
    ],
    ids=["permission", "closed", "text", "broken", "fewer", "none"],
)
def test_a_bulk_that_is_refused_as_a_whole_is_an_error(server, engine, answer, words, hint):
    """Said at once and in one line; nothing is taken for stored, and no document for refused."""
    server.answer("_bulk", answer)
    error = failure(lambda: write(engine))
    assert words in str(error)
    assert hint in error.hint
    assert 1 == len(server.asked("_bulk"))


def test_known_vectors_are_asked_for_again(server, engine):
    """A circuit breaker is a 429 that passes: the search for stored vectors is repeated."""
    known = {"_source": {"text_hash": text_hash("zebra"), "embedding": [1.0] + [0.0] * 7}}
    server.answer("_search", recorded("limits_search_breaker"), Answer({"hits": {"hits": [known]}}))
    assert ["zebra"] == list(engine.vectors_of(["zebra", "yak"]))


@pytest.mark.parametrize("number", ["8.18.0", "9.1.9", "9.5.3", None])
def test_vectors_are_asked_for_in_a_way_that_every_version_takes(serve, opened, number):
    """Also where no version is told: before 9.2 `exclude_vectors` is a 400, and since then
    `_source` lacks them.
    """
    server = serve(number=number)
    if number is None:
        reason = "action [cluster:monitor/main] is unauthorized for API key id [k] of user [me]"
        server.answer(
            "root",
            Answer({"error": {"type": "security_exception", "reason": reason}, "status": 403}, 403),
        )
    known = {
        "_source": {"text_hash": text_hash("zebra")},
        "fields": {"embedding": [1.0] + [0.0] * 7},
    }
    server.answer("_search", Answer({"hits": {"hits": [known]}}))
    (vector,) = opened(server.url).vectors_of(["zebra"]).values()
    assert [1.0] + [0.0] * 7 == vector.tolist()
    asked = json.loads(server.asked("_search")[0].text)
    assert (["text_hash"], ["embedding"]) == (asked["_source"], asked["fields"])


@pytest.mark.parametrize(("name", "most"), [("BULK_ENTRIES", 3), ("BULK_BYTES", 5_000)])
def test_a_bulk_is_bounded(server, engine, monkeypatch, name, most):
    """By entries and by bytes, but for an entry that is larger by itself.

    Nothing is lost, doubled or reordered.
    """
    monkeypatch.setattr(writing, name, most)
    texts = ["é" * 300, "€" * 2000, *["gnu " * 50] * 20]
    write(engine, prepared("d", texts))
    sizes = [
        len(actions_of(r)) if name == "BULK_ENTRIES" else len(r.text.encode())
        for r in server.asked("_bulk")
    ]
    assert len(sizes) > 5
    assert [size for size in sizes if size > most] == (
        [] if name == "BULK_ENTRIES" else [max(sizes)]
    )
    sent = [key for request in server.asked("_bulk")[1:-1] for key in actions_of(request)]
    assert [entry_id("chunk", f"d::c{n:03}") for n in range(len(texts))] == sent


def test_a_bulk_is_as_large_as_servers_advise():
    """A server takes 100 MB a request and works best with a twentieth of that."""
    assert (500, 8 * 2**20) == (writing.BULK_ENTRIES, writing.BULK_BYTES)


def shown(server):
    """How often readers were shown what was written, and the generations that were set."""
    puts = [
        json.loads(request.text)["generation"]
        for request in server.asked("state")
        if request.method == "PUT"
    ]
    return len(server.asked("_refresh")), puts


def test_each_call_is_shown(server, engine):
    """In an index that holds documents each call ends with a refresh, and then the generation
    grows.
    """
    with engine.writer(FINGERPRINT) as writer:
        assert (1, []) == shown(server)
        writer.replace([DOCUMENT])
        assert (2, [2]) == shown(server)
        writer.replace([DOCUMENT])
    assert (3, [2, 3]) == shown(server)
    assert ["_refresh", "state"] == [
        request.what for request in server.requests if request.what != "lease"
    ][-2:]


@pytest.mark.parametrize("error", [None, ZeroDivisionError])
def test_a_first_load_is_shown_at_its_end(server, engine, error):
    """While an empty index is filled nothing is refreshed.

    An exception does not hide what was stored.
    """
    server.answer("_count", Answer({"count": 0}))
    with suppress(ZeroDivisionError), engine.writer(FINGERPRINT) as writer:
        writer.replace([DOCUMENT])
        writer.replace([DOCUMENT])
        assert (1, []) == shown(server)
        if error:
            raise error
    assert (2, [2]) == shown(server)


def test_a_first_load_that_was_killed_is_shown_by_the_next_writer(server, engine):
    """Its documents appear with the refresh at the start, and the generation grows with them."""
    server.answer("_count", Answer({"count": 0}), Answer({"count": 1}))
    with engine.writer(FINGERPRINT):
        pass
    assert [2] == shown(server)[1]


def leased(answers):
    """Gives the lease to who asks and tells who that was; renewals get the answers in turn."""
    held = {}

    def answer(request):
        if request.method == "GET":
            found = {"found": True, "_seq_no": 9, "_primary_term": 1, "_source": held}
            return Answer(found) if held else lease(request)
        if request.method == "PUT" and "op_type" not in request.query:
            given = answers.pop(0) if answers else GIVEN
            return given(held) if callable(given) else given
        held.update(json.loads(request.text) if request.text else {})
        return GIVEN

    return answer


def test_a_renewal_whose_answer_was_lost_is_ours(server, engine):
    """The repeated renewal conflicts with the first, which holds all the same.

    The next one goes on from there.
    """
    server.answer(
        "lease", leased([Answer(fault="reset"), recorded("basic_version_conflict_seq_no")])
    )
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([DOCUMENT])
        writer.replace([DOCUMENT])
    puts = [request.query for request in server.asked("lease") if request.method == "PUT"]
    assert ["if_seq_no=7" in query for query in puts] == [False, True, True, False]
    assert "if_seq_no=9" in puts[-1]


def test_a_lease_that_another_has_taken_ends_the_writing(server, engine):
    """The renewal says that another program writes.

    Nothing is stored, and that program's lease and state stay.
    """

    def taken_over(held):
        held["holder"] = "elsewhere 1 x"
        return recorded("basic_version_conflict_seq_no")

    server.answer("lease", leased([GIVEN, taken_over]))
    with pytest.raises(IndexBusy, match="has begun"), engine.writer(FINGERPRINT) as writer:  # noqa: PT012 -- in two calls
        writer.replace([DOCUMENT])
        bulks = len(server.asked("_bulk"))
        writer.replace([DOCUMENT])
    assert bulks == len(server.asked("_bulk"))
    assert [2] == shown(server)[1]
    (given_back,) = [
        request.query for request in server.asked("lease") if request.method == "DELETE"
    ]
    assert "if_seq_no=7" in given_back


@pytest.mark.parametrize(
    "answer", [recorded("limits_bulk_429_whole"), Answer({"error": "busy"}, 503)]
)
@pytest.mark.faults
def test_a_busy_server_is_asked_again(server, engine, answer):
    """A bulk that is turned away as a whole is sent again as it was (case 20)."""
    server.answer("_bulk", taken, answer, answer, taken)
    write(engine)
    bulks = server.asked("_bulk")
    assert 5 == len(bulks)
    assert bulks[1].text == bulks[2].text == bulks[3].text


@pytest.mark.faults
def test_a_bulk_that_is_too_large_is_halved(server, engine):
    """A 413, whose body is empty, makes halves until they fit, and every entry is sent once (case
    22).
    """
    stored = []

    def two_at_most(request):
        if len(actions_of(request)) > 2:
            return recorded("limits_bulk_413")
        stored.extend(actions_of(request))
        return taken(request)

    server.answer("_bulk", two_at_most)
    write(engine)
    record = entry_id("document", "d")
    assert [record, *(entry_id("chunk", key) for key in CHUNKS), record] == stored


def test_an_entry_that_is_too_large_is_an_error(server, engine):
    """One entry cannot be halved; the hint names the server's setting."""
    server.answer("_bulk", recorded("limits_bulk_413"))
    error = failure(lambda: write(engine))
    assert 413 == error.status
    assert "http.max_content_length" in error.hint


@pytest.mark.faults
def test_a_full_disk_is_said_at_once(server, engine):
    """A flood-stage block is a 429 as well.

    It is not repeated, whether for an item or the whole request (case 23).
    """
    full = recorded_item("basic_block_flood_bulk")
    server.answer("_bulk", lambda r: items(r, full))
    assert "disk is full" in failure(lambda: write(engine)).hint
    server.answer("_bulk", recorded("basic_block_flood_put"))
    assert "disk is full" in failure(lambda: write(engine)).hint
    assert 2 == len(server.asked("_bulk"))


@pytest.mark.parametrize("fault", ["reset", "hang", "half"])
@pytest.mark.faults
def test_a_write_whose_answer_is_lost_is_repeated(server, engine, fault):
    """Case 20: what was applied before the connection broke is sent again with the same ids, so it
    is stored once.
    """
    server.answer("_bulk", taken, Answer({"items": []}, fault=fault), taken)
    write(engine)
    bulks = server.asked("_bulk")
    assert 4 == len(bulks)
    assert bulks[1].text == bulks[2].text


# Reaching a server


@pytest.mark.parametrize("given", ["user:s3cret%40x@", ""])
def test_nothing_listens(opened, given):
    """A refused first connection is said at once, in one line with the address and without the
    password.
    """
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unused.getsockname()[1]}"
        engine = opened(
            f"http://{given}{host}",
            retries=RetryPolicy(request_waits_s=(3600,)),
            password="" if given else "s3cret@x",
            username="" if given else "user",
        )
        error = failure(engine.exists, EngineUnreachable)
    assert f"http://{host}" in str(error)
    assert "refused" in str(error)
    assert "s3cret" not in f"{error} {error.hint} {error.__cause__!r} {engine._options}"


def test_a_password_in_the_address_is_decoded(server, opened):
    """Signs that an address cannot hold are written as %40 and sent as they are."""
    opened(server.url.replace("http://", "http://user:s3cret%40x@")).exists()
    opened(server.url, username="user", password="s3cret@x").exists()
    assert 1 == len({request.headers["authorization"] for request in server.requests})


@pytest.mark.parametrize("fault", ["half", "reset", "hang"])
@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
def test_a_server_that_breaks_off(serve, opened, product, fault):
    """Half an answer, and none, are tried again, and in the end the server cannot be reached."""
    server = serve(product)
    server.answer("library", Answer({"a": "b" * 99}, fault=fault))
    once = replace(QUICK, request_waits_s=(0.001,))
    error = failure(opened(server.url, once).exists, EngineUnreachable)
    assert server.url in str(error)
    assert 2 == len(server.asked("library"))


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"{nonsense", 200, JSON),
        Answer(b"[1]", 200, JSON),
        Answer(b"<html><body>Sign in</body></html>", 200, {"content-type": "text/html"}),
        Answer(b"", 200, {}),
        Answer(b"x", 200, {"content-type": "image/png"}),
    ],
    ids=["broken", "list", "html", "empty", "picture"],
)
def test_an_answer_that_is_no_json_object(serve, opened, product, answer):
    """Whatever else comes with 200, first or later, is one line that asks for the right address,
    and said at once.
    """
    server = serve(product)
    server.answer("library", answer)
    assert "engine.url" in failure(opened(server.url).exists).hint
    assert 1 == len(server.asked("library"))
    server.answer("root", answer)
    assert "engine.url" in failure(opened(server.url).exists).hint


@pytest.mark.parametrize("status", [200, 404, 500])
def test_html_from_something_else(server, engine, status):
    """A web server at the address is an error of one short line, and no index that is missing."""
    page = b"<html>\n<body>\n" + b"<p>Welcome</p>\n" * 999
    server.answer("root", Answer(page, status, {"content-type": "text/html"}))
    error = failure(engine.exists)
    assert len(str(error)) < 500
    assert not isinstance(error, IndexMissing)


def test_json_from_something_else(server, engine):
    """Another product that speaks JSON is no search engine."""
    server.answer("root", Answer({"hello": "world"}, 200, JSON))
    assert "does not answer as a search engine" in str(failure(engine.exists))


def test_https_to_a_server_without_it(server, opened):
    """A connection that cannot be made secure is said at once, with what to set."""
    error = failure(opened(server.url.replace("http://", "https://")).exists)
    assert not isinstance(error, EngineUnreachable)
    assert "engine.ca_file" in error.hint


@pytest.mark.parametrize(("number", "media_types"), [("8.18.2", {"8"}), ("9.5.3", {"8", "9"})])
def test_the_media_types_are_the_servers_own(serve, opened, number, media_types):
    """An older Elasticsearch refuses media types of a newer version, so it gets its own."""
    server = serve(number=number)
    write(opened(server.url))
    asked = [
        r.headers[name]
        for r in server.requests
        for name in ("accept", "content-type")
        if name in r.headers
    ]
    assert media_types == {value.rpartition("=")[2] for value in asked}
    assert "8" == server.asked("root")[0].headers["accept"].rpartition("=")[2]


def test_a_server_that_is_too_old(serve, opened):
    """A version that esrag was not made for is named with the one that is needed."""
    engine = opened(serve(number="8.17.9").url)
    for _ in range(2):
        assert "8.18 or newer" in str(failure(engine.exists))


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
def test_a_first_use_by_many_at_once(serve, opened, product):
    """Threads that ask before anything is known of the server learn it from one look."""
    server = serve(product)
    engine, results, together = opened(server.url), [], threading.Barrier(8)

    def ask():
        together.wait()
        results.append(engine.search(QUESTION).path)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["rrf-native"] * 8 == results
    assert 1 == len(server.asked("root"))


@pytest.mark.parametrize(
    "options",
    [
        {"url": "http://user:s3cret@localhost:abc"},
        {"url": "https://"},
        {"url": "http://[::1"},
        {"url": "https://localhost:1", "ca_file": "/not/there"},
        {"url": "https://localhost:1", "certificate_fingerprint": "zz"},
    ],
)
def test_settings_that_no_client_takes(opened, options):
    """An address, a file or a fingerprint that cannot be used is one line without the password."""
    error = failure(opened(**options).exists, EsragError)
    assert "engine." in error.hint
    assert "s3cret" not in str(error)


# Being let in


def test_a_wrong_password(server, engine):
    """A 401 says so with what to set, and is not tried again."""
    server.answer("root", recorded("security_401_wrong_password"))
    error = failure(engine.exists)
    assert "unable to authenticate user [elastic]" in str(error)
    assert "engine.api_key" in error.hint
    assert 1 == len(server.requests)


def test_opensearch_refuses_in_plain_text(serve, opened):
    """A refusal that is no JSON keeps its words."""
    server = serve("opensearch")
    server.answer(
        "library", Answer(b"Unauthorized", 401, {"content-type": "text/plain; charset=UTF-8"})
    )
    assert "Unauthorized" in str(failure(opened(server.url).exists))


def test_a_missing_permission_is_no_missing_licence(server, engine):
    """A 403 of a permission is an error, at the first question and at a later one."""
    server.answer("_msearch", recorded("security_403_search"))
    error = failure(lambda: engine.search(QUESTION))
    assert "is unauthorized for API key" in str(error)
    assert "may not" in error.hint
    server.answer("_msearch", found, recorded("security_403_search"))
    assert "is unauthorized for API key" in str(failure(lambda: engine.search(QUESTION)))


def test_an_alias_that_is_missing(server, engine):
    """An error that is a text and not an object is understood: there is no index."""
    server.answer("library", recorded("basic_alias_missing"))
    assert not engine.exists()
    assert "esrag ingest" in failure(lambda: engine.search(QUESTION), IndexMissing).hint


# Fusion by ranks


@pytest.mark.parametrize("name", [LICENCE, UNKNOWN])
def test_a_server_that_cannot_fuse(server, engine, name):
    """Without a licence or the retriever both legs are fused here, and the server is asked for it
    but once.
    """
    server.answer("_msearch", licensed_only(name))
    for _ in range(3):
        result = engine.search(QUESTION)
        assert ("rrf-client", CHUNKS[:2]) == (
            result.path,
            [hit.chunk.chunk_id for hit in result.hits],
        )
    assert [True, *[False] * 6] == [
        asks_for_fusion(request) for request in server.asked("_msearch")
    ]


def test_a_server_that_can_fuse(server, engine):
    """With a licence the server fuses.

    A small question tells, for a narrow key may not read the licence.
    """
    result = engine.search(QUESTION)
    assert ("rrf-native", CHUNKS[:2]) == (result.path, [hit.chunk.chunk_id for hit in result.hits])
    assert ["root", "library", "_msearch", "_msearch"] == [
        request.what for request in server.requests
    ]
    probe, question = server.asked("_msearch")
    assert 1 == probe.lines[1]["size"] < question.lines[1]["size"]


def test_a_server_that_fused_another_list(server, engine):
    """Where a hit that the two legs make due is missing, as ties at a cut can do, the hits are read
    by their ids.
    """
    other = {**NOTHING, "hits": {"hits": [hit(2, 0.03), hit(1, 0.02)]}}

    def fused(request):
        answers = found(request).body["responses"]
        return Answer({"responses": [other, *answers[1:]] if asks_for_fusion(request) else answers})

    server.answer("_msearch", fused)
    result = engine.search(QUESTION)
    assert ("rrf-client", CHUNKS[:2]) == (result.path, [hit.chunk.chunk_id for hit in result.hits])


@pytest.mark.parametrize(
    ("said", "fusion", "weight", "path"),
    [
        ("elasticsearch 9.1.9", "rrf", 0.5, "rrf-native"),
        ("elasticsearch 9.1.9", "rrf", 0.3, "rrf-client"),
        ("elasticsearch 9.2.0", "rrf", 0.3, "rrf-native"),
        ("elasticsearch 9.5.3", "weighted", 0.3, "weighted-client"),
        ("opensearch 3.0.0", "rrf", 0.5, "rrf-native"),
        ("opensearch 3.0.0", "rrf", 0.3, "rrf-client"),
        ("opensearch 3.1.0", "rrf", 0.3, "rrf-native"),
        ("opensearch 3.0.0", "weighted", 0.3, "weighted-native"),
    ],
)
def test_a_fusion_is_asked_of_a_server_that_knows_it(serve, opened, said, fusion, weight, path):
    """Weights of ranks came later, and Elasticsearch scales scores in another way."""
    server = serve(*said.split())
    assert (
        path
        == opened(server.url).search(replace(QUESTION, fusion=fusion, vector_weight=weight)).path
    )
    assert path.endswith("native") == asks_for_fusion(server.asked("_msearch")[-1])


def outline(body):
    """The shape of a request: its names, with numbers and texts made alike, and what is searched
    left out.
    """
    if isinstance(body, dict):
        return {
            name: "" if name in {"query", "filter"} else outline(part)
            for name, part in body.items()
        }
    if isinstance(body, list):
        return [outline(part) for part in body if isinstance(part, dict)] or "list"
    return "text" if isinstance(body, str) else "number"


@pytest.mark.parametrize(
    ("name", "weight"), [("trial_rrf_filter", 0.5), ("trial_rrf_weighted", 0.2)]
)
def test_elasticsearch_is_asked_as_it_was_when_it_answered(server, engine, name, weight):
    """What is sent has the shape of a request that a real server took, and the filter besides."""
    engine.search(replace(QUESTION, vector_weight=weight))
    sent = server.asked("_msearch")[-1].lines[1]
    taken = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))["request"]["body"]
    taken["retriever"]["rrf"].setdefault("filter", {})
    assert outline(taken) == outline(sent)
    weights = [child.get("weight") for child in sent["retriever"]["rrf"]["retrievers"]]
    assert weights == ([None, None] if weight == 0.5 else [1.6, 0.4])


@pytest.mark.parametrize(
    ("weight", "fusion"), [(0.5, "rrf"), (0, "rrf"), (0.3, "rrf"), (1, "weighted")]
)
def test_opensearch_is_told_how_to_fuse(serve, opened, weight, fusion):
    """The processor is in the request, with weights that add up to 1 and are floats: whole numbers
    end in a 500.
    """
    server = serve("opensearch")
    opened(server.url).search(replace(QUESTION, fusion=fusion, vector_weight=weight))
    asked = server.asked("_msearch")[-1].lines[1]
    ((name, processor),) = asked["search_pipeline"]["phase_results_processors"][0].items()
    assert name == ("score-ranker-processor" if fusion == "rrf" else "normalization-processor")
    weights = processor["combination"].get("parameters", {}).get("weights")
    assert weights == (None if weight == 0.5 else [1 - weight, weight])
    assert {float} == set(map(type, weights or [1.0]))
    assert asked["query"]["hybrid"]["pagination_depth"] == QUESTION.candidates


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize(
    ("size", "candidates"), [(1, 1), (10, 5), (10, 100), (1000, 1), (10_000, 10_000)]
)
def test_no_question_passes_a_limit_of_the_server(serve, opened, product, size, candidates):
    """Either server takes 10,000 hits and neighbours, and Elasticsearch a list that is no longer
    than its window.
    """
    server = serve(product)
    opened(server.url).search(replace(QUESTION, size=size, candidates=candidates))
    fused, *legs = server.asked("_msearch")[-1].lines[1::2]
    depth = max(size, candidates)
    assert (
        min(size, 10_000) <= fused["size"] <= depth == legs[0]["size"] == legs[1]["size"] <= 10_000
    )
    if product == "elasticsearch":
        assert depth == fused["retriever"]["rrf"]["rank_window_size"] == legs[1]["knn"]["k"]
        assert depth <= legs[1]["knn"]["num_candidates"] <= 10_000
    else:
        near = legs[1]["query"]["knn"]["embedding"]
        assert depth == near["k"] <= near["method_parameters"]["ef_search"] <= 10_000


@pytest.mark.parametrize("too_many", [{"size": 10_001}, {"candidates": 10_001}])
def test_more_than_a_server_reads_is_said_before_it_is_asked(server, engine, too_many):
    """The error names the limit."""
    assert "10000" in str(failure(lambda: engine.search(replace(QUESTION, **too_many)), UsageError))
    assert [] == server.asked("_msearch")


def test_an_index_that_lost_its_vectors_is_an_error(server, engine):
    """A server finds no neighbours in a field that is not mapped and says nothing, so the mapping
    is looked at.
    """
    lost = index_of(meta(FINGERPRINT))
    del lost["mappings"]["properties"]["embedding"]
    server.answer("library", Answer({"library-000001": lost}))
    error = failure(lambda: engine.search(QUESTION), IndexMismatch)
    assert "8 dimensions" in str(error)
    assert "--rebuild" in error.hint
    assert "keyword" == engine.search(replace(QUESTION, method="keyword")).path


@pytest.mark.parametrize(
    "reason",
    [
        "unknown query [hybrid]",
        "Invalid processor type score-ranker-processor",
        "Field is not supported by [hybrid] query",
    ],
)
def test_an_opensearch_that_cannot_fuse(serve, opened, reason):
    """An OpenSearch without the plugin, or with an older one, is asked for both legs."""
    server = serve("opensearch")
    error = {
        "root_cause": [{"type": "parsing_exception", "reason": reason}],
        "type": "x",
        "reason": reason,
    }
    refused = Answer({"error": error, "status": 400}, 400)
    server.answer("_msearch", lambda r: refused if asks_for_fusion(r) else found(r))
    assert "rrf-client" == opened(server.url).search(QUESTION).path


def test_an_opensearch_before_3_filters_each_leg(serve, opened):
    """It knows no filter of the fusion, and answers 400 to one; the filter stands in both legs."""

    def older(request):
        bodies = [
            line["query"]["hybrid"] for line in request.lines if "hybrid" in line.get("query", {})
        ]
        if any("filter" in body for body in bodies):
            reason = "Field is not supported by [hybrid] query"
            return Answer(
                {"error": {"type": "parsing_exception", "reason": reason}, "status": 400}, 400
            )
        return found(request)

    server = serve("opensearch", "2.19.4")
    server.answer("_msearch", older)
    asked = SearchRequest("zebra", QUESTION.vector, filter=Terms("doc_id", ("wanted",)))
    assert "rrf-native" == opened(server.url).search(asked).path
    hybrid = server.asked("_msearch")[-1].lines[1]["query"]["hybrid"]
    assert ["6:doc_id:t:wanted" in json.dumps(leg) for leg in hybrid["queries"]] == [True, True]


def test_a_licence_that_ends_under_many_threads(server, engine):
    """All of them are answered, whoever notices it first."""
    assert "rrf-native" == engine.search(QUESTION).path
    server.answer("_msearch", licensed_only(LICENCE))
    with ThreadPoolExecutor(8) as pool:
        paths = [result.path for result in pool.map(engine.search, [QUESTION] * 64)]
    assert paths == ["rrf-client"] * 64


def test_a_licence_that_ends(server, engine):
    """A trial that ends under a running program costs no answer."""
    assert "rrf-native" == engine.search(QUESTION).path
    server.answer("_msearch", licensed_only(LICENCE))
    assert ["rrf-client", "rrf-client"] == [engine.search(QUESTION).path for _ in range(2)]


def test_a_wrong_question_is_no_missing_fusion(server, engine):
    """A 400 for any other reason is an error with the innermost reason."""
    server.answer("_msearch", recorded("trial_rrf_wrong_dims"))
    error = failure(lambda: engine.search(QUESTION))
    assert "the query vector has a different number of dimensions" in str(error).lower()
    assert "All failures are attached" not in str(error)


def test_a_list_that_was_not_fused(serve, opened):
    """OpenSearch's marks between legs are no scores: such a list is refused."""
    server = serve("opensearch")
    marked = {**NOTHING, "hits": {"hits": [hit(0, -9549512000.0), hit(1, -4422440593.0)]}}
    server.answer("_msearch", lambda r: Answer({"responses": [marked, NOTHING, NOTHING]}))
    assert "did not fuse" in str(failure(lambda: opened(server.url).search(QUESTION)))


def test_a_hit_that_was_removed_meanwhile(server, engine):
    """What the legs found and is not there any more when it is read, is no hit.

    The others keep ranks and scores.
    """
    request = SearchRequest("zebra", method="keyword")
    one, two = engine.search(request).hits
    assert [CHUNKS[0], CHUNKS[1]] == [one.chunk.chunk_id, two.chunk.chunk_id]
    left = {**NOTHING, "hits": {"hits": [hit(1, 0.0)]}}
    server.answer("_msearch", found, Answer({"responses": [left]}))
    assert (two,) == engine.search(request).hits


# A red cluster: a shard has no copy that is there

RED = {
    "search": ("search_phase_execution_exception", "all shards failed"),
    "read": (
        "no_shard_available_action_exception",
        "No shard available for [get [library-000001][lease]]",
    ),
    "bulk": ("unavailable_shards_exception", "[library-000001][0] primary shard is not active"),
    "start": (
        "cluster_block_exception",
        "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];",
    ),
}


def red(what, wrapped=lambda error: Answer(error, 503)):
    """What a server answers while it cannot get at the data."""
    kind, reason = RED[what]
    return wrapped(
        {
            "error": {"type": kind, "reason": reason, "root_cause": [], "failed_shards": []},
            "status": 503,
        }
    )


def each(error):
    """The same answer to each of many searches, in one that is good."""
    return lambda request: Answer({"responses": [error] * (len(request.lines) // 2)})


ASK = lambda engine: engine.search(QUESTION)  # noqa: E731 -- a cell of the table below
RED_ANSWERS = [
    ("_msearch", red("search", each), found, ASK),
    ("_msearch", red("start"), found, ASK),
    ("library", red("start"), Answer({"library-000001": index_of(meta(FINGERPRINT))}), ASK),
    ("_search", red("search"), Answer(NOTHING), lambda engine: list(engine.chunks())),
    ("_count", red("search"), Answer({"count": 1}), write),
    ("lease", red("read"), lease, write),
    ("_bulk", red("start"), taken, write),
    ("_bulk", lambda r: red("bulk", lambda error: items(r, {"index": error})), taken, write),
]


@pytest.mark.parametrize(("what", "answer", "well", "use"), RED_ANSWERS)
def test_a_shard_that_comes_back_costs_no_answer(server, engine, what, answer, well, use):
    """Whether every search or entry fails or the request: what was asked is asked again, and then
    goes on.
    """
    server.answer(what, answer, answer, well)
    use(engine)
    assert len(server.asked(what)) >= 3


@pytest.mark.parametrize(("what", "answer", "well", "use"), RED_ANSWERS)
def test_a_shard_that_stays_away_is_an_error(server, engine, what, answer, well, use):
    """Never an empty index or a document set aside, but one line with what the server said."""
    del well
    server.answer(what, answer)
    error = failure(lambda: use(engine))
    assert (503, True) == (error.status, any(reason in str(error) for _, reason in RED.values()))
    assert len(server.asked(what)) >= len(QUICK.request_waits_s)
    assert "esrag doctor" in error.hint


# Answers in part


@pytest.mark.parametrize(
    "broken", [recorded("basic_shard_failure_partial").body, {"timed_out": True}]
)
@pytest.mark.parametrize("method", ["hybrid", "keyword", "vector"])
def test_an_answer_in_part_is_an_error(server, engine, method, broken):
    """Hits of some shards, or of the time there was, are not taken for all hits."""
    request = SearchRequest("zebra", QUESTION.vector, method)
    server.answer(
        "_msearch",
        lambda r: Answer({"responses": [*[NOTHING] * (len(r.lines) // 2 - 1), NOTHING | broken]}),
    )
    assert "hits would be missing" in str(failure(lambda: engine.search(request)))


@pytest.mark.parametrize(
    "name",
    [
        "security_403_msearch_one_denied",
        "basic_msearch_one_bad",
        "basic_index_closed",
        "limits_search_breaker",
    ],
)
def test_one_of_many_searches_fails(server, engine, name):
    """An error in one item of a good answer is the question's error, with the item's status."""
    body = recorded(name).body
    item = body["responses"][1] if "responses" in body else body
    server.answer("_msearch", Answer({"responses": [NOTHING, item]}))
    error = failure(
        lambda: engine.search(SearchRequest("zebra", QUESTION.vector, fusion="weighted"))
    )
    assert (item["status"], item["error"]["type"]) == (error.status, error.kind)


def test_a_fusion_one_of_whose_legs_failed(server, engine):
    """Asked for whole lists only, a server says that a leg failed.

    The shard's reason is shown, not the wrapper's.
    """
    failed = recorded("trial_rrf_partial_shard_failure_strict").body
    server.answer("_msearch", found, Answer({"responses": [failed, NOTHING, NOTHING]}))
    said = str(failure(lambda: engine.search(QUESTION)))
    assert "only supported on [dense_vector] fields" in said
    assert "All failures are attached" not in said


def test_a_search_without_room_is_asked_again(server, engine):
    """A circuit breaker's 429 passes by itself; one that stays is an error with its reason."""
    full = recorded("limits_search_breaker")
    server.answer("_msearch", found, full, full, found)
    assert "rrf-native" == engine.search(QUESTION).path
    server.answer("_msearch", full)
    assert "Data too large" in str(failure(lambda: engine.search(QUESTION)))


def test_a_strict_search_says_what_failed(server, engine):
    """Of a search that failed in part the shard's reason is shown, and reading on is no option."""
    server.answer("_search", recorded("basic_shard_failure_strict"))
    said = str(failure(lambda: list(engine.documents())))
    assert "Fielddata is disabled" in said
    assert "Partial shards failure" not in said


@pytest.mark.parametrize("product", ["elasticsearch", "opensearch"])
@pytest.mark.parametrize("fuses", [True, False])
def test_every_search_is_strict_and_filtered(serve, opened, product, fuses):
    """No search allows partial results, and the filter reaches every leg and the fusion."""
    server = serve(product)
    server.answer("_msearch", found if fuses else licensed_only(LICENCE))
    engine = opened(server.url)
    result = engine.search(
        SearchRequest("zebra", QUESTION.vector, filter=Terms("doc_id", ("wanted",)))
    )
    assert result.path == ("rrf-native" if fuses else "rrf-client")
    requests = server.asked("_msearch")
    assert all(
        header["allow_partial_search_results"] is False for r in requests for header in r.lines[::2]
    )
    bodies = [body for r in requests[1:] for body in r.lines[1::2]]
    assert 3 == len(bodies)  # the fusion and both legs, or both legs and what was found
    assert all("6:doc_id:t:wanted" in json.dumps(body) for body in bodies)
    server.answer("_search", Answer(NOTHING))
    assert [] == list(engine.chunks())
    assert {} == engine.vectors_of(["zebra"])
    assert all(
        "allow_partial_search_results=false" in request.query for request in server.asked("_search")
    )


# What stands behind the alias


def test_an_alias_of_two_indexes(server, engine):
    """Both are named, with what to do."""
    made = index_of(meta(FINGERPRINT))
    server.answer("library", Answer({"b": made, "a": made}))
    error = failure(lambda: engine.search(QUESTION))
    assert "several indexes: a, b" in str(error)
    assert "engine.index" in error.hint


@pytest.mark.parametrize(
    ("said", "words"),
    [(None, "not made by esrag"), (meta(FINGERPRINT) | {"schema": 5}, "schema 5")],
)
def test_an_index_of_another_kind(server, engine, said, words):
    """An index of someone else's, and one of a newer esrag, are neither read nor written."""
    server.answer("library", Answer({"library-000001": index_of(said)}))
    for use in (
        lambda: engine.search(QUESTION),
        lambda: write(engine),
        lambda: list(engine.documents()),
    ):
        error = failure(use, IndexMismatch)
        assert words in str(error)
        assert "engine.index" in error.hint
    assert {"root", "library"} == {request.what for request in server.requests}


def test_an_index_that_another_program_made_meanwhile_is_written(server, engine):
    """Of two that make an index at once the slower one is refused, and goes on with that of the
    other.
    """
    missing = recorded("basic_alias_missing")
    server.answer(
        "library",
        missing,
        missing,
        missing,
        Answer({"library-000001": index_of(meta(FINGERPRINT))}),
    )
    server.answer("library-*", Answer({}))
    server.answer("library-000001", recorded("basic_index_exists_already"))
    write(engine)
    assert ["PUT"] == [request.method for request in server.asked("library-000001")]
    assert {"/library-000001/_bulk"} == {request.path for request in server.asked("_bulk")}


def test_a_name_that_another_rebuild_took_meanwhile_stays_its_own(server, engine):
    """The next one is taken, and nothing is removed."""
    server.answer(
        "library-*",
        Answer({"library-000001": {}}),
        Answer({"library-000001": {}, "library-000002": {}}),
    )
    server.answer("library-000002", recorded("basic_index_exists_already"))
    server.answer("library-000003", Answer({}))
    server.answer("_aliases", Answer({}))
    with engine.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace([DOCUMENT])
    assert ["PUT"] == [request.method for request in server.asked("library-000002")]
    assert {"/library-000003/_bulk"} == {request.path for request in server.asked("_bulk")}
    assert [r.path for r in server.requests if r.method == "DELETE" and "lease" not in r.path] == []


def test_a_swap_whose_answer_was_lost_is_not_undone(server, engine):
    """Sent again, the server says that the old index is gone: the new one is behind the alias, and
    stays.
    """
    old, new = (
        index_of(meta(FINGERPRINT)),
        {**index_of(meta(FINGERPRINT)), "aliases": {"library": {}}},
    )
    missing = Answer(
        {"error": {"type": "index_not_found_exception", "reason": "no such index"}}, 404
    )

    def swapped(request):
        server.answer("library", Answer({"library-000002": new}))
        return missing

    server.answer("library-*", Answer({"library-000001": old}))
    server.answer("library-000002", Answer({}))
    server.answer("library", Answer({"library-000001": old}))
    server.answer("_aliases", Answer(fault="reset"), swapped)
    with engine.writer(FINGERPRINT, rebuild=True) as writer:
        writer.replace([DOCUMENT])
    assert len(server.asked("_aliases")) == 2
    assert [r.path for r in server.requests if r.method == "DELETE" and "lease" not in r.path] == []


def test_a_rebuild_leaves_another_programs_index_alone(server, engine):
    """An index that has the number of the next one and is not ours stays: the number after it is
    taken.
    """
    server.answer(
        "library-*", Answer({"library-000001": {}, "library-000002": {}, "library-old-000007": {}})
    )
    server.answer("library-000003", Answer({}))
    server.answer("_aliases", Answer({}))
    with engine.writer(FINGERPRINT, rebuild=True):
        pass
    assert [r.path for r in server.requests if r.method == "DELETE" and "lease" not in r.path] == []
    assert [
        line["add"]["index"] for line in json.loads(server.asked("_aliases")[0].text)["actions"][:1]
    ] == ["library-000003"]


def test_an_index_named_by_itself_is_not_rebuilt_nor_swapped(server, opened):
    """Behind its name no other can be put, and removing it would take along the alias it has."""
    engine = ServerEngine(EngineOptions(server.url, "library-000001"), QUICK)
    server.answer("library-000001", Answer({"library-000001": index_of(meta(FINGERPRINT))}))
    server.answer("library-000002", Answer({"library-000002": index_of(meta(FINGERPRINT))}))
    for use in (
        lambda: engine.swap("library-000002"),
        lambda: engine.create(FINGERPRINT),
        lambda: rebuild(engine),
    ):
        with pytest.raises(UsageError, match="an index, not an alias"):
            use()
    assert [
        request.method for request in server.requests if request.method in {"PUT", "DELETE"}
    ] == []
    engine.close()


def rebuild(engine):
    """Makes the index anew, of nothing."""
    with engine.writer(FINGERPRINT, rebuild=True):
        pass


def test_what_a_rebuild_left_is_removed_by_the_next(server, engine):
    """Of the indexes that carry the mark of the unfinished, and of no other."""
    server.answer("library-UNFINISHED", Answer({"library-000002": {}}))
    server.answer("library-000002", Answer({}))
    server.answer("library-000001", Answer({}))
    server.answer("_aliases", Answer({}))
    with engine.writer(FINGERPRINT, rebuild=True):
        pass
    gone = [r.path for r in server.requests if r.method == "DELETE" and "lease" not in r.path]
    assert gone == ["/library-000002"]


def test_an_index_whose_making_was_cut_short_can_be_written(server, engine):
    """Without its state it has the generation 0, and the first batch gives it the next."""
    server.answer(
        "state", lambda r: Answer({"found": False}, 404) if r.method == "GET" else Answer({})
    )
    assert engine.generation() == 0
    with engine.writer(FINGERPRINT) as writer:
        writer.replace([DOCUMENT])
    (put,) = [request for request in server.asked("state") if request.method == "PUT"]
    assert json.loads(put.text)["generation"] == 1
