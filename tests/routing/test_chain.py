"""The chain of routers, and the cues by which a question asks for a fact."""

import pytest

from esrag.routing import Decision, Pass, Route, RouteRequest, RouterOptions
from esrag.routing.chain import choose_route
from esrag.routing.facts import FactsRouter
from esrag.settings import Settings

ALONE = RouteRequest(classify=None)


class Fixed:
    """A router of a plugin, which always says the same."""

    def __init__(self, said):
        self.said = said

    def route(self, question, request):
        """Return it."""
        return self.said


def test_the_first_route_counts_and_names_its_router():
    """Routers after it are not asked."""
    chain = [
        ("a", Fixed(Pass("a does not know", 0.4))),
        ("b", Fixed(Route("facts", Decision(confidence=0.9, reason="b knows"), doc_ids=("f",)))),
        ("c", Fixed(None)),
    ]
    route = choose_route("?", chain, ALONE)
    assert (route.kind, route.decision) == ("facts", Decision("b", 0.9, "b knows"))


def test_without_a_route_the_documents_answer():
    """The reasons are said, and the least confidence."""
    chain = [
        ("a", Fixed(Pass("no fact", 0.4))),
        ("b", Fixed(Pass())),
        ("c", Fixed(Pass("no web", 0.7))),
    ]
    assert choose_route("?", chain, ALONE) == Route(
        "documents", Decision("", 0.4, "no fact; no web")
    )
    assert choose_route("?", (), ALONE) == Route("documents")


@pytest.mark.parametrize(
    ("question", "score"),
    [
        ("What is the cap?", 0.5),
        ("what are the fee and the price?", 0.7),
        ("How much is it?", 0.3),
        ("Is it $ 40 or 40 dollars?", 0.3),
        ("Whenever the capital is feed", 0.0),
        ("Tell me what is new", 0.0),  # it does not begin so
        ("When can I pay the fee?", 0.1),
        ("Am I, and should I, and how do I?", 0.0),
        ("How much and how many: what is the fee, cost, price, cap, amount?", 1.0),
    ],
)
def test_cues_are_summed_as_whole_words(question, score):
    """0.3 for an opening or a phrase, 0.2 for a word, −0.3 for what asks for advice; 0 to 1."""
    router = FactsRouter(RouterOptions(Settings(), None, None))
    assert router.score(question) == pytest.approx(score)
