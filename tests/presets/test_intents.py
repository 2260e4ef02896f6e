"""The preset intents: the intent of a question decides where its answer is looked for."""

import json
from pathlib import Path

import pytest
from sheets import EXAMPLES, INTENTS

import esrag as library

EXAMPLE = EXAMPLES / "intents"


@pytest.fixture(scope="module")
def firm(tmp_path_factory):
    """The example, ingested with the preset, keyword search only."""
    folder = tmp_path_factory.mktemp("firm")
    settings = {"embedding.model": "none"}
    with library.open(folder / "index", settings=settings, preset="intents") as index:
        index.ingest(EXAMPLE / "docs")
        yield index


def labelled(name):
    return [json.loads(line) for line in (EXAMPLE / name).read_text().splitlines()]


def share_right(index, questions):
    right = [index.route(each["question"]).decision.intent == each["intent"] for each in questions]
    return sum(right) / len(right)


@pytest.mark.parametrize(("question", "intent"), INTENTS)
def test_the_intents_of_the_sheet(firm, question, intent):
    assert firm.route(question).decision.intent == intent


def test_a_project_is_listed_by_its_jobs(firm):
    """One line per job of the year, and nothing of texts about 225 mm."""
    answer = firm.ask("what is project 225?")
    lines = answer.text.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "- Job 225189 (2025)", "- Job 225221 (2025)", "- Job 225304 (2025)",
    ]  # fmt: skip
    assert all("/Projects/225/" in citation.source for citation in answer.citations)
    assert (answer.route, answer.retrieved.scope) == ("collection", "the jobs of 225")


def test_a_number_is_a_length_or_a_project(firm):
    """Forty pairs of 225 the project and 225 mm: no mix-up."""
    pairs = labelled("pairs-225.jsonl")
    assert len(pairs) == 40
    assert share_right(firm, pairs) == 1


def test_the_router_on_held_back_questions(firm):
    """The rules were written for the first file; the second is of other topics."""
    assert share_right(firm, labelled("questions-tune.jsonl")) >= 0.97
    assert share_right(firm, labelled("questions-held.jsonl")) >= 0.97


@pytest.mark.parametrize("half", ["tune", "held"])
def test_the_filters_of_the_labelled_questions(firm, half):
    """The narrowest scope is that of the number or the name, also of one that only a file has."""
    labels = {"job": "job {}", "year": "the jobs of {}", "client": "clients named {}"}
    wanted, found = {}, {}
    for each in labelled(f"questions-{half}.jsonl"):
        entities = each.get("entities", {})
        first = next((name for name in labels if name in entities), "")
        wanted[each["question"]] = labels[first].format(entities[first]) if first else ""
        narrowest = firm.route(each["question"]).scopes[:1]
        found[each["question"]] = "".join(scope.label for scope in narrowest if first)
    assert sum(map(bool, wanted.values())) >= 15
    assert found == wanted


def test_the_answer_says_where_it_is_from(firm):
    found = firm.search("What is the budget of job 225221?")
    assert found.found.scope == "job 225221"
    assert {hit.chunk.metadata["job"] for hit in found} == {225221}


def test_a_scope_that_is_empty_is_widened(firm):
    """The note names what was looked for and where something was found."""
    found = firm.search("What is the budget of job 225999?")
    assert found.found.scope == "the jobs of 225"
    assert "nothing found in job 225999; searched in the jobs of 225" in found.found.notes


def test_each_part_has_its_own_scope(firm):
    """Two intents in one question; who the client of a job is stands in that job."""
    asked = firm.ask("What is the wellness policy, and who is the client for job 225221?")
    assert [part.decision.intent for part in asked.parts] == ["Policy", "Client"]
    assert [part.scope for part in asked.parts] == ["policies", "job 225221"]
    assert [("$400" in line, "Harbour Trust" in line) for line in asked.text.splitlines()] == [
        (True, False),
        (False, True),
    ]


def test_the_settings_of_the_sheet():
    wanted = library.open("unused", preset="intents").settings
    assert (wanted.chunking.size, wanted.chunking.overlap) == (1000, 200)
    assert wanted.chunking.context == ("project_name",)
    assert (wanted.retrieval.candidates, wanted.retrieval.k, wanted.rerank.depth) == (10, 10, 10)
    assert (wanted.rerank.chain, wanted.answer.evidence_chunks) == (("exact-tokens",), 5)
    writer = wanted.models.default
    assert (writer.temperature, writer.max_output_tokens, writer.is_configured) == (
        0.3,
        1500,
        False,
    )


def test_files_are_in_the_list_of_sources(firm):
    """Each with its folder; the text of the answer names none."""
    asked = firm.ask("what's the wellness policy?")
    assert [Path(each.source).parent.name for each in asked.citations] == ["Policies"]
    assert ".md" not in asked.text


def test_nothing_is_kept_between_questions(firm):
    """A question that leans on another is not completed unless the caller says from what."""
    question = "Who is the client for job 225221?"
    alone = firm.ask("And its budget?").to_dict()
    firm.ask(question)
    assert firm.ask("And its budget?").to_dict() == alone


def test_a_refusal_has_its_own_words(firm):
    asked = firm.ask("who won the football world cup?")
    assert (asked.refused, asked.text) == (
        True,
        "I cannot provide a complete answer based on the available knowledge.",
    )


def test_a_scope_never_widens_a_filter(firm):
    """The user's filter holds in every scope."""
    found = firm.search("What is the budget of job 225221?", where={"top_folder": "Standards"})
    assert {hit.chunk.metadata["top_folder"] for hit in found} <= {"Standards"}


def test_a_client_is_found_by_name(firm):
    """The name occurs in the passage, or in the name of its project."""
    found = firm.search("Who is our contact at Harbour Trust?")
    assert found.found.scope == "clients named Harbour Trust"
    assert {hit.chunk.doc_id for hit in found} == {"harbour-trust"}


@pytest.mark.parametrize("name", ['" OR 1=1 --', "Smith* [x] {job}", "{client}"])
def test_a_hostile_name_is_data(firm, name):
    firm.ask(f"Who is the client for the {name} project?")
