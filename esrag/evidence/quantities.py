"""Quantities: the 80 litres of "which lamp burns 80 litres?", the money of "what does it cost?"."""

import re
from collections import defaultdict
from collections.abc import Sequence

from esrag.evidence import Statement
from esrag.evidence.labels import COUNTING
from esrag.text.figures import (
    CURRENCIES,
    header_units,
    is_unit,
    normalise_unit,
    to_figures,
    units,
    uses,
)
from esrag.text.questions import read_question

_PICKS_OUT = re.compile(r"\W*(?:which|who|whose|what)\b(?! (?:happens|if)\b)", re.IGNORECASE)
# "more than 80 litres", "80 to 90 litres": the number in question need not occur.
_BOUND = re.compile(
    rf"\b(?:{'|'.join(sorted(COUNTING))}) \S?\d[\d.,]*|(?<![\d.,])\d[\d.,]* ?(?:-|–|to) ?\d+"
)

NEAR_BEST = 0.8  # share of the best fit from which a statement may hold the answer

_MONEY = re.compile(
    r"\b(?:costs?|charges?|charged|fees?|prices?|priced|salar(?:y|ies)|wages?|paid)\b",
    re.IGNORECASE,
)
# "How much memory does it cost?", "How long can I call before it costs more?"
_NO_MONEY = re.compile(
    r"\bhow (?:early|far|fast|late|long|often|old|quickly|soon)\b"
    r"|\bhow much (?:(?:more|less|extra) )?"
    r"(?!(?:more|less|extra|money|rent|tax|deposit|pay|interest)\b)[a-z]+ "
    r"(?:does|do|did|will|would)\b",
    re.IGNORECASE,
)
_TAKES = re.compile(  # time, where "How long is it?" may ask for a length
    r"\bhow long (?:do|does|did|will|would|can|may)\b[^?]{1,80}"
    r"\b(?:last|live|run|stay|take|wait)\b",
    re.IGNORECASE,
)
_TRUTH = re.compile(r": (?:true|false)\W*\Z", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many ([a-z]+)\b", re.IGNORECASE)
_FAMILIES = {
    "time": ("second", "minute", "hour", "day", "week", "month", "year"),
    "data": ("byte", "bit"),
}
# What `uses` does not take for a figure with its unit.
_LOOSE = {
    "money": re.compile(
        r"(?i:\b(?:baht|cents?|crowns?|dinars?|dirhams?|forints?|francs?|free|korun[ay]|kr|kron(?:a|e|er|or)"
        r"|liras?|no charge|pence|pesos?|rand|reais|renminbi|ringgit|riyals?|r(?:o?u)bles?|rupees?"
        r"|shekels?|shillings?|yen|yuan|z[lł]oty(?:ch)?)\b)|[$€£¥₹₩₽₺₪฿]"
        r"|\b(?:AUD|BRL|CAD|CHF|CNY|CZK|DKK|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NOK|NZD|PLN|RUB|SAR|SEK"
        r"|SGD|THB|TRY|TWD|ZAR)\b"
    ),
    "time": re.compile(r"\d ?(?:ms|s|m|h|d)\b"),
    "data": re.compile(r"\d ?[kmgt]i?b\b", re.IGNORECASE),
}


def lacks_asked_unit(question: str, statements: Sequence[Statement]) -> bool:
    """Return whether a question asks for money or a unit that no statement near the best has."""
    wanted = _asked_family(question)
    if not wanted:
        return False
    least = NEAR_BEST * max((each.fit for each in statements), default=0)
    near = [each for each in statements if each.fit >= least]
    return not any(_has_unit(wanted, each) for each in near)


def gives_other_kind(question: str, text: str) -> bool:
    """Return whether a question asks for a number, and a text has other units or true or false.

    >>> gives_other_kind("How many seconds does it take?", "key: 32 bytes")
    True
    >>> gives_other_kind("How much time does it take by default?", "index.knn, Default: false")
    True
    >>> gives_other_kind("How long does a hot wash take?", "Cotton, Hottest inside: 55 °C")
    True
    """
    if read_question(question).kind == "count" and _TRUTH.search(text):
        return True
    wanted = _asked_family(question)
    given = {_find_family(use.unit) for use in uses(to_figures(text)) if use.unit}
    return bool(wanted and given) and wanted not in {"money", *given}


def _asked_family(question: str) -> str:
    """Return the family of units that a question asks for, "" for none.

    >>> _asked_family("How much does a week cost?"), _asked_family("How many milliseconds is it?")
    ('money', 'time')
    >>> _asked_family("How much memory does a week cost?") or _asked_family("How long is it paid?")
    ''
    """
    if read_question(question).kind != "count":
        return ""
    if _TAKES.search(question):
        return "time"
    unit = next(filter(is_unit, _HOW_MANY.findall(question)), "")
    if unit:
        return _find_family(normalise_unit(unit))
    return "money" if _MONEY.search(question) and not _NO_MONEY.search(question) else ""


def _find_family(unit: str) -> str:
    families = (name for name, units in _FAMILIES.items() if unit.endswith(units))
    return "money" if unit in CURRENCIES else next(families, unit)


def _has_unit(family: str, statement: Statement) -> bool:
    text = to_figures(statement.text)
    loose = _LOOSE.get(family)
    words = "|".join(map(re.escape, _FAMILIES.get(family, (family,))))
    named = set() if family == "money" else units(text)
    is_named = bool(re.search(rf"(?<![a-z])(?:{words})s?(?![a-z])", text.lower()))
    used = {use.unit for use in uses(text) if use.unit} | header_units(text) | named
    is_used = family in map(_find_family, used)
    return is_used or (is_named and family != "money") or bool(loose and loose.search(text))


def drop_other_quantities(question: str, statements: Sequence[Statement]) -> list[Statement]:
    """Return the statements that give no other quantity in the unit of one in the question."""
    asked = _quantities(question) if _PICKS_OUT.match(question) else {}
    if not asked:
        return list(statements)

    def fits(statement: Statement) -> bool:
        given = _quantities(statement.text)
        return all(numbers & given.get(unit, numbers) for unit, numbers in asked.items())

    return list(filter(fits, statements))


def _quantities(text: str) -> dict[str, set[str]]:
    """Return the numbers of a text by their unit, without those that are only a bound.

    >>> _quantities("Lamp 7 burns 80 litres in 2 hours, at least 3 kg.")
    {'liter': {'80'}, 'hour': {'2'}}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for use in uses(_BOUND.sub(" ", to_figures(text))):
        if use.unit:
            found[use.unit].add(use.number)
    return dict(found)
