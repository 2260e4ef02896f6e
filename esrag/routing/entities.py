"""Find the numbers and names of a question that patterns describe, or that documents have.

A pattern is words with places: `#` is a digit, `<Name>` one to four words with a capital. `project
2##` finds the 225 of "project 225". Brackets mark the part that counts: `[2##]###` finds 225 in
225221. Patterns are no regular expressions, so that none can take long.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from esrag.engines import Engine
from esrag.errors import SettingsError
from esrag.filters import Filter, Terms
from esrag.retrieving.scopes import limit_to
from esrag.text.terms import STOP_WORDS

_NAME = "<Name>"
_WORD = r"[A-Z][\w&’'-]{0,40}"
_NAME_PATTERN = rf"(?-i:({_WORD}(?:\s(?:of|and|the|&)\s{_WORD}|\s{_WORD}){{0,3}}))"
_WORDS = re.compile(r"[\w&]+(?:['’]\w+)*")
_MAX_WORDS, _MAX_PHRASE = 60, 5  # words of a question that are looked up, and of a value
_PLACE = re.compile(r"([\[\]#])")
# A word with a place: a name, digits, or brackets around a part.
_PLACED = re.compile(r"<Name>|(?!.*<Name>)(?:[^\[\]]*+\[[^\[\]]++\][^\[\]]*+|[^\[\]#]*+#[^\[\]]*+)")


class Entities:
    """Finds entities by their patterns; of several patterns the first that fits counts."""

    def __init__(self, patterns: Mapping[str, Iterable[str]], origin: str) -> None:
        """Raises: SettingsError, which names the pattern under its dotted key."""
        self._patterns = {
            name: [_compile(text, f"{origin}.{name}") for text in texts]
            for name, texts in patterns.items()
        }

    def find(self, question: str) -> dict[str, str]:
        """Return the entities of a question by name."""
        found = {
            name: next((match[1] for each in patterns if (match := each.search(question))), "")
            for name, patterns in self._patterns.items()
        }
        return {name: value for name, value in found.items() if value}


def find_known(
    question: str, fields: Mapping[str, str], engine: Engine, where: Filter | None
) -> dict[str, str]:
    """Return the entities whose field has words of the question as its value, by name.

    Of several values the longest counts, and of these the first. A value may be written as a file's
    name is, such as `harbour-trust`. Raises: EngineError.
    """
    if not (fields and engine.exists()):
        return {}
    asked = [(name, phrase) for name in fields for phrase in _iter_phrases(question)]
    met = engine.any_match(
        [limit_to(Terms(fields[name], _spell(phrase)), where) for name, phrase in asked]
    )
    found: dict[str, str] = {}
    for (name, phrase), is_met in zip(asked, met, strict=True):
        if is_met:
            found.setdefault(name, phrase)
    return found


def _iter_phrases(question: str) -> Iterator[str]:
    """Yield runs of words, longest first, that neither begin nor end with a stop word."""
    words = [*_WORDS.finditer(question)][:_MAX_WORDS]
    for length in range(_MAX_PHRASE, 0, -1):
        for first, last in zip(words, words[length - 1 :], strict=False):
            if not {first[0].lower(), last[0].lower()} & STOP_WORDS:
                yield question[first.start() : last.end()]


def _spell(phrase: str) -> tuple[str, ...]:
    """Return the ways in which a value may be written."""
    words = _WORDS.findall(phrase)
    lower = [word.lower() for word in words]
    return (*dict.fromkeys((phrase, " ".join(words), *(sign.join(lower) for sign in " -_"))),)


def _compile(text: str, key: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern; its group is the value."""
    words = text.split()
    marked = [word for word in words if any(place in word for place in ("[", _NAME, "#"))]
    if len(marked) != 1 or not _PLACED.fullmatch(marked[0]):
        hint = "write one such place, as in: project 2##, client for <Name>, [2##]###"
        raise SettingsError(
            f"{key}: {text!r} has no whole place for a value, or several", hint=hint
        )

    line = r"\s+".join(_to_group(word) if word in marked else re.escape(word) for word in words)
    return re.compile(rf"(?<![\w.,-]){line}(?![\w-])", re.IGNORECASE)


def _to_group(word: str) -> str:
    if word == _NAME:
        return _NAME_PATTERN
    whole = word if "[" in word else f"[{word}]"
    signs = {"#": r"\d", "[": "(", "]": ")"}
    return "".join(signs.get(part, re.escape(part)) for part in _PLACE.split(whole))
