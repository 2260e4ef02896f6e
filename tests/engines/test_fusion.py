"""Fusion: values worked by hand, ties, and legs in any order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.engines.fusion import combine_weighted, ranking, rrf

LEGS = st.lists(
    st.dictionaries(st.text("abcdef", min_size=1, max_size=2), st.integers(0, 3).map(float)),
    max_size=3,
)


def shuffled(leg, seed):
    items = list(leg.items())
    random.Random(seed).shuffle(items)
    return dict(items)


def test_rrf_by_hand():
    """Ranks count from 1, and an id in both legs gets the sum."""
    assert {"b": 1 / 61 + 1 / 62, "a": 1 / 61, "c": 1 / 62} == pytest.approx(
        rrf([{"a": 3.0, "b": 2.0}, {"b": 9.0, "c": 1.0}], 60)
    )


def test_weighted_by_hand():
    """Scores are scaled a leg by itself, its last id counts 0.001, and an id that it lacks counts 0
    there.
    """
    fused = combine_weighted([{"a": 10.0, "b": 5.0, "c": 0.0}, {"b": 0.9, "d": 0.1}], [0.4, 0.6])
    assert {"b": 0.4 * 0.5 + 0.6, "a": 0.4, "d": 0.0006, "c": 0.0004} == pytest.approx(fused)
    assert ["b", "a", "d", "c"] == list(fused)


def test_no_score_of_a_leg_is_scaled_below_its_last_one():
    """The floor is one for all: a score just above the lowest does not fall behind it."""
    assert ["a", "b", "c"] == list(combine_weighted([{"a": 1.0, "b": 0.0, "c": 0.0}], [1.0]))
    assert ["a", "c", "b"] == list(combine_weighted([{"a": 1.0, "b": 0.0, "c": 0.002}], [1.0]))
    assert {"a": 1.0, "b": 0.001, "c": 0.001} == combine_weighted(
        [{"a": 1.0, "b": 0.0, "c": 0.0001}], [1.0]
    )


def test_a_leg_of_equal_scores_counts_whole():
    """One hit, or hits that are all alike, are scaled to 1."""
    assert {"a": 0.4, "b": 0.4, "c": 0.6} == combine_weighted(
        [{"a": 7.0, "b": 7.0}, {"c": -0.2}], [0.4, 0.6]
    )


def test_weighted_ranks_by_hand():
    """Each leg's reciprocal ranks count by its weight."""
    fused = rrf([{"a": 3.0, "b": 2.0}, {"b": 9.0, "c": 1.0}], 60, [0.6, 1.4])
    assert {"b": 0.6 / 62 + 1.4 / 61, "c": 1.4 / 62, "a": 0.6 / 61} == pytest.approx(fused)
    assert ["b", "c", "a"] == list(fused)


def test_a_leg_of_no_weight_gives_no_ids():
    """What only such a leg found is no hit, by ranks or by scores."""
    legs = [{"a": 2.0, "b": 1.0}, {"c": 2.0, "b": 1.0}]
    assert rrf(legs[:1], 60, [2.0]) == rrf(legs, 60, [2.0, 0.0])
    assert combine_weighted(legs[1:], [1.0]) == combine_weighted(legs, [0.0, 1.0])


def test_ties_go_by_id():
    """Equal scores are ranked by id, ascending, in a leg and in what is fused."""
    assert ["a", "b", "c"] == ranking({"c": 1.0, "a": 1.0, "b": 1.0})
    assert ["a", "b"] == list(rrf([{"a": 1.0}, {"b": 1.0}]))


def test_nothing_fuses_to_nothing():
    """Empty legs are no error."""
    assert {} == rrf([]) == rrf([{}, {}]) == combine_weighted([{}, {}], [0.5, 0.5])


@given(LEGS)
def test_equal_weights_are_no_weights(legs):
    """A weight of 1 changes no bit of a score."""
    assert list(rrf(legs).items()) == list(rrf(legs, 60, [1.0] * len(legs)).items())


@given(LEGS, st.integers())
def test_the_order_in_which_a_leg_comes_does_not_matter(legs, seed):
    """Shuffled legs fuse to the same bytes in the same order."""
    again = [shuffled(leg, seed) for leg in legs]
    weights = [1.0] * len(legs)
    assert list(rrf(legs).items()) == list(rrf(again).items())
    assert list(combine_weighted(legs, weights).items()) == list(
        combine_weighted(again, weights).items()
    )
