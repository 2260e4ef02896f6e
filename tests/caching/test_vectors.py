"""Vectors by text: the same bits from an empty and a full cache, and nothing that is damaged."""

from contextlib import closing

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from esrag.caching.opening import open_cache
from esrag.caching.vectors import VectorCache
from esrag.embedding import check_vectors
from esrag.settings import CacheSettings


def units(count, dimensions, seed=1):
    """Random unit rows."""
    rows = np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("dimensions", [1, 8, 384, 1024])
def test_vectors_come_back_as_they_were_given_back(cache, dimensions):
    """To the bit, alone or among others; unit rows, near to what was kept."""
    texts, rows = [f"text {number}" for number in range(600)], units(600, dimensions)
    vectors = VectorCache(cache, "model", dimensions)

    kept = vectors.keep(texts, rows)

    assert check_vectors(kept, 600, dimensions).dtype == np.float32
    assert float(np.abs((kept * rows).sum(axis=1) - 1).max()) < 1e-6
    again = vectors.look_up([*texts, "another"])
    assert set(again) == set(texts)
    assert all(np.array_equal(again[text], row) for text, row in zip(texts, kept, strict=True))
    for number in (0, 299, 599):
        assert np.array_equal(vectors.look_up([texts[number]])[texts[number]], kept[number])
        assert np.array_equal(
            vectors.keep([texts[number]], rows[number : number + 1])[0], kept[number]
        )


@examples(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    texts=st.lists(st.text(st.characters(), max_size=20), unique=True, min_size=1, max_size=5),
    row=arrays.arrays(np.float32, 6, elements=st.floats(-1, 1, width=32)).filter(
        lambda row: np.linalg.norm(row) > 0.1
    ),
)
def test_any_text_and_any_direction(tmp_path, texts, row):
    """Also texts that UTF-8 cannot write."""
    rows = np.tile(row / np.linalg.norm(row), (len(texts), 1)).astype(np.float32)
    with closing(open_cache(CacheSettings(url=str(tmp_path / "cache.db")))) as cache:
        vectors = VectorCache(cache, "model", 6)
        kept = vectors.keep(texts, rows)
        known = vectors.look_up(texts)

    assert [known[text].tolist() for text in texts] == kept.tolist()


def test_another_model_or_width_knows_nothing(cache):
    """The fingerprint is in the key."""
    VectorCache(cache, "model a", 8).keep(["text"], units(1, 8))

    assert VectorCache(cache, "model b", 8).look_up(["text"]) == {}
    assert VectorCache(cache, "model a", 4).look_up(["text"]) == {}
    assert set(VectorCache(cache, "model a", 8).look_up(["text", "Text", "text "])) == {"text"}


def test_no_text_is_no_work(cache):
    """Neither way."""
    vectors = VectorCache(cache, "model", 8)

    assert vectors.look_up([]) == {}
    assert vectors.keep([], np.zeros((0, 8), np.float32)).shape == (0, 8)


@pytest.mark.parametrize(
    "damage",
    [
        lambda value: b"",
        lambda value: value[:-1],
        lambda value: value + b"x",
        lambda value: bytes(len(value)),
        lambda value: value[:-1] + bytes([value[-1] ^ 1]),  # still a unit vector, or nearly
        lambda value: bytes([value[0] ^ 128]) + value[1:],
    ],
    ids=["empty", "short", "long", "zeros", "a bit", "the seal"],
)
@pytest.mark.faults
def test_what_is_damaged_is_missing_and_is_rewritten(cache, damage):
    """Too short, too long, zeros, one bit of a number or of the seal (case 27)."""
    vectors = VectorCache(cache, "model", 8)
    kept = vectors.keep(["good", "bad"], units(2, 8))
    key = vectors._key("bad")
    cache.set_many({key: damage(cache.get_many([key])[key])}, 60)

    assert set(vectors.look_up(["good", "bad"])) == {"good"}
    vectors.keep(["bad"], units(2, 8)[1:])
    assert np.array_equal(vectors.look_up(["bad"])["bad"], kept[1])


def test_a_vector_that_was_kept_for_another_text_is_missing(cache):
    """As where the index of a damaged file leads to the wrong row."""
    vectors = VectorCache(cache, "model", 8)
    vectors.keep(["good", "bad"], units(2, 8))
    good, bad = map(vectors._key, ("good", "bad"))
    cache.set_many({bad: cache.get_many([good])[good]}, 60)

    assert set(vectors.look_up(["good", "bad"])) == {"good"}


def test_half_a_kilobyte_a_vector(admin, redis_url):
    """A vector of 384 numbers is 768 bytes and a seal of 16, and about a kilobyte with its key."""
    with closing(open_cache(CacheSettings(url=redis_url))) as cache:
        VectorCache(cache, "model", 384).keep(["text"], units(1, 384))

    (key,) = admin.keys()
    assert admin.strlen(key) == 768 + 16
    assert admin.memory_usage(key) < 1200
