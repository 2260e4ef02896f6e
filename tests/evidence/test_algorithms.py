"""The fallback for an "Algorithm N" that a model says it cannot find."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.evidence.algorithms import extract_steps, find_algorithm_number, with_steps
from esrag.evidence.selection import EvidenceBudget, select
from esrag.records import Chunk, Evidence, Hit
from esrag.verifying.verify import verify

QUESTION = "What are the steps in Algorithm 7?"
HEAD = (
    "It needs a pot.\nAlgorithm 7 Pot.Stir(p, n)\nStirs it. Input: a pot p.\n1: t ← 0\n2: "
    "for (i ← 1; i ≤ n; i++)"
)
TAIL = (
    "3: t ← t + Turn(p, out[c1]) ▷ one turn. It is slow.\n4: end for\n5: "
    "return t\nThe pot of 5 litres may be hot."
)


def chunk(text, ordinal, doc_id="pots", start=None):
    """The chunk of that number; each is one page, 1,000 characters after the last one's start."""
    first = 1000 * ordinal if start is None else start
    page = ordinal + 1
    return Chunk(
        chunk_id=f"{doc_id}::p{page:04d}::c001",
        doc_id=doc_id,
        ordinal=ordinal,
        start=first,
        end=first + len(text),
        start_page=page,
        end_page=page,
        text=text,
    )


def evidence(*chunks):
    """Under the keys c1, c2, … in this order."""
    return tuple(Evidence(f"c{n}", item, 1 / n) for n, item in enumerate(chunks, 1))


def cited(answer):
    """The keys of an answer that is none of a refusal."""
    assert not answer.refused, answer.notes
    return [citation.key for citation in answer.citations]


@pytest.mark.parametrize(
    ("question", "number"),
    [
        ("What are the steps in Algorithm 2 SHAKE128?", 2),
        ("algorithm 16", 16),
        ("Explain alg. 13, please.", 13),
        ("Algorithm 7: is ALGORITHM 7 slow?", 7),
        ("Does Algorithm 16 call Algorithm 13?", None),
        ("Algorithm 2.1", None),
        ("Algorithms 7 and 8", None),
        ("Which algorithms are there?", None),
        ("Logarithm 7", None),
        ("", None),
    ],
)
def test_the_algorithm_that_is_asked_for(question, number):
    """One number, however often; nothing where it could be one of several."""
    assert find_algorithm_number(question) == number


def test_the_steps_are_an_answer_that_passes_every_check():
    """Each sentence of a step has its marker, and an array's own [c1] is none."""
    given_evidence = evidence(chunk(f"{HEAD}\n{TAIL}", 0))
    answer = verify(extract_steps(QUESTION, given_evidence), given_evidence)

    assert answer.text == (
        "1: t ← 0 [c1] 2: for (i ← 1; i ≤ n; i++) [c1] 3: t ← t + Turn(p, out(c1)) ▷ one turn. "
        "[c1] It is slow. [c1] "
        "4: end for [c1] 5: return t [c1]"
    )
    assert [citation.support for citation in answer.citations] == [1.0]


def test_an_algorithm_goes_on_in_the_next_passage():
    """Each step cites the passage that holds it, whatever the order of the evidence."""
    for order in ((0, 1, 2), (2, 1, 0)):
        passages = (chunk("Pots are round.", 3), chunk(TAIL, 1), chunk(HEAD, 0))
        given_evidence = evidence(*(passages[n] for n in order))
        answer = verify(extract_steps(QUESTION, given_evidence), given_evidence)
        assert answer.text.startswith("1: t ← 0")
        assert answer.text.count("[c") == 6
        assert [item.chunk.text for item in given_evidence if item.key in cited(answer)] == [
            item.chunk.text for item in given_evidence if item.chunk.ordinal < 2
        ]


def test_a_step_that_is_cut_in_two_cites_both_passages():
    """Neither of them holds it whole."""
    given_evidence = evidence(
        chunk("Algorithm 7 Stir\n1: t ← Turn(", 0), chunk("p, n)\n2: return t", 1)
    )
    answer = verify(extract_steps(QUESTION, given_evidence), given_evidence)

    assert answer.text == "1: t ← Turn( p, n) [c1][c2] 2: return t [c2]"


def test_passages_that_overlap_say_their_steps_once():
    """What two chunks share is one text; a step that both hold cites the first."""
    text = f"{HEAD}\n{TAIL}"
    middle = text.index("1: t")
    parts = (chunk(text[: middle + 40], 0, start=0), chunk(text[middle:], 1, start=middle))
    answer = verify(extract_steps(QUESTION, evidence(*parts)), evidence(*parts))

    assert answer.text.count("1: t") == 1
    assert cited(answer) == ["c1", "c2"]
    assert extract_steps(QUESTION, evidence(*parts)).startswith("1: t ← 0 [c1] 2:")


def test_what_the_evidence_does_not_hold_is_not_put_together():
    """No steps without their heading, of another algorithm, or across a passage that is missing."""
    assert extract_steps(QUESTION, evidence(chunk(TAIL, 0))) == ""
    assert (
        extract_steps("What are the steps in Algorithm 8?", evidence(chunk(f"{HEAD}\n{TAIL}", 0)))
        == ""
    )
    assert extract_steps("How is a pot stirred?", evidence(chunk(f"{HEAD}\n{TAIL}", 0))) == ""
    assert extract_steps(QUESTION, ()) == ""
    apart = evidence(chunk(HEAD, 0), chunk(TAIL, 2))
    assert extract_steps(QUESTION, apart) == "1: t ← 0 [c1] 2: for (i ← 1; i ≤ n; i++) [c1]"
    others = evidence(chunk(HEAD, 0), chunk(TAIL, 1, doc_id="spoons"))
    assert "3:" not in extract_steps(QUESTION, others)


def test_of_two_documents_the_one_that_is_named_is_taken():
    """By the question's technical words, and else by the order of the evidence."""
    pots = chunk(f"{HEAD}\n{TAIL}", 0)
    pans = chunk("Algorithm 7 Pan.Stir2(q)\n1: heat q\n2: return q", 0, doc_id="pans")
    for order in ((pots, pans), (pans, pots)):
        given_evidence = evidence(*order)
        assert "heat q" in extract_steps(
            "What are the steps in Algorithm 7 Pan.Stir2?", given_evidence
        )
        assert ("heat q" in extract_steps(QUESTION, given_evidence)) == (order[0] is pans)


def library(*texts):
    """Hits on some chunks in a row, worse by worse, and what is around each within one chunk."""
    chunks = [chunk(text, n) for n, text in enumerate(texts)]
    return [Hit(one, 1 / n) for n, one in enumerate(chunks, 1)], lambda one: [
        other for other in chunks if abs(other.ordinal - one.ordinal) == 1
    ]


def test_the_passages_of_the_steps_come_first():
    """From the heading to the last step, with the score of the hit that stands there, though it
    found neither.
    """
    hits, around = library(
        "Algorithm 7 Pot.Stir . . . 12", "Pots.", HEAD, TAIL, "Algorithm 8 Rest", "Lids."
    )
    found = with_steps(QUESTION, (hits[0], hits[3], hits[5]), around)

    assert [hit.chunk.ordinal for hit in found] == [3, 2, 0, 3, 5]
    assert {hit.score for hit in found[:2]} == {hits[3].score}
    chosen = select(found, EvidenceBudget(chunks=2, characters=10_000, tokens=10_000, count=len))
    assert extract_steps(QUESTION, chosen).startswith("1: t ← 0 [c1]")
    assert extract_steps(QUESTION, chosen).endswith("5: return t [c2]")


def test_a_heading_in_a_passage_without_steps_comes_along():
    """Without it nobody knows whose steps they are; what lies between is needed too."""
    hits, around = library("Algorithm 7 Stir", "Input: p", "1: t ← 0\n2: return t", "Lids.")
    assert [hit.chunk.ordinal for hit in with_steps(QUESTION, hits[1:2], around)] == [1, 0, 2, 1]


def test_without_steps_the_hits_stay():
    """Of another algorithm, of none, or where nothing was found."""
    hits, around = library(HEAD, TAIL)
    assert with_steps("How does Algorithm 8 work?", hits, around) == tuple(hits)
    assert with_steps("How is a pot stirred?", hits, around) == tuple(hits)
    assert with_steps(QUESTION, (), around) == ()


# A step says something: a blank one is not told from the number of the next.
STEP = st.text(st.sampled_from("abcXYZ 019.,;:!?()[]←‖▷𝑞“”\"'|-_"), min_size=1, max_size=40).filter(
    str.strip
)


@given(st.lists(STEP, min_size=1, max_size=6), st.integers(1, 6))
def test_whatever_the_steps_say_the_draft_passes(written, cut):
    """Steps of any text, in one passage or in two, are cited so that the check lets
    them through.
    """
    lines = ["Algorithm 7 Any", *(f"{n}: {step}" for n, step in enumerate(written, 1))]
    cut = min(cut, len(lines) - 1)
    given_evidence = evidence(
        *(chunk("\n".join(part), n) for n, part in enumerate((lines[:cut], lines[cut:])))
    )
    draft = extract_steps(QUESTION, given_evidence)

    assert draft
    assert not verify(draft, given_evidence).refused
