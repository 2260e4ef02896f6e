"""Make a question that leans on earlier ones stand alone, by rules.

What it leans on is in the question before, in its answer, or in the titles of the evidence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from esrag.generating.parts import fill_in
from esrag.text.questions import read_question
from esrag.text.terms import STOP_WORDS, find_technical_words, terms

_OPENING = r"\A\s*(?:(?:and|but|or|so|also|then|what about|how about)\b[\s,]*)+"
_PRONOUN = r"\b(?:(?-i:[Ii]t)|its|they|them|their|he|his|him|she|her|hers|former|latter)\b"
_THAT = r"\b(?:this|that|these|those)\b"
# The end of the question or a verb, and not a noun.
_ALONE = (
    r"(?=\s*(?:\?|\Z|(?:is|are|was|were|do|does|did|mean|means|work|works|an?|the|also|always"
    r"|allowed|different|enough|ever|for|from|has|have|includ\w+|needed|not|possible|right|still"
    r"|true|than|uses?)\b))"
)
_ONE = r"\b(?:(?:(?:an)?other )?ones?|each)\b"
_ON_MORE = (
    r"\A\s*(?:please |(?:can|could) you )?(?:please )?(?:show|give|tell)(?: me)?"
    r" (?:an?|some|another|any)?\s*(?:more|examples?|details?)\b[\w\s]{0,20}[?.!]*\Z"
)
_AT_END = r"(?<!is )(?<!are )\b(?:there|before|beforehand|afterwards)\W*\Z"
_LEANS = re.compile(
    f"{_OPENING}|{_PRONOUN}|(?:{_THAT}|{_ONE}){_ALONE}|{_ON_MORE}|{_AT_END}", re.IGNORECASE
)
LEANING = re.compile(f"{_OPENING}|{_PRONOUN}|{_THAT}", re.IGNORECASE)
_MIN_TERMS = 1  # "Why?" asks about what was spoken of; but not "What is SHAKE128?"

_OPENS = re.compile(_OPENING, re.IGNORECASE)
_BEFORE_NOUN = r"(?:for|of|in|at|with|under|on|to|by|from|during|about)"
_PREPOSITION = re.compile(rf"\A{_BEFORE_NOUN}\s", re.IGNORECASE)
_WITH_NOUN = re.compile(
    rf"(?P<word>{_BEFORE_NOUN}) (?:the |an? |my )?[\w’'-]{{1,40}}", re.IGNORECASE
)
_OTHER = rf"(?!{_BEFORE_NOUN}\b)[\w’'-]{{1,40}}"
_PHRASE = re.compile(rf"\b(?P<word>{_BEFORE_NOUN}) {_OTHER}(?: {_OTHER}){{0,4}}", re.IGNORECASE)
_NOUN = re.compile(r"[a-z][\w’'-]{2,40}")
_LAST_NOUN = re.compile(rf"\b{_BEFORE_NOUN} (?P<noun>[a-z][\w’'-]{{2,40}})\W*\Z")
# What earlier turns added to a question.
_ABOUT = re.compile(r"\s\((?P<about>[^()]{1,400})\)\Z")
_GREETING = re.compile(
    r"\A\s*(?:(?:hello|hey|hi|ok|okay|please|so|thanks)\b[\s,.!]*)+", re.IGNORECASE
)
_NO_TOPIC = frozenset(["many", "much", "one", "ones"])
MAX_OWN, MAX_TOPIC = 3, 5  # words of the question before, and of what that one was about
_ATTRIBUTE = re.compile(r"(?:its|their|his|her|the)\s+(\S+(?:\s\S+){0,3})\Z", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|may|must|should|will|would|what|which|who"
    r"|how|when|where|why|many|much)\b",
    re.IGNORECASE,
)
# It opens a sentence, and is no name: "Employees travel …", "Replacing a key …".
_OPENING_NOUN = re.compile(r"(?:\A|(?<=[.!?]\s))[A-Z][a-z]{1,40}(?:ing|[^s\W]s)\b(?=\s[a-z])")
_PERSON = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
# "Which set does it recommend?" and "What standard …?" ask for a name, "What is …?" does not.
_ASKS_NAME = re.compile(
    r"\s*(?:which|what(?!(?:'s)?\s+(?:about|are|can|did|do|does|happens|has|have|if|is|was|were)\b))\s",
    re.IGNORECASE,
)
# Not "Is it possible to …?"
_REPLACED = re.compile(
    r"\b(?:(?-i:[Ii]t)|they|them|he|him|she)\b(?!['’])"
    r"(?!\s(?:possible|true|necessary|required|allowed|likely|correct|best|better)\b)",
    re.IGNORECASE,
)
_VERB_AT_END = re.compile(r"\s(?:do|mean|work|stand for)\Z")
_WHERE = re.compile(r"\b(?:in|inside|on|with|within|under|using|at) (?:the )?\Z", re.IGNORECASE)
_ACTS = re.compile(
    r"\b(?:avoid|change|configure|delete|disable|enable|extend|increase|limit|lower|override"
    r"|prevent|raise|reduce|remove|set|turn)\b",
    re.IGNORECASE,
)
_OWNED = re.compile(r"\b(?:its|their|his|her)\b(?=\s+\w)", re.IGNORECASE)
_JOINTS = frozenset({"of", "v", "v.", "vs", "vs.", "van", "von", "de", "der"})
_DIGITS = re.compile(r"\d+")
_NUMBERED = re.compile(r"(?<=[A-Za-z][- ])\d+|(?<![\w.,-])(?:19|20)\d\d(?![\w,]|\.\d)")
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
_DOES = re.compile(r"\b(?:do|does|did|can|may|must|should|will|would) \Z", re.IGNORECASE)
_STATE = re.compile(r"open|closed|free|due|valid|available|allowed|included|located|\w+ed")
_WORD = re.compile(r"(?<![.+#'’-])(?:[.+#'’-]*+\w)++")
_EDGES = ' \t\n,;:!?"“”()[]…'
MAX_NAMES = 3
MAX_TITLE_WORDS = 10
MAX_SUBJECT_WORDS = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that stands alone, its answer without markers, and the titles of its evidence."""

    question: str
    answer: str = ""
    titles: tuple[str, ...] = ()


def make_standalone(question: str, earlier: Sequence[Turn]) -> str:
    """Return the question with what it takes from the turn before.

    A question that takes nothing from it stays as it is.

    >>> before = [Turn("How large is the key of ML-KEM-768?")]
    >>> make_standalone("And its ciphertext?", before)
    'How large is the ciphertext of ML-KEM-768?'
    >>> make_standalone("And for 512?", before), make_standalone("When was it published?", before)
    ('How large is the key of ML-KEM-512?', 'When was ML-KEM-768 published?')
    >>> make_standalone("How long is a day on Mars?", before)
    'How long is a day on Mars?'
    >>> before = [Turn("How much does a spirit level cost?")]
    >>> make_standalone("And how much does a saw?", before), make_standalone("and a saw", before)
    ('How much does a saw cost?', 'How much does a saw cost?')
    """
    if not earlier:
        return question
    before = _drop_titles(earlier, earlier[-1])
    opened = _OPENS.sub("", question).strip(_EDGES)
    whole = f"{opened[:1].upper()}{opened[1:]}?"
    if (filled := fill_in(whole, before.question)) != whole:
        return filled
    if not _leans(question):
        return question
    if completed := _complete(question, before.question, _find_subject(question, before)):
        return completed
    before = _drop_titles(earlier, _find_told(earlier))
    names = _find_subject(question, before)
    return _name_pronoun(question, names) or _append(question, before, names)


def _find_told(earlier: Sequence[Turn]) -> Turn:
    """Return the turn before, or the last one with an answer if that has none and stands alone."""
    last = earlier[-1]
    if last.answer or _ABOUT.search(last.question):
        return last
    return next((turn for turn in reversed(earlier) if turn.answer), last)


def _drop_titles(earlier: Sequence[Turn], before: Turn) -> Turn:
    """Return a turn whose question has no greeting, and no titles of turns that were added to it.

    >>> pool = Turn("When is it open?", titles=("Riverside pool",))
    >>> last = Turn("And on Sundays? (open, Riverside pool)")
    >>> _drop_titles([pool, last], last).question
    'And on Sundays? (open)'
    """
    question = _GREETING.sub("", before.question)
    asked, told = _split_added(question)
    for title in dict.fromkeys(title for turn in earlier for title in turn.titles):
        told = told.replace(title, "")
    told = told.strip(" (),")
    return replace(before, question=f"{asked} ({told})" if told else asked)


def find_names(text: str) -> list[str]:
    """Return the names of a text in order: capitalised words, identifiers, and their numbers.

    >>> find_names("Did Cruz v. Arizona cite PEP 8, the Zen of Python or ML-KEM-768?")
    ['Cruz v. Arizona', 'PEP 8', 'Zen of Python', 'ML-KEM-768']
    """
    found: list[list[str]] = []
    is_open = False
    for place, written in enumerate(text.split()):
        word = written.strip(_EDGES).removesuffix("'s").removesuffix("’s")
        bare = word.rstrip(".")
        if is_open and (word.lower() in _JOINTS or bare.isdigit() or _is_name(bare, place)):
            found[-1].append(word)
        elif is_open := _is_name(bare, place):
            found.append([word])
        # A comma or the like ends a name.
        is_open = is_open and not written.endswith((*",;:!?)", "'s", "’s"))
    return list(dict.fromkeys(filter(None, map(_join, found))))


def _join(words: list[str]) -> str:
    """Return a name without the joints that nothing follows."""
    while words and words[-1].lower() in _JOINTS:
        words = words[:-1]
    return " ".join(words).rstrip(".")


def _is_name(word: str, place: int) -> bool:
    if not word or word.lower() in STOP_WORDS:
        return False
    return bool(find_technical_words(word)) or (place > 0 and word[0].isupper())


def _leans(question: str) -> bool:
    is_short = len(set(terms(question))) <= _MIN_TERMS and not find_technical_words(question)
    return is_short or bool(_LEANS.search(question))


def _find_subject(question: str, before: Turn) -> list[str]:
    """Return the names that a pronoun of the question may stand for, likely ones first.

    "He" is a person whom the answer names. After "Which …?" it is what the answer adds; else it is
    what the question before is about, or the answer if that names nothing.
    """
    asked = _find_asked(before.question)
    opening = set(_OPENING_NOUN.findall(before.answer))
    known = [name for name in find_names(before.answer) if name not in opening]
    added = [name for name in known if name not in before.question]
    if _PERSON.search(question):
        people = [name for name in added if " " in name and not _DIGITS.search(name)]
        return people[:1] or asked
    if _ASKS_NAME.match(before.question) and not _OPENS.match(question):
        return [name for name in added if find_technical_words(name)][:1] or asked or added[:1]
    return asked


def _find_asked(question: str) -> list[str]:
    """Return what a question wants to have defined, else its names but for those of a place.

    "How old is the cache in Borg?" is not about Borg.
    """
    subject = read_question(question).subject
    if terms(subject):
        _, _, rest = question.partition(subject)
        whole = _VERB_AT_END.sub("", f"{subject}{rest}".strip(f"{_EDGES}."))
        return [whole if len(whole.split()) <= MAX_SUBJECT_WORDS else subject]
    names = find_names(question)
    return [name for name in names if not _WHERE.search(question.partition(name)[0])]


def _complete(question: str, before: str, names: Sequence[str]) -> str:
    """Return the question before with the part that this one names instead; "" if it asks more."""
    opened = _OPENS.sub("", question)
    rest = opened.strip(f"{_EDGES}.")
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
    """Return the question before with its last number of a name, or its year, exchanged."""
    if not phrase.isdigit():
        return ""
    found = list(_NUMBERED.finditer(before))
    alike = [match for match in found if len(match[0]) == len(phrase)] or found
    return f"{before[: alike[-1].start()]}{phrase}{before[alike[-1].end() :]}" if alike else ""


def _exchange_name(phrase: str, before: str, names: Sequence[str]) -> str:
    """Return the question before with a name of the same form exchanged, or with its only name."""
    named = [*find_names(f"of {phrase}")]
    if len(named) != 1 or set(terms(phrase)) - set(terms(named[0])):
        return ""

    others = [*find_technical_words(before), *find_names(before)]
    form = _DIGITS.sub("#", named[0])
    alike = [each for each in others if each != named[0] and _DIGITS.sub("#", each) == form]
    former = alike[:1] or (names if len(names) == 1 else [])
    return before.replace(former[0], phrase) if former else ""


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
    if len([*_REPLACED.finditer(before)]) == 1:
        return _REPLACED.sub(lambda _: rest, _ABOUT.sub("", before))
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
    asked, added = _split_added(before)
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


def _split_added(question: str) -> tuple[str, str]:
    """Return a question, and what earlier turns added to it."""
    about = _ABOUT.search(question)
    return (question[: about.start()], about[0]) if about else (question, "")


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


def _name_pronoun(question: str, names: Sequence[str]) -> str:
    """Return the question with the only name in place of its only pronoun; "" otherwise."""
    if len(names) != 1 or names[0] in question:
        return ""
    if _ACTS.search(question) and names[0][:1].isupper():
        return ""  # "How do I change it?" is not about a product
    plain, owned = _REPLACED.findall(question), _OWNED.findall(question)
    if len(plain) + len(owned) != 1:
        return ""
    named = _REPLACED.sub(lambda _: names[0], question)
    return _OWNED.sub(lambda _: f"{names[0]}'s", named)


def _append(question: str, before: Turn, names: Sequence[str]) -> str:
    """Return the question followed by its subject: names, else words and titles of before."""
    is_bare = not terms(question) or _ACTS.search(question)
    parts = [*names[:MAX_NAMES]]
    if is_bare or not parts:
        parts = [*_describe(before), *(name for name in parts if name not in before.question)]
    about = ", ".join(part for part in parts if part not in question)
    return f"{question} ({about})" if about else question


def _find_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if terms(word) and word.lower() not in _NO_TOPIC]


def _describe(before: Turn) -> list[str]:
    """Return the words of the question before, and the title of its evidence if that adds any."""
    asked, added = _split_added(before.question)
    own, topic = _find_words(asked), _find_words(added)
    words = " ".join([*own[:MAX_OWN], *topic[-MAX_TOPIC:]] if topic else own)
    title = next(iter(before.titles), "")
    is_new = set(terms(title)) - set(terms(words))
    is_short = len(title.split()) <= MAX_TITLE_WORDS
    return [part for part in (words, title if words and is_new and is_short else "") if part]
