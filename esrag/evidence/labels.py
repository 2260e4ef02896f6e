"""Labels such as the 7 of "lamp 7", which tell the members of a series apart."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from esrag.evidence import Statement
from esrag.evidence.series import find_numbered, find_sized, lacks_member, names_another
from esrag.records import Chunk, Evidence
from esrag.text.figures import to_figures, uses
from esrag.text.terms import MONTHS, STOP_WORDS, is_year, terms

Labels = Mapping[str, set[str]]  # keyed by the preceding word: {"lamp": {"7"}}

_POSSESSIVE = ("'s", "’s")
_WORD = re.compile(r"[^\W_](?:[\w.'’-]*\w)?")
_BETWEEN = re.compile(r"(?:\s|: )\s*(?:(?:no\.|number|nr\.|#)\s*)?|\s*#\s*", re.IGNORECASE)
_NUMBER_WORDS = frozenset(("no", "number", "nr"))
_RANGE = re.compile(r"(?<![\w.,])(\d{1,9}) ?(?:to|through|until|-|–) ?(\d{1,9})(?![\w.,]\d)")
_DATE = re.compile(r"(?<![\w-])(?:19|20)\d\d-\d\d-\d\d(?![\w-])")
_MAX_MEASURE = 40  # characters of a number with its unit
# After these words, a number is a quantity and not a label.
COUNTING = frozenset(
    """about above after almost around at before below between exactly first last least less more
    most nearly next only over past than to top under until up
    within""".split()  # noqa: SIM905 -- thirty words
)
# It is none either after what goes before some things, "the lower 48 states", or before a name.
_NO_NOUNS = COUNTING | frozenset(
    """additional called entire extra final following former full further initial labelled latter
    lower marked named new old original other previous remaining same tagged upper
    whole""".split()  # noqa: SIM905 -- thirty words
)
_NUMBER = re.compile(r"(?<=[^\W\d_])(?=\d)")  # nist-sp800-63 is NIST SP 800-63
_LEADING_ZEROS = re.compile(r"(?<![^\W_])0+(?=\d)")  # pep-0008 is PEP 8
_MONTHS = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th)? (?:of )?"
    rf"({'|'.join(MONTHS)})\b"
)

_VERSION = re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,5}){2,3}\w{0,8}(?!\.?\w)")  # 2.7.9rc1
_SERIES = re.compile(r"\d{1,3}\.\d{1,3}")  # 2.7
_ANY_SERIES = re.compile(r"(?<=[a-z] )v?(\d{1,3}\.\d{1,3})(?!\d)")  # "Quill 2.7" in a title
_ANY_VERSION = re.compile(r"(?<![\w.])v?(\d{1,3}\.\d{1,3})(?!\d)")
_RELEASE = re.compile(
    r"(?<![\w.])v?(\d{1,3}(?:\.\d{1,4}){1,3})\w{0,8}(?: final)?:? (?:19|20)\d\d-\d\d-\d\d"
)
_ANY_MONTH = rf"(?:{'|'.join(MONTHS)})(?![\w-])"
# As names and not at the beginning, where "May" and "March" are verbs.
_MONTH = re.compile(rf"(?<![\w-])(?:(?!May\b)|(?<=[a-z0-9,] ))({_ANY_MONTH})")
_OPEN_MONTH = re.compile(
    r"\b(?:after|before|between|by|from|since|starting|through|till?|to|until)\s+(?:\S+\s+){0,2}"
    rf"{_ANY_MONTH}|{_ANY_MONTH}\s?[-–]",
    re.IGNORECASE,
)

DATES = {"date", *(terms(month)[0] for month in MONTHS)}  # can be written in many ways


def drop_other_members(
    question: str, statements: Sequence[Statement], evidence: Sequence[Evidence]
) -> list[Statement]:
    """Return the statements that are not about another member of a series than the question names.

    A number that the question gives as a label has to occur in the evidence, and so has a name with
    a number (BKX-40) if others of its series do. Otherwise nothing is returned.
    """
    asked, named = find_labels(to_figures(question)), find_numbered(question)
    months, sized = _find_months(question), find_sized(question)
    versions = set(_VERSION.findall(question))
    series = {each for labels in asked.values() for each in labels if _SERIES.fullmatch(each)}
    if not (asked or named or months or sized or versions):
        return list(statements)

    texts = {item.key: to_figures(f"{_title(item.chunk)}\n{item.chunk.text}") for item in evidence}
    is_spoken_of = all(
        _is_spoken_of(word, labels, texts.values())
        for word, labels in asked.items()
        if word not in DATES
    )
    if not is_spoken_of or lacks_member(named, texts.values()):
        return []

    titles = {item.key: to_figures(_title(item.chunk)) for item in evidence}

    def is_meant(one: Statement) -> bool:
        text, title = to_figures(one.text), titles[one.key]
        return not (
            _is_of_another(asked, text, title)
            or _is_titled_otherwise(series, text, title)
            or names_another(named, text, title)
            or _is_of_another_month(months, one.text, title)
            or _is_of_another_size(sized, text)
            or _is_of_another_version(versions, text, title)
            or _is_of_another_series(series, one.text)
        )

    return list(filter(is_meant, statements))


def _find_months(text: str) -> set[str]:
    """Return the months that a text names, apart from a May that may be no month.

    >>> sorted(_find_months("May it rain in May or March?")), _find_months("March on!")
    (['March', 'May'], set())
    """
    return {found[1] for found in _MONTH.finditer(text) if found.start()}


def _is_of_another_month(asked: set[str], text: str, title: str) -> bool:
    """Return whether a text is about other months only; a time between months may hold any.

    >>> _is_of_another_month({"March"}, "In May it was 5.", "")
    True
    >>> _is_of_another_month({"March"}, "It was 5 from January on.", "")
    False
    """
    found = _find_months(f". {text}") if asked else set[str]()
    if not found or asked & found or _OPEN_MONTH.search(text):
        return False
    return not asked & _find_months(f". {title}")


def _is_of_another_size(asked: Labels, text: str) -> bool:
    """Return whether a text is about 1-bit keys only, say, and the question about 2-bit keys."""
    found = find_sized(text) if asked else {}
    return any(word in found and not sizes & found[word] for word, sizes in asked.items())


def _is_of_another_version(asked: set[str], text: str, title: str) -> bool:
    """Return whether a text is about other versions only.

    >>> [_is_of_another_version({"2.7.9"}, text, "") for text in ("2.7.9rc1 of May", "2.7.9: June")]
    [True, False]
    """
    found = set(_VERSION.findall(text)) if asked else set[str]()
    return bool(found) and not asked & (found | set(_VERSION.findall(title)))


def _is_titled_otherwise(asked: set[str], text: str, title: str) -> bool:
    """Return whether a title has versions, and neither it nor a text has one in question.

    >>> [_is_titled_otherwise({"2.6"}, said, "Quill 2.5") for said in ("It is.", "Since 2.6.1")]
    [True, False]
    """
    if not asked:
        return False
    titled = set(_ANY_SERIES.findall(title))
    return bool(titled) and asked.isdisjoint({*titled, *_ANY_VERSION.findall(text)})


def _is_of_another_series(asked: set[str], text: str) -> bool:
    """Return whether a text has dates of releases, and none of the versions in question.

    >>> [_is_of_another_series({"2.6"}, f"{each} 2013-11-10") for each in ("2.7.6", "2.6.1", "2.6")]
    [True, False, False]
    """
    found = _RELEASE.findall(text) if asked else []
    return bool(found) and not any(
        f"{release}.".startswith(f"{each}.") for release in found for each in asked
    )


def _is_spoken_of(word: str, labels: set[str], texts: Iterable[str]) -> bool:
    """Return whether some text has one of a word's labels, or a release of one: Quill 2.5 for 2.

    Only numbers are looked for.

    >>> _is_spoken_of("quill", {"2"}, ["Since Quill 2.5"]), _is_spoken_of("quill", {"2"}, ["2.5"])
    (True, False)
    """
    has_word = any(not label[0].isdigit() for label in labels)
    releases = "|".join(map(re.escape, labels))
    released = re.compile(
        rf"(?<![^\W_]){re.escape(word)}\w{{0,3}} (?:{releases})\.\d", re.IGNORECASE
    )
    return has_word or any(
        released.search(text) or any(_holds(text, label) for label in labels) for text in texts
    )


def _is_of_another(asked: Labels, text: str, title: str) -> bool:
    if "date" not in asked and asked.keys().isdisjoint(terms(text)):
        return False
    found = find_labels(text)
    return any(
        {label for label in found.get(word, set()) if not _is_release_of(label, labels)}
        and not any(
            label in found[word] or _holds(title, label) or _stands_alone(text, label, found)
            for label in labels
        )
        for word, labels in asked.items()
    )


def _is_release_of(label: str, labels: set[str]) -> bool:
    """Return whether a label is one of others, or a release of one: 3.1 of 3."""
    return label in labels or any(label.startswith(f"{each}.") for each in labels)


def _stands_alone(text: str, label: str, found: Labels) -> bool:
    """Return whether a text has a label, and not as that of another word.

    >>> text = "Berth: Berth 1, Week fee: 17"
    >>> _stands_alone(text, "17", find_labels(text))
    False
    """
    return _holds(text, label) and not any(label in others for others in found.values())


def find_labels(text: str) -> dict[str, set[str]]:
    """Return the labels of a text by the preceding word.

    >>> find_labels("Does lamp 7 of pump A-8 burn 7 litres, as valve Anna did on 2 May?")
    {'lamp': {'7'}, 'pump': {'A-8'}, 'valv': {'Anna'}, 'may': {'2'}}
    >>> find_labels("Is it valid in the lower 48 states?")
    {}
    """
    found: dict[str, set[str]] = defaultdict(set)
    words = [word for word in _WORD.finditer(text) if word[0].lower() not in _NUMBER_WORDS]

    for before, word in pairwise(words):
        # "It's 7 litres", "Ada's 7 lamps" and "kinds of lamp Ada's shop has" have no label.
        is_label = word[0][0].isdigit() or (
            word[0][0].isupper()
            and word[0].lower() not in STOP_WORDS
            and not word[0].endswith(_POSSESSIVE)
        )
        is_name = (
            before[0][0].isalpha()
            and before[0].lower() not in _NO_NOUNS
            and not before[0].endswith(_POSSESSIVE)
            and terms(before[0])
        )
        is_next = _BETWEEN.fullmatch(text, before.end(), word.start())
        # In "Errors: Code: 403", Code is the header of a cell.
        is_header = text[before.end()] == ":" and text[word.end() : word.end() + 1] == ":"
        if is_label and is_name and is_next and not (is_header or _is_measured(text, word)):
            stem = terms(before[0])[0]
            if stem not in DATES or not is_year(word[0]):  # "May 2021" has many days
                found[stem].add(word[0])
    for day, month in _MONTHS.findall(text):
        found[terms(month)[0]].add(day)
    for date in _DATE.findall(text):
        found["date"].add(date)
    return dict(found)


def _holds(text: str, label: str) -> bool:
    """Return whether a text has a label as a word, or within a range such as "lamps 5 to 9".

    A release such as "version 3.1" has the 3.

    >>> _holds("Lamp 4 burns 7 litres.", "7"), _holds("Lamps 7 and 9 burn.", "7")
    (False, True)
    >>> _holds("Since version 3.1", "3"), _holds("See section 3.1", "3")
    (True, False)
    """
    word = re.compile(rf"(?<![^\W_]){re.escape(label)}(?![^\W_]|[.,-]\w)", re.IGNORECASE)
    if any(not _is_measured(text, found) for found in word.finditer(text)):
        return True
    if label.isdecimal() and re.search(rf"\b(?:version|release|v) ?{label}\.\d", text.lower()):
        return True
    ranges = _RANGE.findall(text) if label.isdecimal() else ()
    return any(int(first) <= int(label) <= int(last) for first, last in ranges)


def _is_measured(text: str, word: re.Match[str]) -> bool:
    """Return whether a word is the number of a quantity with its unit, such as "7 litres"."""
    use = next(uses(text[word.start() : word.start() + _MAX_MEASURE]), None)
    return bool(use and use.unit and word[0].startswith(use.number))


def _title(chunk: Chunk) -> str:
    apart = _NUMBER.sub(" ", chunk.doc_id)
    names = (_LEADING_ZEROS.sub("", name) for name in (chunk.doc_id, apart))
    return "\n".join((chunk.title, chunk.section, *names))
