"""A document that a real server will not take is set aside; everything else is stored."""

import json
import urllib.request
import uuid

import pytest

pytestmark = [pytest.mark.live, pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])]
# Lucene takes terms of at most 32,766 bytes, and a field's name is part of one.
TOO_LONG = "k" * 33_000


@pytest.fixture
def index(esrag, engine, request):
    """The command line with an index of its own on the server, and what is stored there of one
    kind.
    """
    url, name = request.getfixturevalue(engine), f"r-{uuid.uuid4().hex[:12]}"

    def run(*arguments):
        return esrag(*arguments, ESRAG_ENGINE__URL=url, ESRAG_ENGINE__INDEX=name)

    def entries(kind):
        with urllib.request.urlopen(f"{url}/{name}/_search?size=100&q=entry:{kind}") as answer:
            return [hit["_source"] for hit in json.load(answer)["hits"]["hits"]]

    return run, entries


def rows(*metadata):
    """A file with a document a line."""
    lines = (
        {"text": f"The kettle number {n} boils.", **fields} for n, fields in enumerate(metadata)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_a_refused_document_is_set_aside_until_it_is_mended(index, corpus):
    """The other files are stored, the refused one is named with the server's reason, tried again,
    and taken at last.
    """
    run, entries = index
    bad = corpus / "bad.jsonl"
    bad.write_text(rows({TOO_LONG: "v"}))
    for added, unchanged in ((3, 0), (0, 3)):
        ran = run("ingest", "docs", "--json")
        counts = ran.json
        assert (ran.code, counts["added"], counts["unchanged"], counts["failed"]) == (
            1,
            added,
            unchanged,
            1,
        )
        (skip,) = counts["skipped"]
        assert (skip["source"], skip["failed"]) == (str(bad), True)
        assert "answered 400" in skip["reason"]
        assert "\n" not in skip["reason"]
        assert counts["chunks"] == (len(entries("chunk")) if added else 0)
        (failure,) = entries("failure")
        assert (failure["doc_id"], failure["source"], failure["reason"]) == (
            "bad#1",
            str(bad),
            skip["reason"],
        )
        assert {"kettle", "toaster", "lamp"} == {d["doc_id"] for d in run("docs", "--json").lines}
    assert 1 == sum(line.startswith("failed: ") for line in run("ingest", "docs").err.splitlines())
    assert run("doctor").code == 0

    bad.write_text(rows({"k": "v"}))
    ran = run("ingest", "docs", "--json")
    assert (ran.code, ran.json["added"], ran.json["chunks"]) == (0, 1, 1)
    assert entries("failure") == []


def test_of_a_changed_file_with_a_refused_document_the_rest_is_stored(index, corpus):
    """Documents of one file stand for themselves; the refused one's former text is no
    longer found.
    """
    run, entries = index
    table = corpus / "table.jsonl"
    table.write_text(rows({}, {}, {}))
    assert run("ingest", "docs", "--json").json["added"] == 4
    table.write_text(rows({"a": 1}, {TOO_LONG: "v"}, {TOO_LONG: "v"}))
    ran = run("ingest", "docs", "--json")
    assert (ran.code, ran.json["changed"], ran.json["failed"], ran.json["chunks"]) == (1, 0, 1, 1)
    assert "2 of its documents" in ran.json["skipped"][0]["reason"]
    assert ["table#2", "table#3"] == sorted(entry["doc_id"] for entry in entries("failure"))
    assert ["table#1"] == [
        entry["doc_id"] for entry in entries("chunk") if entry["doc_id"].startswith("table")
    ]
    assert run("doctor").code == 0
    table.unlink()
    assert run("ingest", "docs", "--json").json["removed"] == 1
