"""`esrag kibana install`, and the link that `esrag ask --explain` prints."""

import re
import sys
import uuid
from pathlib import Path
from urllib.parse import unquote

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
sys.path.insert(0, str(Path(__file__).parents[1] / "dashboards"))
from spoken import SpokenServer

PRODUCTS = {"opensearch": "opensearch-dashboards", "elasticsearch": "kibana"}
ENGINE = {"ESRAG_ENGINE__URL": "https://search.example:9200", "ESRAG_ENGINE__INDEX": "library"}


@pytest.fixture
def server():
    """A Kibana."""
    started = SpokenServer()
    yield started
    started.close()


def test_what_was_installed_is_listed_with_the_address_to_open(esrag, server):
    """The same by --json; the password in the address is printed nowhere."""
    where = {**ENGINE, "ESRAG_KIBANA__URL": server.url.replace("//", "//me:s3cret@")}
    ran = esrag("kibana", "install", **where)
    assert (ran.code, ran.err) == (0, "")
    *listed, product, last = ran.out.splitlines()
    assert (len(listed), product) == (len(server.stored), "installed in kibana 9.5.3")
    assert last == f"open {server.url}/app/dashboards#/view/esrag-overview-library"
    again = esrag("kibana", "install", "--json", **where)
    assert (again.code, again.json["url"]) == (0, last.removeprefix("open "))
    assert {(item["type"], item["id"]) for item in again.json["objects"]} == set(server.stored)
    assert "s3cret" not in ran.out + again.out


def test_a_failure_is_one_line_and_a_hint(esrag, server):
    """Settings exit with 2, a refusal with 1, nobody there with 4; no secret is told."""
    secret = {"ESRAG_ENGINE__USERNAME": "me", "ESRAG_ENGINE__PASSWORD": "s3cret"}
    server.answer("_import", server.refusal(403, "Unable to bulk_create dashboard"))
    for code, words, where in (
        (2, "kibana.url is not set", ENGINE),
        (2, "engine.url is a folder", {"ESRAG_KIBANA__URL": server.url}),
        (2, "kibana.url must be", {**ENGINE, "ESRAG_KIBANA__URL": "kibana://me:s3cret@host"}),
        (
            2,
            "kibana.url is not an address",
            {**ENGINE, "ESRAG_KIBANA__URL": "https://me:s3cret@host:port"},
        ),
        (
            1,
            "Unable to bulk_create dashboard",
            {**ENGINE, **secret, "ESRAG_KIBANA__URL": server.url},
        ),
        (
            4,
            "cannot reach http://127.0.0.1:1",
            {**ENGINE, **secret, "ESRAG_KIBANA__URL": "http://me:s3cret@127.0.0.1:1"},
        ),
    ):
        ran = esrag("kibana", "install", **where)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (code, "", 2)
        assert words in ran.err
        assert "s3cret" not in ran.err


def test_the_address_is_masked_where_settings_are_shown(esrag):
    """As that of the engine is."""
    shown = esrag("config", "show", ESRAG_KIBANA__URL="https://me:s3cret@kibana.example")
    assert "https://********@kibana.example" in shown.out
    assert "s3cret" not in shown.out


def test_an_index_in_a_folder_has_no_link(esrag, corpus):
    """There is nothing to be seen in Kibana, which is not asked."""
    esrag("ingest", "docs")
    where = {"ESRAG_KIBANA__URL": "http://kibana.example:5601"}
    asked = ("ask", "How many litres does the kettle hold?", "--explain")
    assert "kibana.example" not in esrag(*asked, **where).out
    assert esrag(*asked, "--json", **where).json["kibana_url"] == ""


def test_a_wrong_address_is_told_before_the_question_is_asked(esrag):
    """By its own name, as wrong settings, with nothing printed and no secret told."""
    where = {
        **ENGINE,
        "ESRAG_ENGINE__URL": "http://127.0.0.1:1",
        "ESRAG_KIBANA__URL": "https://me:s3cret@host:port",
    }
    ran = esrag("ask", "How many litres does the kettle hold?", "--explain", **where)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 2)
    assert "kibana.url is not an address" in ran.err
    assert "s3cret" not in ran.err


@pytest.mark.live
@pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])
def test_the_link_opens_the_evidence(esrag, corpus, engine, request):
    """Its ids are those of the evidence, in the form of the product that goes with the server.

    Only when asked for.
    """
    where = {
        "ESRAG_ENGINE__URL": request.getfixturevalue(engine),
        "ESRAG_ENGINE__INDEX": f"k-{uuid.uuid4().hex[:12]}",
    }
    esrag("ingest", "docs", **where)
    question, kibana = (
        "How many litres does the kettle hold?",
        {"ESRAG_KIBANA__URL": "http://me:s3cret@kibana.example"},
    )
    ran = esrag("ask", question, "--explain", "--show-evidence", "--json", **where, **kibana)
    link = ran.json["kibana_url"]
    start = {
        "kibana": "app/discover#/?_a=",
        "opensearch-dashboards": "app/data-explorer/discover#?_a=",
    }
    assert link.startswith(f"http://kibana.example/{start[PRODUCTS[engine]]}")
    (ids,) = re.findall(r"chunk_id: \((.+?)\)'", unquote(link))
    assert re.findall(r'"(.+?)"', ids) == [item["chunk_id"] for item in ran.json["evidence"]]
    assert f"see the evidence: {link}" in esrag("ask", question, "--explain", **where, **kibana).out
    assert "kibana.example" not in esrag("ask", question, **where, **kibana).out
    assert esrag("ask", question, "--explain", "--json", **where).json["kibana_url"] == ""
