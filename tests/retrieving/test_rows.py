"""A question that names the row of a table finds the table among pages that use its words."""

import pytest

from esrag.text.rows import MAX_ROWS, find_rows, row_tokens

NOTES = "\n\n".join(
    f"Note {n}: the total value of the assets of Lamp Works rose in 2021, and so did total assets."
    for n in range(30)
)
SHEET = """# Sheet

Item | 2021 | 2020
--- | --- | ---
Cash and cash equivalents | 16 | 5
Lease | 3 | 2
Total assets | 40 | 30
"""
SETTINGS = {"embedding.model": "none", "chunking": {"size": 60, "overlap": 0}, "answer.refusal": 0}


@pytest.fixture
def index(open_pages):
    """An index of a page that speaks of assets thirty times, and of a balance sheet."""
    return open_pages({"notes.md": NOTES, "sheet.md": SHEET}, SETTINGS)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What were the total assets of Lamp Works at the end of 2020?", "2020: 30"),
        ("How much cash did Lamp Works have in 2021?", "2021: 16"),
        ("What was the lease of Lamp Works in 2021?", "2021: 3"),
    ],
)
def test_the_table_comes_first(index, question, said):
    """Even if other pages have more of the question's words."""
    assert "sheet" == index.search(question, k=5)[0].chunk.doc_id
    assert said in index.ask(question).text


@pytest.mark.parametrize(
    "question", ["Why did assets rise?", "Which lamp has assets?", "What is cash?"]
)
def test_one_word_names_a_row_only_in_a_question_for_a_number(index, question):
    """Or every question would bring tables."""
    assert not row_tokens(question).keys() & {*find_rows(SHEET)}


def test_a_long_question_names_few_rows(index):
    """Or a server would refuse so many words."""
    question = "How much is " + " ".join(f"word{n}" for n in range(900)) + "?"
    assert 300 > len(row_tokens(question))
    assert index.search("How much were the total assets in 2021? " + "so " * 900)


def test_of_many_tables_the_closest_comes_first(open_pages):
    """The one that has most of the question's other words."""
    sheets = {
        f"sheet{n}.md": f"# Sheet of Works {n:02}\n\nItem | 2021\n--- | ---\nTotal assets | {n}\n"
        for n in range(10, 50)
    }
    index = open_pages(sheets, SETTINGS)
    assert "sheet37" == index.search("What are the total assets of Works 37?", k=3)[0].chunk.doc_id


def test_rows_of_a_passage():
    """No header, no date and no endless label, and not too many."""
    assert not find_rows("Item | Year\n--- | ---")
    assert not find_rows("Item | 2021 | 2020")
    assert not find_rows("Item | Price\nDecember 31, 2021 | 5\n" + "one two " * 9 + "| 7")
    assert MAX_ROWS == len(find_rows("\n".join(f"row{n} | {n}" for n in range(MAX_ROWS + 9))))
    assert ("▤mlkem768",) == find_rows("ML-KEM-768 | 1184")


def test_a_filter_holds_for_rows(index):
    """And what no row is called is found as before."""
    question = "What were the total assets in 2020?"
    found = index.search(question, k=5, where={"doc_id": "notes"})
    assert {"notes"} == {hit.chunk.doc_id for hit in found}


def test_a_number_is_found_with_its_header():
    """As "FAL2" or "4-byte" names it; so is a technical word, whatever is asked."""
    assert find_rows("|FAL|Rule|\n|---|---|\n|2|signed|") == ("▤fal2",)
    assert "▤byte4" in row_tokens("How many 4-byte strings are there?")
    assert "▤gettick64" in row_tokens("Which clock has GetTick64 on it?")
