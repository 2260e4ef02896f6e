"""Compression: what is left out, what is not, and that the budget holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.evidence.compression import MARK_CHARACTERS, select_spans
from esrag.text import sentence_spans

FITS = {"good": 0.9, "fair": 0.5, "poor": 0.1}


def fit(sentence):
    """By the first word of it that is a grade."""
    return next((value for word, value in FITS.items() if word in sentence.lower()), 0.0)


def kept(texts, keep_characters, question="What is it?"):
    """What is kept of each passage, span by span."""
    spans = select_spans(texts, question, fit, keep_characters)
    return [
        [text[start:end] for start, end in found] for text, found in zip(texts, spans, strict=True)
    ]


def sent(texts, keep_characters):
    """The passages as they are sent, with a mark for every gap."""
    return ["… " + " … ".join(found) + " …" for found in kept(texts, keep_characters) if found]


PLAIN = "A fair sentence is here. A poor sentence is here. A good sentence is here."


def test_with_room_for_all_nothing_is_left_out():
    """One span a passage, without the white space around it."""
    assert kept([f" {PLAIN}\n", "", "Short."], len(PLAIN) + 8) == [[PLAIN], [], ["Short."]]


def test_what_fits_worst_is_left_out_first():
    """And what stands side by side is one span."""
    assert kept([PLAIN], 73) == [["A fair sentence is here.", "A good sentence is here."]]
    assert kept([PLAIN], 50) == [["A good sentence is here."]]
    assert kept(["A fair one is here. A good one is here. A poor one is here."], 58) == [
        ["A fair one is here. A good one is here."]
    ]


def test_the_worst_of_all_passages_goes_first():
    """Not some of each: a passage whose sentences fit keeps them."""
    texts = ["A good thing is. A good day is.", "A poor thing is. A poor day is."]
    assert kept(texts, 61) == [["A good thing is. A good day is."], ["A poor thing is."]]


def test_of_equals_the_later_one_goes():
    """Ties go by order."""
    assert kept(["A fair thing is. A fair day is. A fair pot is."], 45) == [
        ["A fair thing is. A fair day is."]
    ]


@pytest.mark.parametrize(
    "particular",
    [
        "A poor kettle holds 1.7 litres.",
        "A poor rule stands in Article IV of it.",
        "A poor rule stands in § a.",
        "A poor rule stands in Appendix B.",
        "A poor thing calls ML-KEM.KeyGen.",
        "| poor | row |",
    ],
)
def test_particulars_are_left_out_last(particular):
    """Figures, articles, sections and the question's technical words outlast what fits better."""
    text = f"A good sentence is here.\n\nA fair sentence is here.\n\n{particular}"
    (found,) = kept([text], len(particular) + 36, "What does KeyGen do?")
    assert found == ["A good sentence is here.", particular]


def test_a_word_of_the_question_is_no_particular():
    """Only technical ones are."""
    text = "A good sentence is here. A fair sentence is here. A poor kettle is here."
    assert kept([text], 70, "What is a kettle?") == [
        ["A good sentence is here. A fair sentence is here."]
    ]


def test_what_lies_between_two_sentences_counts():
    """A span holds the white space between them too."""
    assert kept(["A good thing is." + "\n" * 41 + "A fair day is."], 50) == [["A good thing is."]]


def test_only_a_rule_goes_with_the_header():
    """The first row of a table without one is a row as others are."""
    table = "| pot | size |\n| poor A | small |\n| fair B | large |"
    assert kept([table], 45) == [["| pot | size |", "| fair B | large |"]]


def test_a_row_is_not_left_without_its_header():
    """The header of a table outlasts the best of its rows."""
    table = (
        "| pot | size |\n| --- | --- |\n| poor A | small |\n| fair B | large |\n| poor C | small |"
    )
    assert kept([f"{table}\n\nA good sentence is here."], 90) == [
        ["| pot | size |\n| --- | --- |", "| fair B | large |", "A good sentence is here."]
    ]


def test_a_passage_keeps_a_sentence_or_goes_whole():
    """The last passages go first, and the best sentence of the first one stays whatever
    the budget.
    """
    texts = ["", PLAIN, PLAIN, PLAIN]
    assert kept(texts, 95) == [[], *[["A good sentence is here."]] * 3]
    assert kept(texts, 70) == [[], *[["A good sentence is here."]] * 2, []]
    assert kept(texts, 1) == [[], ["A good sentence is here."], [], []]


def test_no_passages_no_spans():
    """Nothing to leave out."""
    assert select_spans([], "What?", fit, 0) == ()


SENTENCES = st.lists(
    st.sampled_from(
        [
            *(
                "A good thing is.",
                "A poor day is.",
                "It has 3.",
                "| a | b |",
                "# Fair",
                "\n\n",
                "\n",
                " ",
                "x",
            )
        ]
    )
).map(" ".join)


@given(st.lists(SENTENCES, max_size=4), st.integers(0, 200))
def test_the_budget_holds_and_offsets_are_whole_sentences(texts, keep_characters):
    """Spans are in order and apart, begin and end with sentences, and with their marks fit, but for
    the very last.
    """
    spans = select_spans(texts, "What?", fit, keep_characters)
    assert spans == select_spans(texts, "What?", fit, keep_characters)
    assert len(spans) == len(texts)
    for text, found in zip(texts, spans, strict=True):
        offsets = [offset for span in found for offset in span]
        assert offsets == sorted(set(offsets))
        sentences = sentence_spans(text)
        assert {start for start, _ in found} <= {start for start, _ in sentences}
        assert {end for _, end in found} <= {end for _, end in sentences}
    if sum(map(len, spans)) > 1:
        marks = sum(MARK_CHARACTERS * (len(found) + 1) for found in spans if found)
        whole = sum(map(len, texts)) <= keep_characters
        assert (
            whole
            or sum(end - start for found in spans for start, end in found) + marks
            <= keep_characters
        )
