"""Evidence: once each, within the budgets, in an order that does not hang on how the hits came."""

import random
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.errors import ContextTooLarge
from esrag.evidence.selection import EvidenceBudget, compress_evidence, render_passage, select
from esrag.evidence.statements import statements
from esrag.records import Chunk, Evidence, Hit
from esrag.text import word_spans


def hit(n, score, text="Some words.", doc_id="d"):
    """A hit on the n-th chunk."""
    return Hit(
        Chunk(
            chunk_id=f"{doc_id}::p{n:04d}::c001",
            doc_id=doc_id,
            ordinal=n,
            start=0,
            end=len(text),
            start_page=n,
            end_page=n,
            text=text,
        ),
        score,
    )


def room(chunks, characters, tokens=1000):
    """So much evidence; a word is a token."""
    return EvidenceBudget(
        chunks=chunks, characters=characters, tokens=tokens, count=lambda text: len(text.split())
    )


def test_a_chunk_counts_once_with_its_best_score():
    """A neighbour that is a hit itself keeps the better score."""
    evidence = select([hit(1, 0.2), hit(2, 0.1), hit(1, 0.3)], room(10, 1000))

    assert [(item.key, item.chunk.ordinal, item.score) for item in evidence] == [
        ("c1", 1, 0.3),
        ("c2", 2, 0.1),
    ]


def test_how_close_a_passage_is_comes_with_it():
    """By the vector leg; unknown where that did not find it."""
    found = select([replace(hit(1, 0.2), vector_score=0.7), hit(2, 0.1)], room(10, 1000))

    assert [item.closeness for item in found] == [0.7, None]


def test_equal_scores_stand_in_reading_order():
    """Ties: doc_id, then page, then chunk id."""
    hits = [hit(3, 0.5), hit(1, 0.5), hit(2, 0.5, doc_id="a"), hit(2, 0.5)]

    assert [item.chunk.chunk_id[:7] for item in select(hits, room(10, 1000))] == [
        "a::p000",
        "d::p000",
        "d::p000",
        "d::p000",
    ]
    assert [item.chunk.ordinal for item in select(hits, room(10, 1000))] == [2, 1, 2, 3]


def test_all_budgets_hold():
    """At most so many chunks, characters and tokens.

    A smaller passage takes the place of one that is too large.
    """
    hits = [hit(n, 1 / n) for n in range(1, 9)]

    assert len(select(hits, room(3, 1000))) == 3
    assert len(select(hits, room(8, 25))) == 2
    assert len(select(hits, room(8, 1000, tokens=7))) == 3
    large = [hit(1, 1.0), hit(2, 0.5, "x" * 5000), hit(3, 0.4)]
    assert [item.chunk.ordinal for item in select(large, room(8, 100))] == [1, 3]


@pytest.mark.parametrize("wanted", [room(8, 100), room(8, 10_000, tokens=9)])
def test_evidence_that_is_larger_than_any_budget_is_an_error(wanted):
    """The best passage is never left out without a word."""
    with pytest.raises(
        ContextTooLarge, match=r"passage, d::p0001::c001, has 5,000 characters, 2,500 tokens; "
    ):
        select([hit(1, 1.0, "x " * 2500), hit(2, 0.5)], wanted)


def test_the_order_of_equal_hits_on_the_way_in_changes_nothing():
    """Legs may return ties in another order; keys stay the same."""
    hits = [hit(n, round(1 / (1 + n % 3), 3)) for n in range(1, 10)]
    expected = select(hits, room(20, 1000))

    for seed in range(20):
        shuffled = random.Random(seed).sample(hits, len(hits))
        assert select(shuffled, room(20, 1000)) == expected


def evidence(*texts):
    """Passages c1… with these texts."""
    return tuple(
        Evidence(f"c{n}", hit(n, 1 / n, text).chunk, 1 / n) for n, text in enumerate(texts, 1)
    )


def squeezed(given_evidence, characters, tokens):
    """What of them is sent within so much; a word, a figure or a mark is a token."""
    stated = statements("What is it?", given_evidence)
    wanted = EvidenceBudget(
        chunks=len(given_evidence),
        characters=characters,
        tokens=tokens,
        count=lambda text: len(word_spans(text)),
    )
    return compress_evidence("What is it?", given_evidence, stated, wanted)


def test_figures_have_more_tokens_than_words_and_no_more_are_sent():
    """What is left of a passage is what has figures: by its length alone it would be too much."""
    words = (
        "Extraordinarily straightforward considerations notwithstanding, everybody understands. "
        * 20
    )
    figures = "It has 1.2, 3.4, 5.6, 7.8, 9.0, 1.2, 3.4. " * 20
    found = squeezed(evidence(words + figures), 10_000, 200)

    assert "1.2" in render_passage(found[0])
    assert 100 < len(word_spans(render_passage(found[0]))) <= 200


SENTENCES = st.lists(
    st.sampled_from(
        [
            "Everybody understands.",
            "It has 1.2, 3.4, 5.6.",
            "| a | b |",
            "# A",
            "\n\n",
            "\n",
            " ",
            "1: x 2: y",
            "x",
            "i.e.",
        ]
    ),
    max_size=12,
).map(" ".join)


@given(st.lists(SENTENCES, max_size=4), st.integers(1, 150), st.integers(1, 60))
def test_no_more_is_sent_than_there_is_room_for(texts, characters, tokens):
    """By characters and by tokens, with the marks for what is left out.

    A sentence without room is an error.
    """
    laid_out = []
    with suppress(ContextTooLarge):
        laid_out = [render_passage(item) for item in squeezed(evidence(*texts), characters, tokens)]
        assert laid_out or not any(text.strip() for text in texts)
    assert sum(map(len, laid_out)) <= characters
    assert sum(len(word_spans(text)) for text in laid_out) <= tokens


def test_a_sentence_that_is_larger_than_any_budget_is_an_error():
    """With compression as without: nothing is sent over it."""
    with pytest.raises(
        ContextTooLarge, match=r"the best sentence of d::p0001::c001 has 5,00\d characters, "
    ):
        squeezed(evidence("x " * 2500, "Short."), 100, 100)
