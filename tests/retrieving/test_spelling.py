"""Misspelt words of a question become words of the index; nothing else changes."""

import pytest

from esrag.context import open_context
from esrag.retrieving.spelling import repair
from esrag.settings.layers import resolve
from esrag.text.edits import is_near

TEXT = """# PEP 8

Use four spaces for each indentation level, and never mix indentation with tabs. A continuation line
is aligned. NIST recommended a default parameter set, printed in the appendix: the widow of the
author, Guido Wellington, received a receipt for the separate volume of SHA-3 and of ML-KEM-768.
The volume is bound. Separate volumes are not. A volume has pages.
"""


@pytest.fixture
def engine(esrag):
    """An index of one document."""
    (esrag.folder / "guide.md").write_text(TEXT)
    assert esrag("ingest", "guide.md").code == 0
    location = {"engine.url": str(esrag.folder / ".esrag"), "embedding.model": "none"}
    return open_context(resolve(location, is_code=True).settings).engine


class Vocabulary:
    """A model whose tokeniser knows some words and cuts others in two."""

    def __init__(self, *words):
        self.words = words

    def tokens(self, text):
        """One token for a known word."""
        return [(0, 1)] * (1 if text in self.words else 2)


@pytest.mark.parametrize(
    ("question", "repaired"),
    [
        ("Is SHA3 the same as mlkem768?", "Is SHA-3 the same as ml-kem-768?"),
        ("Is SHA4 the same as mlkem512?", "Is SHA4 the same as mlkem512?"),
        ("pep8 indentaton how many spaces", "pep 8 indentation how many spaces"),
        ("the reccommended parameter", "the recommended parameter"),
        ("is the continuaton line aligned", "is the continuation line aligned"),
        ("who recieved it", "who received it"),
        ("sha3 volume", "sha-3 volume"),
        ("two vollumes", "two volumes"),
        ("indentations", "indentations"),  # its stem occurs
        ("a reccommmended set", "a reccommmended set"),  # two slips
        ("the painted appendix", "the painted appendix"),  # another letter is another word
        ("the window of the author", "the window of the author"),
        ("Indentaton", "Indentaton"),
        ("wellingtom", "wellingtom"),  # a name is no word of the index
        ("what is the ML-KEMM-768 set", "what is the ML-KEMM-768 set"),
        ("tbas", "tbas"),
        ("quantum entanglement", "quantum entanglement"),
        ("rfc2616", "rfc2616"),
        ("file indentaton.txt and indentaton-level", "file indentaton.txt and indentaton-level"),
        ("", ""),
    ],
)
def test_a_word_of_no_document_is_repaired(engine, question, repaired):
    """By an edit or two, to a word as it is written in lower case."""
    vocabulary = Vocabulary("question", "window")
    embedder = vocabulary if "window" in question else None

    spelled, corrections = repair(question, engine, embedder)
    assert spelled == repaired
    assert bool(corrections) == (question != repaired)


def test_a_model_that_knows_words_allows_other_letters(engine):
    """Words that it knows stay."""
    assert repair("seperate volumes", engine, None)[0] == "seperate volumes"
    assert repair("seperate volumes", engine, Vocabulary("question"))[0] == "separate volumes"
    assert repair("a reccommmended set", engine, Vocabulary("question"))[0] == "a recommended set"
    assert repair("painted", engine, Vocabulary("question"))[0] == "printed"
    assert repair("painted", engine, Vocabulary("question", "painted"))[0] == "painted"


def test_the_answer_says_what_was_searched(esrag):
    """As a remark, a note and a field; it can be switched off."""
    (esrag.folder / "guide.md").write_text(TEXT)
    assert esrag("ingest", "guide.md").code == 0
    note = "searched for 'indentation' instead of 'indentaton'"
    question = "how many spaces for each indentaton level"

    ran = esrag("ask", question)
    assert ("four spaces" in ran.out, note in ran.err) == (True, True)
    answer = esrag("ask", question, "--json", "--explain").json
    assert answer["question"] == question
    assert answer["corrections"] == [{"typed": "indentaton", "searched": "indentation"}]
    assert answer["notes"] == [note]
    assert "indentation" in answer["steps"][0]["query"]
    assert note in esrag("search", question).err
    off = esrag("ask", question, "--json", "--set", "retrieval.spelling=false").json
    assert off["corrections"] == []


@pytest.mark.parametrize(
    ("word", "other", "most", "expected"),
    [
        ("abcd", "abcd", 0, True),
        ("abcd", "abdc", 1, True),
        ("abcd", "abc", 1, True),
        ("abcd", "xbcy", 1, False),
        ("abcd", "xbcy", 2, True),
        ("abcd", "abcdefg", 2, False),
        ("", "ab", 2, True),
    ],
)
def test_edits_are_counted(word, other, most, expected):
    """Insertions, deletions, replacements and swaps, in both directions."""
    assert is_near(word, other, most) == is_near(other, word, most) == expected
