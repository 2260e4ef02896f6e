"""What `--json` prints has exactly the fields, of the types, that docs/reference/json.md lists."""

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
sys.path.insert(0, str(Path(__file__).parents[1] / "dashboards"))
from made_up_models import service
from spoken import SpokenServer

from esrag.ingesting import Outcome, Result, Task
from esrag.ledger import Job
from esrag.ledger.opening import open_ledger
from esrag.records import Fingerprint
from esrag.settings.layers import resolve

__all__ = ["service"]

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "json.md").read_text()
TYPES = {
    "text": lambda value: isinstance(value, str),
    "int": lambda value: type(value) is int,
    "int or null": lambda value: value is None or type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "number or null": lambda value: value is None or type(value) in (int, float),
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list) and all(isinstance(item, dict) for item in value),
    "list of text": lambda value: (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ),
    "list of int": lambda value: (
        isinstance(value, list) and all(type(item) is int for item in value)
    ),
    "object": lambda value: isinstance(value, dict),
}
ON_DEMAND = {
    "evidence",
    "prompt",
    "run_id",
    "path",
    "draft",
    "signals",
    "steps",
    "model_calls",
    "summaries",
    "hits",
    "kibana_url",
}  # of an answer, with --show-… and --explain
MAY_BE_EMPTY = {"breaks", "citations", "corrections", "nearest", "parts", "summaries"}
CHAT = {"typed"}  # of an answer of `esrag chat`


def tables():
    """Each schema's fields and their types, as the page has them."""
    found = {}
    for name, body in re.findall(
        r"^## (esrag\.\S+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL
    ):
        found[name] = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", body, re.MULTILINE))
    hits = {
        field: kind for field, kind in found["esrag.hits/1"].items() if field.startswith("hits[].")
    }
    found["esrag.answer/1"] |= hits  # the page refers to the other table
    return found


SCHEMAS = tables()


def walked(value, prefix=""):
    """Every field with its value; lists of objects are entered, objects are not."""
    for name, inner in value.items():
        yield f"{prefix}{name}", inner
        if isinstance(inner, list):
            for item in inner:
                if isinstance(item, dict):
                    yield from walked(item, f"{prefix}{name}[].")


def require_as_listed(printed, without=()):
    """Every field is listed, has its type, and none that is listed is missing."""
    empty = tuple(f"{name}[]" for name in MAY_BE_EMPTY if printed.get(name) == [])
    listed = {
        field: kind
        for field, kind in SCHEMAS[printed["schema"]].items()
        if not field.startswith(empty)
    }
    came = list(walked(printed))
    assert [field for field, value in came if not TYPES[listed[field]](value)] == []
    assert {field for field, _ in came} == {
        field for field in listed if field.split("[")[0] not in without
    }


@pytest.fixture
def filled(esrag, corpus):
    """An index, and beside it a file that is empty."""
    (corpus / "empty.txt").touch()
    rows = "What is the fee?,It is $4.,the tariff,,2020-01-01\nWho pays?,I do.,,,\n"
    (esrag.folder / "facts.csv").write_text(f"{FACT_COLUMNS}\n{rows}")
    (esrag.folder / "routes.jsonl").write_text('{"question": "Who?", "route": "facts"}')
    esrag("ingest", "docs")
    return esrag


FACT_COLUMNS = "question,answer,source_url,valid_from,valid_until"
PRINTED = {
    "esrag.answer/1": [
        "ask",
        "How many litres does the kettel hold?",  # misspelt, so that there is a correction
        "--explain",
        "--show-evidence",
        "--show-prompt",
    ],
    "esrag.error/1": ["chat"],  # asked for the sources of no answer
    "esrag.calibration/1": ["calibrate", "questions.jsonl"],
    "esrag.comparison/1": ["compare", "kettle litres"],
    "esrag.comparisons/1": ["compare", "--questions", "questions.jsonl"],
    "esrag.fact_import/1": ["facts", "import", "facts.csv"],
    "esrag.fact/1": ["facts", "list"],
    "esrag.fact_check/1": ["facts", "check"],
    "esrag.fact_removal/1": ["facts", "remove", "--all"],
    "esrag.route/1": ["route", "What is the fee?"],
    "esrag.routes/1": ["route", "--questions", "routes.jsonl"],
    "esrag.hits/1": ["search", "kettle"],
    "esrag.run/1": ["runs", "export"],
    "esrag.runs/1": ["runs", "list"],
    "esrag.stats/1": ["runs", "stats"],
    "esrag.diff/1": ["diff", "a.json", "b.json"],
    "esrag.verdict/1": ["verify", "draft.json"],
    "esrag.ingest/1": ["ingest", "docs", "missing.txt"],
    "esrag.plan/1": ["ingest", "docs", "missing.txt", "--dry-run"],
    "esrag.removal/1": ["remove", "lamp", "--dry-run"],
    "esrag.chunk/1": ["chunks"],
    "esrag.document/1": ["docs"],
    "esrag.index/1": ["index", "list"],
    "esrag.recall/1": ["index", "check-recall"],
    "esrag.migration/1": ["index", "migrate"],
    "esrag.settings/1": ["config", "show"],
    "esrag.plugin/1": ["plugins"],
    "esrag.model/1": ["models", "list"],
    "esrag.job/1": ["jobs", "show", "--set", "ledger.url=jobs.sqlite3"],
    "esrag.finding/1": ["doctor"],
    "esrag.cache/1": ["cache", "stats", "--set", "cache.url=cache.db"],
    "esrag.dashboards/1": ["kibana", "install", "--engine", "http://search.example:9200"],
}


@pytest.fixture
def ledger(esrag):
    """A ledger of one job: a batch that was done with a dead letter, one that was given up, one
    that waits.
    """
    ledger = open_ledger(
        resolve({"ledger.url": str(esrag.folder / "jobs.sqlite3")}, environ={}).settings
    )
    batches = [
        [Task(source=f"{name}.txt", doc_id=name, folder="", state="added")] for name in "abc"
    ]
    job = ledger.open(
        Job(
            job_id="20261122",
            key="key",
            index="esrag",
            made=Fingerprint("", 0, ""),
            created_ms=1,
            files=3,
        ),
        batches,
    )
    done, given_up, waiting = [
        ledger.claim(batch.batch_id, "host 1 id") for batch in ledger.list_due(3, job.job_id)
    ]
    ledger.finish(done, Result((Outcome("a.txt", "failed", "is empty"),)), 1)
    ledger.give_up(given_up, "the encoder broke")
    ledger.put_back(waiting, "no server answers", wait_s=100)
    ledger.close()


@pytest.fixture
def kibana():
    """A server that speaks the saved-objects API."""
    server = SpokenServer()
    yield server.url
    server.close()


@pytest.fixture
def questions(esrag):
    """Labelled questions, answered and not in either half."""
    known, unknown = (
        {"question": "kettle litres", "answers": ["1.7"]},
        {"question": "Who won?", "answerable": False},
    )
    lines = [json.dumps(row) for row in (known, known, unknown, unknown)]
    (esrag.folder / "questions.jsonl").write_text("\n".join(lines))


@pytest.fixture
def draft(esrag):
    """A draft with its passage."""
    (esrag.folder / "draft.json").write_text(
        '{"draft": "It boils. [c1]", "passages": ["It boils."]}'
    )


@pytest.fixture
def runs(filled, corpus):
    """Two kept and saved runs that differ in every way, one with feedback."""
    kept = {"ESRAG_RUNS__KEEP": "whole"}
    one = ("ask", "How many litres does the kettle hold?", "--method", "keyword")
    run_id = filled(*one, "--save", "a.json", "--json", **kept).json["run_id"]
    kettle = corpus / "kitchen" / "kettle.md"
    kettle.write_text(kettle.read_text().replace("900 grams", "950 grams"))
    filled("ingest", "docs")
    other = "The toaster has two slots. Its cable is 80 centimetres long. kettle litres"
    filled(
        "ask", other, "--method", "keyword", "--save", "b.json", "--set", "answer.steps=2", **kept
    )
    filled("feedback", run_id, "good")
    filled("feedback", filled("runs", "list", "--json").lines[0]["run_id"], "bad")


@pytest.mark.usefixtures("ledger", "questions", "draft", "runs")
def test_the_page_lists_what_is_printed(filled, kibana, service):
    """Field by field, on every line of every command; a language model writes the answer."""
    model = {
        "ESRAG_GENERATOR__NAME": "model",
        "ESRAG_MODELS__DEFAULT__MODEL": "made-up",
        "ESRAG_MODELS__DEFAULT__URL": f"{service.url}/v1",
        "ESRAG_MODELS__DEFAULT__API_KEY": service.key,
    }
    for schema, arguments in PRINTED.items():
        as_json = () if schema == "esrag.run/1" else ("--json",)
        keep = (
            {"ESRAG_RUNS__KEEP": "whole", "ESRAG_RUNS__URL": "one.db"} | model
            if schema == "esrag.answer/1"
            else {}
        )
        lines = filled(
            *arguments, *as_json, stdin="/sources\n", ESRAG_KIBANA__URL=kibana, **keep
        ).lines

        assert {line["schema"] for line in lines} == {schema}
        for line in lines:
            require_as_listed(line, without=CHAT)


def test_a_question_in_parts_has_the_fields_of_its_parts(filled):
    """Asked, and routed alone."""
    question = "How many litres does the kettle hold, and how many slots does the toaster have?"
    asked = filled("ask", question, "--json").json
    require_as_listed(asked, without=ON_DEMAND | CHAT)
    routed = filled("route", question, "--json").json
    require_as_listed(routed)
    assert (len(asked["parts"]), len(routed["parts"])) == (2, 2)


def test_a_listed_job_has_the_fields_of_one_that_is_shown(filled):
    """All but those that take a look at every batch."""
    for line in filled("jobs", "list", "--json").lines:
        require_as_listed(line, without={"errors", "given_up", "waiting"})


def test_a_plain_answer_and_a_refusal_have_the_same_fields(filled):
    """All but those that are printed on demand; a refusal has no citation."""
    question = "How many litres does the kettle hold?"
    require_as_listed(filled("ask", question, "--json").json, without=ON_DEMAND | CHAT)
    require_as_listed(filled("chat", "--json", stdin=question).json, without=ON_DEMAND)
    refused = filled("ask", f"{question} Who?", "--json", ESRAG_ANSWER__REFUSAL="1").json
    require_as_listed(refused, without=ON_DEMAND | CHAT)
    assert (
        set(refused)
        == {field for field in SCHEMAS["esrag.answer/1"] if "[" not in field} - ON_DEMAND - CHAT
    )
    assert (refused["citations"], refused["nearest"] != []) == ([], True)


def test_every_schema_of_the_code_is_on_the_page():
    """And none that is gone."""
    root = Path(__file__).parents[2] / "esrag"
    used = {
        name
        for path in root.rglob("*.py")
        for name in re.findall(r'"(esrag\.\w+/\d+)"', path.read_text())
    }

    assert used == set(SCHEMAS) == set(PRINTED)
