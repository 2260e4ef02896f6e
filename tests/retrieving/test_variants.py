"""Query fusion: the wordings of a question, and one list of what they find."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.engines.fusion import rrf
from esrag.errors import SettingsError
from esrag.records import Chunk, Hit
from esrag.retrieving.variants import MAX_VARIANTS, fuse_searches, phrases, variants

OPERATIONS = phrases(
    {
        "KeyGen": ["key generation"],
        "Encaps": ["encapsulation", "encapsulate"],
        "Decaps": ["decapsulation", "decapsulate"],
        "Sign": ["sign", "signing", "signature generation"],
        "Verify": ["verify", "verification"],
    }
)

WORDINGS = {
    "Who won the 2018 World Cup?": (),
    "KeyGen": (),
    "How does ML-KEM.KeyGen work?": ("ML-KEM.KeyGen",),
    "What is the size of ML-KEM-768?": ("ML-KEM-768",),
    "ML-KEM key generation": ("ML-KEM", "ML-KEM.KeyGen key generation"),
    "How does  Key\tGeneration work in ML-KEM?": (
        "ML-KEM",
        "How does  Key\tGeneration work in ML-KEM.KeyGen?",
    ),
    "encapsulation with ML-KEM-768": ("ML-KEM-768", "encapsulation with ML-KEM.Encaps"),
    "How do I encapsulate with ML-KEM?": ("ML-KEM", "How do I encapsulate with ML-KEM.Encaps?"),
    "ML-KEM's decapsulation": ("ML-KEM", "ML-KEM.Decaps's decapsulation"),
    "How do I sign with ML-DSA?": ("ML-DSA", "How do I sign with ML-DSA.Sign?"),
    "ML-DSA verification": ("ML-DSA", "ML-DSA.Verify verification"),
    "SHA3 and ML-KEM key generation": ("SHA3 ML-KEM", "SHA3 and ML-KEM.KeyGen key generation"),
    "What is the encapsulation key of ML-KEM?": ("ML-KEM",),
    "How is a design verified by ML-DSA?": ("ML-DSA",),
    "How does key generation work?": (),
    "KEY GENERATION": (),
    "K-PKE.Encrypt key generation": ("K-PKE.Encrypt",),
    "ML-KEM-768x key generation of XML-KEM": (
        "ML-KEM-768x XML-KEM",
        "ML-KEM-768x.KeyGen key generation of XML-KEM",
    ),
    "key generation of K.SHA3 or SHA3": ("K.SHA3 SHA3", "key generation of K.SHA3 or SHA3.KeyGen"),
    "ML-KEM and ML-KEM-768 key generation": (
        "ML-KEM ML-KEM-768",
        "ML-KEM and ML-KEM.KeyGen key generation",
    ),
    "What are the steps of algorithm 2 SHAKE128?": ("SHAKE128", "Algorithm 2"),
    "What does Algorithm 19 (ML-KEM.KeyGen) do?": (
        "ML-KEM.KeyGen",
        "Algorithm 19",
        "Algorithm 19 ML-KEM.KeyGen",
    ),
    "ML-KEM key generation, algorithm 19": (
        "ML-KEM",
        "ML-KEM.KeyGen key generation, algorithm 19",
        "Algorithm 19",
        "Algorithm 19 ML-KEM.KeyGen",
    ),
    "Algorithm 2": (),
}


@pytest.mark.parametrize("question", WORDINGS)
def test_the_wordings_of_a_question(question):
    """The question first, then just these, in this order."""
    assert variants(question, OPERATIONS) == (question, *WORDINGS[question])


def test_without_a_table_no_operation_is_named():
    """An empty setting switches that off, and nothing else."""
    assert phrases({}) == {}
    assert variants("ML-KEM key generation, algorithm 19", {})[1:] == ("ML-KEM", "Algorithm 19")


@given(
    st.lists(
        st.sampled_from(
            [
                "ML-KEM",
                "SHA3",
                "K-PKE.Encrypt",
                "key generation",
                "sign",
                "Algorithm 1",
                "algorithm 22",
                "?",
                "\\",
                "(",
            ]
        )
        | st.text(max_size=8),
        max_size=12,
    ).map(" ".join)
)
def test_any_question_has_a_few_distinct_wordings(question):
    """The question is the first, none comes twice, and there is an end to them."""
    found = variants(question, OPERATIONS)
    assert found[0] == question
    assert len(found) == len(set(found)) <= MAX_VARIANTS
    assert all(found) or question == ""
    assert found == variants(question, dict(OPERATIONS))


def test_phrases_are_compared_without_case_and_white_space():
    """Phrase by phrase, each with the name of its operation."""
    assert phrases({"KeyGen": ["  Key  generation", "keys"], "Sign": ["sign"]}) == {
        "key generation": "KeyGen",
        "keys": "KeyGen",
        "sign": "Sign",
    }


@pytest.mark.parametrize("operations", [{"KeyGen": ["a", " "]}, {"A": ["a"], "B": ["A "]}])
def test_operations_that_cannot_be_told_apart_are_refused(operations):
    """One line that names the setting."""
    with pytest.raises(SettingsError, match=r"^retrieval\.operations"):
        phrases(operations)


def hit(name, score, **legs):
    """A hit on the chunk of that name."""
    return Hit(
        Chunk(
            chunk_id=name,
            doc_id="d",
            ordinal=0,
            start=0,
            end=1,
            start_page=1,
            end_page=1,
            text=name,
        ),
        score,
        **legs,
    )


def shown(hits):
    """Ids and scores."""
    return [(found.chunk.chunk_id, found.score) for found in hits]


def test_fused_by_hand():
    """1 / (k + rank) of every list, summed up."""
    first, second = (hit("a", 0.9), hit("b", 0.8)), (hit("b", 0.3), hit("c", 0.1))
    assert shown(fuse_searches((first, second), 1)) == [
        ("b", 1 / 3 + 1 / 2),
        ("a", 1 / 2),
        ("c", 1 / 3),
    ]
    assert shown(fuse_searches((first, second))) == [
        ("b", 1 / 62 + 1 / 61),
        ("a", 1 / 61),
        ("c", 1 / 62),
    ]


def test_a_hit_keeps_what_the_first_search_said_of_it():
    """Ranks and scores of the legs are those of the first list that holds it."""
    first = (hit("a", 0.9, keyword_rank=1, keyword_score=7.0),)
    second = (
        hit("b", 0.5, vector_rank=1, vector_score=0.4),
        hit("a", 0.3, keyword_rank=2, keyword_score=3.0),
    )
    found = {one.chunk.chunk_id: one for one in fuse_searches((first, second))}
    assert (found["a"].keyword_rank, found["a"].keyword_score) == (1, 7.0)
    assert (found["b"].vector_rank, found["b"].vector_score, found["b"].keyword_rank) == (
        1,
        0.4,
        None,
    )


def test_one_search_stays_as_it_is():
    """Its scores too; and of nothing comes nothing."""
    hits = (hit("b", 0.9), hit("a", 0.9))
    assert fuse_searches((hits,)) == hits
    assert fuse_searches(()) == fuse_searches(((), ())) == ()


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3).map(float)),
        min_size=2,
        max_size=4,
    ),
    st.integers(),
)
def test_ties_go_by_id_however_they_come(lists, seed):
    """The same hits in another order give the same bytes, the project's own fusion."""
    expected = rrf(lists)
    results = [[hit(name, score) for name, score in scores.items()] for scores in lists]
    for hits in results:
        random.Random(seed).shuffle(hits)
    assert shown(fuse_searches(results)) == list(expected.items())
