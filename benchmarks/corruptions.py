"""Corruptions: small changes that make a sentence about a passage say something else.

benchmarks/entailing.py teaches the reader with them. They follow patterns of words and know no
grammar: most results are false, a few are clumsy, and a few happen to be true.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from esrag.verifying.opposites import OPPOSITES

# These stand for phrases there, or have other meanings more often.
NO_OPPOSITES = frozenset(["atleast", "atmost", "in", "on", "present", "right"])
UNITS = (
    "seconds minutes hours days weeks months years",
    "second minute hour day week month year",
    "bits bytes characters",
    "KB MB GB TB",
    "percent percentage_points",
    "thousand million billion",
    "kilometres metres miles",
    "kilometers meters miles",
    "dollars euros pounds",
)
QUANTITIES = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), other)
    for pattern, other in (
        ("some|many|most|several|a few", "all"),
        ("usually|typically|generally|often|sometimes", "always"),
        ("may|can|should", "must"),
        ("might|could", "will"),
        ("must", "may"),
        ("all", "some"),
        ("every", "only one"),
        ("always|never", "sometimes"),
        ("only", "not only"),
        ("at most|up to", "at least"),
        ("at least", "at most"),
        ("more than", "less than"),
        ("less than", "more than"),
        ("required", "optional"),
        ("optional", "required"),
        ("recommended", "mandatory"),
        ("helps?", "is guaranteed to help"),
        ("before", "after"),
        ("after", "before"),
        ("both", "only one of the"),
        ("partly", "entirely"),
        ("about", "exactly"),
    )
)
CLAIMS = ("always", "only", "never", "automatically", "exclusively")
FINAL_CLAIMS = ("in every case", "without exception")
AFFIRMED = {
    "not": "",
    "never": "always",
    "no": "some",
    "cannot": "can",
    "without": "with",
    "can't": "can",
    "won't": "will",
}
SHORTENED = {"can": "can't", "will": "won't"}
MAX_CLAUSES, MAX_MERGED = 6, 4  # sentences that are tried

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w)")
_NAME = re.compile(
    r"(?<![.!?] )(?<!^)(?<!\n)\b[A-Z][\w’'-]*(?: (?:of |the |and )?[A-Z][\w’'-]*)*"
    r"|\b[a-z]+_[a-z_]+\b|`[^`]+`|\b[a-z]+(?:[A-Z][a-z]+)+\b"
)
_LISTED = re.compile(r"(?:,| and| or|, and)? ?")  # between names of equal roles
_VERB_BETWEEN = re.compile(r"\b(?!and|with|both|from|also)[a-z]{4,}")
_THING = r"(?:(?:the|a|an|its|their|each|this|that|his|her) (?:[a-z-]+ )?[a-z-]+|[A-Z][\w-]+)"
_ARTICLE = re.compile("(?:The|A|An|Its|Their|Each|This|That) ")
_ACTION = re.compile(rf"({_THING}) ([a-z]+(?:s|ed)) ({_THING})(?=[ ,.])")
_RELATION = re.compile(
    rf"\b({_THING}) (by|from|into|to|over|instead of|rather than|than) ({_THING})(?=[ ,.;]|$)"
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_NOT = re.compile(r"\b(?:not|never|no|cannot|without|\w+n't)\b")
_HAVE_OR_DO = re.compile("have|has|had|do|does|did")
_PARTICIPLE = re.compile(r" [a-z]+(?:ed|en|t|n)\b")
_AUXILIARY = "is|are|was|were|has|have|had|can|may|must|should|will|does|did"
_AFFIRMATION = re.compile(rf"\b(?:{_AUXILIARY}|could|might|would|do)\b(?! not|n't)")
_SUBJECT = re.compile(
    r"((?:[A-Z][\w-]+|The [\w-]+|An? [\w-]+|It|They|[A-Z]\w+ \w+)) ([a-z]{3,})s\b(?! of)"
)
_CLAUSE = re.compile(
    r",? ((?:because|since|so that|in order to|to avoid|to prevent|which means|provided|if|when"
    r"|unless|as long as|even if|only after|thanks to|so|for|along with|by) [^.;]{15,110})\.?$"
)
_FRONT = re.compile(rf"(.{{6,80}}?) ({_AUXILIARY})\b")
_BACK = re.compile(rf"\b({_AUXILIARY}) .{{12,}}$")
_CAUSE = re.compile(r"([A-Z][^,;]{12,120}?),? (?:because|since) ([^,;]{12,120}?)\.?$")
_CIRCUMSTANCE = re.compile(
    r"(Because|Since|After|Before|If|When) ([^,;]{10,100}), ([^;]{10,140}?)\.?$"
)


@dataclass(frozen=True)
class Given:
    """A sentence, its passage, other sentences about anything, and those about the passage."""

    sentence: str
    passage: str
    others: Sequence[str]
    same: Sequence[str]
    sample: random.Random


def corrupt(given: Given, count: int) -> list[tuple[str, str]]:
    """Return so many changed sentences at most, each with its kind, of random kinds."""
    changed = []
    for kind in given.sample.sample([*CORRUPTIONS], len(CORRUPTIONS)):
        text = CORRUPTIONS[kind](given)
        is_other = text is not None and text.split() != given.sentence.split()
        if is_other and text.strip(". ") not in given.passage:
            changed.append((kind, text))
        if len(changed) == count:
            break
    return changed


def change_number(given: Given) -> str | None:
    """Return the sentence with another number: one of the passage, or with another digit."""
    found = _choose(_NUMBER, given)
    if not found:
        return None

    sample, number = given.sample, found[0]
    others = {each[0] for each in _NUMBER.finditer(given.passage)} - {number}
    alike = sorted(each for each in others if abs(len(each) - len(number)) <= 1)
    if alike and sample.random() < 0.6:
        return _replace(found, sample.choice(alike))

    place = sample.randrange(len(number))
    if not number[place].isdigit():
        return None
    digit = (int(number[place]) + sample.randint(1, 8)) % 10
    if place == 0 and digit == 0:
        return None
    return _replace(found, f"{number[:place]}{digit}{number[place + 1 :]}")


def change_name(given: Given) -> str | None:
    """Return the sentence with another name of the passage."""
    found = _choose(_NAME, given)
    if not found:
        return None
    names = {each[0] for each in _NAME.finditer(given.passage)}
    others = sorted(
        name
        for name in names
        if name not in found[0]
        and found[0] not in name
        and name[0].isupper() == found[0][0].isupper()
    )
    return _replace(found, given.sample.choice(others)) if others else None


def exchange_names(given: Given) -> str | None:
    """Return the sentence with two names exchanged, unless they are listed together."""
    names = [*_NAME.finditer(given.sentence)]
    if len(names) < 2:
        return None
    first, second = sorted(given.sample.sample(names, 2), key=re.Match.start)
    between = given.sentence[first.end() : second.start()]
    if _LISTED.fullmatch(between) or not _VERB_BETWEEN.search(between):
        return None
    before, after = given.sentence[: first.start()], given.sentence[second.end() :]
    return f"{before}{second[0]}{between}{first[0]}{after}"


def exchange_roles(given: Given) -> str | None:
    """Return the sentence with who acts and who is acted on exchanged."""
    text = given.sentence
    plain = text[:1].lower() + text[1:] if _ARTICLE.match(text) else text
    if found := _ACTION.match(plain):
        return _capitalise(f"{found[3]} {found[2]} {found[1]}{text[found.end() :]}")
    if (found := _RELATION.search(text)) and found[1].lower() != found[3].lower():
        return _replace(found, f"{found[3]} {found[2]} {found[1]}")
    return None


def change_unit(given: Given) -> str | None:
    """Return the sentence with another unit."""
    found = _choose(_WORD, given, _UNITS.__contains__)
    return _replace(found, given.sample.choice(_UNITS[found[0]])) if found else None


def negate(given: Given) -> str | None:
    """Return the sentence without its negation, or with one."""
    found = _NOT.search(given.sentence)
    if found and given.sample.random() < 0.8:
        other = AFFIRMED.get(found[0], found[0].removesuffix("n't"))
        return _replace(found, other) if other else _drop(found)

    found = given.sample.choice([*_AFFIRMATION.finditer(given.sentence)][:2] or [None])
    if found:
        return _deny(found, given.sample)
    found = _SUBJECT.match(given.sentence)
    return _replace(found, f"{found[1]} does not {found[2]}") if found else None


def turn(given: Given) -> str | None:
    """Return the sentence with a word's opposite."""
    found = _choose(_WORD, given, lambda word: word.lower() in _OPPOSITES_OF)
    if not found:
        return None
    return _replace_word(found, given.sample.choice(_OPPOSITES_OF[found[0].lower()]))


def change_quantity(given: Given) -> str | None:
    """Return the sentence for more or fewer cases, or with another duty, limit or order."""
    found = [
        (each, other) for pattern, other in QUANTITIES for each in pattern.finditer(given.sentence)
    ]
    return _replace_word(*given.sample.choice(found)) if found else None


def overclaim(given: Given) -> str | None:
    """Return the sentence without exceptions."""
    claim = given.sample.choice((*CLAIMS, *FINAL_CLAIMS))
    if claim in FINAL_CLAIMS:
        return f"{given.sentence.rstrip('.')} {claim}."
    found = _AFFIRMATION.search(given.sentence)
    if not found or claim in given.passage.lower():
        return None
    return _replace(found, f"{found[0]} {claim}")


def add_clause(given: Given) -> str | None:
    """Return the sentence with the last clause of another one."""
    for other in _shuffle(given.others, given)[:MAX_CLAUSES]:
        if found := _CLAUSE.search(other):
            return f"{given.sentence.rstrip('.')} {found[1]}."
    return None


def merge(given: Given) -> str | None:
    """Return the beginning of the sentence with the end of another one about the passage."""
    front = _FRONT.match(given.sentence)
    for other in _shuffle(given.same, given)[:MAX_MERGED]:
        back = _BACK.search(other)
        if front and back and front[2] == back[1] and other != given.sentence:
            return f"{front[1]} {back[0]}"
    return None


def exchange_causes(given: Given) -> str | None:
    """Return the sentence with cause and effect, or first and second, exchanged."""
    if found := _CAUSE.match(given.sentence):
        return f"{_capitalise(found[2])} because {found[1][:1].lower()}{found[1][1:]}."
    if found := _CIRCUMSTANCE.match(given.sentence):
        return f"{found[1]} {found[3]}, {found[2]}."
    return None


CORRUPTIONS: dict[str, Callable[[Given], str | None]] = {
    "number": change_number,
    "name": change_name,
    "exchanged": exchange_names,
    "role": exchange_roles,
    "unit": change_unit,
    "negation": negate,
    "opposite": turn,
    "quantity": change_quantity,
    "overclaim": overclaim,
    "clause": add_clause,
    "merged": merge,
    "cause": exchange_causes,
}


def _deny(found: re.Match[str], sample: random.Random) -> str | None:
    """Return the sentence with a negated auxiliary verb."""
    verb = found[0]
    if _HAVE_OR_DO.fullmatch(verb) and not _PARTICIPLE.match(found.string, found.end()):
        return None
    if sample.random() < 0.4 and verb not in ("may", "might"):
        return _replace(found, SHORTENED.get(verb, f"{verb}n't"))
    return _replace(found, "cannot" if verb == "can" else f"{verb} not")


def _choose(
    pattern: re.Pattern[str], given: Given, is_known: Callable[[str], bool] = bool
) -> re.Match[str] | None:
    """Return a random place of the sentence that the pattern finds and that is known."""
    found = [each for each in pattern.finditer(given.sentence) if is_known(each[0])]
    return given.sample.choice(found) if found else None


def _replace(found: re.Match[str], text: str) -> str:
    """Return the sentence with another text in this place."""
    return found.string[: found.start()] + text + found.string[found.end() :]


def _replace_word(found: re.Match[str], text: str) -> str:
    """Return the sentence with another text in this place, which keeps its capital letter."""
    return _replace(found, _capitalise(text) if found[0][0].isupper() else text)


def _drop(found: re.Match[str]) -> str:
    return found.string[: found.start()].rstrip() + found.string[found.end() :]


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _shuffle(texts: Sequence[str], given: Given) -> list[str]:
    return given.sample.sample(texts, len(texts))


def _pair_opposites() -> dict[str, list[str]]:
    """Return the opposites of each word."""
    pairs = defaultdict(set)
    for left, right in OPPOSITES:
        for one in {*left.split()} - NO_OPPOSITES:
            for other in {*right.split()} - NO_OPPOSITES:
                pairs[one].add(other)
                pairs[other].add(one)
    return {word: sorted(others) for word, others in pairs.items()}


def _pair_units() -> dict[str, list[str]]:
    """Return the other units of each one's group."""
    groups = [[unit.replace("_", " ") for unit in group.split()] for group in UNITS]
    return {unit: [each for each in group if each != unit] for group in groups for unit in group}


_OPPOSITES_OF = _pair_opposites()
_UNITS = _pair_units()
