"""Conditions: a filter checked against the index, so that a typing mistake is an error."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from esrag.engines import Engine
from esrag.errors import UsageError
from esrag.filters import (
    MAX_SHOWN,
    And,
    Filter,
    Match,
    Not,
    Or,
    Prefix,
    Range,
    Terms,
    format_value,
    is_number,
    require_reasonable,
    scalar,
)
from esrag.records import Scalar, StoredDocument
from esrag.text import find_closest

MAX_LISTED = 20  # values of a field that has few, and an unknown one of which is taken for a slip
MAX_DOCUMENTS = 10_000  # that are read for fields and values to suggest

_IDENTIFYING = ("doc_id", "source", "title")  # each document has its own
_OWN_FIELDS = ("chunk_id", *_IDENTIFYING, "folder", "keywords", "kind", "page", "section")
_OF_PASSAGES = ("chunk_id", "keywords", "page", "section", "text")
_TEXT = frozenset({"text"})
# The lowest value of each kind.
_LOWEST: dict[str, Scalar] = {"number": -math.inf, "text": "", "boolean": False}

Leaf = Terms | Prefix | Match | Range


@dataclass(frozen=True, slots=True)
class _Condition:
    """One field against one value or range; `negated` where it stands within a Not."""

    leaf: Leaf
    negated: bool


def check_filter(filter_: Filter | None, engine: Engine) -> tuple[str, ...]:
    """Check every condition of a filter, and return a note for each that no passage meets.

    Raises: UsageError for a field that no passage has, a value of another kind than the field's,
    and an unknown value of a field that has few; IndexMissing, EngineError.
    """
    if filter_ is None:
        return ()
    require_reasonable(filter_)
    conditions = list(dict.fromkeys(_conditions(filter_)))
    met = engine.any_match([condition.leaf for condition in conditions])
    unmet = [condition for condition, is_met in zip(conditions, met, strict=True) if not is_met]

    stored = _Stored(engine)
    return (
        tuple(_explain(condition, stored) for condition in unmet) if unmet and stored.sample else ()
    )


def require_of_documents(filter_: Filter) -> None:
    """Raise UsageError for a condition on a passage, where one on whole documents is wanted."""
    for condition in _conditions(filter_):
        if condition.leaf.field in _OF_PASSAGES:
            hint = (
                "whole documents are chosen by doc_id, source, title, folder, "
                "kind or a field of their own"
            )
            raise UsageError(
                f"{condition.leaf.field} is a field of a passage, not of a document", hint=hint
            )


def _conditions(filter_: Filter, *, negated: bool = False) -> Iterator[_Condition]:
    """Yield the filter's conditions, a list of values as one each."""
    match filter_:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _conditions(part, negated=negated)
        case Not(part):
            yield from _conditions(part, negated=not negated)
        case Terms(_, values):
            yield from (_Condition(replace(filter_, values=(value,)), negated) for value in values)
        case _:
            yield _Condition(filter_, negated)


@dataclass(frozen=True)
class _Stored:
    """What the index holds, read when it is needed."""

    engine: Engine

    @cached_property
    def sample(self) -> Sequence[StoredDocument]:
        """Return the first documents, one more than are examined if there are more."""
        return list(islice(self.engine.documents(), MAX_DOCUMENTS + 1))

    @property
    def is_whole(self) -> bool:
        """Return whether the sample has all documents."""
        return len(self.sample) <= MAX_DOCUMENTS

    def kinds(self, name: str) -> frozenset[str]:
        """Return the kinds of value that a field has; nothing for a field that no passage has."""
        if name in _OWN_FIELDS:
            return frozenset({"number" if name == "page" else "text"})
        found = self.engine.any_match([Range(name, low=lowest) for lowest in _LOWEST.values()])
        return frozenset(kind for kind, is_there in zip(_LOWEST, found, strict=True) if is_there)

    def fields(self) -> list[str]:
        """Return the names of the fields that passages have."""
        return sorted(
            {*_OWN_FIELDS, *(name for document in self.sample for name in document.metadata)}
        )

    def values(self, name: str) -> list[str]:
        """Return the values of a document's field as they are written."""
        own = {"doc_id", "source", "title", "kind"}
        found = {
            getattr(document, name) if name in own else document.metadata.get(name)
            for document in self.sample
        }
        return sorted(format_value(value) for value in found if value not in {None, ""})


def _explain(condition: _Condition, stored: _Stored) -> str:
    """Say why nothing meets a condition. Raises: UsageError if it cannot have been meant."""
    leaf = condition.leaf
    kinds = _TEXT if _is_in_passages(leaf) else stored.kinds(leaf.field)
    if not kinds:
        raise _unknown_field(leaf.field, stored.fields())
    _require_kind(leaf, kinds, stored)

    note = f"no passage has {_shown(leaf)}"
    if isinstance(leaf, Range | Match):
        return note
    values = stored.values(leaf.field)
    alike = find_closest(_text(leaf), values)
    suggestion = f"did you mean {' or '.join(alike)}?" if alike else ""

    has_few = kinds == {"text"} and len(values) <= MAX_LISTED and leaf.field not in _IDENTIFYING
    # To leave out what is not there does no harm, unless it was meant to be another value.
    if condition.negated:
        is_slip = _text(leaf).casefold() in {value.casefold() for value in values}
    else:
        is_slip = bool(alike) or (bool(values) and stored.is_whole)
    if has_few and is_slip:
        raise UsageError(
            note, hint=f"{suggestion} {leaf.field} is one of {', '.join(values)}".strip()
        )
    return f"{note}; {suggestion}" if alike else note


def _is_in_passages(leaf: Leaf) -> bool:
    return isinstance(leaf, Match) and leaf.field == "text"


def _unknown_field(name: str, known: Sequence[str]) -> UsageError:
    alike = find_closest(name, known, 1)
    suggestion = f"did you mean {alike[0]}? " if alike else ""
    return UsageError(
        f"no passage has a field {_cut(name)!r}", hint=f"{suggestion}there are {', '.join(known)}"
    )


def _require_kind(leaf: Leaf, kinds: frozenset[str], stored: _Stored) -> None:
    """Check that a condition's values are of a kind that its field has. Raises: UsageError."""
    for value in _values(leaf):
        kind = _kind(value)
        # A text may be written as a number is.
        fits = kind in kinds or (isinstance(leaf, Terms) and "text" in kinds)
        if not fits:
            came = (
                f"the field {leaf.field} holds {_said(kinds)}, "
                f"and {_cut(format_value(value))!r} is {_said({kind})}"
            )
            raise UsageError(came, hint=_example(leaf, kinds, stored))


def _values(leaf: Leaf) -> tuple[Scalar, ...]:
    match leaf:
        case Terms(_, values):
            return tuple(scalar(format_value(value)) for value in values)
        case Range(_, low, high):
            return tuple(bound for bound in (low, high) if bound is not None)
        case Prefix(name, value):
            # Other numbers are compared as they are written.
            return (f"{value}*",) if name == "page" else ()
        case Match():
            return ()


def _kind(value: Scalar) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "number" if is_number(value) else "text"


def _said(kinds: frozenset[str] | set[str]) -> str:
    words = {"number": "a number", "text": "text", "boolean": "true or false"}
    return " or ".join(words[kind] for kind in sorted(kinds))


def _example(leaf: Leaf, kinds: frozenset[str], stored: _Stored) -> str:
    """Show a condition that the field could meet."""
    if leaf.field == "page":
        return "write it as page=48, or page>=48"
    known = stored.values(leaf.field)
    value = next((value for value in known if _kind(scalar(value)) in kinds), "…")
    return f"write it as {leaf.field}{'>=' if isinstance(leaf, Range) else '='}{_cut(value)}"


def _text(leaf: Terms | Prefix) -> str:
    return leaf.value if isinstance(leaf, Prefix) else format_value(leaf.values[0])


def _shown(leaf: Leaf) -> str:
    """Return a condition as it is typed, or as it is said."""
    if isinstance(leaf, Match):
        return f"{_cut(leaf.words)!r} in {leaf.field}"
    if not isinstance(leaf, Range):
        return f"{leaf.field}={_cut(_text(leaf))}{'*' * isinstance(leaf, Prefix)}"
    bounds = [
        *(
            [f"{leaf.field}>{'=' * (not leaf.low_open)}{_cut(format_value(leaf.low))}"]
            if leaf.low is not None
            else []
        ),
        *(
            [f"{leaf.field}<{'=' * (not leaf.high_open)}{_cut(format_value(leaf.high))}"]
            if leaf.high is not None
            else []
        ),
    ]
    return " and ".join(bounds) or leaf.field


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
