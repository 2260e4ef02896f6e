"""The line that names the author whom a question asks for."""

import pytest

from esrag.evidence.authors import answer_author
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence

PASSAGES = {
    "kettles": "Rule: 12\nTitle: Kettles\nAuthor: Ada Park,\n    Ben Fox\nReplaces: 7\n",
    "pots": "Rule: 7\nTitle: Pots\nAuthor: Cy Dent\nReplaces:\n",
    "letters": "Write a rule if you want one about kettles. It is used by Finns.",
}


def find(question, *names):
    """The author line over passages of several documents, and how it was found."""
    evidence = tuple(
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=f"{name}::p0001::c000",
                doc_id=name,
                ordinal=0,
                start=0,
                end=len(PASSAGES[name]),
                start_page=1,
                end_page=1,
                text=PASSAGES[name],
            ),
            1 / n,
        )
        for n, name in enumerate(names, 1)
    )
    found = statements(question, evidence, None)
    return answer_author(question, evidence, found)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("Who wrote rule 12?", "Author: Ada Park, Ben Fox"),
        ("Who wrote rule 7?", "Author: Cy Dent"),
        ("Who is the author of the rule on pots?", "Author: Cy Dent"),
    ],
)
def test_the_line_of_the_document_in_question_names_its_author(question, line):
    """By the words before it: a rule that another one replaces is not that one."""
    cells = find(question, "letters", "kettles", "pots")
    assert ([text for _, text in cells.found], cells.way) == ([line], "named")


def test_without_a_name_the_author_is_that_of_the_best_document():
    """Which does not make sure of it; and other questions have no author."""
    cells = find("Who wrote the law of copper pots?", "pots")
    assert ([text for _, text in cells.found], cells.way) == (["Author: Cy Dent"], "")
    for question in ("Who wrote rule 12?", "What is rule 7?", "Who uses rule 7?"):
        assert not find(question, "letters").found
        assert question == "Who wrote rule 12?" or not find(question, "pots").found
