"""Names of a series that differ in their number: BKX-40 and BKX-60, FLS 12 and FLS 14."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from esrag.text.figures import uses
from esrag.text.terms import is_year

Named = Mapping[str, set[str]]  # keyed by the rest of the name: {"bkx": {"40"}}

# The BKX-40 or FLS 12 of a series of names that differ in their number; not a version such as v2.0.
_NUMBERED = re.compile(
    r"(?<![\w-])(?:([A-Za-z]+(?:-[A-Za-z]+)*)-?|([A-Z]{2,}) )(\d{1,6})(?![\w-]|[.,]\d)"
)
_SIZED = re.compile(r"(?<![\w.,-])(\d{1,6})-([A-Za-z]{3,20})(?![\w-])")


def find_numbered(text: str) -> dict[str, set[str]]:
    """Return the numbers of the names in a text that end in one, by the rest of the name.

    >>> find_numbered("Is BKX-40 as long as LANT256 or ML-KEM-768 in v2.0 of FLS 12?")
    {'bkx': {'40'}, 'lant': {'256'}, 'ml-kem': {'768'}, 'fls': {'12'}}
    >>> find_numbered("Was the GDP 2020 above USD 50?")
    {}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for match in _NUMBERED.finditer(text):
        is_no_name = match[2] and (is_year(match[3]) or any(use.unit for use in uses(match[0])))
        if not is_no_name:
            found[(match[1] or match[2]).lower()].add(match[3])
    return dict(found)


def find_sized(text: str) -> dict[str, set[str]]:
    """Return the numbers before words such as bit in 2-bit, by these words.

    >>> find_sized("Is a 2-bit key longer than 1-bit keys?") == {"bit": {"1", "2"}}
    True
    """
    found: dict[str, set[str]] = defaultdict(set)
    for number, word in _SIZED.findall(text):
        found[word.lower()].add(number)
    return dict(found)


def lacks_member(named: Named, texts: Iterable[str]) -> bool:
    """Return whether the texts have other members of a series and none of those that are named."""
    whole = "\n".join(texts)
    found = {series: _members(series, whole) for series in named}
    return any(members and not members & named[series] for series, members in found.items())


def names_another(named: Named, text: str, title: str) -> bool:
    """Return whether a text and its title name other members of a series only.

    >>> names_another({"fips": {"203"}}, "It is effective from May on.", "FIPS 197")
    True
    >>> names_another({"fips": {"203"}}, "It replaces FIPS 203.", "FIPS 197")
    False
    """
    return any(
        (found := _members(series, f"{text}\n{title}")) and not numbers & found
        for series, numbers in named.items()
    )


def _members(series: str, text: str) -> set[str]:
    r"""Return the numbers of a series in a text, also if they are written apart from its name.

    >>> sorted(_members("al", "AL-20, al 40 and AL60"))
    ['20', '40', '60']
    >>> _members("a", "A7 has a 5 litre pot.")
    {'7'}
    """
    name = r"[-\s]?".join(map(re.escape, series.split("-")))
    gap = r"[-\s]?" if len(series) > 1 else "-?"
    found = re.finditer(rf"(?<![^\W_]){name}{gap}(\d{{1,6}})(?![^\W_])", text, re.IGNORECASE)
    return {match[1] for match in found}
