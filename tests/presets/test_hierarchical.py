"""The preset hierarchical over its example: docs/reference/systems/hierarchical.md."""

import pytest
import yaml
from sheets import EXAMPLES, count_right

import esrag as library

EXAMPLE = EXAMPLES / "hierarchical"
LATEST = "What is the latest GloBE guidance in Germany?"
HARD = "How do Article 6.1 and Article 6.3 differ for Group Gorse, and what is due when?"


def opened(folder, **changed):
    """The example's settings over a folder, some of them changed."""
    preset = yaml.safe_load((EXAMPLE / "esrag.yaml").read_text())["preset"]
    settings = {"embedding.offline": True, **changed}
    return library.open(folder, preset=preset, settings=settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, real_model):
    """The example, ingested once."""
    assert real_model
    folder = tmp_path_factory.mktemp("taxes")
    with opened(folder) as index:
        assert index.ingest(EXAMPLE / "docs").failed == 0
    return folder


@pytest.fixture
def taxes(folder):
    with opened(folder) as index:
        yield index


def test_every_chunk_is_of_one_section(taxes):
    """With the whole path, and none above the size."""
    chunks = {chunk.section: chunk for chunk in taxes.chunks()}
    path = "Minimum Tax Act of Sarn > Part 5 Rate and amount > Article 5.3 Substance exclusion"
    assert "9.4 percent" in chunks[path].text
    assert not [chunk for chunk in chunks.values() if chunk.text.count("### Article") > 1]


def test_a_cell_is_found_with_its_row_and_header(taxes):
    asked = taxes.ask("What part of payroll costs is excluded in 2026?")
    assert "9.4 percent" in asked.text
    passages = [each.chunk.text for each in asked.evidence]
    row, header = (
        "| 2026 | 9.4 percent | 7.4 percent |",
        "| Year | Payroll costs | Tangible assets |",
    )
    assert any(row in passage and header in passage for passage in passages)


def test_a_hard_question_gets_more_passages(taxes):
    easy = taxes.search("What is the minimum rate?")
    assert (taxes.route(HARD).decision.router, len(easy)) == ("complexity", 5)
    assert len(taxes.search(HARD)) == 7


def test_without_a_provider_the_answer_says_so(taxes):
    """And is from the documents."""
    asked = taxes.ask(LATEST)
    assert taxes.route(LATEST).kind == "web"
    note = "the web was not searched, as web.provider is none"
    assert any(each.startswith(note) for each in asked.notes)
    assert asked.route == "documents"


def test_both_layers_come_with_their_scores(folder):
    """If the summaries are searched first."""
    with opened(folder, **{"summaries.search": True}) as index:
        shown = index.search("How large may the XML file be?").to_dict()
    count = len(shown["summaries"])
    assert shown["scope"].startswith(f"the {count} document")
    assert "filing" in {each["doc_id"] for each in shown["summaries"]}
    assert all(each["score"] >= 0.6 for each in shown["summaries"])
    assert shown["hits"][0]["doc_id"] == "filing"


@pytest.mark.parametrize(("half", "least"), [("tune", 26), ("held", 33)])
def test_the_example_keeps_its_score(taxes, half, least):
    """Answers with one of the labelled texts, and refusals of what no document answers."""
    assert count_right(taxes, EXAMPLE / f"questions-{half}.jsonl") >= least
