"""The preset two-tier over its example: docs/reference/systems/two-tier.md."""

import json

import pytest
import yaml
from sheets import EXAMPLES, TIER_ONE, TIER_TWO

import esrag as esrag_api
from esrag.engines.fusion import rrf
from esrag.evaluation.calibrating import holds
from esrag.settings.layers import preset_layer

EXAMPLE = EXAMPLES / "two-tier"
FACTS = "question,answer,source_url\nWhat is the cap?,The cap is 65 boats.,https://a.example\n"


@pytest.fixture
def boats(esrag):
    """The command line with the preset, a fact and three pages, one of them official."""
    esrag("init", "two-tier")
    (esrag.folder / "facts.csv").write_text(FACTS)
    folder = esrag.folder / "docs"
    folder.mkdir()
    for name, url in (("a", "https://boats.example"), ("b", "https://www.uscis.gov/boats")):
        text = f"---\nurl: {url}\n---\n\nA boat must have 2 lamps at night.\n"
        (folder / f"{name}.md").write_text(text)
    for number in range(8):
        (folder / f"c{number}.md").write_text(f"Boats with {number} oars are slow at night.\n")
    assert esrag("facts", "import", "facts.csv").code == 0
    assert esrag("ingest", "docs").code == 0
    return esrag


@pytest.fixture(scope="module")
def visas(tmp_path_factory, real_model):
    """The example, imported and ingested once."""
    assert real_model
    settings = yaml.safe_load((EXAMPLE / "esrag.yaml").read_text())
    preset = settings.pop("preset")
    settings["embedding"] = {"offline": True}
    with esrag_api.open(
        tmp_path_factory.mktemp("visas"), preset=preset, settings=settings
    ) as index:
        assert index.import_facts(EXAMPLE / "facts.csv").left_out == ()
        assert index.ingest(EXAMPLE / "docs").failed == 0
        yield index


def rows(name):
    """The lines of a file of the example."""
    return [json.loads(line) for line in (EXAMPLE / name).read_text().splitlines()]


def test_a_fact_answers_first_and_documents_all_else(boats):
    """The route says which, and the log of questions has both."""
    first = boats("ask", "What is the cap?", "--json").json
    assert (first["answer"], first["route"]) == ("The cap is 65 boats. [c1]", "facts")
    second = boats("ask", "How many lamps must a boat have?", "--json").json
    assert ("2 lamps" in second["answer"], second["route"]) == (True, "documents")

    kept = [json.loads(line)["answer"] for line in boats("runs", "export").out.splitlines()]
    log = {run["question"]: (run["route"], run["path"], run["confidence"]) for run in kept}
    assert log["What is the cap?"] == ("facts", "facts-exact", 1.0)
    assert log["How many lamps must a boat have?"][:2] == ("documents", "rrf-client")


def test_official_pages_come_first_and_each_bonus_is_shown(boats):
    """Of two equal texts the official one; scores are scaled before."""
    found = boats("search", "lamps of a boat", "--json").json
    best = found["hits"][0]
    assert (best["doc_id"], best["metadata"]["url"]) == ("b", "https://www.uscis.gov/boats")
    assert best["added"]["authority"] == 0.15
    assert best["added"]["indicators"] == 0.05
    assert set(best["added"]) == {"scale", "authority", "completeness", "indicators"}
    assert best["score"] == pytest.approx(best["fused_score"] + sum(best["added"].values()))


def test_the_confidence_of_sources_is_a_setting(boats):
    """0.6 of the mean score and 0.4 of the official share."""
    asked = ("ask", "How many lamps must a boat have?", "--json", "--explain")
    stated = boats(*asked, "--set", "answer.confidence=sources").json
    scores = [hit["score"] for hit in stated["hits"]]
    official = sum(hit["added"]["authority"] > 0 for hit in stated["hits"]) / len(scores)
    wanted = min(1.0, 0.6 * sum(scores) / len(scores) + 0.4 * official)
    assert stated["confidence"] == pytest.approx(wanted, abs=1e-4)
    assert boats(*asked).json["confidence"] != stated["confidence"]


def test_fusion_by_rank_100_for_a_missing_leg_gives_the_same_order():
    """With 20 candidates in each leg, whichever hits the legs share."""
    for shift in range(21):
        legs = [
            {f"{n:02}": 1.0 / (n + 1) for n in range(20)},
            {f"{(n + shift):02}": 1.0 / (n + 1) for n in range(20)},
        ]
        theirs = {
            key: sum(1 / (60 + (list(leg).index(key) + 1 if key in leg else 100)) for leg in legs)
            for key in {**legs[0], **legs[1]}
        }
        assert [*rrf(legs)] == sorted(theirs, key=lambda key: (-round(theirs[key], 12), key))


def test_the_variations_stand_side_by_side(boats):
    """Each leg, both, other weights, and the documents without facts."""
    compared = boats("compare", "What is the cap?", "--json").json["variations"]
    routes = {each["variation"]: each["route"] for each in compared}
    assert routes == {
        **dict.fromkeys(preset()["compare.variations"], "facts"),
        "documents": "documents",
    }
    assert "hybrid: answered, facts, confidence 1.00" in boats("compare", "What is the cap?").out


def preset():
    """The settings of the preset."""
    return preset_layer("two-tier").values


def test_a_missing_file_and_an_empty_question_are_one_line(boats):
    """Exit code 2, and what to do."""
    for arguments in (("facts", "import", "none.csv"), ("ask", "  "), ("route",)):
        ran = boats(*arguments)
        assert (ran.code, "hint: " in ran.err, "Traceback" in ran.err) == (2, True, False)
    assert "none.csv does not exist" in boats("facts", "import", "none.csv").err


@pytest.mark.weights
@pytest.mark.parametrize(("question", "words"), TIER_ONE)
def test_tier_one(visas, question, words):
    """A fact answers with its source, and high confidence."""
    asked = visas.ask(question)
    assert (asked.route, words in asked.text) == ("facts", True)
    assert asked.confidence >= 0.9
    assert asked.citations[0].source.startswith("https://www.uscis.gov/")


@pytest.mark.weights
@pytest.mark.parametrize(("question", "words"), TIER_TWO)
def test_tier_two(visas, question, words):
    """The documents answer, with their sources."""
    asked = visas.ask(question)
    assert (asked.route, words in asked.text) == ("documents", True)
    assert all(citation.source.endswith(".md") for citation in asked.citations)


@pytest.mark.weights
@pytest.mark.parametrize(
    ("file", "wrong"), [("questions-tune", 0), ("questions-held", 2), ("near-misses", 0)]
)
def test_the_routes_keep_their_score(visas, file, wrong):
    """At most so many go another way, always to the documents; a fact that answers is right."""
    missed = 0
    for row in rows(f"{file}.jsonl"):
        route = visas.route(row["question"])
        if route.kind != row["route"]:
            missed += 1
            assert route.kind == "documents", row
        elif route.kind == "facts":
            text = visas.ask(row["question"]).text
            assert any(holds(text, each) for each in row["answers"]), row
    assert missed <= wrong


@pytest.mark.weights
@pytest.mark.parametrize(("half", "right"), [("tune", 30), ("held", 48)])
def test_the_answer_is_among_the_three_best_hits(visas, half, right):
    """Of the questions that the documents answer."""
    wanted = [
        row
        for row in rows(f"questions-{half}.jsonl")
        if row["route"] == "documents" and row.get("answers")
    ]
    found = 0
    for row in wanted:
        hits = visas.search(row["question"], k=3)
        texts = " ".join(hit.chunk.text for hit in hits).lower()
        found += any(answer.lower() in texts for answer in row["answers"])
    assert found >= right
    assert found / len(wanted) >= 0.9
