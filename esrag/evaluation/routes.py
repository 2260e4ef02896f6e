"""Count how many labelled questions the routers send the labelled way."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from esrag.context import Context
from esrag.errors import UsageError
from esrag.evaluation.calibrating import iter_rows
from esrag.filters import Filter
from esrag.pipeline import find_route


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question and the route that it should go."""

    question: str
    route: str


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that went another way, and why."""

    question: str
    expected: str
    found: str
    reason: str


def read_routes(path: Path) -> list[Labelled]:
    """Return the questions of a JSONL file. Raises: UsageError, which names the line."""
    return [_to_labelled(row.get("question"), row.get("route"), at) for at, row in iter_rows(path)]


def _to_labelled(question: object, route: object, place: str) -> Labelled:
    if not (isinstance(question, str) and question.strip() and isinstance(route, str) and route):
        hint = 'write {"question": "…", "route": "facts"} or "documents"'
        raise UsageError(f"{place} has no question with a route", hint=hint)
    return Labelled(question, route)


def find_missed(
    questions: list[Labelled], context: Context, where: Filter | None
) -> Iterator[Missed]:
    """Yield the questions that go another way than labelled. Raises: EngineError."""
    for labelled in questions:
        found = find_route(labelled.question, context, where)
        if found.kind != labelled.route:
            yield Missed(
                question=labelled.question,
                expected=labelled.route,
                found=found.kind,
                reason=found.decision.reason,
            )
