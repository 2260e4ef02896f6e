"""The line that names the author, or has the date, that a question asks for."""

import pytest

from esrag.evidence.imprint import answer_author, answer_date
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence

PASSAGES = {
    "kettles": "Rule: 12\nTitle: Kettles\nAuthor: Ada Park,\n    Ben Fox\nReplaces: 7\n",
    "pots": "Rule: 7\nTitle: Pots\nAuthor: Cy Dent\nReplaces:\n",
    "case": "PARK v. FOX\nArgued May 2, 2022—Decided June 7, 2023\nWhen Park v. Fox was decided is "
    "not told. On what date Park v. Fox was argued is not told.",
    "dated": "Rule: 9\nTitle: Lamps\nIssued: 2020-05-01\n\nLamps are lit at dusk from May on.",
    "opinion": "Part One\n\nChief Justice Park delivered the opinion of the Court. Fox dissented.",
    "force": "Rule: 9\nTitle: Lamps\n\nPublished: May 2, 2020 Effective: June 7, 2021",
    "talk": "When rule 9 did come into force, rule 9 was new to all.",
    "dateline": "Kiel, 22 May 2023\n\nDear all, the day of pots in Kiel is a fine one.",
    "module": "Rule: 5\nTitle: Modules\nAuthor: Ed Lind\n\nThe lamp module by Ada Park is old.",
    "letters": "Write a rule if you want one about kettles. It is used by Finns.",
}


def find(question, *names, answer=answer_author):
    """The line over passages of several documents, and how it was found."""
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
    found = statements(question, evidence)
    return answer(question, evidence, found)


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


def test_who_delivered_an_opinion_wrote_it():
    """In the document of the best statement; one who delivers a kettle wrote nothing."""
    cells = find("Who wrote the opinion of the Court?", "opinion", "letters")
    assert ["Chief Justice Park delivered the opinion of the Court."] == [
        text for _, text in cells.found
    ]
    assert not find("Who wrote the rule on kettles?", "opinion", "letters").found


def test_who_wrote_a_part_is_told_by_its_sentence():
    """It need not be the author of the document that tells of it."""
    assert not find("Who wrote the old lamp module?", "module").found


def test_what_is_effective_came_into_force():
    """A question may say it in other words than the line."""
    cells = find("When did rule 9 come into force?", "talk", "force", answer=answer_date)
    assert ["Published: May 2, 2020 Effective: June 7, 2021"] == [text for _, text in cells.found]


def test_without_a_name_the_author_is_that_of_the_best_document():
    """Which does not make sure of it; and other questions have no author."""
    cells = find("Who wrote the law of copper pots?", "pots")
    assert ([text for _, text in cells.found], cells.way) == (["Author: Cy Dent"], "")
    for question in ("Who wrote rule 12?", "What is rule 7?", "Who uses rule 7?"):
        assert not find(question, "letters").found
        assert question == "Who wrote rule 12?" or not find(question, "pots").found


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("When was Park v. Fox decided?", "Argued May 2, 2022—Decided June 7, 2023"),
        ("On what date was Park v. Fox argued?", "Argued May 2, 2022—Decided June 7, 2023"),
        ("In which year was the rule on lamps issued?", "Issued: 2020-05-01"),
    ],
)
def test_the_line_with_the_date_of_what_was_done(question, line):
    """A verb or a noun of the question is right before the date."""
    cells = find(question, "letters", "case", "dated", answer=answer_date)
    assert ([text for _, text in cells.found], cells.way) == ([line], "named")


def test_where_a_letter_was_written_is_no_event():
    """Its date is not that of what happens there."""
    question = "When is the day of pots in Kiel?"
    assert not find(question, "letters", "dateline", answer=answer_date).found


def test_another_time_is_no_date_of_it():
    """When something was done that no line has a date for; and other questions have no date."""
    for question in (
        "When did Park sue Fox?",
        "When are lamps lit?",
        "Was Park v. Fox decided?",
        "Who decided Park v. Fox?",
    ):
        assert not find(question, "letters", "case", "dated", answer=answer_date).found
