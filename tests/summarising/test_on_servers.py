"""Summaries on a real OpenSearch and Elasticsearch, and those that workers make."""

import uuid
from contextlib import closing
from dataclasses import replace

import pytest

from esrag.jobs.request import IngestRequest
from esrag.jobs.running import run_batch
from esrag.jobs.summaries import compare_summaries
from esrag.jobs.work import Work
from esrag.pipeline import enqueue
from esrag.settings.layers import resolve

QUESTION = "What boils water for tea and coffee?"
live = [pytest.mark.live, pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])]


@pytest.fixture
def there(shop, engine, request):
    """The command line with its index on the server."""
    index = f"s-{uuid.uuid4().hex[:12]}"
    where = {"ESRAG_ENGINE__URL": request.getfixturevalue(engine), "ESRAG_ENGINE__INDEX": index}
    return replace(shop, variables=shop.variables | where)


class TestOnAServer:
    """The same as in a folder."""

    pytestmark = live

    def test_the_same_summaries_are_found(self, shop, there):
        found = []
        for place in (shop, there):
            assert place("ingest", "docs").code == 0
            found.append(place("search", QUESTION, "--json").json)
        here, on_server = found
        assert [hit["doc_id"] for hit in on_server["summaries"]] == ["kettle"]
        for one in ("scope", "notes"):
            assert here[one] == on_server[one]
        ids = [{hit["chunk_id"] for hit in one["hits"]} for one in found]
        assert ids[0] == ids[1]

    def test_a_change_a_removal_and_a_drop_reach_them(self, there):
        loose = ("--set", "summaries.top_k=3", "--set", "summaries.min_score=0")
        there("ingest", "docs")
        changed = there.folder / "docs" / "kettle.md"
        changed.write_text(changed.read_text().replace("tea and coffee", "soup"))
        assert "summing up 1 document" in there("ingest", "docs").err
        there("remove", "kettle")
        found = there("search", QUESTION, "--json", *loose).json
        assert {hit["doc_id"] for hit in found["summaries"]} == {"lamp", "saw"}

        index = there.variables["ESRAG_ENGINE__INDEX"]
        assert f"removed {index}-summaries" in there("index", "drop", index, "--yes").out
        assert [one for one in there("index", "list", "--json").lines if index in one["name"]] == []

    def test_they_move_along(self, shop, there):
        shop("ingest", "docs")
        moved = {"ESRAG_ENGINE__URL": ".esrag", "ESRAG_ENGINE__INDEX": "esrag"}
        url = there.variables["ESRAG_ENGINE__URL"]
        index = there.variables["ESRAG_ENGINE__INDEX"]
        assert there("ingest", "docs", **moved | {"ESRAG_ENGINE__INDEX": index}).code == 0
        ran = there("index", "migrate", "--to", url, ESRAG_ENGINE__URL=".esrag")
        assert ran.code == 0, ran.err
        assert there("search", QUESTION, "--json").json["notes"] == []
        assert "without an up-to-date summary" not in there("doctor").out


def test_the_last_batch_of_a_job_sums_up(shop):
    """Whichever worker finishes it."""
    own = {"engine.url": str(shop.folder / ".esrag")}
    settings = resolve(own, shop.variables, shop.folder).settings
    with closing(Work(settings)) as work:
        job = enqueue(IngestRequest([str(shop.folder / "docs")]), work)
        for batch in list(work.ledger.batches(job.job_id)):
            run_batch(work, batch.batch_id)
        assert work.ledger.job(job.job_id).state == "done"
        assert compare_summaries(work, job.index).is_current
    assert len(shop("docs", "--json", "--set", "engine.index=esrag-summaries").lines) == 3


def test_without_files_for_workers_the_command_sums_up(shop):
    """Summaries that are wanted only now come with the next ingest, though no file has changed."""
    own = {"engine.url": str(shop.folder / ".esrag")}
    request = IngestRequest([str(shop.folder / "docs")])
    assert shop("ingest", "docs", ESRAG_SUMMARIES__OF="nothing").code == 0
    with closing(Work(resolve(own, shop.variables, shop.folder).settings)) as work:
        assert len(compare_summaries(work, "esrag").due) == 3
        assert enqueue(request, work).state == "done"
        assert compare_summaries(work, "esrag").is_current
