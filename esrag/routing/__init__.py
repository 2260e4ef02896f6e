"""Routing: which way a question goes, and who decided it.

The contract, for every class registered under `esrag.routers`:

- `Router(options)` does nothing slow. Raises: SettingsError if something is missing that it needs.
- `route(question, request)` → a `Route`, or a `Pass` if no route of this router fits. The same
  question, index and settings give the same route.
- It never raises because a service is away: then it passes, and says why.

The routers of `routing.chain` decide in order, and the first route counts; `chain.choose_route`
is the one way in. Small talk and questions about the documents themselves are recognised before
that, by rules that recognise whole questions only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from esrag.engines import Engine
from esrag.facts.finding import FactFinder
from esrag.filters import Filter
from esrag.retrieving.scopes import Scope
from esrag.settings import IntentSettings, Settings

Kind = Literal["documents", "facts", "collection", "summary", "direct", "web"]


@dataclass(frozen=True, slots=True)
class Decision:
    """Who chose a route and why; `confidence` is 0..1, and `router` is "" if none was sure.

    `intent` is what the question is about, "" where intents are not configured.
    """

    router: str = ""
    confidence: float = 1.0
    reason: str = ""
    intent: str = ""


NOBODY = Decision()


@dataclass(frozen=True, slots=True)
class Route:
    """A way to answer: from passages, facts, records of the index, one document, the web, or not.

    `scopes` are the parts of the index to look in, narrowest first; the whole index comes last.
    `doc_ids` are the facts that answer. `list_by` is the field whose values in the scope are the
    answer. `overrides` are settings of this question alone, by dotted key.
    """

    kind: Kind
    decision: Decision = NOBODY
    scopes: tuple[Scope, ...] = ()
    doc_ids: tuple[str, ...] = ()
    list_by: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pass:
    """No route of a router fits; `reason` says why, and `confidence` how sure that is, 0..1."""

    reason: str = ""
    confidence: float = 1.0


class Classify(Protocol):
    """A question and the intents to choose from → what a language model says."""

    def __call__(self, question: str, kinds: Mapping[str, IntentSettings], /) -> str:
        """Return its words. Raises: GeneratorError, SettingsError."""
        ...


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """What goes with a question: the filter of the user, and a language model to ask."""

    classify: Classify
    where: Filter | None = None


@dataclass(frozen=True, slots=True)
class RouterOptions:
    """What a router may use: the settings, and the facts and the passages of the index."""

    settings: Settings
    facts: FactFinder
    engine: Engine


class Router(Protocol):
    """Chooses a way to answer; see the module for the promises."""

    def __init__(self, options: RouterOptions) -> None: ...

    def route(self, question: str, request: RouteRequest) -> Route | Pass:
        """Return how to answer a question, or why this router does not say."""
        ...
