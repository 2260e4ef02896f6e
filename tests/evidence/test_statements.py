"""The reader gets the best statements, and what it finds decides."""

from dataclasses import replace
from itertools import zip_longest

import numpy as np

from esrag.evidence import Statement
from esrag.evidence.fits import NO_ANSWER, READ_AT_MOST, READ_AT_ONCE, READ_IN_VAIN
from esrag.evidence.preferences import prefer
from esrag.evidence.statements import statements
from esrag.records import Break, Chunk, Evidence

QUESTION = "How long is the cable of the green kettle?"
FITTING = [f"The cable of the green kettle number {n} is {n} cm long." for n in range(6)]
OTHER = [f"Toasters were sold in shop {n} only." for n in range(20)]


def evidence(texts, closeness=(0.6, 0.3)):
    """A passage for each ten texts, of which the first are as close to the question as told, the
    others unknown.
    """
    passages = [" ".join(texts[n : n + 10]) for n in range(0, len(texts), 10)]
    return [
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=f"d::p0001::c{n:03}",
                doc_id="d",
                ordinal=n,
                start=0,
                end=len(text),
                start_page=1,
                end_page=1,
                text=text,
            ),
            1 / n,
            closeness=close,
        )
        for n, (text, close) in enumerate(zip_longest(passages, closeness[: len(passages)]), 1)
    ]


class Reader:
    """Scores texts with a word highly, the others badly, and remembers what it was given."""

    def __init__(self, word, other=-8.0):
        self.word, self.other, self.given = word, other, []

    def __call__(self, question, texts):
        self.given += texts
        return np.array([8.0 if self.word in text else self.other for text in texts])

    def compare(self, question, texts):
        """Finds all texts equally near."""
        return np.zeros(len(texts))


class Fair(Reader):
    """Scores texts with a word as likely answers, not as sure ones."""

    def __call__(self, question, texts):
        return np.minimum(super().__call__(question, texts), 2.0)


def test_the_reader_gets_the_best_statements_and_moves_their_fits():
    """What it finds is the best; what it did not read fits no better than the worst that it did."""
    given, read = evidence([*FITTING, *OTHER]), Fair("number 4 ", NO_ANSWER)
    found = statements(QUESTION, given, read)

    assert len(read.given) == READ_AT_MOST
    assert max(found, key=lambda one: one.fit).text == FITTING[4]
    assert {one.reading for one in found} == {2.0, NO_ANSWER, None}
    worst = min(one.fit for one in found if one.reading is not None)
    assert all(one.fit <= worst for one in found if one.reading is None)


def test_the_reader_stops_when_a_statement_is_surely_an_answer():
    """What comes after is not read, though it would be as good."""
    read = Reader("cable")
    found = statements(QUESTION, evidence([*FITTING, *OTHER]), read)
    assert len(read.given) == READ_AT_ONCE
    assert [one.reading for one in found].count(8.0) == READ_AT_ONCE


def test_the_reader_stops_after_several_statements_that_are_surely_no_answers():
    """In a row: what comes after is not read."""
    read = Reader("cable of a kettle that nobody has", NO_ANSWER - 0.1)
    statements(QUESTION, evidence([*FITTING, *OTHER]), read)
    assert len(read.given) == READ_IN_VAIN


def test_both_sides_of_a_comparison_are_read():
    """One that is surely an answer is only one half."""
    given = evidence([*OTHER, "The red kettle holds 2 litres.", "The old pan holds 3 litres."])
    read = Reader("litres")
    statements("How much do the red kettle and the old pan hold?", given, read)
    assert {text for text in read.given if "litres" in text} == {
        "The red kettle holds 2 litres.",
        "The old pan holds 3 litres.",
    }


def test_each_side_of_a_difference_needs_an_answer():
    """A statement that surely says what the kettle is says nothing of the pan."""
    kettles = [f"A kettle has a lid that is held by {n} screws." for n in range(9)]
    pan = "It was said long ago that a pan has a handle of wood."
    given = evidence([*kettles, *OTHER, pan])

    class Read(Reader):
        def __call__(self, question, texts):
            super().__call__(question, texts)
            subject = question.removeprefix("What is a ").rstrip("?")
            return np.array([8.0 if f"a {subject} has" in text.lower() else -1.0 for text in texts])

    read = Read("")
    found = statements("What's the difference between a kettle and a pan?", given, read)
    assert [one.reading for one in found if one.text == pan] == [8.0]


def test_the_reader_also_reads_for_the_core_of_a_question():
    """The better of both scores counts."""
    asked = []

    class Read(Reader):
        def __call__(self, question, texts):
            asked.append(question)
            return np.array([1.0 if question == QUESTION else -2.0] * len(texts))

    wider = f"In the shop, {QUESTION[0].lower()}{QUESTION[1:]}"
    found = statements(wider, evidence(FITTING), Read("cable"))
    assert asked == [wider, QUESTION] * 3
    assert {one.reading for one in found} == {1.0}


def test_an_answer_for_the_reader_goes_before_what_fits_hardly_better():
    """It goes behind if the reader takes it for none, or scores it only a little higher."""
    best = Statement("c1", 0, "The cable of the green kettle is told of.", "", 0.6, reading=-4.0)
    read = Statement("c1", 1, "The cable is 80 cm.", "", 0.55, reading=3.0)
    others = [replace(read, reading=-0.5), replace(read, fit=0.5)]

    def find(other, question="Of what is the cable?"):
        return max(prefer(question, [best, other]), key=lambda one: one.fit).text

    assert find(read) == read.text
    assert [find(each) for each in others] == [best.text] * 2


def test_the_reader_does_not_stop_at_a_statement_without_the_number():
    """That it answers surely is a mistake then."""
    sure = [f"The cable of the green kettle number {word} is long." for word in "abcdef"]
    read = Reader("cable")
    statements(QUESTION, evidence([*sure, *OTHER]), read)
    assert len(read.given) > READ_AT_ONCE


def test_the_reader_reads_what_defines_for_a_plainer_question():
    """It was trained with such questions."""

    class Read(Reader):
        def __call__(self, question, texts):
            return np.array([4.0 if question == "What is pan?" else -5.0] * len(texts))

    given = evidence(["A pan is a flat pot.", "In a shop, a pan is seen.", *OTHER])
    found = statements("How did the old rules define a pan?", given, Read(""))
    assert [one.text for one in found if one.reading == 4.0] == ["A pan is a flat pot."]


def test_what_names_the_subject_of_a_definition_is_read():
    """Though other words of the question are elsewhere."""
    near = [f"What lamps of the quay do at {n} is to do what they do at all." for n in range(20)]
    given = evidence([*near, "Passing davy, it is kept."])
    read = Reader("davy", NO_ANSWER - 0.1)
    statements("What does davy do?", given, read)
    assert "Passing davy, it is kept." in read.given


def test_the_reader_is_told_title_and_headings():
    """Each once, before the statement; a heading is cut."""
    (item,) = evidence(["The cable is 80 cm long."], closeness=(0.6,))
    chunk = replace(item.chunk, title="Kettle", section="Manual > " + "Size " * 40)
    read = Reader("cable")
    statements(QUESTION, [replace(item, chunk=chunk)], read)
    assert read.given == [f"Kettle: {('Size ' * 40)[:80]}: The cable is 80 cm long."]


def test_a_listing_of_bytes_says_nothing():
    """Without a word of three letters nothing is a statement."""
    found = statements("What is 4f?", evidence(["4f 67 dc ea 97 f2 cf ce.", "4f is a byte."]))
    assert [one.text for one in found] == ["4f is a byte."]


def test_a_reply_is_read_with_its_question():
    """The "A:" before it is left out."""
    text = "Q: Can I boil milk in the kettle?\n\nA: No, it burns at once.\n\nIt is for water."
    found = statements("Is milk fine?", evidence([text]))
    asked = "Q: Can I boil milk in the kettle?"

    assert [(one.text, one.under) for one in found] == [
        ("No, it burns at once.", asked),
        ("It is for water.", asked),
    ]


def test_a_mere_citation_of_a_case_is_no_answer():
    """It says nothing itself."""
    text = "See, e. g., Kettle Co. v. Pan, 7 U. S. 1 (1803). The kettle wins in all cases."
    found = statements("Who wins the case?", evidence([text]))
    assert [one.text for one in found] == ["The kettle wins in all cases."]


def test_what_only_refers_to_a_section_answers_where_and_nothing_else():
    text = "See Section 7.2 [What is the difference?], page 3, for more. A lid is flat."
    for question, least in (("What is a lid?", 1), ("Where is the difference told?", 2)):
        found = statements(question, evidence([text]))
        assert (len(found), found[-1].text) == (least, "A lid is flat.")


def test_a_table_of_contents_is_no_answer():
    """Neither its headings nor what leads to their pages."""
    for text in (
        "1. Kettles\n2. Lids of kettles\n\nIt is new.",
        "Lids of kettles?.....\n\nIt is new.",
    ):
        (item,) = evidence([text])
        given = replace(item, chunk=replace(item.chunk, section="Guide > Table of Contents"))
        assert [one.text for one in statements("Which lids are there?", [given])] == ["It is new."]


def test_references_are_no_answers_unless_they_are_asked_for():
    """Nor are the titles of papers, where the heading above them is not known."""
    (item,) = evidence(["Knots of harbour ropes are in a table."], closeness=(0.6,))
    titles = "Fox A (1990). “Harbour knots of the north.” Ada B (1991). “More on knots.” Ropes, 7."
    book = "Knots: A Harbour Book by Ada Fox."
    texts = {"c1": "Harbour knots are tied by hand.", "c2": titles, "c3": book}
    given = [
        replace(item, key=key, chunk=replace(item.chunk, text=text, section=section))
        for (key, text), section in zip(
            texts.items(), ("Knots", "End", "9 References"), strict=True
        )
    ]

    said = {each.text for each in statements("How are harbour knots tied?", given)}
    assert "Harbour knots are tied by hand." in said
    assert not said & {"“Harbour knots of the north.”", "“More on knots.”", book}
    asked = {each.text for each in statements("Which book is about harbour knots?", given)}
    assert {"“Harbour knots of the north.”", book} <= asked


def test_a_statement_is_read_below_its_own_heading():
    """A chunk holds several short sections, and the sentences of the second are read below its
    heading, also those after the first one.
    """
    text = "Rent\n\nIt is 900 euros a month.\n\nPets\n\nOne cat may live here. It must be small."
    (given,) = evidence([text])
    breaks = (Break(text.index("Pets"), 1, "Lease > Pets"),)
    chunk = replace(given.chunk, section="Lease > Rent", breaks=breaks)

    reader = Fair("cat")
    found = statements("May I have a cat?", [replace(given, chunk=chunk)], reader)
    assert [one.section for one in found] == ["Lease > Rent", "Lease > Pets", "Lease > Pets"]
    assert "Pets: It must be small." in reader.given
    assert "Rent: It is 900 euros a month." in reader.given


def test_a_heading_that_says_something_is_a_statement():
    """A clause of a contract, styled as a heading; a mere title is none."""
    clause = "Flights within the country are not permitted, except to Skye."
    text = f"Means of transport\n\n{clause}"
    (given,) = evidence([text])
    breaks = (Break(text.index(clause), 1, f"Means of transport > {clause}"),)
    chunk = replace(given.chunk, section="Means of transport", breaks=breaks)

    found = statements("Are flights permitted?", [replace(given, chunk=chunk)])
    assert [one.text for one in found] == [clause]
