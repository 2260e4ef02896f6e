"""Normalisation, sentences and words."""

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esrag.text import normalise, pieces, sentence_spans, word_spans

FRAGMENTS = st.sampled_from(
    ["Alice ", "said. ", "It ", "Dr. ", "x", "\n", "\n\n", "# A\n", (
        "2.1 B\n"
    ), "- c\n", "1: d\n", "1. ", "a | b\n",
     "\t", "Table 3. ", "====\n", "\u3000", "\u200b", "\u0301", "𝐀", "(", '"', "? ", "! "]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS | st.text(max_size=4), max_size=60).map("".join)


def sentences(text):
    return [text[start:end] for start, end in sentence_spans(text)]


@settings(deadline=None)
@given(text=TEXTS)
def test_sentences_are_apart_and_cover_the_text(text):
    """Any text: spans rise, touch no white space at their ends, and leave out nothing but white
    space.
    """
    spans = sentence_spans(text)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@settings(deadline=None)
@given(text=TEXTS)
def test_words_cover_the_text(text):
    """Any text: words and marks together are the text without its white space."""
    assert "".join(text[start:end] for start, end in word_spans(text)) == "".join(text.split())


@settings(deadline=None)
@given(text=st.text(max_size=200), characters=st.integers(1, 50))
def test_pieces_tile_and_are_bounded(text, characters):
    """Any text: pieces join to the text, and none is over the bound."""
    found = [text[start:end] for start, end in pieces(text, 0, len(text), characters)]
    assert "".join(found) == text
    assert all(len(piece) <= characters for piece in found)


@settings(deadline=None)
@given(text=st.text(st.characters(), max_size=100))
def test_normalising_is_idempotent_and_storable(text):
    """Any text, surrogates too: once is enough, the result is NFC, can be encoded, and holds no
    NUL.
    """
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert "\x00" not in once.encode().decode()


NEEDED = st.sampled_from(
    ["\u200b", "\u200c", "\u200d", "\u200f", "\u061c", "\ufe0f", (
        "\U000e0101"
    ), "\U000e0067", "\xad", "\n", "a",
     "e\u0301", "1", "\u20e3", "\u2764", (
         "\U0001f469"
     ), "\U0001f3f4", "\u212b", "\u845b", "\u0645", "\u05d0",
     "\u0915\u094d", "\u1820", "\u180b", "\uf900"]
)  # fmt: skip


@given(text=st.lists(NEEDED, max_size=12).map("".join))
def test_normalising_is_idempotent_where_characters_may_be_needed(text):
    """Whatever stands beside what."""
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    "text",
    [
        "می\u200cخواهم",  # Persian
        "क्\u200dष और क्\u200cष",  # Hindi
        "\u05d0\u200f!",
        "\u1820\u180b",
        "\u845b\U000e0100",
        (
            "\U0001f469\U0001f3fd\u200d\U0001f52c \u2764\ufe0f 1\ufe0f\u20e3 \u2714\ufe0e "
            "\U0001f3f3\ufe0f\u200d\U0001f308"
        ),
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # Scotland
    ],
)
def test_what_scripts_and_emoji_need_is_kept(text):
    """Joiners, selectors, marks of direction and the tags of three flags."""
    assert normalise(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("n\u200bo\u200dt \u2060s\u034fo\u3164", "not so"),
        ("a\U000e0001\U000e0041\U000e007fb", "ab"),
        ("a\ufe0f\U000e0101", "a"),
        ("\u2764\ufe0f\ufe01\U000e0155", "\u2764\ufe0f"),
        ("\U0001f3f4\U000e0061\U000e0062\U000e007f", "\U0001f3f4"),
        ("\u202eabc\u202c \u2066d\u2069\u200e", "abc d"),
        ("e\u200b\u0301", "\xe9"),
        ("en\xadcap\xad\n  sulation", "encapsulation"),
    ],
)
def test_what_nobody_sees_is_left_out(text, seen):
    """It may carry a message, or hide a word from a check."""
    assert normalise(text) == seen


@pytest.mark.parametrize(
    "text",
    [
        "AI is amazing. It can recognise images.",
        "Dr. Smith et al. [1] wrote it. See Fig. 2 and v. 3.2.1 of the code.",
        "A line that was wrapped to a\nwidth. The next line\nof it goes on.",
        "As is shown in the text of Section\n3.2 Sizes are small.",
    ],
)
def test_prose_is_cut_at_full_stops_alone(text):
    """Abbreviations, versions and soft line breaks end no sentence."""
    ends = [sentence[-1] for sentence in sentences(text)]
    assert ends == ["."] * len(ends)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n\nText", ["Title", "Text"]),
        ("# Title\nText goes on", ["# Title", "Text goes on"]),
        ("Title\n=====\nText", ["Title\n=====", "Text"]),
        ("3.2 Key sizes\nkeys are long", ["3.2 Key sizes", "keys are long"]),
        ((
            "Keys\nThe keys of it are long. So be it."
        ), ["Keys", "The keys of it are long.", "So be it."]),
        ("- one\n  and more\n* two\n(b) three", ["- one\n  and more", "* two", "(b) three"]),
        ("1. One is here. It stays.\n2. Two", ["1. One is here.", "It stays.", "2. Two"]),
        ("1: for i do\n2:   x. y\n3: end", ["1: for i do", "2:   x. y", "3: end"]),
        ("a | b\nc. D | d\n| e | f |", ["a | b", "c. D | d", "| e | f |"]),
        ("City | 2023 Tonnes (act.) | 2024 Tonnes (est.)\nA | 7 t. Or 8 | 9",
         ["City | 2023 Tonnes (act.) | 2024 Tonnes (est.)", "A | 7 t. Or 8 | 9"]),
        ("In tonnes (act.): 7, kilos (est.), 9. It ends.",
         ["In tonnes (act.): 7, kilos (est.), 9.", "It ends."]),
        ("It was listed in\nTable 3. The end.", ["It was listed in\nTable 3.", "The end."]),
    ],
)  # fmt: skip
def test_lines_that_stand_alone_are_sentences(text, expected):
    """Headings, items, rows and steps end where their line or paragraph does."""
    assert sentences(text) == expected


def test_a_table_of_a_pdf_is_one_sentence_with_its_caption():
    """Rows without full stops stay with their caption, apart from the prose before and after."""
    table = (
        "Table 3. Sizes (in bytes) of keys and ciphertexts of ML-KEM\n"
        "encapsulation key decapsulation key ciphertext shared secret key\n"
        "ML-KEM-512 800 1632 768 32\n"
        "ML-KEM-768 1184 2400 1088 32"
    )
    before = "The sizes of the keys are below."
    after = "Terminology of keys and what else is said about them in this text."
    assert sentences(f"{before}\n{table}\n{after}") == [before, table, after]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        " " * 1_000_000,
        "\n" * 100_000,
        ". (\n" * 60_000,
        "- \n" * 100_000,
        "1." * 500_000,
    ],
)
def test_hostile_texts_take_bounded_time(text):
    """A megabyte of one character, or of nothing but starts of sentences, takes seconds at most."""
    began = time.process_time()
    sentence_spans(text)
    assert time.process_time() - began < 10


def test_a_line_to_cut_along_ends_a_list():
    """Below it is the slip of a form."""
    text = "a) note the time;\nb) wait.\n\n- - - - - - - - - -\nSLIP Name"
    said = [text[start:end] for start, end in sentence_spans(text)]
    assert said == ["a) note the time;", "b) wait.", "SLIP Name"]


def test_what_a_term_means_begins_a_line_of_its_own():
    """As in a list of definitions, whose entries end with semicolons."""
    text = '1. In this by-law,\n"burn" means a fire\nof brush;\n"Chief" includes a deputy;'
    said = [text[start:end] for start, end in sentence_spans(text)]
    assert said == [
        "1. In this by-law,",
        '"burn" means a fire\nof brush;',
        '"Chief" includes a deputy;',
    ]


def test_a_shortened_word_does_not_end_a_sentence():
    """Unless what follows begins like one."""
    text = "Cotton, Max. load: 9, see no. 5. It has no max. Load it."
    said = [text[start:end] for start, end in sentence_spans(text)]
    assert said == ["Cotton, Max. load: 9, see no. 5.", "It has no max.", "Load it."]


def test_a_sentence_may_begin_with_an_article_that_looks_like_an_initial():
    """Which a figure's letter is none of."""
    text = "We came by car. A ticket is needed. See fig. A in the book."
    assert sentences(text) == ["We came by car.", "A ticket is needed.", "See fig. A in the book."]
