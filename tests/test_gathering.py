"""How sure the evidence makes of an answer."""

import json

import pytest

TABLE = """# Models

Models come with a version and a number of dimensions, from which the size of an index follows.

| Name | Version | Dimensions |
| --- | --- | --- |
| hub/all-MiniLM-L12-v2 | 1.0.2 | 384 |
| hub/big-model-v3 | 1.0.1 | 1024 |
"""


@pytest.mark.parametrize(
    ("question", "is_unknown", "cell", "confidence"),
    [
        ("How many dimensions does all-MiniLM-L12-v2 have?", False, "row", 0.5),
        ("What are the dimensions of hub/big‑model‑v3?", False, "named", 0.85),
        ("How many dimensions does big-model-x3 have?", True, "row", 0),
        ("How many dimensions did big-model-v3 have in 1999?", True, "row", 0),
        ("How large is an index?", False, "", 0),
    ],
)
def test_a_cell_makes_sure_and_an_unknown_name_unsure(
    esrag, question, is_unknown, cell, confidence
):
    """A name is known as a part of a path too, with any kind of hyphen, but not as half a word."""
    (esrag.folder / "models.md").write_text(TABLE)
    assert esrag("ingest", "models.md", "--set", "embedding.model=none").code == 0

    asked = ("ask", "--json", "--explain", "--set", "embedding.model=none", question)
    told = json.loads(esrag(*asked).out)

    signals = told["signals"]
    assert (signals["is_unknown"], signals["cell"]) == (is_unknown, cell)
    assert told["confidence"] >= confidence
    assert told["confidence"] < 0.85 or confidence == 0.85


def test_a_year_that_the_best_statement_lacks_makes_unsure(open_pages):
    """If another passage has it, and no heading of the statement does."""
    years = "# Years\n\nThe year 2023 is long. So is 2022."
    sales = "# Sales in 2022\n\nThe harbour sold 40 lamps to ships at the quay."
    settings = {"embedding.model": "none", "answer.refusal": 0}
    index = open_pages({"years.md": years, "sales.md": sales}, settings)

    sure, unsure = (
        index.ask(f"How many lamps did the harbour sell to ships in {year}?")
        for year in (2022, 2023)
    )
    assert [each.signals.lacks_year for each in (sure, unsure)] == [False, True]
    assert unsure.confidence < sure.confidence / 2


def test_a_name_that_no_passage_has_makes_unsure(open_pages):
    """However well a sentence about another one fits; accents and endings may differ."""
    settings = {"embedding.model": "none", "answer.refusal": 0}
    index = open_pages(
        {"a.md": "# Peaks\n\nThe peak of Säntis in the Swiss Alps is tall."}, settings
    )

    towns = ("Säntis", "Santis", "Switzerland", "Kilimanjaro")
    asked = [index.ask(f"How tall is the peak of {town}?") for town in towns]
    assert [each.signals.lacks_name for each in asked] == [False, False, True, True]
    assert asked[-1].confidence < asked[0].confidence / 2


@pytest.mark.parametrize(("pages", "lacks"), [(12, False), (3, True)])
def test_what_the_collection_is_about_is_no_missing_name(open_pages, pages, lacks):
    """The page on quoting need not say that it is about Perl, unless hardly any page does."""
    quoting = "# Quoting\n\nThe modes of quoting are minimal, strict and none."
    about = {f"p{n}.md": f"# Part {n}\n\nPerl has a part {n}." for n in range(pages)}
    settings = {"embedding.model": "none", "answer.evidence_chunks": 1}
    index = open_pages({"quoting.md": quoting, **about}, settings)

    asked = index.ask("Which modes of quoting do programs in Perl have?")
    assert [item.chunk.title for item in asked.evidence] == ["Quoting"]
    assert asked.signals.lacks_name is lacks


def test_a_part_of_a_long_name_is_known(open_pages):
    """ "German" for "Germany"."""
    index = open_pages({"a.md": "# Tax\n\nThe German tax on lamps is high."}, {})
    assert not index.ask("How high is the tax on lamps in Germany?").signals.lacks_name


@pytest.mark.parametrize("name", ["pep8", "PEP-8", "PEP0008"])
def test_a_number_may_be_written_apart_from_its_name(open_pages, name):
    """Or in four digits."""
    index = open_pages(
        {"pep-0008.md": "# Style\n\nUse 4 spaces for each level of indentation."}, {}
    )
    asked = index.ask(f"How many spaces does {name} want for each level of indentation?")
    assert not asked.signals.is_unknown


@pytest.mark.parametrize("question", ["日本" * 10, "日本" * 4_900, "foo bar " * 10])
def test_a_question_that_has_nothing_in_common_with_the_passages_is_refused(open_pages, question):
    """However the reader takes it, which knows no such questions."""
    page = "# Seals\n\nBring warm clothes. The boat leaves at 9:00 and costs 12 euros."
    asked = open_pages({"seals.md": page}, {}).ask(question)
    assert (asked.answer.refused, asked.confidence) == (True, 0.0)
