"""Find the numbers in a text and what they count, in any notation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from esrag.text.terms import find_technical_words

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905 -- twenty words
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPELLED = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * n for n, word in enumerate(_TENS, 2)
}
_SPELLED |= {"dozen": 12, "hundred": 100, "thousand": 1000}
_COUNT_NOTHING = ("one", "two")  # except before a unit, because of "one of them"

_MEASURED = r"gram|lit(?:er|re)|met(?:er|re)|watt[ -]?hour|watt|pascal|volt|hertz|byte|bit|second"
PREFIXES = "kilo|mega|giga|tera|peta|exa|kibi|mebi|gibi|tebi|centi|milli|micro|nano"
_UNIT_WORD = (
    rf"(?i:(?:{PREFIXES})?(?:{_MEASURED})s?"
    r"|inch(?:es)?|foot|feet"
    r"|degrees? (?:celsius|fahrenheit|[CF])|per ?cent"
    r"|(?:(?:arc ?)?(?:minute|second)|hour|day|week|month|year|decade|mile|pound|degree|euro"
    r"|(?:US )?dollar|(?:Swiss )?franc|yen|knot|gallon|ounce|tonne|ton"
    r"|yard|horsepower|tablespoon|teaspoon)s?)"
)
_SIGNS = {
    "%": "percent",
    "°": "degree",
    "°C": "degree celsius",
    "°F": "degree fahrenheit",
    "t": "ton",
    "bar": "bar",
    "ft": "foot",
    "gal": "gallon",
    "hp": "horsepower",
    "lb": "pound",
    "lbs": "pound",
    "mi": "mile",
    "mph": "mile per hour",
    "oz": "ounce",
    "psi": "pound per square inch",
    "tbsp": "tablespoon",
    "tsp": "teaspoon",
    "yd": "yard",
}
_SIGNS_OF_MONEY = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "USD": "dollar",
    "EUR": "euro",
    "GBP": "pound",
    "CHF": "franc",
    "¥": "yen",
    "JPY": "yen",
}
CURRENCIES = frozenset(_SIGNS_OF_MONEY.values())
_PREFIXES = {
    "": "",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "P": "peta",
    "c": "centi",
    "m": "milli",
    "μ": "micro",
}
_BASES = {
    "g": "gram",
    "l": "liter",
    "L": "liter",
    "m": "meter",
    "W": "watt",
    "V": "volt",
    "Wh": "watt hour",
    "Hz": "hertz",
    "Pa": "pascal",
    "B": "byte",
}
_USUAL = [
    "g",
    "kg",
    "mg",
    "μg",
    "l",
    "L",
    "ml",
    "mL",
    "cl",
    "m",
    "km",
    "cm",
    "mm",
    "μm",
    "W",
    "kW",
    "MW",
    "GW",
    "Wh",
    "kWh",
    "MWh",
    "GWh",
    "TWh",
    "V",
    "kV",
    "Hz",
    "kHz",
    "MHz",
    "GHz",
    "Pa",
    "kPa",
    "MPa",
    "GPa",
    "B",
    "kB",
    "MB",
    "GB",
    "TB",
    "PB",
]
_TIMES = {
    "ms": "millisecond",
    "μs": "microsecond",
    "ns": "nanosecond",
    "min": "minute",
    "h": "hour",
}
_BINARY = {
    f"{a}iB": f"{b}byte" for a, b in (("K", "kibi"), ("M", "mebi"), ("G", "gibi"), ("T", "tebi"))
}
_BITS = {
    f"{a}bit": f"{b}bit" for a, b in (("k", "kilo"), ("K", "kilo"), ("M", "mega"), ("G", "giga"))
}
_SIGNS |= {
    f"{a}{b}": f"{_PREFIXES[a]}{_BASES[b]}"
    for a, b in product(_PREFIXES, _BASES)
    if f"{a}{b}" in _USUAL
}
_SPOKEN = {
    "gig": "gigabyte",
    "gigs": "gigabyte",
    "hr": "hour",
    "hrs": "hour",
    "mins": "minute",
    "quid": "pound",
    "sec": "second",
    "secs": "second",
}
_SIGNS |= _SIGNS_OF_MONEY | _TIMES | _BINARY | _BITS | _SPOKEN | {"KB": "kilobyte"}
_UNLIKE = {"feet": "foot", "inches": "inch", "tonne": "ton", "tonnes": "ton", "per cent": "percent"}
_UNLIKE |= {"s": "second", "in": "inch"}
_UNLIKE |= dict.fromkeys(("degree celsius", "degrees celsius"), "degree celsius")

_FIGURE = r"\d+(?:[.,]\d+)*"
_SIGNED = rf"(?:(?<![\w)\].,])-)?{_FIGURE}"
_NUMBER = re.compile(_SIGNED)
_UNIT = rf"(?:{_UNIT_WORD}|{'|'.join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))})(?!\w)"
# Words of their own elsewhere: "the 1990s", "5 in 2024".
_SHORT = r"(?<=\d )(?:s(?!\w)|in(?=[.)]| (?:deep|tall|thick|wide)\b))"
_USE = re.compile(
    r"(?:(?P<before>[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)) ?(?P<loss>\()?)?"
    rf"(?<!\w)(?<!\w-)(?<!\d[.,])(?P<number>{_SIGNED})(?(loss)\)?)"
    r"(?:[ -]?(?P<scale>(?i:thousand|million|billion|trillion))\b)?"
    rf"(?:[ -]?(?P<unit>{_UNIT}|{_SHORT}))?"
)
_ANY_UNIT = re.compile(rf"\b{_UNIT_WORD}\b")
_ANY_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
# How a header states the unit of its column: "Length (km)", "Price in €", "Share, %", "Key bytes".
_IN_UNIT = re.compile(
    rf"(?i:[(\[/,]|\bin\b) ?(?:(?i:thousand|million|billion)s? (?:of )?)?"
    rf"(?:{_ANY_SIGN}|[^()\[\]/,]{{0,80}}?\b{_UNIT_WORD})(?!\w)"
    rf"|\b{_UNIT_WORD}\W{{0,80}}\Z"
)
_ONLY_UNIT = re.compile(
    rf"(?i:in )?(?:(?i:thousand|million|billion)s?(?: of)? )?"
    rf"(?:{_ANY_SIGN}|{_UNIT_WORD})(?:m|k|bn|mn)?"
    rf"(?: (?i:thousand|million|billion)s?)?(?: ?(?:/|per) ?(?:{_ANY_SIGN}|\w{{1,20}}))?"
)
_SIGN_ALONE = re.compile(rf"(?<!\w)(?:{_ANY_SIGN})(?!\w)")
_SCALE = re.compile(
    r"\b(thousand|million|billion|trillion)s?\b|['’´](000)|(?<=[$€£¥])(000|k|K|m|mn|M|bn)\b",
    re.IGNORECASE,
)
_SCALES = {"000": "thousand", "k": "thousand", "m": "million", "mn": "million", "bn": "billion"}
_WORD = rf"(?:{'|'.join(sorted(_SPELLED, key=len, reverse=True))})"
_COUNTS = rf"(?P<counts>[ -](?:{_UNIT}|(?i:million|billion)))?"
_AND = "(?<=hundred) and |(?<=thousand) and "
_WRITTEN_OUT = re.compile(rf"\b(?i:{_WORD}(?:(?:[ -]|{_AND}){_WORD})*)\b{_COUNTS}")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_GLUED = re.compile(rf"(?<![\w.,-])({_FIGURE})(?:-?(?=(?:{_UNIT}|[ap]m\b))|(?:st|nd|rd|th)\b)")
_SUFFIXED = re.compile(r"(?<![\w.,-])(\d+(?:\.\d+)?)([kKM])(?!\w)")
_WORDS_OF = {"°C": " degrees Celsius", "°F": " degrees Fahrenheit", "%": " percent"}


@dataclass(frozen=True, slots=True)
class Use:
    """A number with its power of ten and its unit, either of which may be empty."""

    number: str
    scale: str
    unit: str


# "5 thousand", "(thousand dollars)": not a number by itself.
_COUNTED = re.compile(r"(?:\d[ -]|\bin |[($€£]) ?\Z")


@lru_cache(maxsize=2048)
def to_figures(text: str) -> str:
    """Return the text on one line, with numbers as figures that are separated from their units.

    >>> to_figures("Thirty-one days, 1,184 bytes, 80kg, the 16th, one of two")
    '31 days, 1184 bytes, 80 kg, the 16, one of two'
    >>> to_figures("six and seven days, a hundred and five")
    '6 and 7 days, a 105'
    >>> to_figures("a five-litre pot, two hundred and five%, 10M words")
    'a 5 litre pot, 205 percent, 10 million words'
    """
    text = _GROUPED.sub(lambda found: found[0].replace(",", ""), text.replace("−", "-"))
    text = _SUFFIXED.sub(lambda found: f"{found[1]} {_SCALES[found[2].lower()]}", text)
    text = _GLUED.sub(lambda found: found[1] if found[0][-1].isalpha() else f"{found[1]} ", text)
    for sign, words in _WORDS_OF.items():
        text = text.replace(sign, words)
    return " ".join(_WRITTEN_OUT.sub(_read, text).split())


def _read(found: re.Match[str]) -> str:
    """Return a number as figures; "nineteen ninety" gives two."""
    counts = (found["counts"] or "").replace("-", " ")
    words = re.findall(r"[a-z]+", found[0][: len(found[0]) - len(counts)].lower())
    if words[0] in _SCALES.values() and _COUNTED.search(found.string, 0, found.start()):
        return found[0]
    if not counts and len(words) == 1 and words[0] in _COUNT_NOTHING:
        return found[0]

    return " ".join(map(str, _add_up(words))) + counts


def _add_up(words: Sequence[str]) -> list[int]:
    """Return the numbers that words of numbers make."""
    read, thousands, rest = list[int](), 0, 0
    for word in words:
        value = _SPELLED.get(word, 0)
        if word == "thousand":
            thousands, rest = max(1, rest) * value, 0
        elif word == "hundred":
            rest = max(1, rest) * value
        elif rest % 100 == 0 or (value < rest % 100 and value < 10 and rest % 10 == 0):  # noqa: PLR2004 -- a ten and a one
            rest += value
        else:
            read, thousands, rest = [*read, thousands + rest], 0, value

    return [*read, thousands + rest]


def numbers(text: str) -> list[str]:
    """Return the numbers of a text, except parts of names such as the 768 of ML-KEM-768.

    >>> numbers("ML-KEM-768 has 1184 bytes.")
    ['1184']
    >>> numbers("A1 and A10 have 3 bytes.")
    ['3']
    """
    if not any(map(str.isdigit, text)):
        return []
    # A name may be within a longer one.
    for word in sorted(find_technical_words(text, len(text)), key=len, reverse=True):
        text = text.replace(word, " ")
    return _NUMBER.findall(text)


def uses(text: str) -> Iterator[Use]:
    """Yield every number with its power of ten and unit.

    >>> [*uses("EUR 1.7 million for 12 kg")]
    [Use(number='1.7', scale='million', unit='euro'), Use(number='12', scale='', unit='kilogram')]
    """
    for found in _USE.finditer(text):
        yield Use(
            found["number"],
            (found["scale"] or "").lower(),
            normalise_unit(found["before"] or found["unit"] or ""),
        )


def units(text: str) -> set[str]:
    """Return the units that a text names in words, with or without a number."""
    return {normalise_unit(found[0]) for found in _ANY_UNIT.finditer(text)}


def is_unit(text: str) -> bool:
    """Return whether a text consists of a unit, with or without a power of ten.

    >>> [is_unit(text) for text in ("t", "EUR million", "$m", "in %", "m", "Kiel", "")]
    [True, True, True, True, True, False, False]
    """
    return bool(_ONLY_UNIT.fullmatch(text.strip()))


def header_units(text: str) -> set[str]:
    """Return the units that a header or a caption gives for its numbers, by name or by sign.

    >>> header_units("Length (km)"), header_units("In millions of €"), header_units("Second key")
    ({'kilometer'}, {'euro'}, set())
    """
    found = [match[0] for match in _IN_UNIT.finditer(text)]
    signs = {normalise_unit(sign[0]) for each in found for sign in _SIGN_ALONE.finditer(each)}
    return signs | {unit for each in found for unit in units(each)}


def header_scales(text: str) -> set[str]:
    """Return the powers of ten that a header or a caption gives for its numbers.

    >>> header_scales("Revenue (in thousands of dollars)"), header_scales("Revenue, $m")
    ({'thousand'}, {'million'})
    """
    found = ("".join(filter(None, match.groups())).lower() for match in _SCALE.finditer(text))
    return {_SCALES.get(scale, scale) for scale in found}


def normalise_unit(unit: str) -> str:
    """Return the standard spelling of a unit.

    >>> normalise_unit("kg"), normalise_unit("Litres"), normalise_unit("feet")
    ('kilogram', 'liter', 'foot')
    """
    if unit in _SIGNS:
        return _SIGNS[unit]

    word = unit.lower().replace("-", " ").removeprefix("us ").removeprefix("swiss ")
    word = _UNLIKE.get(word, word.removesuffix("s"))
    return f"{word[:-2]}er" if word.endswith("tre") else word
