"""Find names, months and units that a text writes in another form."""

import re
from collections.abc import Sequence

from esrag.text.figures import is_unit, normalise_unit, uses
from esrag.text.terms import MONTHS

_DECADE = re.compile(r"\b(\d\d(?=00s)|\d\d\d(?=0s))0{1,2}s\Z")
_OF_PLACE = re.compile(r"([A-Z]\w{3,}?)(?:ese|ish|i?ans?)")
_ENDS = (
    r"(?:and|any|en?|es|ey|i?a|i|ium|on?|s|y)?"  # of a place, after the letters of its adjective
)
_PLACES = {
    "American": r"(?:U\.?S\.?A?\.?|United States|America)",
    "British": r"(?:U\.?K\.?|United Kingdom|Britain|England)",
}


def has_decade(word: str, texts: Sequence[str]) -> bool:
    """Return whether a year in the texts lies in the decade or century of a word.

    >>> has_decade("1630s", ["in 1638"]), has_decade("1700s", ["in 1783"])
    (True, True)
    >>> has_decade("mid-1960s", ["in 1973"]), has_decade("v2s", ["in 1973"])
    (False, False)
    """
    found = _DECADE.search(word)
    if found is None:
        return False
    year = rf"(?<!\w){found[1]}\d{{{4 - len(found[1])}}}(?!\w)"
    return any(re.search(year, text) for text in texts)


def has_country(name: str, texts: Sequence[str]) -> bool:
    """Return whether a name is an adjective of a place that a text names.

    >>> has_country("Brazilian", ["in Brazil"]), has_country("American", ["a U.S. firm"])
    (True, True)
    >>> has_country("Brazilian", ["in Bolivia"]), has_country("Indian", ["Individuals pay"])
    (False, False)
    """
    place = _OF_PLACE.fullmatch(name)
    if not place:
        return False
    names = _PLACES.get(name, f"{place[1]}{_ENDS}")
    return any(re.search(rf"(?<!\w){names}(?!\w)", text) for text in texts)


def has_month(name: str, texts: Sequence[str]) -> bool:
    """Return whether a date in the texts is in a month: 2017-12-01, 12/1/2017 or 1-Dec-2017.

    >>> has_month("December", ["2017-12-01"]), has_month("March", ["2017-12-03"])
    (True, False)
    """
    if name not in MONTHS:
        return False
    month = rf"0?{MONTHS.index(name) + 1}"
    dated = rf"\b\d{{4}}-{month}-\d|\b{month}/\d{{1,2}}/\d\d|\b\d{{1,2}}/{month}/\d\d"
    return any(re.search(rf"{dated}|\b{name[:3]}\b", text) for text in texts)


def has_unit(sign: str, texts: Sequence[str]) -> bool:
    """Return whether a number in the texts has the unit of a sign, by its name.

    >>> has_unit("GB", ["4 gigabytes"]), has_unit("GB", ["4 megabytes"]), has_unit("GB", ["giga"])
    (True, False, False)
    """
    return is_unit(sign) and any(
        use.unit == normalise_unit(sign) for text in texts for use in uses(text)
    )
