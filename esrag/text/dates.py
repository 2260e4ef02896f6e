"""Dates: the days that a text names, in whatever form."""

import re
from collections.abc import Iterator
from datetime import date

from esrag.text.terms import MONTHS

_NAMES = "|".join((*MONTHS, "Sept", *(name[:3] for name in MONTHS)))
_MONTH = rf"(?P<month>{_NAMES})"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\w)"
_DAY = r"(?<!\w)(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_FORMS = (
    re.compile(
        rf"(?<![\w/.-]){_YEAR}(?P<joint>[-/.])(?P<month>\d\d)(?P=joint)(?P<day>\d\d)(?![\d/-])"
    ),
    re.compile(rf"(?<![\w/.-])(?P<day>\d\d?)\.(?P<month>\d\d?)\.{_YEAR}"),
    re.compile(rf"{_DAY} (?:of )?{_MONTH}\.?,? {_YEAR}", re.IGNORECASE),
    re.compile(rf"(?<!\w){_MONTH}\.? {_DAY},? {_YEAR}", re.IGNORECASE),
)

# "2 June", "June 2nd"; a date, perhaps without its day
_NUMBERED = r"\d{1,2}(?:st|nd|rd|th)?"
DAY = rf"(?:{_NUMBERED}[. -]+(?:of )?(?:{_NAMES})\b\.?|(?:{_NAMES})\.? {_NUMBERED})(?!\d)"
DATE = (
    rf"(?:(?:{DAY},?[ -]|(?:{_NAMES})\.? )(?:19|20)\d\d"
    r"|(?:19|20)\d\d-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d)"
)
# "2022-06-02", "2 June", "June 2022"
_DAY_OR_MONTH = re.compile(rf"\b(?:{DATE}|{DAY})\b")
_SHORT = [name[:3].lower() for name in MONTHS]
_TOKENS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "{0.day}.{0.month}.%Y"),
    *("%d/%m/%Y", "%m/%d/%Y", "{0.month}/{0.day}/%Y"),
)


def list_dates(text: str) -> list[date]:
    """Return the dates of a text in order, without those whose day and month cannot be told.

    >>> [str(day) for day in list_dates("4 March 2024, Feb. 1st, 2025, 2023/12/31, 1/2/2023")]
    ['2024-03-04', '2025-02-01', '2023-12-31']
    """
    return [day for _, day in _iter_dates(text)]


def is_dated(text: str) -> bool:
    """Return whether a text names a date, a day without a year, or the month of a year.

    >>> [is_dated(text) for text in ("2.8 - 2022-06-02", "on 2 June", "May 2022", "It may rain.")]
    [True, True, True, False]
    >>> is_dated("Sept. 2022"), is_dated("2nd of September")
    (True, True)
    """
    return bool(_DAY_OR_MONTH.search(text))


def without_dates(text: str) -> str:
    """Return a text without its dates.

    >>> without_dates("Rain on 1 May 2024 and 11 May 2024")
    'Rain on   and  '
    """
    for found, _ in reversed([*_iter_dates(text)]):
        text = f"{text[: found.start()]} {text[found.end() :]}"
    return text


def list_only_dates(text: str) -> list[date]:
    """Return the dates of a text that has nothing else; none of any other.

    >>> [len(list_only_dates(text)) for text in ("2024/03/04", "Rain on 4 March 2024", "")]
    [1, 0, 0]
    """
    return [] if without_dates(text).strip() else list_dates(text)


def gives_other_dates(asked: str, text: str) -> bool:
    """Return whether both texts name dates, but not the same one.

    >>> gives_other_dates("on 4 March 2024", "2024-03-05: 2 mm"), gives_other_dates("in May", "")
    (True, False)
    """
    wanted = list_dates(asked)
    given = list_dates(text) if wanted else []
    return bool(given) and {*wanted}.isdisjoint(given)


def date_tokens(question: str) -> list[str]:
    """Return the terms of the keyword leg for the dates of a question in their other forms.

    >>> date_tokens("Rain on 4 March 2024?")
    ['2024-03-04', '2024/03/04', '04.03.2024', '4.3.2024', '04/03/2024', '03/04/2024', '3/4/2024']
    """
    return [day.strftime(form.format(day)) for day in list_dates(question) for form in _TOKENS]


def _iter_dates(text: str) -> Iterator[tuple[re.Match[str], date]]:
    """Yield the dates that a calendar has, each with its place in the text."""
    found = (match for pattern in _FORMS for match in pattern.finditer(text))
    for match in sorted(found, key=lambda each: each.start()):
        month = match["month"].lower()
        number = int(month) if month.isdecimal() else _SHORT.index(month[:3]) + 1
        try:
            yield match, date(int(match["year"]), number, int(match["day"]))
        except ValueError:
            continue
