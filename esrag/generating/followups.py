"""Make a question that leans on earlier ones stand alone, by rules.

What it leans on is in the question before, in its answer, or in the titles of the evidence.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from esrag.generating.exchanging import OPENING, OPENS, OWNED, REPLACED, complete, split_added
from esrag.generating.names import EDGES, find_names, match_whole
from esrag.generating.parts import fill_in
from esrag.text.questions import read_question
from esrag.text.terms import find_technical_words, terms

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
    f"{OPENING}|{_PRONOUN}|(?:{_THAT}|{_ONE}){_ALONE}|{_ON_MORE}|{_AT_END}", re.IGNORECASE
)
LEANING = re.compile(f"{OPENING}|{_PRONOUN}|{_THAT}", re.IGNORECASE)
_MIN_TERMS = 1  # "Why?" asks about what was spoken of; but not "What is SHAKE128?"
_GREETING = re.compile(
    r"\A\s*(?:(?:hello|hey|hi|ok|okay|please|so|thanks)\b[\s,.!]*)+", re.IGNORECASE
)
_NO_TOPIC = frozenset(["many", "much", "one", "ones"])
MAX_OWN, MAX_TOPIC = 3, 5  # words of the question before, and of what that one was about
# It opens a sentence, and is no name: "Employees travel …", "Replacing a key …".
_OPENING_NOUN = re.compile(r"(?:\A|(?<=[.!?]\s))[A-Z][a-z]{1,40}(?:ing|[^s\W]s)\b(?=\s[a-z])")
_PERSON = re.compile(r"\b(?:he|she|him|his|her|hers)\b", re.IGNORECASE)
# "Which set does it recommend?" and "What standard …?" ask for a name, "What is …?" does not.
_ASKS_NAME = re.compile(
    r"\s*(?:which|what(?!(?:'s)?\s+(?:about|are|can|did|do|does|happens|has|have|if|is|was|were)\b))\s",
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
_DIGITS = re.compile(r"\d+")
WORD = re.compile(r"(?<![.+#'’-])(?:[.+#'’-]*+\w)++")
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
    >>> make_standalone("and his house?", [Turn("What is Ben's?")])
    "and Ben's house?"
    >>> make_standalone("How long is a day on Mars?", before)
    'How long is a day on Mars?'
    >>> before = [Turn("How much does a spirit level cost?")]
    >>> make_standalone("And how much does a saw?", before), make_standalone("and a saw", before)
    ('How much does a saw cost?', 'How much does a saw cost?')
    """
    if not earlier:
        return question
    before = _drop_titles(earlier, earlier[-1])
    opened = OPENS.sub("", question).strip(EDGES)
    whole = f"{opened[:1].upper()}{opened[1:]}?"
    if (filled := fill_in(whole, before.question)) != whole:
        return filled
    if not _leans(question):
        return question
    if completed := complete(question, before.question, _find_subject(question, before)):
        return completed
    before = _drop_titles(earlier, _find_told(earlier))
    names = _find_subject(question, before)
    return _name_pronoun(question, names) or _append(question, before, names)


def _find_told(earlier: Sequence[Turn]) -> Turn:
    """Return the turn before, or the last one with an answer if that has none and stands alone."""
    last = earlier[-1]
    _, added = split_added(last.question)
    if last.answer or added:
        return last
    return next((turn for turn in reversed(earlier) if turn.answer), last)


def _drop_titles(earlier: Sequence[Turn], before: Turn) -> Turn:
    """Return a turn whose question has no greeting, and no titles of turns that were added to it.

    >>> pool = Turn("When is it open?", titles=("Riverside pool",))
    >>> last = Turn("And on Sundays? (open, Riverside pool)")
    >>> _drop_titles([pool, last], last).question
    'And on Sundays? (open)'
    >>> game = Turn("How old is it?", titles=("Go",))
    >>> _drop_titles([game], Turn("Is it free? (old Google game, Go)")).question
    'Is it free? (old Google game)'
    """
    question = _GREETING.sub("", before.question)
    asked, told = split_added(question)
    for title in dict.fromkeys(title for turn in earlier for title in turn.titles):
        told = match_whole(title).sub("", told)
    told = told.strip(" (),")
    return replace(before, question=f"{asked} ({told})" if told else asked)


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
    if _ASKS_NAME.match(before.question) and not OPENS.match(question):
        return [name for name in added if find_technical_words(name)][:1] or asked or added[:1]
    return asked


def _find_asked(question: str) -> list[str]:
    """Return what a question wants to have defined, else its names but for those of a place.

    "How old is the cache in Borg?" is not about Borg.
    """
    subject = read_question(question).subject
    if terms(subject):
        _, _, rest = question.partition(subject)
        whole = _VERB_AT_END.sub("", f"{subject}{rest}".strip(f"{EDGES}."))
        return [whole if len(whole.split()) <= MAX_SUBJECT_WORDS else subject]
    names = find_names(question)
    return [name for name in names if not _WHERE.search(question.partition(name)[0])]


def _name_pronoun(question: str, names: Sequence[str]) -> str:
    """Return the question with the only name in place of its only pronoun; "" otherwise."""
    if len(names) != 1 or match_whole(names[0]).search(question):
        return ""
    if _ACTS.search(question) and names[0][:1].isupper():
        return ""  # "How do I change it?" is not about a product
    plain, owned = REPLACED.findall(question), _OWNED.findall(question)
    if len(plain) + len(owned) != 1:
        return ""
    named = REPLACED.sub(lambda _: names[0], question)
    owner = names[0] if names[0].endswith(OWNED) else f"{names[0]}'s"
    return _OWNED.sub(lambda _: owner, named)


def _append(question: str, before: Turn, names: Sequence[str]) -> str:
    """Return the question followed by its subject: names, else words and titles of before."""
    is_bare = not terms(question) or _ACTS.search(question)
    parts = [*names[:MAX_NAMES]]
    if is_bare or not parts:
        parts = [*_describe(before), *(name for name in parts if name not in before.question)]
    about = ", ".join(part for part in parts if not match_whole(part).search(question))
    return f"{question} ({about})" if about else question


def _find_words(text: str) -> list[str]:
    return [word for word in WORD.findall(text) if terms(word) and word.lower() not in _NO_TOPIC]


def _describe(before: Turn) -> list[str]:
    """Return the words of the question before, and the title of its evidence if that adds any."""
    asked, added = split_added(before.question)
    own, topic = _find_words(asked), _find_words(added)
    words = " ".join([*own[:MAX_OWN], *topic[-MAX_TOPIC:]] if topic else own)
    title = next(iter(before.titles), "")
    is_new = set(terms(title)) - set(terms(words))
    is_short = len(title.split()) <= MAX_TITLE_WORDS
    return [part for part in (words, title if words and is_new and is_short else "") if part]
