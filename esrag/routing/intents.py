"""Route a question by its intent: what it is about decides where it is looked for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from esrag.errors import GeneratorError, SettingsError
from esrag.filters import And, Filter, Match, Or, Terms, scalar
from esrag.retrieving.scopes import Scope
from esrag.routing import Decision, Pass, Route, RouteRequest, RouterOptions
from esrag.routing.cues import sum_cues
from esrag.routing.entities import Entities, find_known
from esrag.routing.nearest import find_nearest_chunk, is_within
from esrag.settings import IntentSettings, IntentsSettings, ScopeSettings
from esrag.text import fill, list_places
from esrag.text.terms import terms

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
        self._engine = options.engine
        self._entities = Entities(self._settings.entities, "intents.entities")
        _require_known(self._settings)

    def route(self, question: str, request: RouteRequest) -> Route | Pass:
        """Return the documents of the intent, narrowest scope first; a pass without an intent."""
        found = self._find_entities(question, request)
        choice = self._classify(question, found, request)
        if not choice.name:
            return Pass(choice.reason, choice.confidence)

        kind = self._kinds[choice.name]
        fitting = [scope for scope in kind.scopes if _has_all(scope, found)]
        decision = Decision(confidence=choice.confidence, reason=choice.reason, intent=choice.name)
        scopes = tuple(_to_scope(scope, found) for scope in fitting)
        if fitting and fitting[0].list_by and _asks_nothing_else(question, found, kind):
            return Route("collection", decision, scopes=scopes[:1], list_by=fitting[0].list_by)
        return Route("documents", decision, scopes=scopes)

    def _find_entities(self, question: str, request: RouteRequest) -> dict[str, str]:
        """Return the entities that patterns find, and others that documents have."""
        found = self._entities.find(question)
        known = {name: field for name, field in self._settings.known.items() if name not in found}
        return {**found, **find_known(question, known, self._engine, request.where)}

    def _classify(self, question: str, found: Mapping[str, str], request: RouteRequest) -> _Choice:
        if self._settings.classifier == "rules":
            return self._weigh(question, found, request)

        said, problem = self._ask_model(question, request)
        if said in self._kinds:
            return _Choice(said, _SURE, "the language model chose it")
        choice = self._weigh(question, found, request)
        return _Choice(choice.name, choice.confidence, f"{problem}; by rules: {choice.reason}")

    def _ask_model(self, question: str, request: RouteRequest) -> tuple[str, str]:
        """Return the name that a language model says, and what was wrong if it says none."""
        try:
            said = request.classify(question, self._kinds)
        except (GeneratorError, SettingsError) as error:
            return "", f"the language model did not choose: {error.line}"

        name = said.strip().strip(".\"'`*") if len(said) <= _MAX_ANSWER else ""
        return name, "the language model named no intent"

    def _weigh(self, question: str, found: Mapping[str, str], request: RouteRequest) -> _Choice:
        """Return the intent with the highest sum of cues; the first of several.

        Without enough cues it is that of the passage with most of the question's words.
        """
        scores = {
            name: round(sum_cues(kind.cues, question, found), 6)
            for name, kind in self._kinds.items()
        }
        best = max(scores, key=lambda name: scores[name], default="")
        if not best or scores[best] < self._settings.threshold:
            return self._look_up(question, request) or _Choice(
                self._settings.fallback,
                max(0.0, min(1.0, 1 - scores.get(best, 0.0))),
                "no intent has enough cues",
            )

        return _Choice(best, min(1.0, scores[best]), _explain(best, self._kinds[best], found))

    def _look_up(self, question: str, request: RouteRequest) -> _Choice | None:
        """Return the intent of the passage with most of a question's words; None without one."""
        least = self._settings.nearest
        if not least:
            return None
        chunk, share = find_nearest_chunk(question, self._engine, request.where)
        names = [name for name in least if share >= least[name]]
        scopes = [(name, scope) for name in names for scope in _wholes(self._kinds[name])]
        if chunk is None or not scopes:
            return None

        within = is_within(chunk, [scope for _, scope in scopes], self._engine)
        fitting = [name for (name, _), is_in in zip(scopes, within, strict=True) if is_in]
        reason = f"its words are in {chunk.title or chunk.doc_id!r}"
        return _Choice(fitting[0], round(share, 2), reason) if fitting else None


def _wholes(kind: IntentSettings) -> Iterator[Filter]:
    """Yield the scopes of an intent that need no entity."""
    for scope in kind.scopes:
        if not list(_list_entities(scope)):
            yield _to_scope(scope, {}).filter


def _explain(name: str, kind: IntentSettings, found: Mapping[str, str]) -> str:
    entities = [f"{key} {found[key]}" for key in found if f"{{{key}}}" in kind.cues]
    return f"it asks for {kind.description or name}" + "".join(f", {each}" for each in entities)


def _require_known(settings: IntentsSettings) -> None:
    """Raise SettingsError for an intent or an entity that is not there."""
    kinds, entities = settings.kinds, {*settings.entities, *settings.known}
    named = [("fallback", settings.fallback)] if settings.fallback else []
    for key, name in (*named, *(("nearest", name) for name in settings.nearest)):
        if name not in kinds:
            hint = f"name one of {', '.join(kinds)}"
            raise SettingsError(f"intents.{key}: there is no intent {name!r}", hint=hint)

    for name, kind in kinds.items():
        for number, scope in enumerate(kind.scopes):
            if unknown := sorted(set(_list_entities(scope)) - entities):
                place = f"intents.kinds.{name}.scopes.{number}"
                hint = "define it in intents.entities or intents.known"
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
