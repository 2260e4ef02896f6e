"""Quantities: the 80 litres of "which lamp burns 80 litres?", the money of "what does it cost?"."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from esrag.evidence import Statement, find_best
from esrag.evidence.labels import COUNTING
from esrag.text.figures import CURRENCIES, is_unit, numbers, to_figures, uses
from esrag.text.questions import read_question
from esrag.text.terms import MONTHS

_PICKS_OUT = re.compile(r"\W*(?:which|who|whose|what)\b(?! (?:happens|if)\b)", re.IGNORECASE)
# "more than 80 litres", "80 to 90 litres": the number in question need not occur.
_BOUND = re.compile(
    rf"\b(?:{'|'.join(sorted(COUNTING))}) \S?\d[\d.,]*|(?<![\d.,])\d[\d.,]* ?(?:-|–|to) ?\d+"
)

# Numbers that count nothing: dates, and what points to a place in a text.
_DEFAULT = re.compile(r"(?:The )?default(?: value)?(?: is|:)", re.IGNORECASE)
_COUNTS_NOTHING = re.compile(
    rf"\b(?:{'|'.join(MONTHS)}) \d{{1,2}}(?:, \d{{4}})?\b|\b(?:19|20)\d\d\b"
    r"|(?:\b(?:sections?|sec\.|appendix|tables?|figures?|fig\.|chapters?|articles?|algorithms?"
    r"|equations?|notes?|rules?|pages?|pp?\.|part|paragraphs?)|§) ?\d[\d.]*|\[\d{1,3}\]",
    re.IGNORECASE,
)
NEAR_BEST = 0.8  # share of the best fit from which a statement may hold the answer

GOES_ON = 3  # statements after the best one that may give its default
NEARLY = 0.85  # share of the best fit from which a number is preferred to its absence

_MONEY = re.compile(
    r"\b(?:costs?|charges?|charged|fees?|prices?|priced|salar(?:y|ies)|wages?|paid)\b",
    re.IGNORECASE,
)
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


def find_counts(question: str, text: str) -> Counter[str]:
    """Return the numbers that a text has and a question has not, without dates and references.

    "Lamp 7 burns 7 litres" has one that "How much does lamp 7 burn?" has not.

    >>> find_counts("How much does lamp 7 burn?", "Lamp 7 burns 7 litres, see section 4.2.")
    Counter({'7': 1})
    """
    return Counter(numbers(_COUNTS_NOTHING.sub(" ", text))) - Counter(numbers(question))


def lacks_asked_number(question: str, best: Statement | None) -> bool:
    """Return whether a question asks for a number that the best statement has not."""
    if best is None or read_question(question).kind != "count":
        return False
    return not find_counts(to_figures(question), to_figures(best.text))


def find_default(
    question: str, best: Statement | None, statements: Sequence[Statement]
) -> Statement | None:
    """Return the default that a passage gives after the best statement, if that lacks the number.

    Settings are described so: "Limits the size of a request. Larger ones fail. Default is 9 MB."
    """
    if best is None or not lacks_asked_number(question, best):
        return None
    near = {(best.key, best.order + n) for n in range(1, GOES_ON + 1)}
    after = [each for each in statements if (each.key, each.order) in near]
    defaults = [each for each in after if _DEFAULT.match(each.text)]
    return next((each for each in defaults if not lacks_asked_number(question, each)), None)


def prefer_numbers(question: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, those without a number moved behind if the question asks for one.

    They are if another fits nearly as well and has one, and the best defines nothing.
    """
    best = find_best(statements)
    if best is None or best.defines or not lacks_asked_number(question, best):
        return tuple(statements)

    asked = to_figures(question)
    having = {each for each in statements if find_counts(asked, to_figures(each.text))}
    other = find_best(having)
    if other is None or other.fit < NEARLY * best.fit:
        return tuple(statements)
    return tuple(
        each if each in having else replace(each, fit=round(NEARLY * each.fit, 6))
        for each in statements
    )


def lacks_asked_unit(question: str, statements: Sequence[Statement]) -> bool:
    """Return whether a question asks for money or a unit that no statement near the best has."""
    wanted = _asked_family(question)
    if not wanted:
        return False
    least = NEAR_BEST * max((each.fit for each in statements), default=0)
    near = [each for each in statements if each.fit >= least]
    return not any(_has_unit(wanted, each) for each in near)


def gives_other_units(question: str, text: str) -> bool:
    """Return whether a question asks for a unit, and a text has others only.

    >>> gives_other_units("How many seconds does it take?", "key: 32 bytes")
    True
    """
    wanted = _asked_family(question)
    given = {_find_family(use.unit) for use in uses(to_figures(text)) if use.unit}
    return bool(wanted and given) and wanted not in {"money", *given}


def _asked_family(question: str) -> str:
    """Return the family of units that a question asks for, "" for none.

    >>> _asked_family("How much does a week cost?"), _asked_family("How many milliseconds is it?")
    ('money', 'time')
    """
    if read_question(question).kind != "count":
        return ""
    unit = next(filter(is_unit, _HOW_MANY.findall(question)), "").lower()
    if unit:
        return _find_family(unit.rstrip("s"))
    return "money" if _MONEY.search(question) else ""


def _find_family(unit: str) -> str:
    families = (name for name, units in _FAMILIES.items() if unit.endswith(units))
    return "money" if unit in CURRENCIES else next(families, unit)


def _has_unit(family: str, statement: Statement) -> bool:
    text = to_figures(statement.text)
    loose = _LOOSE.get(family)
    words = "|".join(map(re.escape, _FAMILIES.get(family, (family,))))
    is_named = bool(re.search(rf"(?<![a-z])(?:{words})s?(?![a-z])", text.lower()))
    is_used = any(use.unit and _find_family(use.unit) == family for use in uses(text))
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
