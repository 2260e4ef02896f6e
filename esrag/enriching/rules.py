"""Rules: fields that regular expressions read from a document. What it says is never syntax."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from typing import Literal

from esrag.filters import format_value, is_number, scalar
from esrag.records import Document, Scalar
from esrag.text import fill

MAX_VALUE = 200  # characters
MAX_READ = 100_000  # characters of a text that a rule reads

Kind = Literal["text", "number", "date"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field is read: the first place where `pattern` fits, written as `template` says.

    `over` is path, name, title, text, or another field. `{0}` stands for what the pattern fits,
    `{1}` and `{name}` for its groups.
    """

    field: str
    over: str
    pattern: str
    template: str
    kind: Kind


class RulesEnricher:
    """Fields that the rules of `enriching.rules` read, each in place of an earlier value."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules

    def find(self, document: Document, path: str) -> Mapping[str, Scalar]:
        """Return the fields of the rules that fit."""
        found: dict[str, Scalar] = {}
        for rule in self._rules:
            match = _compile(rule.pattern).search(_read(rule.over, document, path, found))
            value = _to_kind(_write(rule.template, match), rule.kind) if match else None
            if value is not None:
                found[rule.field] = value
        return found


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _read(over: str, document: Document, path: str, found: Mapping[str, Scalar]) -> str:
    """Return what a rule reads; "" for a field that the document lacks."""
    match over:
        case "path":
            return path
        case "name":
            return PurePath(path).name
        case "title":
            return document.title
        case "text":
            return document.text[:MAX_READ]
    value = found.get(over, document.metadata.get(over, ""))
    return format_value(value)[:MAX_READ]


def _write(template: str, match: re.Match[str]) -> str:
    """Return a template with the groups of a match in it."""
    numbered = {str(number): match[number] or "" for number in range(match.re.groups + 1)}
    named = {name: value or "" for name, value in match.groupdict().items()}
    return " ".join(fill(template, {**numbered, **named}).split())[:MAX_VALUE]


def _to_kind(value: str, kind: Kind) -> Scalar | None:
    """Return a value of a kind; None if the text has no such value.

    >>> _to_kind("225221", "number"), _to_kind("2025-03-03", "date"), _to_kind("soon", "date")
    (225221, '2025-03-03', None)
    """
    match kind:
        case "text":
            return value or None
        case "number":
            number = scalar(value)
            return number if is_number(number) else None
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        return None
