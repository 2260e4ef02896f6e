"""Labels: what is asked of lamp 7 is answered of lamp 7, whatever fits as well."""

from dataclasses import replace

import pytest

from esrag.citations import REFUSAL
from esrag.evidence.cells import answer_cells
from esrag.evidence.statements import statements
from esrag.generating import GenerationTask, GeneratorOptions
from esrag.generating.extractive import ExtractiveGenerator
from esrag.records import Chunk, Evidence
from esrag.verifying.drafts import to_evidence
from esrag.verifying.verify import verify


def answer(question, *texts):
    """The checked extractive answer over a passage of each text."""
    given = tuple(to_evidence(texts))
    found = statements(question, given)
    task = GenerationTask(
        question=question,
        evidence=given,
        statements=found,
        max_sentences=3,
        cells=answer_cells(question, given, found),
    )
    return verify(ExtractiveGenerator(GeneratorOptions()).generate(task).text, given)


def lamps(*names, after="burns 5 litres."):
    """A passage for each."""
    return [f"Lamp {name} {after}" for name in names]


def test_a_name_with_an_s_is_no_label():
    """It names whose the next thing is: there are no attenuators Davy."""
    text = "There are three types of attenuators: red ones, old ones, and new ones."
    asked = "Name the kinds of attenuators Davy's calculator knows."
    assert text in answer(asked, text).text.replace(" [c1]", "")


def test_a_release_is_of_its_version():
    """A question about lamp 3 is answered with what its version 3.1 does."""
    text = "Starting with Lamp version 3.1, the dimmer is on by default."
    assert answer("Is the dimmer of Lamp 3 on?", text).text == f"{text} [c1]"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is a pass good in the lower 48 states?", "A pass is good for 10 days."),
        ("What are dials in the Quill 2 to 3 plan?", "Dials are wheels. Quill 2.5 has them."),
        ("May a lamp be called 2.1+fox?", "A lamp may be called anything but late."),
    ],
)
def test_a_number_that_is_no_label_needs_no_passage(question, text):
    """It counts things, is a name, or that of a version with releases."""
    assert answer(question, text).text.startswith(text.partition(".")[0])


def test_a_version_is_told_from_others():
    """In a list of versions with nothing but their dates."""
    text = "Dates:\n\n- 2.7.8 2014-06-30\n- 2.7.9rc1 2014-11-26\n- 2.7.9 2014-12-10"
    assert answer("When did 2.7.9 come out?", text).text == "2.7.9 2014-12-10 [c1]"
    assert answer("When did 2.7.5 come out?", text).text == REFUSAL


def test_a_document_about_another_version_is_no_answer():
    """Unless it tells of the one in question as well."""
    chunk = Chunk(
        chunk_id="d::p0001::c000", doc_id="d", ordinal=0, start=0, end=44, start_page=1, end_page=1,
        text="Ada was the release manager. Ben was so of 2.6.", title="Quill 2.5 Release Schedule",
    )  # fmt: skip
    found = statements("Who was the release manager of Quill 2.6?", [Evidence("c1", chunk, 1.0)])
    assert [one.text for one in found] == ["Ben was so of 2.6."]


def test_dates_of_other_releases_are_no_answer():
    """Not even in a list: 2.7.1 is no release of 2.6."""
    text = "Dates:\n\n- 2.7.1 2010-11-27\n- 2.7.2 2011-07-21"
    found = answer("On what day was Quill 2.6 released?", f"Quill 2.6 is old. {text}").text
    assert found == "Quill 2.6 is old. [c1]"


def test_a_size_is_told_from_others():
    """2-bit keys are no 1-bit keys; a passage about neither stays."""
    texts = "With 1-bit keys, lamps burn 4 litres.", "With 2-bit keys, lamps burn 9 litres."
    assert answer("How much do lamps with 2-bit keys burn?", *texts).text == f"{texts[1]} [c2]"
    assert answer("How much do lamps with 7-bit keys burn?", "Lamps burn 4 litres.").text


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        (
            "How many litres does lamp 7 burn?",
            [f"Lamp {n} burns {n} litres." for n in (8, 7, 77)],
            "Lamp 7 burns 7 litres.",
        ),
        (
            "How many litres does lamp 7 burn?",
            [f"Lamp {n} burns {n + 3} litres." for n in (4, 7, 10)],
            "Lamp 7 burns 10 litres.",
        ),
        (
            "How many litres does lamp 17 burn?",
            ["Lamp 1 of pump 17 burns 17 litres.", "Lamp 17 of pump 1 burns 5 litres."],
            "Lamp 17 of pump 1 burns 5 litres.",
        ),
        ("How many litres does lamp seven burn?", lamps("8", "7", "9"), "Lamp 7 burns 5 litres."),
        ("How many litres does lamp no. 7 burn?", lamps("8", "7", "9"), "Lamp 7 burns 5 litres."),
        (
            "How many litres does lamp Anna burn?",
            lamps("Bert", "Anna", "Carl"),
            "Lamp Anna burns 5 litres.",
        ),
        (
            "How many litres does lamp A-7 burn?",
            lamps("A-8", "A-7", "B-7"),
            "Lamp A-7 burns 5 litres.",
        ),
        (
            "How many litres does lamp 7 of room 12 burn?",
            lamps("7", "8", "7", after="of room 12 burns 5 litres.")[1:]
            + lamps("7", after="of room 13 burns 5 litres."),
            "Lamp 7 of room 12 burns 5 litres.",
        ),
        (
            "How many litres were burnt on 3 May 2021?",
            [f"On {day} May 2021 the lamp burnt {day} litres." for day in (2, 3, 4)],
            "On 3 May 2021 the lamp burnt 3 litres.",
        ),
        (
            "How many litres were burnt on 2021-05-03?",
            [f"On 2021-05-0{day} the lamp burnt {day} litres." for day in (2, 3, 4)],
            "On 2021-05-03 the lamp burnt 3 litres.",
        ),
        (
            "How many litres does lamp 7 burn?",
            ["Lamps 1 to 6 burn 5 litres.", "Lamps 7 to 9 burn 6 litres."],
            "Lamps 7 to 9",
        ),
        (
            "How many litres does lamp 7 burn?",
            ["Lamp | Litres\n6 | 5\n7 | 4\n8 | 3"],
            "Lamp: 7, Litres: 4",
        ),
        (
            "How long does it take to burn 7 litres?",
            ["The lamp burns 5 litres in an hour."],
            "The lamp burns 5 litres",
        ),
        (
            "Which lamp burns 80 litres?",
            [f"Lamp {n} burns {n + 3} litres." for n in (80, 77, 78)],
            "Lamp 77 burns 80 litres.",
        ),
        (
            "What burns 80 litres?",
            ["Lamp | Litres\n80 | 83 litres\n77 | 80 litres\n78 | 81 litres"],
            "Lamp: 77, Litres: 80",
        ),
        (
            "Which lamps burn more than 80 litres?",
            ["Large lamps burn 100 litres."],
            "Large lamps burn 100 litres.",
        ),
        (
            "Which lamp burns 80 litres?",
            ["Large lamps burn 70 to 90 litres.", "A small lamp burns 5 litres."],
            "Large lamps burn 70 to 90 litres.",
        ),
        (
            "How many litres does the AL-40 burn?",
            ["The AL-20 burns 3 litres.", "The AL 40 burns 4 litres.", "The AL-60 burns 5 litres."],
            "The AL 40 burns 4 litres.",
        ),
        (
            "How many litres does the AL-40 burn?",
            ["The AL-20 burns 3 litres, the AL-40 4 litres."],
            "The AL-20 burns 3 litres, the AL-40 4 litres.",
        ),
        (
            "How many litres were burnt in March?",
            ["In May 5 litres were burnt.", "In March 6 litres were burnt."],
            "In March 6 litres were burnt.",
        ),
        (
            "How many litres were burnt in March?",
            ["From January to May 5 litres were burnt."],
            "From January to May",
        ),
        ("How many litres does the al40 burn?", ["It burns 4 litres."], "It burns 4 litres."),
        ("How much does it burn?", ["It's 7 litres that it burns."], "It's 7 litres"),
        (
            "What are 3 uses of a lamp?",
            ["A lamp is used for light, heat and comfort."],
            "A lamp is used for light",
        ),
    ],
)
def test_the_one_that_is_asked_for_is_answered_with(question, texts, expected):
    """And none of those beside it: by number, name, code, several numbers or a date."""
    said = answer(question, *texts).text
    assert said.startswith(expected)
    assert said.count("[c") == 1


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("How many litres does lamp 999 burn?", lamps("1", "7", "99", "9990")),
        ("How many litres does lamp 999 burn?", ["A lamp burns 5 litres."]),
        ("How many litres does lamp Zoe burn?", lamps("Anna", "Bert")),
        ("How many litres does lamp A-9 burn?", lamps("A-8", "A-7")),
        ("How many litres were burnt on 2021-05-09?", ["On 2021-05-04 the lamp burnt 4 litres."]),
        ("How many litres were burnt on May 9?", ["On May 4 the lamp burnt 4 litres."]),
        (
            "How many litres does the AL-80 burn?",
            ["The AL-20 burns 3 litres.", "It burns 4 litres."],
        ),
        ("How many litres were burnt in March?", ["In January 5 litres were burnt."]),
        ("How many litres does ALS 80 burn?", ["ALS 20 burns 80 litres."]),
        ("How many litres does lamp 999 burn?", ["Lamp | Litres\n6 | 5\n7 | 4\n8 | 3"]),
        ("Which lamp burns 80 litres?", ["Lamp 80 burns 83 litres.", "Lamp 79 burns 82 litres."]),
    ],
)
def test_another_one_is_no_answer(question, texts):
    """However alike it is."""
    assert answer(question, *texts).text == REFUSAL


def test_a_title_may_name_it():
    """The sentences of a document about lamp 7 need not say so."""
    assert (
        answer("What does lamp 7 burn?", "Lamp 7\n\nThe lamp burns oil.").text
        == "The lamp burns oil. [c1]"
    )


def test_an_owner_is_no_series():
    """The 5 of "Ada's 5 lamps" counts them."""
    assert answer("What do Ada's five lamps burn?", "The lamps burn oil.").text == (
        "The lamps burn oil. [c1]"
    )


def test_a_file_may_name_it_with_zeros():
    """PEP 8 is read from pep-0008."""
    (given,) = to_evidence(["The lines are short."])
    numbered = replace(given, chunk=replace(given.chunk, doc_id="pep-0008"))

    question = "How short are the lines of PEP 8?"
    assert [one.text for one in statements(question, [numbered])] == ["The lines are short."]
    assert not statements(question, [given])


@pytest.mark.parametrize(
    ("doc_id", "name"), [("nist-sp800-63a__sec5", "NIST 800-63A"), ("rfc0822", "RFC 822")]
)
def test_a_file_may_name_it_without_a_blank(doc_id, name):
    """NIST SP 800-63A is read from nist-sp800-63a."""
    (given,) = to_evidence(["The lines are short."])
    named = replace(given, chunk=replace(given.chunk, doc_id=doc_id))

    question = f"How short are the lines of {name}?"
    assert [one.text for one in statements(question, [named])] == ["The lines are short."]
    assert not statements(question, [given])
