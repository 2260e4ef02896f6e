"""The chain of routers: the first one that is sure decides."""

from collections.abc import Sequence
from dataclasses import replace

from esrag.routing import Decision, Pass, Route, Router, RouteRequest

Chain = Sequence[tuple[str, Router]]


def choose_route(question: str, chain: Chain, request: RouteRequest) -> Route:
    """Return the first route that a router chooses, else that to the documents.

    Raises: EngineError.
    """
    passed: list[Pass] = []
    for name, router in chain:
        found = router.route(question, request)
        if isinstance(found, Route):
            return replace(found, decision=replace(found.decision, router=name))
        passed.append(found)

    return Route("documents", Decision(confidence=_doubt(passed), reason=_explain(passed)))


def _doubt(passed: Sequence[Pass]) -> float:
    return min((each.confidence for each in passed), default=1.0)


def _explain(passed: Sequence[Pass]) -> str:
    return "; ".join(each.reason for each in passed if each.reason)
