"""Find the numbers and names of a question that patterns of the settings describe.

A pattern is words with places: `#` is a digit, `<Name>` one to four words with a capital. `project
2##` finds the 225 of "project 225". Brackets mark the part that counts: `[2##]###` finds 225 in
225221. Patterns are no regular expressions, so that none can take long.
"""

import re
from collections.abc import Iterable, Mapping

from esrag.errors import SettingsError

_NAME = "<Name>"
_WORD = r"[A-Z][\w&’'-]{0,40}"
_NAME_PATTERN = rf"(?-i:({_WORD}(?:\s(?:of|and|the|&)\s{_WORD}|\s{_WORD}){{0,3}}))"
_PLACE = re.compile(r"(<Name>|[\[\]#])")


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


def _compile(text: str, key: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern; its group is the value."""
    words = text.split()
    marked = [word for word in words if any(place in word for place in ("[", _NAME, "#"))]
    if len(marked) != 1:
        hint = "write one such place, as in: project 2##, client for <Name>, [2##]###"
        raise SettingsError(f"{key}: {text!r} has no place for a value, or several", hint=hint)

    line = r"\s+".join(_to_group(word) if word in marked else re.escape(word) for word in words)
    return re.compile(rf"(?<![\w.,-]){line}(?![\w-])", re.IGNORECASE)


def _to_group(word: str) -> str:
    if word == _NAME:
        return _NAME_PATTERN
    whole = word if "[" in word else f"[{word}]"
    signs = {"#": r"\d", "[": "(", "]": ")"}
    return "".join(signs.get(part, re.escape(part)) for part in _PLACE.split(whole))
