"""The extractive generator quotes; it picks what fits, and reads tables by the row."""

from dataclasses import replace
from itertools import accumulate

import pytest

from esrag.citations import REFUSAL
from esrag.evidence import SURE, Statement
from esrag.evidence.cells import answer_cells
from esrag.evidence.imprint import answer_author
from esrag.evidence.lines import lines
from esrag.evidence.statements import statements
from esrag.generating import GenerationTask, GeneratorOptions
from esrag.generating.comparing import compare
from esrag.generating.extractive import ExtractiveGenerator
from esrag.records import Chunk, Evidence
from esrag.verifying.verify import verify

SIZES = (
    "Table 3. Sizes (in bytes) of keys and ciphertexts of ML-KEM\n"
    "encapsulation key decapsulation key ciphertext shared secret key\n"
    "ML-KEM-512 800 1632 768 32\nML-KEM-768 1184 2400 1088 32\nML-KEM-1024 1568 3168 1568 32"
)


def evidence(*texts):
    """Evidence c1… with these texts, one after the other in a document."""
    starts = [0, *accumulate(len(text) + 1 for text in texts)]
    return tuple(
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=f"d::p0001::c{n:03d}",
                doc_id="d",
                ordinal=n,
                start=start,
                end=start + len(text),
                start_page=1,
                end_page=1,
                text=text,
            ),
            1 / n,
        )
        for n, (start, text) in enumerate(zip(starts, texts, strict=False), 1)
    )


def answer(question, *texts, max_sentences=1):
    """The checked answer over these texts."""
    given = evidence(*texts)
    return verify(draft(question, given, max_sentences).text, given)


def quote(question, *found):
    """What the generator writes of these statements."""
    given = evidence(*dict.fromkeys(each.key for each in found))
    task = GenerationTask(question, given, found, 3)
    return ExtractiveGenerator(GeneratorOptions()).generate(task).text


def draft(question, given, max_sentences=1):
    """What the generator writes of this evidence."""
    found = statements(question, given)
    cells = answer_cells(question, given, found)
    task = GenerationTask(
        question=question,
        evidence=given,
        statements=found,
        max_sentences=max_sentences,
        cells=cells if cells.found else answer_author(question, given, found),
    )
    return ExtractiveGenerator(GeneratorOptions()).generate(task)


def test_the_sentence_with_the_questions_words_is_quoted():
    """Its own words, its own marker."""
    found = answer(
        "How long is the cable?",
        "The toaster has two slots.",
        "It is red. The cable is 80 cm long. It hums.",
    )

    assert found.text == "The cable is 80 cm long. [c2]"


def test_a_table_is_read_by_the_row_with_caption_and_header():
    """The row that was asked for, not its neighbours."""
    found = answer("What is the size of the encapsulation key of ML-KEM-768?", SIZES)

    assert "ML-KEM-768 1184 2400 1088 32" in found.text
    assert "ML-KEM-512" not in found.text
    assert found.citations[0].key == "c1"


def test_the_report_of_another_year_adds_nothing():
    """Its sentence has the same words and other figures; a year may stand in the title."""
    question = "How many lamps broke in 2022?"
    first, second = evidence("There were 131 broken lamps.", "There were 96 broken lamps.")
    given = tuple(
        replace(item, chunk=replace(item.chunk, title=f"Report {year}"))
        for item, year in ((first, 2022), (second, 2023))
    )
    assert draft(question, given, 3).text == "There were 131 broken lamps. [c1]"
    assert "96" in draft("How many lamps broke?", given, 3).text


RESETTING = "Resetting the kettle\n\nTo reset the kettle, do the following:"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{RESETTING}\n\n1. Press the button. Wait.\n2. Let go of it.\n\nThe lid is red.",
            (
                "To reset the kettle, do the following: 1) Press the button. [c1] Wait. [c1] "
                "2) Let go of it. [c1]"
            ),
        ),
        (
            f"{RESETTING}\n- press the button\n- let go of it\n\nThe lid is red.",
            "To reset the kettle, do the following: press the button; let go of it [c1]",
        ),
        (f"{RESETTING}\n\nIts button resets the kettle.", "Its button resets the kettle. [c1]"),
        (
            f"{RESETTING}\n\n- {'press the button and ' * 40}\n\nThe kettle has a button.",
            "The kettle has a button. [c1]",
        ),
        (
            f"{RESETTING}\n1. Press the button. {'It is red. ' * 70}\n2. Let go.",
            "To reset the kettle, do the following: 1) Press the button. [c1] 2) Let go. [c1]",
        ),
        ("Resetting the kettle.", "Resetting the kettle. [c1]"),
        (
            f"{RESETTING}\n(a) press the button\n(b) let go\n\nIt is red.",
            "To reset the kettle, do the following: (a) press the button; (b) let go [c1]",
        ),
    ],
)
def test_what_leads_to_a_list_is_said_with_it(text, said):
    """And not without, nor is a heading that only names what is asked for, unless there is
    nothing else.
    """
    assert answer("How is the kettle reset?", text).text == said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Do employees get a bonus?", "Employees get a bonus."),
        ("Is the kettle reset?", "The kettle is not reset."),
        ("Hält der Kessel Wasser?", "Der Kessel hält Wasser."),
    ],
)
def test_yes_or_no_may_be_said_in_the_questions_words(question, said):
    """Only what asks for more than that is not answered by them."""
    assert answer(question, f"The lid is red. {said} It rains.").text == f"{said} [c1]"


def test_a_long_list_of_lists_is_read_in_no_time():
    """Each line leads to the next ones; a reader of all of them for each would never end."""
    assert len(lines("- a b c:\n" * 20_000)) == 20_000


def test_a_pipe_table_is_read_by_the_row_with_its_header():
    """As documents with real tables are loaded."""
    table = "model | litres | watts\nKettle A | 1.7 | 2200\nKettle B | 1.0 | 1500"

    assert (
        answer("What is known about Kettle B?", table).text
        == "model: Kettle B, litres: 1.0, watts: 1500 [c1]"
    )


def test_a_cell_is_the_answer_to_a_question_for_it():
    """With the labels of its row and column; its row is the quote."""
    table = "model | litres | watts\nKettle A | 1.7 | 2200\nKettle B | 1.0 | 1500"

    given = answer("How many litres has Kettle B?", table)

    assert given.text == "Kettle B, litres: 1.0 [c1]"
    assert [citation.quote for citation in given.citations] == ["Kettle B | 1.0 | 1500"]
    assert given.citations[0].support == 1.0


def test_further_sentences_stand_in_reading_order_and_say_something_else():
    """Near the best, not its twin."""
    found = answer(
        "kettle litres watts",
        "The kettle takes 1.7 litres and 2200 watts. The toaster is new.",
        "The kettle takes 1.7 litres, and 2200 watts. The toaster is old. Litres and watts of a "
        "kettle stand on the label under its base.",
        max_sentences=3,
    )

    assert found.text.startswith("The kettle takes 1.7 litres and 2200 watts. [c1]")
    assert [citation.key for citation in found.citations] == ["c1", "c2"]


def test_nothing_to_quote_is_the_refusal():
    """No evidence, or none that holds a sentence."""
    assert draft("Why?", evidence("17")).text == REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        "See [c7] for more on kettles.",
        "A kettle is on. Is the kettle on? The kettle boils! kettle",
        "kettle " * 60,
    ],
)
def test_whatever_is_quoted_keeps_the_contract(text):
    """Markers in documents, several sentences, none at all: cited, or refused for want of a
    sentence.
    """
    found = answer("kettle", text, max_sentences=5)

    assert not found.refused
    assert {citation.key for citation in found.citations} == {"c1"}


def test_a_text_that_stands_twice_is_one_statement():
    """The first passage that says it is cited."""
    found = statements("lamp", evidence("The lamp is green.", "The lamp is green."))
    assert [statement.key for statement in found] == ["c1"]


def test_what_is_said_of_another_is_left_out():
    """Where the best sentence names what the question names, one that names its neighbour says
    nothing of it.
    """
    of_another, of_it = (
        f"The encapsulation key of {name} has a size of {size} bytes and its ciphertext one of "
        f"{other} bytes."
        for name, size, other in (("ML-KEM-512", 800, 768), ("ML-KEM-768", 1184, 1088))
    )
    question = "What is the size in bytes of the encapsulation key of ML-KEM-768?"
    said = answer(question, f"{of_another} {of_it}", max_sentences=3)
    assert said.text == f"{of_it} [c1]"


def test_letters_of_formulas_are_letters():
    """The k of a question is the 𝑘 of a standard."""
    found = answer("What is the value of k?", "The value of 𝑛 is 256.", "The value of 𝑘 is 3.").text
    assert found == "The value of 𝑘 is 3. [c2]"


@pytest.mark.parametrize(
    "heading",
    [
        "Algorithm 19 ML-KEM.KeyGen()",
        "Algorithm 8 SamplePolyCBD . . . . . . . . . 23",
        "8 The SamplePolyCBD ........ 23",
    ],
)
def test_headings_and_contents_say_nothing(heading):
    """They hold the words of a question, and no answer."""
    text = "It samples polynomials."
    assert [line.text for line in lines(f"{heading}\n\n{text}")] == [text]
    assert answer(f"What is {heading[:28]}?", f"{heading}\n\n{text}").text == f"{text} [c1]"


def test_dots_before_a_value_are_no_list_of_contents():
    """Specifications are written so."""
    assert (
        "1.7 litres"
        in answer(
            "What capacity has the kettle?",
            "It is red.\n\nCapacity of the kettle ........ 1.7 litres",
        ).text
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("key\n    A word that opens a lock.", "key: A word that opens a lock. [c1]"),
        ('"Key"\n    means a word that opens.', '"Key": means a word that opens. [c1]'),
        (
            "   It is a long\n   Key is a word that opens.",
            "It is a long Key is a word that opens. [c1]",
        ),
        (
            "A key is a word that opens a lock. This word is secret. The lid is red.",
            "A key is a word that opens a lock. [c1] This word is secret. [c1]",
        ),
        (
            "A key is a word that opens a door. A key is kept by two people. A key is red.",
            "A key is a word that opens a door. [c1] A key is kept by two people. [c1]",
        ),
    ],
)
def test_a_definition_is_said_with_its_term_and_what_goes_on_about_it(text, said):
    """A line break inside a sentence makes no term of what stands before it."""
    assert answer("What is a key?", text, max_sentences=3).text == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "PUT and POST differ in target. A POST names a handler. A PUT a thing.",
            "PUT and POST differ in target. [c1] A POST names a handler. [c1] A PUT a thing. [c1]",
        ),
        (
            "PUT and POST differ in target. A POST names a handler. It is old. A PUT a thing.",
            "PUT and POST differ in target. [c1] A POST names a handler. [c1] A PUT a thing. [c1]",
        ),
        (
            "Clause | Use\nshould | not post or put\nput | stores a thing\npost | hands a thing on",
            "put, Use: stores a thing [c1] post, Use: hands a thing on [c1]",
        ),
        (
            "Put: It stores a thing.\n\nPost: It hands on.\n\nA put is less than a post.",
            "Put: It stores a thing. [c1] Post: It hands on. [c1]",
        ),
    ],
)
def test_a_comparison_says_both_sides(text, said):
    """In what follows the sentence about both, or in rows or entries that are named after them."""
    found = answer("What is the difference between PUT and POST?", text, max_sentences=3)
    assert found.text == said


def test_small_words_that_are_names_are_compared_by_their_rows():
    """Such as "should", which counts as a word in no other question; "must_not" is another name."""
    rows = "must_not | excludes\nshould | one has to match\nmust | all have to match"
    found = answer("How do must and should differ?", f"Clause | Effect\n{rows}", max_sentences=3)
    assert found.text == (
        "Clause: should, Effect: one has to match [c1] Clause: must, Effect: all have to match [c1]"
    )


def test_what_a_parameter_does_is_told_by_the_row_with_its_name():
    """Not by a sentence below a heading that is like it."""
    text = (
        "Boosting\n========\n\nThe queries that are made of each term are joined.\n\n"
        "Parameter | Description\nlimit | How many boost values there may be.\n"
        "boost | By how much the relevance of the field is multiplied."
    )
    found = answer("What does boost do?", text)
    assert found.text.endswith("By how much the relevance of the field is multiplied. [c1]")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Is it safe to change the oil of the lamp?",
            "New oil of the lamp is only used for new wicks. [c1] So it does no harm. [c1]",
        ),
        ("Which oil of the lamp is for new wicks?", "New oil of the lamp is only used for new "),
    ],
)
def test_what_may_be_is_told_with_what_follows_from_it(question, said):
    """Of yes or no, the conclusion is half of the answer."""
    text = "New oil of the lamp is only used for new wicks. So it does no harm. It smells."
    found = answer(question, text, max_sentences=3).text
    assert found.startswith(said)
    assert ("So it" in found) == ("So it" in said)


def test_a_list_goes_on_in_the_next_passage():
    """With what is left of its last item there, and each item with the passage it stands in."""
    found = answer(
        "Which steps reset the kettle?",
        "These steps reset the kettle:\n\n1. Press the button.\n\n2. Wait.",
        "It takes a minute.\n\n3. Let go.\n\nThe lid is red.",
    )

    assert found.text == (
        "These steps reset the kettle: 1) Press the button. [c1] 2) Wait. [c1] 3) Let go. [c2]"
    )


def test_a_list_that_is_too_long_is_said_by_the_names_of_its_items():
    """Each of them, also those in the next passage; what they say remains in the passages."""
    said = "it is " + "very " * 60 + "large"
    found = answer(
        "Which parts does the kettle have?",
        f"The kettle has the following parts:\n- Lid: {said}.\n- Cable: {said}.",
        f"- Button: {said}.\n\nIt is red.",
    )

    assert found.text == "The kettle has the following parts: Lid; Cable [c1] Button [c2]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "## 2.1 Tools of the smith\n\n- a saw\n- a file",
            "Tools of the smith: a saw; a file [c1]",
        ),
        (
            "The smith has tools.\n\n- a saw\n- a file",
            "The smith has tools. [c1] a saw; a file [c1]",
        ),
        (
            "Tools of the smith are:\n- saws\n  - of steel\n- files\n\nIt rains.",
            "Tools of the smith are: saws, of steel; files [c1]",
        ),
        (
            "Tools of the smith:\n- Saws:\n* old\n* new\n- Files:\n* a rasp\n\nIt rains.",
            "Tools of the smith: Saws: old, new; Files: a rasp [c1]",
        ),
        (
            "Tools of the smith are:\n1. saws:\n(a) old ones\n(b) new ones\n2. files\n\nIt rains.",
            "Tools of the smith are: 1) saws: (a) old ones, (b) new ones; 2) files [c1]",
        ),
    ],
)
def test_a_list_is_introduced_by_a_heading_or_a_sentence_too(text, said):
    """An item further in belongs to the item above it."""
    assert answer("Which tools does the smith have?", text).text == said


def test_a_list_below_a_question_answers_it_whole():
    """Also where the question asks for a single fact, as long as it is the same one."""
    text = "## Who pays nothing?\n\n- tenants on leave\n- tenants of the tower\n\nIt rains."
    for question in ("Which tenants pay nothing?", "Who pays nothing?"):
        assert answer(question, text).text == "tenants on leave; tenants of the tower [c1]"


def test_a_question_why_gets_the_list_of_reasons():
    """It may fit a little less than a sentence that says what happened."""
    best = Statement("c1", 4, "The price went up by 5 pounds.", "", 0.9)
    listed = Statement("c1", 5, "The reasons: oil is dear; wicks are scarce", "", 0.85, items=2)
    assert quote("Why did the price go up?", best, listed).startswith("The reasons: oil")
    assert quote("Why did the price go up?", best, replace(listed, fit=0.5)).startswith("The price")


def test_a_list_that_the_reader_takes_for_worse_is_no_answer():
    """Though it fits nearly as well, and the question asks for a list."""
    best = Statement("c1", 4, "Claim your fare back in the app.", "", 0.9, reading=2.0)
    listed = Statement("c2", 8, "Fares are sold here: app; office", "", 0.89, items=2)
    question = "What steps do I take to claim my fare back?"

    assert quote(question, best, replace(listed, reading=-1.0)).startswith("Fares")
    assert quote(question, best, replace(listed, reading=-4.0)).startswith("Claim")


def test_a_list_is_no_answer_to_a_question_for_one_fact():
    """Its items and the sentences around it are."""
    text = (
        "Before the smith may use a saw, the smith has to do this:\n- learn\n- rest\n\n"
        "The smith may not use a saw."
    )

    assert answer("May the smith use a saw?", text).text == "The smith may not use a saw. [c1]"


def test_the_best_passage_comes_first_and_others_name_what_they_are_about():
    """Whoever reads one sentence reads the best; "Default is …" alone would be of anything."""
    found = (
        Statement("c1", 0, "The lamp of ours is at least 2 m tall.", fit=0.6),
        Statement("c2", 1, "The lamp is 3 m tall.", fit=0.9),
        Statement("c2", 2, "Default is a height of 4 m.", fit=0.8),
    )
    assert quote("How tall is the lamp?", *found) == (
        "The lamp is 3 m tall. [c2] The lamp of ours is at least 2 m tall. [c1]"
    )


@pytest.mark.parametrize(
    ("best", "other", "said"),
    [
        # before it in the text, but second to a reader in a hurry
        ("The lamp is 3 m tall.", "The lamp of ours is 2 m tall.", "b o"),
        ("It is 3 m tall.", "The lamp of ours is 2 m tall.", "o b"),
        ("The lamp is 3 m tall.", "Height of the lamp", "b"),
        ("The lamp is 3 m tall.", "```sh lamp --tall 3 ```", "b"),
        ("The lamp is 3 m tall.", "However, the lamp of ours is 2 m tall.", "b"),
    ],
)
def test_the_best_sentence_comes_first_and_others_are_whole(best, other, said):
    """A heading, code, or what goes on from another sentence tells nothing beside it."""
    found = (Statement("c1", 0, other, fit=0.8), Statement("c1", 1, best, fit=0.9))
    texts = {"b": f"{best} [c1]", "o": f"{other} [c1]"}
    whole = " ".join(texts[each] for each in said.split())
    assert quote("How tall is the lamp?", *found) == whole


def test_a_sentence_that_refers_back_is_said_with_the_one_before_it():
    """However little that fits: who is "they"?"""
    found = (
        Statement("c1", 0, "Davy and Lucy are lamps.", fit=0.1),
        Statement("c1", 1, "They were made by Ben Fox.", fit=0.9),
    )
    assert quote("Who made Davy?", *found) == (
        "Davy and Lucy are lamps. [c1] They were made by Ben Fox. [c1]"
    )


def test_a_sentence_is_not_joined_with_one_below_another_heading():
    """Its "they" never means what stands in another section, though right before it."""
    told = "They are kept for some weeks."
    before = Statement("c1", 0, "Only guide dogs may come in.", fit=0.6, section="Pool > Dogs")
    best = Statement("c1", 1, told, fit=0.9, section="Pool > Lost things")
    asked = "How long are lost things kept?"
    assert quote(asked, before, best) == f"{told} [c1] {before.text} [c1]"
    assert quote(asked, before, replace(best, reading=SURE)) == f"{told} [c1]"
    same = replace(best, section="Pool > Dogs")
    assert quote(asked, before, same) == f"{before.text} [c1] {told} [c1]"


def test_what_goes_on_right_after_the_best_sentence_is_said_with_it():
    """An exception matters."""
    found = (
        Statement("c1", 0, "The lamp is 3 m tall.", fit=0.9),
        Statement("c1", 1, "However, the lamp of ours is 2 m.", fit=0.8),
    )
    assert quote("How tall is the lamp?", *found) == (
        "The lamp is 3 m tall. [c1] However, the lamp of ours is 2 m. [c1]"
    )


def test_a_list_of_what_is_asked_for_goes_before_a_sentence_about_it():
    """Which is all that a reader wants to know."""
    found = (
        Statement("c1", 0, "Lamps offer several burning modes.", fit=0.9),
        Statement("c1", 1, "A lamp has three burning modes: high; low; off", fit=0.6, items=3),
    )
    said = quote("Which burning modes are there?", *found)
    assert said == "A lamp has three burning modes: high; low; off [c1]"


@pytest.mark.parametrize(
    ("first", "then", "is_told"),
    [
        ("A lamp has one of three modes.", "The three modes are high, low and off.", True),
        ("A lamp has one of three modes.", "The lids are of tin and iron.", False),
        ("The following modes are tried in turn.", "Any may fail: 1) high; 2) low; 3) off", True),
        ("A lamp has many modes.", "Any may fail: 1) high; 2) low; 3) off", False),
    ],
)
def test_what_the_best_sentence_promises_is_told(first, then, is_told):
    """It is not what a reader wants to know."""
    found = (
        Statement("c1", 0, first, fit=0.9),
        Statement("c1", 1, "It depends on the weather.", fit=0.2),
        Statement("c1", 2, then, fit=0.3, items=3 * then.startswith("Any")),
    )
    assert (quote("Which modes does a lamp have?", *found) == f"{then} [c1]") is is_told


def test_replies_to_the_question_are_told_in_their_order():
    """Without those to another question."""
    asked = "How do I store a wick?"
    found = (
        Statement("c1", 0, "Dry, in a box of tin.", fit=0.8, under=asked),
        Statement("c1", 1, "A wet wick may lie in the sun.", fit=0.84, under=asked),
        Statement("c1", 2, "With a knife of iron.", fit=0.82, under="How do I cut a wick?"),
    )
    said = "Dry, in a box of tin. [c1] A wet wick may lie in the sun. [c1]"
    assert quote("how do i store wicks", *found) == said


def test_a_list_below_a_term_is_what_it_means():
    """Though it also has a question, and its items are statements too."""
    text = (
        "QSX\n- Will you listen to us?\n- I listen to you.\n\nQSY\n- Shall I change?\n- Change it."
    )
    assert answer("What does QSY mean?", text).text == "QSY: Shall I change? [c1] Change it. [c1]"


def test_a_list_of_the_kinds_in_question_goes_before_one_that_fits_better():
    """It is announced as them."""
    other = "The keeper's shop sells many kinds of things:\n- red wicks\n- saws"
    listed = "A shop sells all these kinds of lamp:\n- oil\n- gas"
    asked = "Name the kinds of {} that the keeper's shop sells."
    said = answer(asked.format("lamp"), f"{other}\n\n{listed}").text
    assert said == "A shop sells all these kinds of lamp: oil; gas [c1]"
    assert "saws" in answer(asked.format("things"), f"{other}\n\n{listed}").text


def test_a_thing_is_defined_with_the_article_of_the_question():
    """ "Wheel is …" may be about the name."""
    text = "Wheel is a word from the sea. It is old.\n\nA wheel is a disc that turns."
    assert answer("What exactly is a wheel?", text).text == "A wheel is a disc that turns. [c1]"


def test_what_the_reader_takes_for_worse_defines_nothing():
    """Though it begins with the subject, as a definition does."""
    best = Statement(
        "c1", 4, "It stores files in a vault, a folder of packs.", "", 0.9, reading=5.0
    )
    named = Statement("c2", 8, "Vault is locked by another run.", "", 0.6, defines=True)

    assert quote("What is a vault?", best, replace(named, reading=4.0)).startswith("Vault")
    assert quote("What is a vault?", best, replace(named, reading=-4.0)).startswith("It stores")


def test_what_is_called_by_a_name_defines_it():
    """Better than a sentence about it that says how it is."""
    said = "The surface that lies near the level of the sea is called the geoid."
    vague = "The geoid is usually approximated by a model of the earth."
    assert answer("What is the geoid?", f"{vague} {said}").text == f"{said} [c1]"
    height = "The height of it is called the geoid undulation."
    assert "geoid undulation" not in answer("What is the geoid?", f"{vague} {height}").text


def test_what_terms_define_is_a_list():
    """If a sentence leads to them."""
    entries = "oil\n   A lamp of old.\n\ngas\n   A lamp of today. It hisses."
    said = answer("Which kinds of lamp are there?", f"These are the kinds of lamp:\n\n{entries}")
    assert said.text.replace(" [c1]", "") == (
        "These are the kinds of lamp: oil: A lamp of old. gas: A lamp of today. It hisses."
    )


def test_a_row_is_said_without_what_only_announces_its_table():
    """A reader does not see that table."""
    table = (
        "The following table lists all lamps:\n\n| Lamp | Use | Height |\n| --- | --- | --- |\n"
        "| Davy | Seen in mines and ships | 2 m |\n| Lucy | Seen in halls | 3 m |"
    )
    said = answer("Which lamp is seen in mines?", table).text
    assert said == "Lamp: Davy, Use: Seen in mines and ships, Height: 2 m [c1]"


def test_an_item_that_is_no_sentence_says_neither_yes_nor_no():
    """What introduces its list is quoted too, for it may deny the item."""
    text = "The lamp does not burn these:\n- coal gas of a town\n- oil of olives\n\nIt is red."

    assert answer("Does the lamp burn oil of olives?", text).text == (
        "The lamp does not burn these: coal gas of a town; oil of olives [c1]"
    )


def test_of_a_long_list_the_item_that_is_asked_for_says_yes_or_no():
    """Not the rest of the list, which fits better as a whole."""
    others = "\n".join(
        f"- It burns {oil} in all seasons, and for a whole night." for oil in "abcdefg"
    )
    text = f"The lamp and its lid have these features:\n{others}\n- It hangs from a hook.\n"
    said = answer("Does the lamp with its lid hang from a hook?", text).text
    assert said == "It hangs from a hook. [c1]"

    denied = text.replace("have these features", "do not have these features")
    said = answer("Does the lamp with its lid hang from a hook?", denied).text
    assert said.startswith("The lamp and its lid do not have these features: ")


@pytest.mark.parametrize("parts", ["It has three parts. ", ""])
def test_what_is_counted_in_sentences_is_a_list(parts):
    """Whichever of its sentences fits best."""
    text = (
        f"The lamp is red. {parts}The first part, a lid, keeps the heat. It is round. "
        "The second part, a wick, burns oil. The third one is a foot. The lamp is old."
    )
    found = answer("What are the three parts of the lamp?", text, max_sentences=2).text

    assert found.endswith(
        "The first part, a lid, keeps the heat. [c1] The second part, a wick, burns oil. [c1] "
        "The third one is a foot. [c1]"
    )


def test_what_stands_below_the_name_of_a_setting_is_said_with_it():
    """Other headings are not said."""
    text = "## MAX_SIZE (int)\n\nThe greatest size of a lamp.\n\n## Colours\n\nThe lamp is red."

    assert answer("What is the greatest size of a lamp?", text).text == (
        "MAX_SIZE (int): The greatest size of a lamp. [c1]"
    )
    assert answer("Which colour has the lamp?", text).text == "The lamp is red. [c1]"


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "What is a federation proxy?",
            (
                "#### Broker\nA federation proxy may use one.\n\n#### Federation Proxy (FP)\n"
                "A component that bridges two systems. It is small."
            ),
            "A component that bridges two systems. [c1] It is small. [c1]",
        ),
        (
            "What is UBI?",
            "UBI Plugin: UBI for UBI. User Behavior Insights (UBI) is a schema.",
            "User Behavior Insights (UBI) is a schema. [c1]",
        ),
        (
            "What does SHOULD mean here?",
            (
                'What lamps mean here is light.\n\nThe terms "SHALL" and "SHALL NOT" indicate what '
                'is strict. The terms "SHOULD" and "SHOULD NOT" indicate what is suitable.'
            ),
            'The terms "SHOULD" and "SHOULD NOT" indicate what is suitable. [c1]',
        ),
        (
            "What exactly is a key?",
            "A key is not a lock.\n\nA key is a word that opens.",
            "A key is a word that opens. [c1]",
        ),
        (
            "What is a cyclic isolate?",
            "Cyclic isolate (CI)\n    A subgraph that nothing refers to.",
            "Cyclic isolate (CI): A subgraph that nothing refers to. [c1]",
        ),
        (
            "What is a proxy?",
            "A proxy is a program of ours, a proxy.\n\nproxy\n    A program that asks for others.",
            "proxy: A program that asks for others. [c1]",
        ),
    ],
)
def test_a_definition_goes_before_what_only_names_the_subject(question, text, said):
    """It is below its heading, after its name or its name in full, and never says what is not."""
    assert answer(question, text, max_sentences=3).text == said


@pytest.mark.parametrize(
    ("question", "text", "said"),
    [
        (
            "How is a pot different from a kettle?",
            "A kettle boils water. It is red. A pot cooks soup. Pots and kettles cost the same.",
            "A kettle boils water. [c1] A pot cooks soup. [c1]",
        ),
        (
            "How does lamp pop differ from lamp apply?",
            (
                "pop [-q|--quiet] [<name>]: Takes a lamp away.\n\nIt is red. It may fail.\n\n"
                "apply [-q|--quiet]: Leaves the lamp where it is."
            ),
            (
                "pop [-q|--quiet] [<name>]: Takes a lamp away. [c1] "
                "apply [-q|--quiet]: Leaves the lamp where it is. [c1]"
            ),
        ),
        (
            "What sets the old pot apart from the new one?",
            "Pots rust. The old pot is unlike the new one in colour. It is red. Soup is hot.",
            "The old pot is unlike the new one in colour. [c1]",
        ),
        (
            "How is a steel pot different from a kettle?",
            "Pots and kettles have different lids in shops. Unlike a kettle, a steel pot cooks.",
            "Unlike a kettle, a steel pot cooks. [c1]",
        ),
        (
            "What distinguishes a pot from a kettle on Mars?",
            (
                "A pot is identical to a kettle, except for the lid. Sand is red.\n\n"
                "Tool | Use\n--- | ---\nkettle | Mars"
            ),
            "A pot is identical to a kettle, except for the lid. [c1]",
        ),
        (
            "How do pots and kettles differ in what they cook?",
            (
                "Tools differ in what they cook:\n\n- pots\n- kettles\n- pans\n\n"
                "Pots cook soup. Kettles cook water. Pans cook eggs."
            ),
            "Pots cook soup. [c1] Kettles cook water. [c1]",
        ),
        (
            "How long may a pot boil compared with a kettle?",
            "Time | pot | kettle | pan\nMay boil | 1 h | 5 min | 2 h",
            "May boil, pot: 1 h; kettle: 5 min [c1]",
        ),
    ],
)
def test_a_comparison_says_what_tells_its_sides_apart(question, text, said):
    """A sentence that says so; what begins with each side; or the columns of both."""
    assert answer(question, text, max_sentences=3).text == said


def test_a_comparison_goes_on_in_the_next_passage():
    """If that begins with the contrast, and is about the other side."""
    first = "Pots and kettles differ in their lids. The lid of a pot is flat."
    question, turn = "What is the difference between pots and kettles?", "the lid of a {} is round."

    found = answer(question, first, f"In contrast, {turn.format('kettle')}", max_sentences=3)
    assert found.text == (
        "Pots and kettles differ in their lids. [c1] The lid of a pot is flat. [c1]"
        " In contrast, the lid of a kettle is round. [c2]"
    )
    for other in (f"In contrast, {turn.format('pan')}", turn.format("kettle").capitalize()):
        assert "[c2]" not in answer(question, first, other, max_sentences=3).text


def test_a_number_is_the_answer_to_a_question_for_one():
    """Even if a sentence without one says more of the question's words."""
    vague = "The size of a pot, and how large a pot is, matters."
    assert "3 litres" in answer("How large is a pot?", f"{vague} A pot is 3 litres large.").text
    assert answer("How large is a pot?", f"{vague} Soup takes 3 hours.").text == f"{vague} [c1]"


def test_the_default_of_a_setting_is_the_number_in_question():
    """It stands after what the setting does, and is said with it."""
    setting = "The limit of lamps keeps the tower from burning. It is a last resort."
    asked = "At what limit do lamps keep the tower from burning?"
    said = answer(asked, f"{setting} Default is 95 lamps.", "Default is 7.", max_sentences=3).text
    assert "Default is 95 lamps. [c1]" in said
    assert "Default is 7." not in said
    assert "Default" not in answer("Why do lamps burn?", f"{setting} Default is 9.").text


def test_a_sentence_with_a_series_answers_a_question_for_a_list():
    """If it fits nearly as well as the best one, and no list does."""
    best = "Keepers must bring papers to the harbour that prove their name."
    series = "Papers that prove the name of keepers are a passport, a card, a licence and a letter."
    asked = "Which papers may keepers bring to the harbour to prove their name?"
    assert series in answer(asked, f"{best} {series}").text.replace(" [c1]", "")


def test_what_a_list_has_may_follow_the_sentence_that_announces_it():
    """If that refers back; whatever else follows is left out."""
    best = "A keeper has three main attributes which decide how a keeper works."
    asked = "What are a keeper's three main attributes?"
    series = "These are known as patience, strength, and a good eye."
    said = answer(asked, f"{best} {series}", max_sentences=3).text
    assert said == f"{best} [c1] {series} [c1]"
    other = "These tell how long a keeper serves."
    assert other not in answer(asked, f"{best} {other}", max_sentences=3).text


def test_the_author_is_in_the_line_that_names_one():
    """If the question asks for that, and no sentence says who did it."""
    header = "Title: Kettles\nAuthor: Ada Park\nStatus: Final"
    question = "Who proposed kettles?"

    found = answer(question, f"{header}\n\nThis document proposes kettles.")
    assert found.text == "Author: Ada Park [c1]"
    used = "This document proposes kettles, as used by Finns."
    assert answer(question, f"{header}\n\n{used}").text == "Author: Ada Park [c1]"
    said = "Kettles were proposed by Ben Fox. [c1]"
    assert answer(question, f"{header}\n\nKettles were proposed by Ben Fox.").text == said


def test_a_long_row_is_cut_to_what_is_asked_for():
    """Its first sentence, and those about the value in question; a short row stays whole."""
    values = "".join(f"- mode {n}: Burns with a flame that is {n} fingers high. " for n in range(9))
    row = f"| `burn` | Text | How a lamp burns. {values}|"
    table = f"| Parameter | Type | Description |\n| --- | --- | --- |\n{row}"
    said = answer("What does a lamp do when burn is set to mode 7?", table).text
    assert "How a lamp burns." in said
    assert "mode 7: Burns" in said
    assert "mode 3" not in said
    assert "mode 3" in answer("Which modes does the parameter burn have?", table).text


def test_the_best_about_both_sides_goes_before_poor_sentences_about_each():
    """It tells of both at once, unless it is short."""
    best = Statement(
        "c1", 0, "A lamp is strong or weak: strong ones burn all night, weak ones an hour.", "", 0.9
    )
    strong = Statement("c1", 5, "Strong lamps may hang at a wall.", "", 0.6)
    weak = Statement("c1", 9, "Weak lamps may hang at a door.", "", 0.58)
    question = "How do strong lamps differ from weak lamps?"
    assert compare(question, [best, strong, weak]) == [best]
    near = [replace(strong, fit=0.8), replace(weak, fit=0.7)]
    assert compare(question, [best, *near]) == near


def test_the_best_about_both_sides_goes_before_what_the_reader_takes_for_worse():
    """Though a sentence begins with each side and fits nearly as well."""
    best = Statement(
        "c1", 0, "A lamp burnt for three hours a day in 2023, and for four hours in 2024.", "", 0.5
    )
    begun = [
        Statement("c1", 5, "In 2024 a lamp was bought.", "", 0.4),
        Statement("c1", 9, "Prices of 2023 have been mended.", "", 0.38),
    ]
    question = "How long did a lamp burn in 2024 compared with 2023?"
    assert compare(question, [best, *begun]) == begun
    for reading, others in ((-2.0, -5.0), (-8.0, -5.0)):
        read = [replace(each, reading=others) for each in begun]
        assert compare(question, [replace(best, reading=reading), *read]) == read
    worse = [replace(begun[0], reading=-8.0), begun[1]]
    assert compare(question, [replace(best, reading=-2.0), *worse]) == [replace(best, reading=-2.0)]


def test_a_list_of_both_names_that_reads_worse_is_no_comparison():
    """Each side has a sentence that the reader prefers."""
    left = Statement(
        "c1", 0, "As everybody in town has long known, a steel pot is heavy.", "", 0.9, reading=4.0
    )
    right = Statement(
        "c1", 5, "As everybody in town has long known, a clay pan is light.", "", 0.8, reading=1.0
    )
    names = Statement("c1", 9, "Sold: 1) steel pots 2) clay pans", "", 0.7, items=2, reading=-3.0)
    question = "Steel pot or clay pan in a kitchen: how do they differ?"
    assert compare(question, [left, right, names]) == [left, right]
    assert compare(question, [left, right, replace(names, reading=1.0)]) == [
        replace(names, reading=1.0)
    ]


def test_the_best_about_both_sides_goes_before_what_is_merely_different():
    """Though that fits nearly as well."""
    best = Statement("c1", 0, "A strong lamp burns all night, while a weak lamp goes out.", "", 0.8)
    other = Statement("c1", 5, "A strong lamp may hang at a different wall.", "", 0.6)
    question = "What is the difference between a strong lamp and a weak lamp?"
    assert compare(question, [best, other]) == [best]
    assert compare(question, [best, replace(other, fit=0.75)]) == [best]


def test_sentences_below_a_heading_are_no_repetition():
    """Though they have nearly the same words; in another passage they say the same."""
    screen = Statement(
        "c1", 0, "Default to a font without serifs for all pages on screen.", "", 0.8
    )
    paper = Statement("c1", 1, "Default to a font with serifs for all pages on paper.", "", 0.7)
    question = "Which font is it by default on screen and on paper?"
    assert quote(question, screen, paper) == f"{screen.text} [c1] {paper.text} [c1]"
    elsewhere = replace(paper, key="c2", text="Default to a font for all pages on screen.")
    assert quote(question, screen, elsewhere) == f"{screen.text} [c1]"


def test_this_one_of_several_is_named_by_the_line_before():
    """Where the question asks which it is."""
    name = Statement("c1", 0, "Module Three: Lids", "", 0.3)
    best = Statement("c1", 1, "This module looks at lids of all kinds.", "", 0.8)
    assert quote("Which module is about lids?", name, best) == (
        "Module Three: Lids [c1] This module looks at lids of all kinds. [c1]"
    )
    assert quote("What are lids?", name, best) == f"{best.text} [c1]"


def test_an_entry_of_a_glossary_goes_before_a_sentence_that_calls_something_so():
    """Though it has no verb."""
    entry = Statement("c1", 0, "S-box Non-linear table for bytes.", "", 0.8, defines=True)
    other = Statement("c1", 9, "A step is a rule with a table (S-box).", "", 0.7, defines=True)
    assert quote("What is an S-box?", entry, other).startswith("S-box Non-linear")


def test_a_question_how_is_answered_with_the_best_sentence_before_a_list():
    """Unless the list fits as well; one that asks for things wants the list."""
    best = Statement("c1", 0, "A knight moves two squares and one aside.", "", 0.84)
    listed = Statement("c1", 1, "These move far: 1) the queen 2) the rook.", "", 0.75, items=2)

    assert quote("How does a knight move?", best, listed).startswith("A knight moves")
    assert quote("Which pieces move?", best, listed).startswith("These move far")
    near = replace(listed, fit=0.82)
    assert quote("How does a knight move?", best, near).startswith("These move far")


def test_nothing_is_added_to_what_the_reader_is_sure_of():
    """But what it takes for nearly as good, and what stands beside the best."""
    best = Statement("c1", 4, "A lamp burns for hours.", "", 0.9, reading=4.0)
    poor = Statement("c1", 8, "Some people like candles.", "", 0.8, reading=-3.0)
    question = "How long does a lamp burn?"

    assert quote(question, best, poor) == "A lamp burns for hours. [c1]"
    for added in (replace(poor, reading=0.0), replace(poor, order=5)):
        assert quote(question, best, added).endswith("Some people like candles. [c1]")
    unsure = replace(best, reading=1.0)
    fair = replace(poor, reading=-2.0)
    assert quote(question, unsure, fair).endswith("Some people like candles. [c1]")


def test_beside_a_figure_stands_nothing_without_one():
    """Unless it goes on from the best sentence."""
    best = Statement("c1", 4, "The rent is 900 euros.", "", 0.9, reading=1.0)
    other = Statement("c1", 8, "The rent of a towel is low.", "", 0.8, reading=0.0)
    question = "How much is the rent?"

    assert quote(question, best, other) == "The rent is 900 euros. [c1]"
    for added in (replace(other, text="The deposit is 1800 euros."), replace(other, order=5)):
        said = replace(added, text=added.text.replace("The rent of", "However, the rent of"))
        assert quote(question, best, said) == f"The rent is 900 euros. [c1] {said.text} [c1]"


def test_a_sentence_that_breaks_off_is_no_answer():
    """While there is another."""
    cut = Statement("c1", 0, "Lamps belong to either a", "", 0.9)
    whole = Statement("c1", 5, "Lamps belong to a room.", "", 0.7)
    assert quote("What do lamps belong to?", cut, whole) == "Lamps belong to a room. [c1]"
    assert quote("What do lamps belong to?", cut).startswith("Lamps belong to either a")


def test_an_entry_with_exactly_the_name_in_question_goes_before_the_best_sentence():
    """However well that fits; the name of a longer one, or in capitals, is another."""
    best = Statement("c1", 0, "The wait_s file is a list.", "", 0.9, defines=True)
    entry = Statement("c1", 3, "How long to wait", "", 0.5, under="`wait_s`", defines=True)
    assert quote("What does wait_s do?", best, entry).startswith("How long to wait")
    for other in ("wait_s_too", "WAIT_S"):
        assert quote("What does wait_s do?", best, replace(entry, under=other)).startswith("The ")


def test_a_default_is_told_with_the_sentence_before_it():
    """Which says of what, unless the heading above does."""
    size = Statement("c1", 3, "It limits the size of a pot.", "", 0.4)
    default = Statement("c1", 4, "Default is 9.", "", 0.9)
    question = "What is the default size of a pot?"
    assert quote(question, size, default) == "It limits the size of a pot. [c1] Default is 9. [c1]"
    assert quote(question, size, replace(default, under="size")) == "Default is 9. [c1]"


def test_an_entry_goes_before_the_list_that_has_it():
    """It may be one of many items."""
    listed = Statement("c1", 0, "It has: 1) a 2) size (integer): b", "", 0.9, items=2)
    item = Statement("c1", 1, "size (integer): How big it is.", "", 0.7, defines=True)
    assert quote("What does size do?", listed, item) == "size (integer): How big it is. [c1]"


def test_what_is_said_to_follow_introduces_a_list_without_a_colon():
    """At the end of a paragraph."""
    text = "A lamp needs the following three things\n\n- oil\n- a wick\n- a match"
    said = answer("What does a lamp need?", text).text
    assert said == "A lamp needs the following three things: oil; a wick; a match [c1]"


TIDY = "Before going the hirer has to\n1. stack the chairs;\n2. sweep the floor;\n3. lock the door."


def test_a_list_is_told_whole_where_several_of_its_items_fit():
    """What only its heading announces, too; but not where one fact is asked for."""
    listed = Statement("c1", 0, "Tidy up: 1) Stack the chairs. 2) Sweep. 3) Lock.", items=3)
    items = (
        Statement("c1", 1, "Stack the chairs.", "", 0.6),
        Statement("c1", 3, "Lock.", "", 0.5),
    )
    whole = "Tidy up: 1) Stack the chairs. [c1] 2) Sweep. [c1] 3) Lock. [c1]"
    assert quote("The hall is a mess, now what?", listed, *items) == whole
    assert (
        quote("Do I have to stack chairs?", listed, *items) == "Stack the chairs. [c1] Lock. [c1]"
    )
    assert quote("The hall is a mess, now what?", *items) == "Stack the chairs. [c1] Lock. [c1]"


def test_a_sentence_that_its_items_end_introduces_a_list():
    """Each item is one, whatever it ends with, and the next one is not below it."""
    said = answer("What does the hirer have to do?", TIDY).text
    assert said == TIDY.replace("\n", " ").replace("to 1.", "to: 1)").replace("2.", "2)").replace(
        "3.", "3)"
    ).replace("door.", "door. [c1]")
    found = [line.text for line in lines(TIDY.replace(";", ","))]
    assert found[1:] == ["1. stack the chairs,", "2. sweep the floor,", "3. lock the door."]


def test_all_of_the_following_are_who():
    """Not one of them."""
    text = "The following enter free of charge:\na) carers;\nb) firemen of this town."
    said = answer("Who may enter free of charge?", text).text
    assert said == "The following enter free of charge: a) carers; b) firemen of this town. [c1]"


def test_a_date_may_stand_in_the_heading():
    """As in a list of changes: it is told before the sentence, if that has none."""
    text = "2.8.0 – 2 June 2022\nThe licence is a free one now."
    (item,) = evidence(text)
    dated = Evidence("c1", replace(item.chunk, section="Changes > 2.8.0 – 2 June 2022"), 1.0)
    task = GenerationTask(
        "When did the licence become free?", (dated,), statements("", (dated,)), 1
    )
    draft = ExtractiveGenerator(GeneratorOptions()).generate(task)
    assert draft.text == "2.8.0 – 2 June 2022: [c1] The licence is a free one now. [c1]"
    assert verify(draft.text, (dated,)).text == draft.text
    task = replace(task, question="How free is the licence?")
    draft = ExtractiveGenerator(GeneratorOptions()).generate(task)
    assert draft.text == "The licence is a free one now. [c1]"


def test_what_follows_an_entry_explains_it():
    """Though it does not repeat its name."""
    entry = Statement("c1", 1, "TG-310: The laptop is too old.", "", 0.6)
    advice = Statement("c1", 2, "Post the laptop to the office.", "", 0.5)
    other = Statement("c1", 3, "TG-415: Post no letter.", "", 0.5)
    said = quote("laptop TG-310 what to do", entry, advice, other)
    assert said == "TG-310: The laptop is too old. [c1] Post the laptop to the office. [c1]"


def test_a_reply_to_the_same_question_is_told_in_its_order():
    """What defines it may be what comes first, or second."""
    under = "What is a house speaker?"
    first = Statement(
        "c1", 0, "A tenant whom the block elects.", "", 0.8, under=under, defines=True
    )
    second = Statement("c1", 1, "A speaker has no keys.", "", 0.9, under=under, defines=True)
    said = quote("What's a house speaker?", first, second)
    assert said == "A tenant whom the block elects. [c1] A speaker has no keys. [c1]"


def test_who_is_told_where_an_entry_begins():
    """As in a list of staff: a later sentence of the entry does not name the person."""
    text = "Dr Ada Lind: Partner. Mondays. Joint injections for adults.\n\nBo Obi: Nurse. Travel."
    given = evidence(text)
    found = [
        replace(each, fit=0.9 if "Joint" in each.text else 0.1) for each in statements("", given)
    ]
    said = quote("Who does joint injections?", *found)
    assert said.startswith("Dr Ada Lind: Partner. [c1] ")
    assert "Joint injections for adults. [c1]" in said
    assert "Bo Obi" not in said


def test_what_the_reader_takes_for_no_answer_is_not_added():
    """Nor what it did not read; but what stands right beside the best sentence is."""
    best = Statement("c1", 3, "Ada lit a red lamp.", "", 0.9, reading=1.0)
    other = Statement("c1", 7, "Ben cleaned the old kettle.", "", 0.8)
    for reading, is_told in ((-2.0, True), (-4.0, False), (None, False)):
        said = quote("Where was the red lamp lit?", best, replace(other, reading=reading))
        assert ("kettle" in said) == is_told
    beside = replace(other, order=4, reading=-4.0)
    assert "kettle" in quote("Where was the red lamp lit?", best, beside)


def test_a_figure_that_is_asked_for_and_missing_is_added():
    """Whatever the reader says of the sentence; a number in words is one."""
    best = Statement("c1", 3, "The lamp has a wick.", "", 0.9, reading=1.0)
    other = Statement("c1", 7, "The twin has 4 wicks.", "", 0.8, reading=-7.0)
    assert "4 wicks" in quote("How many wicks does the lamp have?", best, other)
    assert "4 wicks" not in quote("Which wicks does the lamp have?", best, other)
    told = replace(best, text="The lamp has three wicks.")
    assert "4 wicks" not in quote("How many wicks does the lamp have?", told, other)
