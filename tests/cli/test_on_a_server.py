"""The same commands with the index on a real Elasticsearch or OpenSearch."""

import json
import subprocess
import time
import uuid

import pytest
import servers

pytestmark = [pytest.mark.live, pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"])]
PATHS = {"opensearch": "rrf-native", "elasticsearch": "rrf-client"}


@pytest.fixture
def there(esrag, corpus, engine, request):
    """The command line with its index on the server; the corpus is ingested."""
    index = f"c-{uuid.uuid4().hex[:12]}"
    where = {"ESRAG_ENGINE__URL": request.getfixturevalue(engine), "ESRAG_ENGINE__INDEX": index}

    def run(*arguments, **variables):
        return esrag(*arguments, **where, **variables)

    ran = run("ingest", "docs", "--json")
    assert (ran.code, ran.json["added"]) == (0, 3)
    return run


def test_a_question_is_answered_and_cited(there, engine):
    """Documents are listed, the question finds its chunk in both legs, and the path is named."""
    assert {"kettle", "toaster", "lamp"} == {d["doc_id"] for d in there("docs", "--json").lines}
    found = there("search", "kettle", "--json").json
    assert found["path"] == PATHS[engine]
    assert found["hits"][0]["doc_id"] == "kettle"
    assert found["hits"][0]["keyword_rank"] == 1
    assert there("doctor").code == 0


def test_runs_are_kept_beside_the_index(there, esrag):
    """Without a file they are on the server; they are listed, shown, rated and compared."""
    question = "How many litres does the kettle hold?"
    keep = {"ESRAG_RUNS__KEEP": "whole"}
    first, second = [there("ask", question, "--json", **keep).json["run_id"] for _ in range(2)]
    assert there("feedback", first, "good", "--note", "to the point").code == 0

    listed = there("runs", "list", "--json").lines
    assert [run["run_id"] for run in listed] == [second, first]
    assert "feedback: good: to the point\n" in there("runs", "show", first).out
    assert there("diff", first, second).out == "nothing differs\n"
    assert not list(esrag.folder.glob("**/runs.sqlite3"))
    names = [index["name"] for index in there("index", "list", "--json").lines]
    assert f"{listed[0]['index']}-000001" in names
    assert not [name for name in names if "-runs" in name]


def test_an_ingest_is_a_sync(there, corpus):
    """A second run embeds nothing; a changed file replaces its chunks, and one that is
    gone goes.
    """
    again = there("ingest", "docs", "--json").json
    assert (again["unchanged"], again["embedded"]) == (3, 0)
    (corpus / "kitchen" / "kettle.md").unlink()
    ran = there("ingest", "docs", "--json").json
    assert (ran["removed"], ran["unchanged"]) == (1, 2)
    assert "kettle" not in {d["doc_id"] for d in there("docs", "--json").lines}


def test_other_settings_are_refused_and_a_rebuild_takes_everything_along(there):
    """The index carries its fingerprint, on a server as in a folder."""
    refused = there("ingest", "docs", ESRAG_CHUNKING__SIZE="50")
    assert (refused.code, "--rebuild" in refused.err) == (2, True)
    rebuilt = there("ingest", "docs", "--rebuild", "--json", ESRAG_CHUNKING__SIZE="50").json
    assert (rebuilt["added"], len(there("docs", "--json").lines)) == (3, 3)


@pytest.fixture
def own(engine, start_server, tmp_path):
    """A server that only this test uses, and the means to start it again."""
    server = start_server(engine, tmp_path / "server")
    yield server, lambda: servers.start(engine, port=server.port, data=server.data)
    servers.stop(server.data)


@pytest.mark.faults
def test_a_server_that_is_killed_and_comes_back_loses_nothing(esrag, own, tmp_path):
    """Case 20: kill -9 in the middle of an ingest, twenty seconds away, then back: the command goes
    on to its end.
    """
    server, start_again = own
    folder = esrag.folder / "many"
    folder.mkdir()
    for n in range(600):
        words = " ".join(f"word{n * 7 + k} is said." for k in range(60))
        (folder / f"note{n:03}.txt").write_text(f"Note {n}. {words}")
    where = {"ESRAG_ENGINE__URL": server.url, "ESRAG_CHUNKING__SIZE": "30"}
    said = tmp_path / "said"
    with said.open("w") as log:
        command = esrag.command("ingest", "many", "--json")
        variables = esrag.environment(**where)
        process = subprocess.Popen(
            command, cwd=esrag.folder, env=variables, stderr=log, stdout=subprocess.PIPE
        )
    while "[200/" not in said.read_text():
        assert process.poll() is None
        time.sleep(0.02)
    server.kill()
    time.sleep(20)
    start_again()
    out, _ = process.communicate(timeout=200)

    assert (process.returncode, json.loads(out)["added"]) == (0, 600)
    assert len(esrag("docs", "--json", **where).lines) == 600
    assert esrag("doctor", **where).code == 0
    assert esrag("ingest", "many", "--json", **where).json["unchanged"] == 600
