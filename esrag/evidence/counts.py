"""Numbers that count what a question asks for: the 7 of "How many lamps are there?"."""

import re
from collections import Counter
from collections.abc import Sequence

from esrag.evidence import Statement, find_best
from esrag.evidence.quantities import NEAR_BEST
from esrag.text.figures import numbers, to_figures, uses
from esrag.text.questions import asks_default, read_question
from esrag.text.terms import MONTHS, terms

# "2000 seats" and "2000 W" are no years, unless a word of time comes first.
_TIME = rf"(?:{'|'.join(MONTHS)}|in|since|year)"
_MANY = (
    r"(?-i: (?:(?!(?:does|has|its|plus|this|was)\b)[a-z]{2,20}s|people|[ckm]?[glm]|[kM]?W)(?!\w))"
)
# "Since OpenSearch 2.5," but not "in Europe 2.5 million"
_VERSION = (
    r"(?<=(?-i:[a-z]) )(?-i:[A-Z][A-Za-z]{2,20}) \d{1,3}(?:\.\d{1,3}){1,3}"
    r"(?=[,;:)]|\.?\Z|\. | (?:and|or|onwards?) )"
)
# Numbers that count nothing: dates, versions, and what points to a place in a text.
_COUNTS_NOTHING = re.compile(
    rf"\b(?:{'|'.join(MONTHS)}) \d{{1,2}}(?:, \d{{4}})?\b"
    rf"|\b{_TIME} (?:19|20)\d\d\b|\b(?:19|20)\d\d\b(?!{_MANY})"
    rf"|{_VERSION}"
    r"|(?:\b(?:sections?|sec\.|appendix|tables?|figures?|fig\.|chapters?|articles?|algorithms?"
    r"|equations?|notes?|rules?|pages?|pp?\.|part|paragraphs?)|§) ?\d[\d.]*"
    r"(?: (?:and|to|–|-) \d+)?|\[\d{1,3}\]",
    re.IGNORECASE,
)
_IS_DEFAULT = r"(?:defaults? (?:is|are|to|value)\b|default[:=]|\(default\))"
_DEFAULT = re.compile(rf"(?:The )?{_IS_DEFAULT}", re.IGNORECASE)
# What the best statement says of what the one before it sets: "Beyond this limit, it fails."
_REFERS = re.compile(
    r"\bthis (?:default|limit|maximum|minimum|number|option|parameter|setting|threshold|timeout"
    r"|value)\b",
    re.IGNORECASE,
)
_GIVES_DEFAULT = re.compile(rf"(?<!\w){_IS_DEFAULT}", re.IGNORECASE)
# "How many stock options were …": what is counted, and the words near its number.
_COUNTED = re.compile(
    r"\bhow many ((?:[\w'’-]{1,40} ){0,3}?[\w'’-]{1,40})"
    r"(?=[?,]|\Z| (?:are|at|can|could|did|do|does|each"
    r"|for|from|had|has|have|if|in|is|may|might|must|of|on|per|shall|should|that|there|to|was|were"
    r"|will|with|would)\b)",
    re.IGNORECASE,
)
_WORD_OR_FIGURE = re.compile(r"[$€£]?\d[\d.,]*|[^\W\d][\w'’-]*")
_LIMITING = {"than", "most", "least", "to", "exceed", "of"}
BEFORE, AFTER, CLOSE, LIMITED = 5, 6, 3, 3  # words

_BY_DEFAULT = re.compile(
    r"\bby default\b|\bthe default(?= (?:for|limit|of|number|size|value)\b|[?,]|\Z)", re.IGNORECASE
)
# What holds if nothing is set, in any words.
_UNSET = re.compile(
    r"\b(?:defaults?|initial(?:ly)?|standard|unless|otherwise|omitted|typical(?:ly)?)\b"
    r"|\bnot (?:set|specified|given|configured)\b|\bout of the box\b",
    re.IGNORECASE,
)
GOES_ON = 3  # statements after the best one that may give its default


def find_counts(question: str, text: str) -> Counter[str]:
    """Return the numbers that a text has and a question has not, without dates and references.

    "Lamp 7 burns 7 litres" has one that "How much does lamp 7 burn?" has not.

    >>> find_counts("How much does lamp 7 burn?", "Lamp 7 burns 7 litres, see section 4.2.")
    Counter({'7': 1})
    >>> find_counts("How many seats has the hall?", "In 1990 seats were few, now 2000 seats.")
    Counter({'2000': 1})
    >>> find_counts("After what time does it fail?", "Starting with Quill 2.5, it fails.")
    Counter()
    """
    if not any(map(str.isdigit, text)):
        return Counter()
    return Counter(numbers(_COUNTS_NOTHING.sub(" ", text))) - Counter(numbers(question))


def gives_default(text: str) -> bool:
    """Return whether a text says which value is the default.

    >>> [gives_default(text) for text in ("Default: 9", "9 (default)", "the default kettle")]
    [True, True, False]
    """
    return bool(_GIVES_DEFAULT.search(text))


def lacks_asked_number(question: str, best: Statement | None) -> bool:
    """Return whether a question asks for a number that the best statement has not.

    A default may also be a word: "Default is false."
    """
    if best is None or read_question(question).kind != "count":
        return False
    if asks_default(question) and gives_default(best.text):
        return False
    asked, text = to_figures(question), to_figures(best.text)
    counts = find_counts(asked, text)
    return not counts or not _counts_what(asked, text, counts)


def _counts_what(question: str, text: str, counts: Counter[str]) -> bool:
    """Return whether one of the numbers may count what a question asks how many there are of.

    It may if it has no other unit and stands near that word, or behind a label as in a row.

    >>> text, counts = "A visa is granted for 3 years.", Counter(["3"])
    >>> _counts_what("How many visas are granted?", text, counts)
    False
    >>> _counts_what("How many years is it granted for?", text, counts)
    True
    """
    found = _COUNTED.search(question)
    if not found or ": " in text:
        return True

    asked, noun = {*terms(found[1])}, {*terms(found[1])[-1:]}
    units = {use.unit for use in uses(f"1 {found[1]}")} | {""}
    other = {use.number for use in uses(text) if use.unit not in units}
    words = _WORD_OR_FIGURE.findall(_COUNTS_NOTHING.sub(" ", text))
    figures = ((at, word) for at, word in enumerate(words) if any(map(str.isdigit, word)))
    for at, word in figures:
        if not counts.keys() & {*numbers(word)} - other:
            continue
        is_limit = not _LIMITING.isdisjoint(words[max(at - LIMITED, 0) : at])
        before = words[0 if is_limit else max(at - BEFORE, 0) : at]
        after = words[at + 1 : at + 1 + AFTER]
        if noun & _stems([*before, *after]) or asked & _stems(after[:CLOSE]):
            return True
    return False


def _stems(words: Sequence[str]) -> set[str]:
    return {next(iter(terms(word)), "") for word in words}


def lacks_default(question: str, statements: Sequence[Statement]) -> bool:
    """Return whether a question asks for a default number that no statement near the best gives.

    >>> said = [Statement("c1", 0, "This example sets it to 9.", fit=0.8)]
    >>> [lacks_default(f"How many lids has it{more}?", said) for more in (" by default", "")]
    [True, False]
    """
    best = find_best(statements)
    if best is None or not _BY_DEFAULT.search(question) or best.is_row:
        return False
    if read_question(question).kind != "count" or find_default(question, best, statements):
        return False
    near = [each for each in statements if each.fit >= NEAR_BEST * best.fit]
    return not any(_UNSET.search(f"{each.section} {each.under} {each.text}") for each in near)


def find_default(
    question: str, best: Statement | None, statements: Sequence[Statement]
) -> Statement | None:
    """Return the default that a passage gives near the best statement, if that lacks the number.

    Settings are described so: "Limits the size of a request. Larger ones fail. Default is 9 MB."
    Or so: "Sets the maximum size (default: 9 MB). Beyond this limit, requests fail."
    """
    if best is None or not lacks_asked_number(question, best):
        return None
    if _REFERS.search(best.text):
        place = best.key, best.order - 1
        above = (each for each in statements if (each.key, each.order) == place)
        former = next((each for each in above if gives_default(each.text)), None)
        if former and not lacks_asked_number(question, former):
            return former
    near = {(best.key, best.order + n) for n in range(1, GOES_ON + 1)}
    after = [each for each in statements if (each.key, each.order) in near]
    defaults = [each for each in after if _DEFAULT.match(each.text)]
    return next((each for each in defaults if not lacks_asked_number(question, each)), None)


def is_bare_default(statement: Statement) -> bool:
    """Return whether a statement gives a default, and neither it nor a heading says of what."""
    return bool(_DEFAULT.match(statement.text)) and not statement.under
