"""Complete a follow-up that names something instead of a part of the question before.

"And for 512?", "its ciphertext?", "the pool?", "on Sundays?": that part is exchanged.
"""

import re
from collections.abc import Iterator, Sequence

from esrag.generating.names import EDGES, find_names, match_whole
from esrag.generating.parts import DOES
from esrag.text.terms import STOP_WORDS, find_technical_words, terms

OPENING = r"\A\s*(?:(?:and|but|or|so|also|then|what about|how about)\b[\s,]*)+"
OPENS = re.compile(OPENING, re.IGNORECASE)
# Not "Is it possible to …?"
REPLACED = re.compile(
    r"\b(?:(?-i:[Ii]t)|they|them|he|him|she)\b(?!['’])"
    r"(?!\s(?:possible|true|necessary|required|allowed|likely|correct|best|better)\b)",
    re.IGNORECASE,
)

_ADDED = re.compile(r"\s\([^()]{1,400}\)\Z")  # to a question, by earlier turns
_BEFORE_NOUN = r"(?:for|of|in|at|with|under|on|to|by|from|during|about)"
_PREPOSITION = re.compile(rf"\A{_BEFORE_NOUN}\s", re.IGNORECASE)
_WITH_NOUN = re.compile(
    rf"(?P<word>{_BEFORE_NOUN}) (?:the |an? |my )?[\w’'-]{{1,40}}", re.IGNORECASE
)
_OTHER = rf"(?!{_BEFORE_NOUN}\b)[\w’'-]{{1,40}}"
_PHRASE = re.compile(rf"\b(?P<word>{_BEFORE_NOUN}) {_OTHER}(?: {_OTHER}){{0,4}}", re.IGNORECASE)
_NOUN = re.compile(r"[a-z][\w’'-]{2,40}")
_LAST_NOUN = re.compile(rf"\b{_BEFORE_NOUN} (?P<noun>[a-z][\w’'-]{{2,40}})\W*\Z")
_ATTRIBUTE = re.compile(r"(?:its|their|his|her|the)\s+(\S+(?:\s\S+){0,3})\Z", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|may|must|should|will|would|what|which|who"
    r"|how|when|where|why|many|much)\b",
    re.IGNORECASE,
)
OWNED = ("'s", "’s")
_ARTICLE = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(r"(?<=[A-Za-z][- ])\d+|(?<![\w.,-])(?:19|20)\d\d(?!\w|[.,]\d)")
# "a spirit level", up to a preposition or the end
_NO_NOUN = (
    r"(?!(?:an?|and|are|at|be|by|for|from|if|in|is|my|of|on|or|our|that|the|to|was|were|which|who"
    r"|with|your)\b)"
)
_THING = re.compile(
    rf"\b(?:an?|the|my|our|your) "
    rf"(?P<words>{_NO_NOUN}[\w’'-]{{1,40}}(?: {_NO_NOUN}[\w’'-]{{1,40}}){{0,4}})",
    re.IGNORECASE,
)
_DOES = re.compile(rf"\b{DOES} \Z", re.IGNORECASE)
_STATE = re.compile(r"open|closed|free|due|valid|available|allowed|included|located|\w+ed")


def complete(question: str, before: str, names: Sequence[str]) -> str:
    """Return the question before with the part that this one names instead; "" if it asks more."""
    opened = OPENS.sub("", question)
    rest = opened.strip(f"{EDGES}.")
    if opened == question or not rest or _VERB.search(rest):
        return ""

    phrase = _PREPOSITION.sub("", rest, count=1)
    return (
        _exchange_number(phrase, before)
        or _exchange_name(phrase, before, find_names(before) if phrase != rest else names)
        or _exchange_attribute(rest, before, names)
        or _exchange_thing(rest, before)
        or _exchange_phrase(rest, before)
    )


def _exchange_number(phrase: str, before: str) -> str:
    """Return the question before with its last number of a name, or its year, exchanged.

    >>> _exchange_number("2022", "In 2021, how much oil was sold?")
    'In 2022, how much oil was sold?'
    """
    if not phrase.isdigit():
        return ""
    found = list(_NUMBERED.finditer(before))
    alike = [match for match in found if len(match[0]) == len(phrase)] or found
    return f"{before[: alike[-1].start()]}{phrase}{before[alike[-1].end() :]}" if alike else ""


def _exchange_name(phrase: str, before: str, names: Sequence[str]) -> str:
    """Return the question before with a name of the same form exchanged, or with its only name.

    >>> _exchange_name("the A3", "How tall is the A2?", [])
    'How tall is the A3?'
    >>> _exchange_name("Anna's", "How old is Ben's dog?", ["Ben"])
    "How old is Anna's dog?"
    """
    named = [*find_names(f"of {phrase}")]
    if len(named) != 1 or set(terms(phrase)) - set(terms(named[0])):
        return ""

    others = [*find_technical_words(before), *find_names(before)]
    form = _DIGITS.sub("#", named[0])
    alike = [each for each in others if each != named[0] and _DIGITS.sub("#", each) == form]
    former = alike[:1] or (names if len(names) == 1 else [])
    if not former:
        return ""
    article = r"(?:\b(?i:the|an?) )?" if _ARTICLE.match(phrase) else ""
    owned = r"(?:['’]s\b)?" if phrase.endswith(OWNED) else ""
    replaced = rf"{article}{match_whole(former[0]).pattern}{owned}"
    return re.sub(replaced, lambda _: phrase, before)


def _exchange_attribute(rest: str, before: str, names: Sequence[str]) -> str:
    """Return the question before with "its X" instead of "the Y of NAME"."""
    attribute = _ATTRIBUTE.match(rest)
    if not attribute:
        return ""

    for name in names:
        head, found, tail = before.partition(name)
        matches = list(_iter_attributes(head)) if found else []
        if matches:
            start, end = matches[-1]
            return f"{head[:start]}{attribute[1]}{head[end:]}{name}{tail}"
    return ""


def _iter_attributes(head: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of Y where a text ends with "the Y of " or "a Y for the "."""
    words = [(match[0], match.start(), match.end()) for match in re.finditer(r"\S+", head)][-8:]
    while words and words[-1][0].lower() in ("the", "a", "an"):
        words.pop()
    if not words or words[-1][0].lower() not in ("of", "for", "in"):
        return
    for n in range(len(words) - 2, -1, -1):
        word = words[n][0].lower()
        if word in ("the", "a", "an"):
            if n + 1 < len(words) - 1:
                yield words[n + 1][1], words[-2][2]
            return
        if word in STOP_WORDS:
            return


def _exchange_thing(rest: str, before: str) -> str:
    """Return the question before with "the X" instead of its last "the Y" or "a Y".

    >>> _exchange_thing("the pool", "When does the sauna open on Sundays?")
    'When does the pool open on Sundays?'
    >>> _exchange_thing("the pool", "When is the sauna open?")
    'When is the pool open?'
    >>> _exchange_thing("the soup", "Can I freeze them? (make pancakes)")
    'Can I freeze the soup?'
    """
    things = [*_THING.finditer(before)]
    if not _THING.fullmatch(rest):
        return ""
    if len([*REPLACED.finditer(before)]) == 1:
        return REPLACED.sub(lambda _: rest, split_added(before)[0])
    if not things:
        return ""
    head, tail = before[: things[-1].start()], before[things[-1].end() :]
    words = things[-1]["words"].split()
    is_said = len(words) > 1 and (_DOES.search(head) or _STATE.fullmatch(words[-1]))
    return f"{head}{rest}{f' {words[-1]}' if is_said else ''}{tail}"


def _exchange_phrase(rest: str, before: str) -> str:
    """Return the question before with "for X" instead of its last "for Y", or with it at the end.

    >>> _exchange_phrase("for children", "How much is a swim for adults?")
    'How much is a swim for children?'
    >>> _exchange_phrase("on Sundays", "When is the pool open?")
    'When is the pool open on Sundays?'
    >>> _exchange_phrase("seniors", "How much is a swim for adults?")
    'How much is a swim for seniors?'
    """
    asked, added = split_added(before)
    phrase, last = _WITH_NOUN.fullmatch(rest), _LAST_NOUN.search(asked)
    if not _VERB.match(asked):
        return ""
    if last and _NOUN.fullmatch(rest):
        return f"{asked[: last.start('noun')]}{rest}?{added}"
    if not phrase:
        return ""
    alike = phrase["word"].lower()
    found = [each for each in _PHRASE.finditer(asked) if each["word"].lower() == alike]
    if not found:
        return f"{asked.rstrip('?. ')} {rest}?{added}"
    return f"{asked[: found[-1].start()]}{rest}{asked[found[-1].end() :]}{added}"


def split_added(question: str) -> tuple[str, str]:
    """Return a question, and what earlier turns added to it."""
    added = _ADDED.search(question)
    return (question[: added.start()], added[0]) if added else (question, "")
