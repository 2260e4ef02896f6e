"""Route a question by its intent: what it is about decides where it is looked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from esrag.errors import GeneratorError, SettingsError
from esrag.filters import And, Filter, Match, Or, Terms, scalar
from esrag.retrieving.scopes import Scope
from esrag.routing import Decision, Pass, Route, RouteRequest, RouterOptions
from esrag.routing.cues import sum_cues
from esrag.routing.entities import Entities
from esrag.settings import IntentSettings, ScopeSettings
from esrag.text import fill, list_places
from esrag.text.terms import terms

KINDS = "intents.kinds"
_SURE = 0.95  # of a model's answer, which is one of the names or does not count
_MAX_ANSWER = 100  # characters of a model that says a name


@dataclass(frozen=True, slots=True)
class _Choice:
    """An intent, how sure it is, and why."""

    name: str
    confidence: float
    reason: str


class IntentsRouter:
    """Chooses an intent by cues or by a model, and the scopes in which its answers are."""

    def __init__(self, options: RouterOptions) -> None:
        self._settings = options.settings.intents
        self._kinds = self._settings.kinds
        self._entities = Entities(self._settings.entities, "intents.entities")
        _require_known(self._kinds, self._settings.fallback, set(self._settings.entities))

    def route(self, question: str, request: RouteRequest) -> Route | Pass:
        """Return the documents of the intent, narrowest scope first; a pass without an intent."""
        found = self._entities.find(question)
        choice = self._classify(question, found, request)
        if not choice.name:
            return Pass(choice.reason, 1 - choice.confidence)

        kind = self._kinds[choice.name]
        fitting = [scope for scope in kind.scopes if _has_all(scope, found)]
        decision = Decision(confidence=choice.confidence, reason=choice.reason, intent=choice.name)
        scopes = tuple(_to_scope(scope, found) for scope in fitting)
        if fitting and fitting[0].list_by and _asks_nothing_else(question, found, kind):
            return Route("collection", decision, scopes=scopes[:1], list_by=fitting[0].list_by)
        return Route("documents", decision, scopes=scopes)

    def _classify(self, question: str, found: Mapping[str, str], request: RouteRequest) -> _Choice:
        if self._settings.classifier == "rules":
            return self._weigh(question, found)

        said, problem = self._ask_model(question, request)
        if said in self._kinds:
            return _Choice(said, _SURE, "the language model chose it")
        choice = self._weigh(question, found)
        return _Choice(choice.name, choice.confidence, f"{problem}; by rules: {choice.reason}")

    def _ask_model(self, question: str, request: RouteRequest) -> tuple[str, str]:
        """Return the name that a language model says, and what was wrong if it says none."""
        try:
            said = request.classify(question, self._kinds)
        except (GeneratorError, SettingsError) as error:
            return "", f"the language model did not choose: {error.line}"

        name = said.strip().strip(".\"'`*") if len(said) <= _MAX_ANSWER else ""
        return name, "the language model named no intent"

    def _weigh(self, question: str, found: Mapping[str, str]) -> _Choice:
        """Return the intent with the highest sum of cues; the first of several."""
        scores = {
            name: round(sum_cues(kind.cues, question, found), 6)
            for name, kind in self._kinds.items()
        }
        best = max(scores, key=lambda name: scores[name], default="")
        if not best or scores[best] < self._settings.threshold:
            fallback = self._settings.fallback
            least = 1 - (scores[best] if best else 0.0)
            return _Choice(fallback, max(0.0, min(1.0, least)), "no intent has enough cues")

        return _Choice(best, min(1.0, scores[best]), _explain(best, self._kinds[best], found))


def _explain(name: str, kind: IntentSettings, found: Mapping[str, str]) -> str:
    entities = [f"{key} {found[key]}" for key in found if f"{{{key}}}" in kind.cues]
    return f"it asks for {kind.description or name}" + "".join(f", {each}" for each in entities)


def _require_known(kinds: Mapping[str, IntentSettings], fallback: str, entities: set[str]) -> None:
    """Raise SettingsError for a fallback or an entity that is not there."""
    if fallback and fallback not in kinds:
        hint = f"name one of {', '.join(kinds)}"
        raise SettingsError(f"intents.fallback: there is no intent {fallback!r}", hint=hint)

    for name, kind in kinds.items():
        for number, scope in enumerate(kind.scopes):
            if unknown := sorted(set(_list_entities(scope)) - entities):
                place = f"{KINDS}.{name}.scopes.{number}"
                hint = "define it in intents.entities"
                raise SettingsError(f"{place}: there is no entity {unknown[0]!r}", hint=hint)


def _list_entities(scope: ScopeSettings) -> Iterator[str]:
    """Yield the entities that a scope needs, written in braces."""
    texts = (scope.label, *_values(scope.where), *_values(scope.has))
    for text in texts:
        yield from list_places(text)


def _values(table: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for values in table.values():
        yield from values


def _has_all(scope: ScopeSettings, found: Mapping[str, str]) -> bool:
    return set(_list_entities(scope)) <= found.keys()


def _to_scope(scope: ScopeSettings, found: Mapping[str, str]) -> Scope:
    """Return a scope with the entities of a question; they are values, and never syntax."""
    equal: list[Filter] = [
        Terms(field, tuple(scalar(fill(value, found)) for value in values))
        for field, values in scope.where.items()
    ]
    words: list[Filter] = [
        Match(field, fill(value, found)) for field, values in scope.has.items() for value in values
    ]
    parts = [*equal, *([Or(tuple(words))] if words else [])]
    return Scope(parts[0] if len(parts) == 1 else And(tuple(parts)), fill(scope.label, found))


def _asks_nothing_else(question: str, found: Mapping[str, str], kind: IntentSettings) -> bool:
    """Return whether a question has only cues of its intent, and entities."""
    known = {*terms(" ".join(kind.cues)), *terms(" ".join(found.values()))}
    return set(terms(question)) <= known
