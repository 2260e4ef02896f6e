"""What must come out of the five systems also comes out on a real OpenSearch and Elasticsearch."""

import uuid
from contextlib import contextmanager

import pytest
import yaml
from sheets import EXAMPLES, INTENTS, TIER_ONE, TIER_TWO

import esrag as library
from esrag.citations import REFUSAL

pytestmark = [
    pytest.mark.live,
    pytest.mark.parametrize("engine", ["opensearch", "elasticsearch"], indirect=True),
]


@pytest.fixture
def engine(request):
    """The address of a server."""
    return request.getfixturevalue(request.param)


@contextmanager
def opened(name, engine, documents="docs", **changed):
    """The example of a system with its settings, ingested into an index on the server."""
    settings = yaml.safe_load((EXAMPLES / name / "esrag.yaml").read_text()) | {
        "engine.url": engine,
        "engine.index": f"p-{uuid.uuid4().hex[:12]}",
        "embedding.offline": True,
        "cache.url": "",
        **changed,
    }
    with library.open(preset=settings.pop("preset"), settings=settings) as index:
        assert index.ingest(EXAMPLES / name / documents).failed == 0
        yield index


def test_cited_specs(engine, real_model):
    assert real_model
    with opened("cited-specs", engine) as index:
        first, *others = (
            index.ask("What is the size of the encapsulation key of BKX-40?").to_dict()
            for _ in range(3)
        )
        assert first["answer"].startswith("BKX-40, encapsulation key: 608 bytes [c")
        assert [each == first for each in others] == [True, True]
        steps = index.ask("What are the steps in Algorithm 2 SampleLens?").text
        assert steps.startswith("1. c = LANT128(s) [c")
        assert "7. return a [c" in steps
        assert index.search("KeyGen")[0].chunk.section.endswith("Key generation")
        refused = index.ask("Who won the 2018 World Cup?")
        assert (refused.text, refused.citations) == (REFUSAL, ())


def test_two_tier(engine, real_model):
    assert real_model
    with opened("two-tier", engine) as index:
        assert index.import_facts(EXAMPLES / "two-tier" / "facts.csv").left_out == ()
        for question, words in TIER_ONE:
            asked = index.ask(question)
            assert (asked.route, words in asked.text) == ("facts", True), asked
            assert asked.confidence >= 0.9
        for question, words in TIER_TWO:
            asked = index.ask(question)
            assert (asked.route, words in asked.text) == ("documents", True), asked
            assert asked.citations


def test_intents(engine):
    with opened("intents", engine, **{"embedding.model": "none"}) as index:
        found = [(question, index.route(question).decision.intent) for question, _ in INTENTS]
        assert found == INTENTS
        listed = index.ask("what is project 225?")
        assert [line.split(":")[0] for line in listed.text.splitlines()] == [
            f"- Job {job} (2025)" for job in (225189, 225221, 225304)
        ]
        assert listed.retrieved.scope == "the jobs of 225"
        found = index.search("What is the budget of job 225999?").found
        assert "nothing found in job 225999; searched in the jobs of 225" in found.notes
        hits = index.search("Who is our contact at Harbour Trust?")
        assert {hit.chunk.doc_id for hit in hits} == {"harbour-trust"}


def test_hierarchical(engine, real_model):
    assert real_model
    with opened("hierarchical", engine) as index:
        latest = index.ask("What is the latest GloBE guidance in Germany?")
        note = "the web was not searched, as web.provider is none"
        assert any(each.startswith(note) for each in latest.notes)
        asked = index.ask("What part of payroll costs is excluded in 2026?")
        assert "9.4 percent" in asked.text
        (cited,) = {each.chunk_id for each in asked.citations}
        passages = {each.chunk.chunk_id: each.chunk for each in asked.evidence}
        assert passages[cited].section.endswith(
            "Part 5 Rate and amount > Article 5.3 Substance exclusion"
        )
        assert "| Year | Payroll costs | Tangible assets |" in passages[cited].text


def test_csv_kb(engine, real_model, tmp_path):
    assert real_model
    cache = {"cache.url": str(tmp_path / "cache.sqlite3")}
    with opened("csv-kb", engine, "articles.csv", **cache) as index:
        first, second = (index.ask("How often should a chain be oiled?") for _ in range(2))
        assert (first.cached, second.cached, second.text) == (False, True, first.text)
        hits = index.search("chain wear")
        assert len({hit.chunk.metadata["source_"] for hit in hits}) == 3


def test_broken_rows_of_csv_kb(engine, tmp_path):
    """One in a hundred, named by its line; all others are in."""
    bad = range(50, 1_000, 100)
    rows = [
        f"{n},Row {n}" if n in bad else f"{n},Row {n},Shelf {n} is made of wood."
        for n in range(1_000)
    ]
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["number,heading,body_text", *rows, ""]))
    with opened("csv-kb", engine, "articles.csv", **{"embedding.model": "none"}) as index:
        before = len([*index.documents()])
        report = index.ingest(file)
        assert [skip.source.rpartition(" ")[2] for skip in report.skipped] == [
            str(n + 2) for n in bad
        ]
        assert len([*index.documents()]) - before == 1_000 - len(bad)
