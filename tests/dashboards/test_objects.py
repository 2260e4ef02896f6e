"""The saved objects: whole, and about fields that exist and can be counted on both engines."""

import json
import re
import uuid
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise

import pytest

from esrag.dashboards.objects import build_objects
from esrag.engines import EngineOptions
from esrag.engines.server import ServerEngine
from esrag.engines.server.connection import Connection
from esrag.engines.server.entries import (
    chunk_entry,
    document_entry,
    failure_entry,
    hash_near_duplicates,
)
from esrag.ingesting import Outcome, Result, Task
from esrag.ledger import Batch
from esrag.ledger.server import ServerStore
from esrag.ledger.store import batch_row
from esrag.runs.server import ServerRuns
from esrag.settings import RunsSettings

INDEX = "library-1.0_x"
OBJECTS = {(item["type"], item["id"]): item for item in build_objects(INDEX)}
OF_TYPE = {kind: [item for item in OBJECTS.values() if item["type"] == kind] for kind, _ in OBJECTS}
METRICS = {"count", "avg", "percentiles"}
MAPPINGS = {
    name: json.loads((files("esrag.mappings") / f"{name}.json").read_text())["mappings"][
        "properties"
    ]
    for name in ("elasticsearch", "opensearch", "ledger", "runs")
}


def view_of(item):
    """What it shows: the index itself ("view"), its ledger or its runs."""
    views = [one["id"] for one in item["references"] if one["type"] == "index-pattern"]
    return views[0].removeprefix("esrag-").removesuffix(f"-{INDEX}") if views else ""


def of_view(view, kind):
    """The objects of a kind that show it."""
    return [item for item in OF_TYPE[kind] if view_of(item) == view]


def source(item):
    """The search an object makes."""
    return json.loads(item["attributes"]["kibanaSavedObjectMeta"]["searchSourceJSON"])


def state(item):
    """What a visualisation shows."""
    return json.loads(item["attributes"]["visState"])


def query_of(item):
    """An object's query in the engines' language; it is one of the few forms that are used here."""
    parts = source(item)["query"]["query"].split(" and ")
    return {"bool": {"filter": [clause(*part.split(": ")) for part in parts]}}


def clause(field, wanted):
    """`entry: "chunk"`, `entry: ("chunk" or "document")` or `near_hash: *`."""
    return (
        {"exists": {"field": field}}
        if wanted == "*"
        else {"terms": {field: re.findall(r'"(\w+)"', wanted)}}
    )


def fields_of(item):
    """Every field that an object names."""
    attributes = item["attributes"]
    yield from attributes.get("columns", ())
    yield from (field for field, _ in attributes.get("sort", ()))
    if "visState" in attributes:
        yield from (agg["params"]["field"] for agg in state(item)["aggs"] if agg["type"] != "count")
    if "kibanaSavedObjectMeta" in attributes:
        yield from re.findall(r"(\w+):", source(item)["query"]["query"])


def aggregations_of(item):
    """What Kibana asks a server for: each bucket within the one before, and metrics in the last.

    The count is the buckets' own.
    """
    nested = {
        agg["id"]: {
            agg["type"]: {
                name: agg["params"][name] for name in ("field", "percents") if name in agg["params"]
            }
        }
        for agg in state(item)["aggs"]
        if agg["type"] in METRICS - {"count"}
    }
    for agg in reversed([agg for agg in state(item)["aggs"] if agg["type"] not in METRICS]):
        given = agg["params"]
        body = {"field": given["field"], **json.loads(given.get("json", "{}"))}
        if agg["type"] == "terms":
            body |= {"size": given["size"], "order": {"_count": given["order"]}}
        elif agg["type"] == "date_histogram":
            body["calendar_interval"] = {"d": "day"}[given["interval"]]
        else:
            body |= {name: given[name] for name in ("ranges", "interval") if name in given}
        nested = {agg["id"]: {agg["type"]: body, **({"aggs": nested} if nested else {})}}
    return nested


def test_every_reference_resolves():
    """Within the file, by type and id, each name once.

    And every object is seen from the dashboard or is a search.
    """
    assert len(OBJECTS) == len(build_objects(INDEX))
    for item in OBJECTS.values():
        names = [reference["name"] for reference in item["references"]]
        assert len(set(names)) == len(names)
        assert [one for one in item["references"] if (one["type"], one["id"]) not in OBJECTS] == []
    shown = {
        (one["type"], one["id"])
        for dashboard in OF_TYPE["dashboard"]
        for one in dashboard["references"]
    }
    assert {(item["type"], item["id"]) for item in OF_TYPE["visualization"]} <= shown


def test_every_search_is_of_a_view():
    """Of the index, its ledger or its runs, by the name that both products look for."""
    views = {view["id"]: view["attributes"] for view in OF_TYPE["index-pattern"]}
    assert [*views.values()] == [{"title": f"{INDEX}{end}"} for end in ("", "-ledger", "-runs")]
    for item in OF_TYPE["search"] + OF_TYPE["visualization"]:
        (reference,) = item["references"]
        assert (reference["type"], reference["id"] in views) == ("index-pattern", True)
        assert (
            source(item)["indexRefName"]
            == reference["name"]
            == "kibanaSavedObjectMeta.searchSourceJSON.index"
        )


@pytest.mark.parametrize("dashboard", OF_TYPE["dashboard"], ids=lambda item: item["id"])
def test_the_panels_tile_the_dashboard(dashboard):
    """Each has its reference and its place in 48 columns, and none lies on another."""
    panels = json.loads(dashboard["attributes"]["panelsJSON"])
    assert [panel["panelRefName"] for panel in panels] == [
        one["name"] for one in dashboard["references"]
    ]
    places = [panel["gridData"] for panel in panels]
    assert [place["i"] for place in places] == [panel["panelIndex"] for panel in panels]
    taken = [
        (x, y) for p in places for x in range(p[(
            "x"
        )], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])
    ]  # fmt: skip
    assert len(set(taken)) == len(taken)
    assert {x for x, _ in taken} == set(range(48))


def test_json_within_json_is_text():
    """As saved objects have it; what is no such part is not."""
    for item in OBJECTS.values():
        for name, value in item["attributes"].items():
            assert isinstance(value, str) == (
                name
                not in {"columns", "sort", "version", "timeRestore"} | {"kibanaSavedObjectMeta"}
            )
            if name.endswith("JSON") or name == "visState":
                json.loads(value)


def test_what_is_shown_is_named_for_its_index():
    """The alias stands in titles and ids, so that what belongs to two indexes can be told apart."""
    assert all(item["id"].endswith(f"-{INDEX}") for item in OBJECTS.values())
    assert all(item["attributes"]["title"].startswith(INDEX) for item in OBJECTS.values())
    assert all(
        state(item)["title"] == item["attributes"]["title"] for item in OF_TYPE["visualization"]
    )
    names = [
        item["id"].removesuffix(f"-{INDEX}").removeprefix("esrag-") for item in OBJECTS.values()
    ]
    assert [name for name in names if not name.isalpha()] == []


@pytest.mark.parametrize(
    ("name", "some"),
    [
        ("elasticsearch", {"doc_id", "near_hash", "stored_at", "characters", "reason"}),
        ("opensearch", {"doc_id", "near_hash", "stored_at", "characters", "reason"}),
        ("ledger", {"job_id", "state", "causes", "failed"}),
        ("runs", {"at", "route", "intent", "reason", "hits", "took_ms", "verdict"}),
    ],
)
def test_every_field_exists(name, some):
    """What is shown, sorted, counted or filtered by is in the mapping of its index, and has what
    that needs.
    """
    properties = MAPPINGS[name]
    view = name if name in {"ledger", "runs"} else "view"
    visualizations, searches = (of_view(view, kind) for kind in ("visualization", "search"))
    named = {field for item in visualizations + searches for field in fields_of(item)}
    assert some <= named
    assert named - properties.keys() == set()
    counted = {
        agg["params"].get("field") for item in visualizations for agg in state(item)["aggs"]
    } - {None}
    sorted_by = {field for item in searches for field, _ in item["attributes"]["sort"]}
    plain = {
        field
        for field in counted | sorted_by
        if properties[field]["type"] in {"keyword", "integer", "date", "boolean", "float"}
    }
    assert plain == counted | sorted_by
    assert [field for field in plain if not properties[field].get("doc_values", True)] == []


def test_ages_leave_no_gap():
    """Each range ends where the one before began, and the ends are open."""
    aggs = (agg for item in OF_TYPE["visualization"] for agg in state(item)["aggs"])
    ranges = next(agg["params"]["ranges"] for agg in aggs if agg["type"] == "date_range")
    assert [newer["from"] for newer, _ in pairwise(ranges)] == [
        older["to"] for _, older in pairwise(ranges)
    ]
    assert ("to" not in ranges[0], "from" not in ranges[-1]) == (True, True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The kettle holds 1.7 litres.", "THE KETTLE: HOLDS 1.7 LITRES!", True),
        ("A key is shared.", "Shared: the keys", True),
        ("key key key", "key", True),
        ("ML-KEM-768", "ML-KEM-512", False),
        ("The kettle holds 1.7 litres.", "The kettle holds 1.8 litres.", False),
    ],
)
def test_near_duplicates_share_a_hash(one, other, same):
    """Case, punctuation, order, repetition and inflection make no difference; one word
    of few does.
    """
    assert (hash_near_duplicates(one) == hash_near_duplicates(other)) == same


def test_a_word_of_many_makes_mostly_no_difference():
    """Of texts of a hundred words that differ in one some five in six are found, of those that
    share half none.
    """
    words = [f"word{n}" for n in range(100)]
    of_all = hash_near_duplicates(" ".join(words))
    changed = [" ".join([*words[:n], f"other{n}", *words[n + 1 :]]) for n in range(100)]
    assert 75 <= sum(hash_near_duplicates(text) == of_all for text in changed) <= 95
    halves = [" ".join([*words[:50], *(f"other{n} {k}" for k in range(50))]) for n in range(100)]
    assert of_all not in map(hash_near_duplicates, halves)


def test_texts_without_terms_are_no_duplicates():
    """What holds no word is not counted as a copy of all else that holds none."""
    assert {None} == {hash_near_duplicates(text) for text in ("", "...", "of the")}


@pytest.fixture
def filled(request, engine_name):
    """A server with two documents that share a chunk, and one that failed."""
    from made import FINGERPRINT, prepared

    engine = ServerEngine(
        EngineOptions(request.getfixturevalue(engine_name), f"k-{uuid.uuid4().hex[:12]}")
    )
    with engine.writer(FINGERPRINT) as writer:
        writer.replace(
            [
                prepared("d1", ["Zebras run.", "a gnu " * 99]),
                prepared("d2", ["RUN, zebra!", "an emu"]),
            ]
        )
        index = engine._indexes.find_current().name
        body = failure_entry(prepared("d3", ["x"]).document, "too large")
        engine._connection.request("POST", f"/{index}/_doc", body, refresh=True)
    yield engine, index
    engine._connection.request("DELETE", f"/{index}")
    engine.close()


@pytest.mark.live
@pytest.mark.parametrize("engine_name", ["opensearch", "elasticsearch"])
def test_everything_shown_can_be_asked_for(filled):
    """Each visualisation's aggregation and each saved search runs on a real server, and finds what
    it is there for.
    """
    engine, index = filled

    def run(item, **body):
        body = {"query": query_of(item), "track_total_hits": True, **body}
        return engine._connection.request(
            "POST", f"/{index}/_search", body, allow_partial_search_results=False
        )

    counts = {}
    for item in of_view("view", "visualization"):
        buckets = run(item, size=0, aggs=aggregations_of(item))["aggregations"]["2"]["buckets"]
        counts[item["id"]] = {
            str(b.get("key_as_string", b["key"])): b["doc_count"] for b in buckets if b["doc_count"]
        }
    named = {name.split("-")[1]: found for name, found in counts.items()}
    assert named["totals"] == {"chunk": 4, "document": 2, "failure": 1}
    assert named["sources"] == {"d1": 2, "d2": 2}
    assert named["sections"] == {"Part > 0": 2, "Part > 1": 2}
    assert named["lengths"] == {"0.0": 3, "400.0": 1}
    assert named["copies"] == {hash_near_duplicates("zebra run"): 2}
    assert list(named["ages"].values()) == [4]

    hits = {}
    for item in of_view("view", "search"):
        order = [{field: direction} for field, direction in item["attributes"]["sort"]]
        found = run(item, sort=order, fields=item["attributes"]["columns"], _source=False)["hits"][
            "hits"
        ]
        assert all(set(hit["fields"]) == set(item["attributes"]["columns"]) for hit in found)
        hits[item["id"].split("-")[1]] = len(found)
    assert hits == {"chunks": 4, "documents": 2, "failures": 1, "duplicates": 4}


def batch(number, state="done", error="", reasons=()):
    """A batch of a job, with a file for each reason that failed for it, and one that did not."""
    outcomes = [Outcome(f"{n}.pdf", "failed", reason) for n, reason in enumerate(reasons)] + [
        Outcome("y.md", "added")
    ]
    tasks = tuple(
        Task(source=name, doc_id=name, folder="", state="added")
        for name in (*(it.source for it in outcomes), "x.pdf")
    )
    return Batch(
        batch_id=f"j-{number}",
        job_id="j",
        tasks=tasks,
        state=state,
        result=Result(tuple(outcomes)),
        error=error,
    )


@pytest.mark.live
@pytest.mark.parametrize("engine_name", ["opensearch", "elasticsearch"])
def test_what_failed_in_jobs_can_be_asked_for(engine_name, request):
    """Files that could not be loaded, and batches that were given up, by cause.

    What is tried again is no failure.
    """
    connection = Connection(EngineOptions(request.getfixturevalue(engine_name)))
    index = f"k-{uuid.uuid4().hex[:12]}"
    store = ServerStore(connection, index)
    batches = [
        batch(1, reasons=["is empty", "is empty", "is encrypted"]),
        batch(2, reasons=["is empty"]),
        batch(3, "dead", "ended its worker 3 times"),
        batch(4, "pending", "is tried again"),
        batch(5),
    ]
    assert store.write([batch_row(one) for one in batches]) == [True] * len(batches)
    alias = f"{index}-ledger"
    connection.request("POST", f"/{alias}/_refresh")
    (shown,), (listed,) = (of_view("ledger", kind) for kind in ("visualization", "search"))
    body = {"query": query_of(shown), "size": 0, "aggs": aggregations_of(shown)}
    buckets = connection.request("POST", f"/{alias}/_search", body)["aggregations"]["2"]["buckets"]
    causes = {bucket["key"]: bucket["doc_count"] for bucket in buckets}
    assert causes == {"is empty": 2, "is encrypted": 1, "ended its worker 3 times": 1}
    order = [{field: direction} for field, direction in listed["attributes"]["sort"]]
    hits = connection.request(
        "POST", f"/{alias}/_search", {"query": query_of(listed), "sort": order}
    )["hits"]["hits"]
    assert [hit["_source"]["key"] for hit in hits] == ["batch j-3", "batch j-2", "batch j-1"]
    connection.request("DELETE", f"/{alias}-1")
    store.close()


def run_record(number, **changed):
    """A record of a question; each took a millisecond longer than the one before."""
    answer = {
        "route": "documents",
        "routing": {"intent": "jobs"},
        "refused": False,
        "reason": "",
        "cached": False,
        "hits": [{}, {}],
        "took_ms": {"read": 1.0, "verify": float(number)},
        **changed,
    }
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {"run_id": f"r{number}", "at": at, "answer": answer}


@pytest.mark.live
@pytest.mark.parametrize("engine_name", ["opensearch", "elasticsearch"])
def test_what_was_asked_can_be_asked_for(engine_name, request):
    """By route and intent with hits and times, refusals by reason, and the verdicts."""
    connection = Connection(EngineOptions(request.getfixturevalue(engine_name)))
    index = f"k-{uuid.uuid4().hex[:12]}"
    store = ServerRuns(connection, index, RunsSettings(keep="whole"))
    store.add(run_record(1))
    store.add(run_record(2, route="facts", routing={"intent": ""}, hits=[], cached=True))
    store.add(run_record(3, refused=True, reason="no-hits", hits=[]))
    store.rate("r1", "good", "")
    connection.request("POST", f"/{index}-runs/_refresh")

    found = {}
    for item in of_view("runs", "visualization"):
        body = {"query": query_of(item), "size": 0, "aggs": aggregations_of(item)}
        answer = connection.request("POST", f"/{index}-runs/_search", body)
        found[item["id"].split("-")[1]] = answer["aggregations"]["2"]["buckets"]
    counts = {
        name: {str(each.get("key_as_string", each["key"])): each["doc_count"] for each in buckets}
        for name, buckets in found.items()
    }
    assert [*counts.pop("questions").values()] == [3]
    assert counts == {
        "routes": {"documents": 2, "facts": 1},
        "intents": {"jobs": 2},
        "refusals": {"no-hits": 1},
        "cached": {"false": 2, "true": 1},
        "verdicts": {"good": 1},
    }
    routes = {each["key"]: each for each in found["routes"]}
    assert (routes["documents"]["4"]["value"], routes["facts"]["4"]["value"]) == (1.0, 0.0)
    assert routes["facts"]["5"]["values"]["50.0"] == pytest.approx(3.0)

    (slowest,) = of_view("runs", "search")
    order = [{field: way} for field, way in slowest["attributes"]["sort"]]
    body = {"query": query_of(slowest), "sort": order}
    hits = connection.request("POST", f"/{index}-runs/_search", body)["hits"]["hits"]
    assert [hit["_source"]["run_id"] for hit in hits] == ["r3", "r2", "r1"]
    connection.request("DELETE", f"/{index}-runs-1")
    store.close()


def test_entries_hold_what_is_shown():
    """Length, time and near-duplicates of chunks; time of documents; the records stay
    as they are.
    """
    from made import prepared

    document = prepared("d", ["The kettle.", "…"])
    first, second = chunk_entry(document, 0), chunk_entry(document, 1)
    assert (first["characters"], second["characters"]) == (11, 1)
    assert (first["near_hash"], second["near_hash"]) == (hash_near_duplicates("kettles"), None)
    stored = document_entry(document.document, ["a"])
    assert all(
        re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", entry["stored_at"])
        for entry in (first, stored)
    )
