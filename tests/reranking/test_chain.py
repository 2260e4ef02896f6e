"""The chain: what each reranker adds, what is done with those that fail, are late or break their
promise.
"""

import math

import pytest

from esrag.errors import ModelError, RerankError, SettingsError
from esrag.records import Chunk, Hit
from esrag.reranking import by
from esrag.reranking.chain import PROBED_HITS, Limits, rerank


def hit(n, score, doc_id="d"):
    """A hit on the n-th chunk."""
    return Hit(
        Chunk(
            chunk_id=f"{doc_id}::p{n:04d}::c001",
            doc_id=doc_id,
            ordinal=n,
            start=0,
            end=5,
            start_page=n,
            end_page=n,
            text="Words",
        ),
        score,
    )


HITS = [hit(n, 1 / n) for n in range(1, 11)]


def numbers(reranked):
    """The hits by the numbers of their chunks."""
    return [one.chunk.ordinal for one in reranked.hits]


class Clock:
    """Seconds that pass when somebody works."""

    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        """The time."""
        return self.now_s


class Later:
    """Puts later chunks first, at a price for each hit."""

    cost = "hit"

    def __init__(self, clock=None, hit_s=0.0, error=None, first_s=0.0):
        self.clock, self.hit_s, self.error, self.first_s, self.read = (
            clock,
            hit_s,
            error,
            first_s,
            [],
        )

    def score(self, question, hits, left_s):
        """Ten for each chunk before it."""
        self.read.append(len(hits))
        if self.clock:
            self.clock.now_s += self.hit_s * len(hits) + (
                self.first_s if len(self.read) == 1 else 0
            )
        if self.error:
            raise self.error
        return by("later", [10.0 * one.chunk.ordinal for one in hits])


def test_without_a_chain_everything_stays():
    """The very hits, with the scores of the fusion."""
    assert rerank("?", HITS, (), Limits(50)).hits == tuple(HITS)


def test_what_is_added_is_shown_and_decides():
    """The order follows the sums; both rerankers' shares stand beside the hit."""

    class Earlier(Later):
        def score(self, question, hits, left_s):
            """Takes half of it back."""
            return by("earlier", [-5.0 * one.chunk.ordinal for one in hits])

    reranked = rerank("?", HITS, (("a", Later()), ("b", Earlier())), Limits(50))
    assert numbers(reranked) == list(range(10, 0, -1))
    assert reranked.hits[0].added == {"later": 100.0, "earlier": -50.0}
    assert reranked.hits[0].score == pytest.approx(50.1)


def test_what_is_not_reached_follows_as_it_was():
    """Below those that were read, in its order, also by its score."""
    reranked = rerank("?", HITS, (("later", Later()),), Limits(4))
    assert numbers(reranked) == [4, 3, 2, 1, 5, 6, 7, 8, 9, 10]
    lowering = type(
        "Lowering",
        (Later,),
        {"score": lambda _self, _question, hits, _left_s: by("x", [-1e6 for _ in hits])},
    )
    lowered = rerank("?", HITS, (("lowering", lowering()),), Limits(4))
    assert numbers(lowered) == list(range(1, 11))
    assert sorted(lowered.hits, key=lambda one: -one.score) == list(lowered.hits)


def test_who_has_nothing_to_say_changes_nothing():
    """Equal hits stay as the engine ordered them."""
    equal = [hit(n, 0.5, doc_id=name) for name in "ba" for n in (3, 1, 2)]
    same = type(
        "Same",
        (Later,),
        {"score": lambda _self, _question, hits, _left_s: by("same", [0.0 for _ in hits])},
    )
    found = rerank("?", equal, (("same", same()),), Limits(50)).hits
    assert [one.chunk for one in found] == [one.chunk for one in equal]


def test_depth_follows_the_time_a_hit_takes():
    """A hit takes 0.1 s.

    Of 1.25 s, opening the model and measuring take 0.7 s: there is time for five.
    """
    clock = Clock()
    slow = Later(clock, hit_s=0.1, first_s=0.2)
    reranked = rerank("?", HITS, (("slow", slow),), Limits(10, 1.25, clock))
    assert slow.read == [1, PROBED_HITS, 5]
    assert numbers(reranked) == [5, 4, 3, 2, 1, 6, 7, 8, 9, 10]
    assert reranked.notes == ("slow had time for 5 of 10 hits",)


def test_no_time_leaves_the_order():
    """A reranker that costs all there is changes nothing, the one after it is not even asked, and
    both are said.
    """
    clock = Clock()
    slow, never = Later(clock, hit_s=1.0), Later(clock)
    reranked = rerank("?", HITS, (("slow", slow), ("never", never)), Limits(10, 2.0, clock))
    assert (numbers(reranked), never.read) == (list(range(1, 11)), [])
    assert reranked.notes == (
        "slow was left out: no time was left",
        "never was left out: no time was left",
    )


def test_the_next_one_keeps_what_was_not_reached_behind():
    """A model's scores lie far below the fusion's: those that it had no time for do not overtake
    the others by it.
    """
    clock = Clock()
    model = type("Model", (Later,), {"score": lambda self, question, hits, left_s: self.low(hits)})(
        clock, hit_s=0.1
    )
    model.low = lambda hits: (
        [Later.score(model, "", hits, 0)] and by("model", [-8.0 - one.score for one in hits])
    )
    same = type(
        "Same",
        (Later,),
        {"cost": "free", "score": lambda _self, _question, hits, _left_s: by("s", [0.0] * 10)},
    )
    reranked = rerank("?", HITS, (("model", model), ("same", same())), Limits(10, 1.05, clock))
    assert reranked.notes == ("model had time for 5 of 10 hits",)
    assert numbers(reranked) == list(range(1, 11))
    assert reranked.hits[9].added["not reached"] == pytest.approx(reranked.hits[9].score - 0.1)


def test_one_that_comes_late_after_all_changes_nothing():
    """Its later hits took longer than those that were measured."""
    clock = Clock()

    class Slowing(Later):
        def score(self, question, hits, left_s):
            """The longer the list, the slower."""
            self.hit_s = 0.01 if len(hits) <= PROBED_HITS else 1.0
            return super().score(question, hits, left_s)

    reranked = rerank("?", HITS, (("slowing", Slowing(clock)),), Limits(10, 2.0, clock))
    assert (numbers(reranked), reranked.notes) == (
        list(range(1, 11)),
        ("slowing was left out: no time was left",),
    )


def test_a_service_is_asked_once_with_the_time_that_is_left():
    """Never to find out what it costs, and not at all when there is no time left."""
    clock = Clock()
    asked = []

    class Service(Later):
        cost = "request"

        def score(self, question, hits, left_s):
            """Half a second whatever the number."""
            asked.append((len(hits), left_s))
            clock.now_s += 0.5
            return by("service", [float(one.chunk.ordinal) for one in hits])

    chain = (("a", Service()), ("b", Service()), ("c", Service()))
    reranked = rerank("?", HITS, chain, Limits(10, 0.75, clock))
    assert asked == [(10, 0.75), (10, 0.25)]
    assert numbers(reranked) == list(range(10, 0, -1))
    assert reranked.notes == (
        "b was left out: no time was left",
        "c was left out: no time was left",
    )


def test_what_is_quick_is_not_measured():
    """Words are counted whatever the time."""
    quick = type("Quick", (Later,), {"cost": "free"})(Clock())
    assert rerank("?", HITS, (("quick", quick),), Limits(10, 1e-9, Clock())).notes == ()
    assert quick.read == [10]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        by("x", [1.0] * 9),
        by("x", [math.nan] * 10),
        by("x", [math.inf] * 10),
        [{"a": 1e308, "b": 1e308}] * 10,
    ],
)
def test_a_broken_promise_leaves_the_order(answer):
    """Too few numbers, or none that are."""
    broken = type("Broken", (Later,), {"score": lambda *_: answer})()
    reranked = rerank("?", HITS, (("broken", broken), ("later", Later())), Limits(10))
    assert numbers(reranked) == list(range(10, 0, -1))
    assert len(reranked.notes) == 1
    assert reranked.notes[0].startswith("broken was left out: ")


def test_one_that_fails_is_left_out():
    """Its line is in the notes; what the user has to put right is an error, though."""
    reranked = rerank(
        "?", HITS, (("later", Later(error=RerankError("no answer", hint="wait"))),), Limits(10)
    )
    assert (numbers(reranked), reranked.notes) == (
        list(range(1, 11)),
        ("later was left out: no answer; wait",),
    )
    reranked = rerank(
        "?", HITS, (("later", Later(error=RuntimeError("out of\nmemory"))),), Limits(10)
    )
    assert (numbers(reranked)[0], reranked.notes) == (
        1,
        ("later was left out: RuntimeError: out of memory",),
    )
    for error in (SettingsError("no key"), ModelError("no weights")):
        with pytest.raises(type(error)):
            rerank("?", HITS, (("later", Later(error=error)),), Limits(10))


def test_what_two_add_for_one_reason_is_added_up():
    """Nothing that was added is hidden."""
    reranked = rerank("?", HITS[:1], (("a", Later()), ("b", Later())), Limits(10))
    assert reranked.hits[0].added == {"later": 20.0}


def test_no_hits():
    """Nothing is asked."""
    later = Later()
    assert rerank("?", (), (("later", later),), Limits(10, 1.0)).hits == ()
    assert later.read == []
