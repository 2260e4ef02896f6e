"""The scope ladder: search the narrowest part of the index, and widen until something is found.

Access control is not a scope: the filter `where` holds in every step, and nothing widens it.

One request tells which scopes hold any passage, and empty ones are never searched. If the narrowest
of the others has no hit, as happens with the keyword leg alone, the widest step is searched. So a
scope that is too narrow costs one more search, however long the ladder is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from esrag.engines import Engine, SearchResult
from esrag.errors import UsageError
from esrag.filters import And, Filter

WHOLE = "all documents"

Search = Callable[[Filter | None], list[SearchResult]]


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the index; `label` is its name for users. Raises: UsageError without a label."""

    filter: Filter
    label: str

    def __post_init__(self) -> None:
        if not self.label.strip():
            hint = "name what it holds, such as: job 225221"
            raise UsageError("a scope has no label", hint=hint)


@dataclass(frozen=True, slots=True)
class Scoped:
    """What a search of the ladder found: the scope's label ("" for none), and notes on widening."""

    found: list[SearchResult]
    label: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ladder:
    """Scopes, the narrowest first, within what `where` allows.

    An open ladder ends with everything that `where` allows, a closed one with its last scope.
    Raises: UsageError for a closed ladder without scopes.
    """

    scopes: Sequence[Scope] = ()
    where: Filter | None = None
    is_closed: bool = False

    def __post_init__(self) -> None:
        if self.is_closed and not self.scopes:
            raise UsageError("a closed ladder needs a scope", hint="pass one, or leave it open")


def search_scopes(ladder: Ladder, search: Search, engine: Engine) -> Scoped:
    """Search the narrowest scope with passages, and the last step if that has no hits.

    Raises: EngineError; what `search` raises.
    """
    scopes, where = ladder.scopes, ladder.where
    if not scopes:
        return Scoped(search(where))

    steps = [(scope.label, limit_to(scope.filter, where)) for scope in scopes]
    met = engine.any_match([filter_ for _, filter_ in steps])
    filled = [step for step, is_met in zip(steps, met, strict=True) if is_met]
    last = steps[-1] if ladder.is_closed else ("", where)
    return _climb([*filled, last], search, scopes[0].label)


def _climb(steps: Sequence[tuple[str, Filter | None]], search: Search, narrowest: str) -> Scoped:
    """Search the first step, and the last one if the first has no hits."""
    (label, filter_), (last, widest) = steps[0], steps[-1]
    found = search(filter_)
    if filter_ != widest and not any(each.hits for each in found):
        label, found = last, search(widest)

    if label == narrowest:
        return Scoped(found, label)
    note = f"nothing found in {narrowest}; searched in {label or WHOLE}"
    return Scoped(found, label, (note,))


def limit_to(scope: Filter, where: Filter | None) -> Filter:
    """Return a scope within what `where` allows."""
    return scope if where is None else And((where, scope))
