"""Measure what tells of a statement that it answers the question."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from esrag.evidence import Statement
from esrag.evidence.counts import find_counts
from esrag.records import Evidence
from esrag.text import drop_number, get_heading
from esrag.text.figures import to_figures, uses
from esrag.text.questions import Asked, find_other_terms, read_question
from esrag.text.terms import compounds, find_years, gives_other_years, rarities, shares, terms

T = TypeVar("T")
Scores = npt.NDArray[np.float64]

TECHNICAL = 3.0  # a compound such as ML-KEM-768 names the subject
RAREST = 2  # words of the question that few statements have
FRONT, NOVEL, FULL = 5, 10, 12  # words of a statement
DESCRIBED = 4  # words of a cell that says what another one is
SHORT, LONG = 6, 30

_LABELS = re.compile(r"(?:\b[A-Z]{1,3}: [^,:]{1,60}, ){3}")
_PRONOUN = re.compile(
    r"\W*(?:it|its|he|his|she|her|they|their|these|those|this|that|such|such a|here|there)\b",
    re.IGNORECASE,
)
_CONNECTS = re.compile(
    r"\W*(?:however|therefore|thus|moreover|furthermore|in addition|for example|e\.g|but|and|or"
    r"|also|then|otherwise|note that|similarly|instead|because)\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|due to|so that|in order to|as a result|therefore|reasons?|caused?)\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\b(?:January|February|March|April|June|July|August|September|October"
    r"|November|December|Jan|Feb|Aug|Sept|Oct|Nov|Dec)\b|\b\d{1,2} May\b|\bMay \d|\bcentury\b"
)
_NAME = re.compile(
    r"\b[A-Z][\w.'’-]{1,30}(?: (?:[A-Z][\w.'’-]{0,30}|of|de|van|von)){0,4} [A-Z][\w'’-]{1,30}"
)
_CAPITAL = re.compile(r"(?<=[a-z,;()] )[A-Z][\w'’-]{1,30}")
_PLACE = re.compile(r"\b(?:in|at|on|near|from|to|of) (?:the )?[A-Z]\w+")
_DUTY = re.compile(
    r"\b(?:must|shall|should|may|can|cannot|required?|allowed|permitted|prohibited|forbidden"
    r"|supported|not|never|only|unless)\b",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:at least|at most|no more than|no less than|no fewer than|minimum|maximum|up to|exceed"
    r"|limit\w*|default\w*|least|fewer|more than|less than|within)\b",
    re.IGNORECASE,
)
# Things with commas and "or" between them, or with numbers before them.
_LISTED = re.compile(
    r",[^,;:]{1,80},[^,;:]{0,80}\b(?:and|or)\b"
    r"|\b(?:1\)|\(1\)|\(?i\))[^()]{3,200}(?:\b2\)|\(2\)|\bii\))"
)
_OFTEN = re.compile(
    r"\b(?:every|per|daily|weekly|monthly|annually|yearly|once|twice|times)\b", re.IGNORECASE
)
_DIFFERS = re.compile(
    r"\b(?:whereas|while|unlike|contrast|differ\w*|but|than|compared|both|respectively|instead"
    r"|other hand|distinction)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|does|do|did|can|could|may|might|must|shall|should"
    r"|will|would|use[ds]?|contains?|allows?|means?|provides?|returns?|requires?|includes?|\w+ed"
    r"|\w{3,}s)\b"
)
_BETWEEN = re.compile(r"[\W_]+")
_ADDRESS = re.compile(r"https?:|www\.|@\w|\bdoi\b")
_EXAMPLE = re.compile(r"\b(?:for example|e\.g|for instance|such as|example)\b", re.IGNORECASE)
MAX_SUBJECT = 6
# "This section contains …", "The following is an overview of …": only what comes after it tells.
_ANNOUNCES = re.compile(
    r"\W*(?:(?:this|the following|the (?:next|following)) "
    r"(?:sections?|chapter|appendix|annex|clause|table|figure|list|subsections?|paragraphs?) "
    r"|the following (?:is|are)\b)",
    re.IGNORECASE,
)
# The section that says what its document is.
_OPENS = re.compile(
    r"(?:executive )?summary|about|abstract|introduction|overview|purpose", re.IGNORECASE
)
_ENDED = re.compile(r"[.!?:;]\W*\Z")
_ABBREVIATED = re.compile(r"\s\(([^()]{1,20})\)\Z")
_TYPED = ("count", "time", "who", "place_name", "reason", "definition", "differs", "duty", "list")
_IN_FULL = r"(?-i:[A-Z])[\w-]*(?: [\w-]+){0,6} "  # before its abbreviation in brackets
_DEFINED = (
    r"(?:is|are|was|were|means?|refers? to|denotes?|describes?|stands for|includes?|comprises?"
    r"|shall (?:mean|include)"
    r"|consists? of|provides? a way|returns?|computes?|converts?|matches|splits?|removes?"
    r"|, (?:also|sometimes|often) (?:called|known as|referred to as)"
    r"|:|–|—|=)"
)
# 'The key words "SHALL" and "REQUIRED" mean …'
_TERMS, _INDICATES = r"The (?:key ?)?(?:term|word)s?", "(?:denote|indicate|mean|refer)s?"
_SUBORDINATE = (
    r"(?!(?i:after|although|as|because|before|if|once|since|though|unless|until|when|where|whether"
    r"|while)\b)"
)
_OPINIONS = "alternative|choice|fit|good|idea|matter|reason|solution"  # "X is a good fit for Y."
# What says no more than that, or where a thing is described: "The cipher is shown in Fig. 5."
_UNDEFINED = (
    r"(?! (?:not|also|more than|[$€£]?\d\S*)(?!\w)"
    r"| (?:[a-z]+ly )?(?:described|defined|shown|given|specified|discussed|illustrated|listed"
    r"|presented|outlined|explained|summari[sz]ed|provided|set out|stated|expressed|measured)"
    r" (?:in|on|below|above)\b"
    r"| (?:[a-z]+ly )?[a-z]{2,20}ed (?:if|when|with)\b"
    rf"| an? (?:[a-z]+ly )?(?:[a-z]+ )?(?:{_OPINIONS})\b"
    r"| (?:able|allowed|expected|free|permitted|requested|required|responsible|supposed|unable)\b)"
)

# Shares of the question's words, place, and shape of a statement; then what a kind of question asks
# for, which is 0 for any other kind; then what speaks for another subject.
NAMES = (
    "words", "pairs", "around", "title", "section", "nearby", "place", "closeness", "length",
    "front", "novelty", "row", "sentence", "pronoun", "connects", "capitals", "digits", "address",
    "example", "verb", "short", "long", "definition", "defines", "count", "count_unit",
    "count_limit", "often", "time", "who", "place_name", "reason", "duty", "differs", "heads",
    "list", "table_count", "rare", "technical", "lead", "other_member", "other_year", "typed_words",
    "headed", "depth",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with its words: all, the technical ones, their series, and its years.

    `subjects` are the names of what it wants to have defined: in full and abbreviated.
    """

    asked: Asked
    subjects: tuple[str, ...]
    text: str
    words: list[str]
    named: set[str]
    series: set[str]
    years: set[str]
    others: dict[str, set[str]]  # what documents say instead of a word


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement with its words."""

    text: str
    words: list[str]
    held: frozenset[str]
    is_row: bool
    is_list: bool
    name: str  # of a row that describes what its first cell names, else ""


def measure(question: str, evidence: Sequence[Evidence], found: Sequence[Statement]) -> Scores:
    """Return the features of each statement, shape (len(found), len(NAMES))."""
    wanted = _read_question(question)
    said = [_read_statement(statement, wanted.others) for statement in found]
    rank = {item.key: n for n, item in enumerate(evidence)}
    place = np.array([rank[statement.key] for statement in found], dtype=np.int64)

    columns = _compare_words(wanted, said, evidence, found, place)
    columns |= _locate(wanted, evidence, found, place)
    columns["headed"] = _compare_headed(wanted.text, said, evidence, found, place)
    columns["nearby"] = _nearby(columns["words"], place)
    rows = [_shape(one) | _match_kind(wanted, one) | _match_others(wanted, one) for one in said]
    for row, share in zip(rows, columns["words"], strict=True):
        row["typed_words"] = share * any(row[name] for name in _TYPED)

    return np.array(
        [
            [columns[name][n] if name in columns else row[name] for name in NAMES]
            for n, row in enumerate(rows)
        ],
        dtype=np.float64,
    ).reshape(len(found), len(NAMES))


def _read_question(question: str) -> _Question:
    plain, named = to_figures(question), compounds(question)
    asked = read_question(question)
    return _Question(
        asked=asked,
        subjects=_find_names(asked.subject),
        text=plain,
        words=terms(plain),
        named=named,
        series=_series(named),
        years=find_years(plain),
        others=find_other_terms(question),
    )


def _find_names(heading: str) -> tuple[str, ...]:
    """Return the names in a heading or subject: as it is, and its abbreviation and long form.

    >>> _find_names("Federation Assurance Levels (FAL)"), _find_names("")
    (('Federation Assurance Levels (FAL)', 'FAL', 'Federation Assurance Levels'), ())
    """
    short = _ABBREVIATED.search(heading)
    names = (heading, short[1], heading[: short.start()]) if short else (heading,)
    return tuple(filter(None, names))


def _read_statement(statement: Statement, others: Mapping[str, AbstractSet[str]]) -> _Said:
    text = to_figures(statement.text)
    words = terms(text)
    meant = {word for word, same in others.items() if not same.isdisjoint(words)}
    return _Said(
        text=text,
        words=words,
        held=frozenset(words) | meant,
        is_row=statement.is_row,
        is_list=statement.items > 1 or bool(_LISTED.search(text)),
        name=_read_name(statement),
    )


def _read_name(statement: Statement) -> str:
    """Return the first cell of a row that has a sentence in another; "" for anything else."""
    name, *cells = statement.cells
    is_described = any(len(cell.split()) >= DESCRIBED for cell in cells)
    return name.strip(" `*") if is_described else ""


def _compare_words(
    wanted: _Question,
    said: Sequence[_Said],
    evidence: Sequence[Evidence],
    found: Sequence[Statement],
    place: npt.NDArray[np.int64],
) -> dict[str, Scores]:
    """Return the shares of the question's words, by their weight, in statements and around them."""
    held = [one.held for one in said]
    weights = {
        term: weight * (TECHNICAL if term in wanted.named else 1)
        for term, weight in rarities(dict.fromkeys(wanted.words), held).items()
    }
    rarest = set(sorted(weights, key=lambda term: (-weights[term], term))[:RAREST])
    pairs, chunks = set(pairwise(wanted.words)), [item.chunk for item in evidence]
    around = [set(terms(one.whole_text)) for one in chunks]

    return {
        "words": np.array(shares(weights, held)),
        "around": np.array(shares(weights, around))[place],
        "title": np.array(shares(weights, [set(terms(one.title)) for one in chunks]))[place],
        "section": np.array(shares(weights, _read_each(terms, [one.section for one in found]))),
        "pairs": _share(pairs, [set(pairwise(one.words)) for one in said]),
        "rare": _share(rarest, held),
        "technical": _share(wanted.named, held),
        "front": np.array(
            [sum(word in weights for word in one.words[:FRONT]) / FRONT for one in said]
        ),
        "novelty": np.array([min(len(one.held - weights.keys()), NOVEL) / NOVEL for one in said]),
    }


def _compare_headed(
    question: str,
    said: Sequence[_Said],
    evidence: Sequence[Evidence],
    found: Sequence[Statement],
    place: npt.NDArray[np.int64],
) -> Scores:
    """Return the shares of the question's words in statements with the headings above them.

    The parts of a compound are words of their own here.
    """
    own = [_split(one.text) for one in said]
    titles = [evidence[n].chunk.title for n in place]
    above = _read_each(
        _split, [f"{title} {one.section}" for title, one in zip(titles, found, strict=True)]
    )
    held = [
        words | heads | _split(statement.under)
        for words, heads, statement in zip(own, above, found, strict=True)
    ]
    return np.array(shares(rarities(sorted(_split(question)), own), held))


def _read_each(read: Callable[[str], Iterable[str]], texts: Sequence[str]) -> list[set[str]]:
    """Return the words of each text; many are the same."""
    known = {text: set(read(text)) for text in dict.fromkeys(texts)}
    return [known[text] for text in texts]


def _split(text: str) -> set[str]:
    """Return the words of a text, and of its compounds.

    >>> sorted(_split("The search_pipeline keys"))
    ['key', 'pipelin', 'search']
    """
    return set(terms(_BETWEEN.sub(" ", text)))


def _share(wanted: AbstractSet[T], held: Sequence[AbstractSet[T]]) -> Scores:
    return np.array([len(wanted & words) / (len(wanted) or 1) for words in held])


def _locate(
    wanted: _Question,
    evidence: Sequence[Evidence],
    found: Sequence[Statement],
    place: npt.NDArray[np.int64],
) -> dict[str, Scores]:
    """Return where the statements are: in which passage, and at its start."""
    known = [item.closeness for item in evidence if item.closeness is not None]
    least = min(known, default=0.5)
    close = [least if item.closeness is None else item.closeness for item in evidence]
    parts = [(one.key, one.section) for one in found]
    is_lead = [former != part for former, part in pairwise([None, *parts])]
    return {
        "place": 1 / (1 + place),
        "depth": np.log1p(place),
        "closeness": np.array(close)[place],
        "lead": np.array(is_lead, dtype=np.float64),
        "heads": np.array(_heads(wanted, evidence, found)),
    }


def _heads(
    wanted: _Question, evidence: Sequence[Evidence], found: Sequence[Statement]
) -> list[float]:
    """Return 1 for a statement right below a heading that is one of the subjects.

    The heading may also be that of its section, or "Abstract" below a title that is asked for.
    """
    titled = {item.key for item in evidence if _is_title(wanted, item.chunk.title)}
    seen: set[tuple[str, str]] = set()
    heads = []
    for statement in found:
        part = statement.key, statement.section
        heading = "" if part in seen else get_heading(statement.section)
        opens = statement.key in titled and _OPENS.fullmatch(drop_number(heading)) is not None
        # "Since 2.12" and "EN: key, F: clef, D: …" say nothing about it.
        names = (heading, statement.under)
        is_headed = opens or any(_is_named(wanted.subjects, each) for each in names)
        is_ended = bool(_ENDED.search(statement.text)) and not _LABELS.search(statement.text)
        is_announced = _ANNOUNCES.match(statement.text) is not None
        heads.append(float(is_headed and is_ended and not is_announced))
        if is_ended:
            seen.add(part)
    return heads


def _is_title(wanted: _Question, title: str) -> bool:
    """Return whether a subject is in a title that the question has: the Zen of Python."""
    words = set(terms(title))
    return words.issubset(wanted.words) and any(
        words.issuperset(terms(subject)) for subject in wanted.subjects
    )


def _is_named(subjects: Sequence[str], heading: str) -> bool:
    """Return whether a heading is one of the subjects, perhaps with an abbreviation in brackets.

    >>> _is_named(["FAL"], "3.1 Federation Assurance Levels (FAL)"), _is_named([], "")
    (True, False)
    """
    wanted = [each for subject in subjects if (each := set(terms(subject)))]
    return any(set(terms(name)) in wanted for name in _find_names(drop_number(heading)))


def _nearby(words: Scores, place: npt.NDArray[np.int64]) -> Scores:
    """Return the better share of the question's words in the statements before and after."""
    near = np.zeros(len(words))
    for n in range(len(words)):
        for other in (n - 1, n + 1):
            if 0 <= other < len(words) and place[other] == place[n]:
                near[n] = max(near[n], words[other])
    return near


def _shape(one: _Said) -> dict[str, float]:
    text, letters = one.text, max(sum(map(str.isalpha, one.text)), 1)
    return {
        "row": float(one.is_row),
        "length": min(len(one.held), FULL) / FULL,
        "sentence": float(text[-1:] in ".!?" and text[:1].isupper()),
        "pronoun": float(bool(_PRONOUN.match(text))),
        "connects": float(bool(_CONNECTS.match(text))),
        "capitals": sum(map(str.isupper, text)) / letters,
        "digits": sum(map(str.isdigit, text)) / max(len(text), 1),
        "address": float(bool(_ADDRESS.search(text))),
        "example": float(bool(_EXAMPLE.search(text))),
        "verb": float(bool(_VERB.search(text))),
        "short": float(len(one.words) < SHORT),
    }


def _match_kind(wanted: _Question, one: _Said) -> dict[str, float]:
    """Return whether a statement has what the kind of question asks for."""
    text, kind, subjects = one.text, wanted.asked.kind, wanted.subjects
    new = find_counts(wanted.text, text) if kind == "count" else None
    defined = () if _ANNOUNCES.match(text) else subjects
    length = 1 if kind == "list" else max(len(one.words), 1)  # a list may be long
    return {
        "long": max(0.0, math.log(length / LONG)),
        "definition": float(
            any(_defines(subject, text) or subject == one.name for subject in defined)
        ),
        "defines": float(any(_calls(subject, text) for subject in defined)),
        "count": float(bool(new)),
        "count_unit": float(bool(new) and any(each.unit for each in uses(text))),
        "count_limit": float(bool(new) and bool(_LIMIT.search(text))),
        "table_count": float(bool(new) and one.is_row),
        "often": float("how often" in wanted.text.lower() and bool(_OFTEN.search(text))),
        "time": float(kind == "time" and bool(_DATE.search(text))),
        "who": float(kind == "who" and _names(text, wanted.words)),
        "place_name": float(kind == "place" and bool(_PLACE.search(text))),
        "reason": float(kind == "reason" and bool(_BECAUSE.search(text))),
        "duty": float(kind == "yesno" and bool(_DUTY.search(text))),
        "differs": float(kind == "comparison" and bool(_DIFFERS.search(text))),
        "list": float(kind == "list" and one.is_list),
    }


def _calls(subject: str, text: str) -> bool:
    """Return whether a text says what is called by the subject's name."""
    words = _to_pattern(subject)
    return bool(
        re.search(
            r"\b(?:called|known as|referred to as|termed|defined as)\W+(?:an?|the)?\W*"
            rf"{words}(?:e?s)?(?=[^\w\s]|\Z)"
            rf"|\b{words}\W{{1,3}}(?:is|are) (?:an?|the)\b"
            rf"|{_IN_FULL}\({words}\)",
            text,
            re.IGNORECASE,
        )
    )


def _to_pattern(subject: str) -> str:
    return r"[\s-]+".join(re.escape(word) for word in subject.split()[:MAX_SUBJECT])


def _series(named: Iterable[str]) -> set[str]:
    """Return technical words with their numbers replaced by 0."""
    return {re.sub(r"\d+", "0", word) for word in named if any(map(str.isdigit, word))}


def _match_others(wanted: _Question, one: _Said) -> dict[str, float]:
    """Return whether a statement is about another member of a series, or about another year."""
    own = compounds(one.text) if wanted.series else set()
    is_of_series = not wanted.series.isdisjoint(_series(own))
    return {
        "other_member": float(is_of_series and wanted.named.isdisjoint(own)),
        "other_year": float(gives_other_years(wanted.years, one.text)),
    }


def _names(text: str, wanted: Collection[str]) -> bool:
    """Return whether a text has a name that the question has not."""
    found = [*_NAME.findall(text), *_CAPITAL.findall(text)]
    return any(not set(terms(name)).issubset(wanted) for name in found)


def _defines(subject: str, text: str) -> bool:
    """Return whether a text begins with the subject as what it defines.

    >>> _defines("relying party", "Relying Party (RP): An entity that relies.")
    True
    >>> _defines("decapsulation", "decapsulation The process of applying Decaps.")
    True
    >>> _defines("S-box", "S-box Non-linear substitution table used in several transformations.")
    True
    >>> _defines("UBI", "User Behavior Insights (UBI) is a schema.")
    True
    >>> _defines("SHALL", 'The terms "SHALL" and "SHALL NOT" indicate what is strict.')
    True
    >>> _defines("proxy", "Users of a proxy need to be aware that it is one.")
    False
    >>> _defines("proxy", "A proxy is described in section 3."), _defines("fee", "The fee is $20.")
    (False, False)
    >>> _defines("proxy", "When proxies are used with a cache, they forget.")
    False
    >>> _defines("proxy", "The proxy is required to ask."), _defines("fee", "A fee is a bad idea.")
    (False, False)
    >>> _defines("work", '"Work" shall mean the work of authorship.')
    True
    """
    words = _to_pattern(subject)
    start = (
        rf"\W*{_SUBORDINATE}(?i:(?:an?|the)\s+)?(?:[\w.-]{{1,40}}\s+)?(?i:{words})(?:e?s)?\W{{0,3}}"
        r"(?:\([^()]{1,60}\)\W{0,3})?"
    )
    start = rf"(?:{start}|\W*(?i:(?:an?|the)\s+)?{_IN_FULL}\({words}\))"
    if re.match(rf"\W*{_TERMS}\s\W{{0,3}}(?i:{words})\b[^.:;]{{0,60}}? {_INDICATES}\b", text):
        return True
    return bool(
        re.match(rf"{start}(?:\s*{_DEFINED}(?!\w){_UNDEFINED}|\s+(?=[A-Z][a-z-]*\s[a-z]))", text)
    )
