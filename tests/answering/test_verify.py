"""The citation contract, rule by rule; each draft breaks one and becomes the refusal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.answering import REFUSAL
from esrag.answering.verify import is_refusal, verify
from esrag.records import Chunk, Evidence

SIZES = "The encapsulation key of ML-KEM-768 has 1184 bytes. The ciphertext has 1088 bytes."
USES = "A key-encapsulation mechanism establishes a shared secret key over a public channel."


def passage(key, text, page=48, end_page=None):
    """Evidence with one chunk."""
    last = page if end_page is None else end_page
    chunk = Chunk(f"FIPS.203::p{page:04d}::c001", "FIPS.203", 0, 0, len(text), page, last, text)
    return Evidence(key, chunk, 0.5)


EVIDENCE = (passage("c1", SIZES), passage("c2", USES, page=1))


def test_a_cited_and_supported_draft_is_the_answer():
    """The text stays, and the citation points at page, chunk and the sentence that says it."""
    answer = verify("The encapsulation key of ML-KEM-768 has 1184 bytes. [c1]", EVIDENCE)

    assert not answer.refused
    assert answer.text == "The encapsulation key of ML-KEM-768 has 1184 bytes. [c1]"
    (citation,) = answer.citations
    assert (citation.key, citation.start_page, citation.chunk_id) == ("c1", 48, "FIPS.203::p0048::c001")
    assert citation.quote == "The encapsulation key of ML-KEM-768 has 1184 bytes."
    assert citation.support == 1.0


def test_a_marker_may_stand_before_the_full_stop():
    """`… bytes [c1].` reads the same as `… bytes. [c1]`."""
    assert verify("The ciphertext has 1088 bytes [c1].", EVIDENCE) == verify(
        "The ciphertext has 1088 bytes. [c1]", EVIDENCE
    )


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        ("The ciphertext has 1088 bytes.", "contract"),
        ("The ciphertext has 1088 bytes. The ciphertext has 1088 bytes. [c1]", "contract"),
        ("The ciphertext has 1088 bytes. [c1] A shared secret key is established.", "contract"),
        ("The ciphertext has 1088 bytes. [c99]", "contract"),
        ("[c1]", "contract"),
        ("The ciphertext has 1089 bytes. [c1]", "unsupported"),
        ("The ciphertext has 1088 bytes. [c2]", "unsupported"),
        ("Penguins waddle across frozen beaches every winter. [c1]", "unsupported"),
        ("", "model-refused"),
        ("I could not find this in the documents.", "model-refused"),
        ("Not found in the provided documents.", "model-refused"),
    ],
)
def test_what_breaks_the_contract_is_refused_with_its_reason(draft, reason):
    """The fixed text, no citation, and a note that says where."""
    answer = verify(draft, EVIDENCE)

    assert (answer.text, answer.refused, answer.citations) == (REFUSAL, True, ())
    assert answer.reason == reason
    assert answer.notes


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 1), (-1, 2), (3, 2), (1, 0)])
def test_a_passage_without_a_true_place_cannot_be_cited(start, end):
    """Pages count from 1 and do not run backwards; what is not cited may be anywhere."""
    evidence = (passage("c1", SIZES, start, end), passage("c2", SIZES, 2, 3))
    answer = verify("The ciphertext has 1088 bytes. [c2][c1]", evidence)

    assert (answer.text, answer.reason, answer.citations) == (REFUSAL, "contract", ())
    assert answer.notes == (f"cites c1, which is on pages {start} to {end}",)
    (citation,) = verify("The ciphertext has 1088 bytes. [c2]", evidence).citations
    assert (citation.start_page, citation.end_page) == (2, 3)


def test_only_used_keys_are_cited_in_numerical_order():
    """c10 comes after c2, and evidence that no sentence uses is not cited."""
    evidence = (*EVIDENCE, passage("c10", SIZES, page=50))
    answer = verify(f"{USES} [c2] The ciphertext has 1088 bytes. [c10][c1]", evidence)

    assert [citation.key for citation in answer.citations] == ["c1", "c2", "c10"]
    assert answer.text.endswith("[c1][c10]")


def test_the_fixed_refusal_is_one_and_a_cited_sentence_is_none():
    """A sentence about not finding something is an answer when it is cited."""
    assert is_refusal(REFUSAL)
    assert not is_refusal("The parser could not find the header. [c1]")


@given(st.text(max_size=200))
def test_any_draft_gives_an_answer_that_keeps_the_contract(draft):
    """Whatever a model says: cited, or the exact refusal."""
    answer = verify(draft, EVIDENCE)

    assert answer.refused == (answer.text == REFUSAL)
    assert answer.refused != bool(answer.citations)
    assert all(citation.key in {"c1", "c2"} for citation in answer.citations)
