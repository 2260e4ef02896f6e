"""What a question about a quantity measures: a time, money, a share, a size, or things counted."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from esrag.text.terms import terms

NEAR = 6  # words between a number and the words for what it counts

_TIME = (
    r"(?:milli|micro|nano)?seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|decades?"
    r"|centur(?:y|ies)|daily|weekly|monthly|annually|yearly|quarterly|ms"
)
_MONEY = r"[$€£]|USD|EUR|GBP|CHF|dollars?|euros?|pounds?|cents?|francs?|million|billion|thousand"
_SHARE = r"%|percent|per cent|percentage points?|basis points?|\d (?:in|of|out of|per) \d"
_SIZE = (
    r"[kmgt]?i?b|(?:kilo|mega|giga|tera|kibi|mebi|gibi)?(?:bytes?|bits?)|characters?|words?|lines?"
    r"|pages?|columns?|spaces?|pixels?|(?:centi|kilo|milli)?met(?:er|re)s?|km|cm|mm|m|miles?|feet"
    r"|foot|inch(?:es)?|(?:kilo)?grams?|kg|lit(?:er|re)s?|tons?|tonnes?|hectares?|acres?"
)
_KINDS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(rf"(?<!\w)(?:{given})(?!\w)", re.IGNORECASE))
    for asked, given in (
        (r"\bhow (?:often|soon|old|late|early|frequently|long ago)\b", _TIME),
        (r"\bhow long\b|\blength\b", rf"{_TIME}|{_SIZE}"),
        (r"\bhow (?:large|big|far|wide|high|tall|heavy|deep|thick|short)\b", _SIZE),
        (r"\b(?:percent\w*|rate|ratio|share|proportion|margin|yield)\b", _SHARE),
        (
            r"\b(?:price|cost\w*|fee|revenue\w*|income|profit|salary|budget|cash|paid?|pays|spen[dt]"
            r"|expenses?|debt|loan|dividends?|fine)\b",
            _MONEY,
        ),
        (r"\b(?:duration|time-?out|period|age|retention|deadline|interval|lifetime)\b", _TIME),
        (r"\b(?:size|width|height|depth|weight|distance|area|capacity)\b", _SIZE),
    )
)
_HOW_MANY = re.compile(r"\b(?:how many|number of)\b\s*([^?,.]{1,60})", re.IGNORECASE)
_AFTER_THINGS = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|shall|should|will|would"
    r"|in|on|of|for|at|per|to|there)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Measure:
    """The units that the answer to a question may have, and the words for what it counts."""

    units: re.Pattern[str] | None = None
    things: frozenset[str] = frozenset()

    def has_unit(self, text: str) -> bool:
        """Return whether a text has a number beside one of the units."""
        units = self.units
        return bool(units) and any(units.search(part) for part in _around_numbers(text, 1, 3))

    def has_count(self, text: str) -> bool:
        """Return whether a text has a number near the words for what is counted."""
        things = self.things
        return bool(things) and any(
            not things.isdisjoint(terms(part)) for part in _around_numbers(text, NEAR, NEAR)
        )


def read_measure(question: str) -> Measure:
    """Return what a question about a quantity measures.

    >>> read_measure("How often is it paid?").has_unit("It is paid 4 times in 1 year.")
    True
    >>> read_measure("How many attempts are allowed?").has_count("Allow 100 failed attempts.")
    True
    """
    if found := _HOW_MANY.search(question):
        return Measure(things=frozenset(terms(_AFTER_THINGS.split(found[1], maxsplit=1)[0])))
    return Measure(next((units for asked, units in _KINDS if asked.search(question)), None))


def _around_numbers(text: str, before: int, after: int) -> Iterator[str]:
    """Yield each number of a text with the words around it."""
    words = text.split()
    for n, word in enumerate(words):
        if any(map(str.isdigit, word)):
            yield " ".join(words[max(0, n - before) : n + after + 1])
