"""Find the fact that answers a question: the same question, one that is nearly it, or none.

A wrong fact is worse than none, so a fact may answer only if it has every word of the question that
carries meaning: "What is the processing time?" is not answered with the processing fee.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import SequenceMatcher
from itertools import accumulate, chain

from esrag.engines import Engine, SearchRequest
from esrag.evidence.questions import read_question
from esrag.facts import Fact, question_key
from esrag.facts.storing import key_term, to_fact
from esrag.filters import Filter
from esrag.records import Chunk
from esrag.settings import FactsSettings
from esrag.text.terms import terms, whole_words

CANDIDATES = 20
# Of frequent words the question's own fact alone is found: scoring a row takes microseconds.
MAX_ROWS_SEARCHED = 1_000
_WHAT = frozenset(("count", "definition", "other"))
_NEGATIVE = re.compile(r"\b(?:not|no|never|without|except|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_DAY = re.compile(r"\b(?:as of|on|at) (\d{4}-\d\d-\d\d)\b", re.IGNORECASE)
_YEAR = re.compile(
    r"\b(?:as of|in|for|during) (?:the year |fiscal year |FY ?)?((?:19|20)\d\d)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Match:
    """A fact that fits a question.

    `similarity` is how alike the two questions are written, `overlap` the share of their words that
    they have in common, both 0..1. `holds` says whether the fact holds when the question asks.
    """

    chunk: Chunk
    fact: Fact
    is_exact: bool
    similarity: float
    overlap: float
    holds: bool


@dataclass(frozen=True, slots=True)
class _Period:
    """The days that a question asks about; a past one needs a fact that says when it began."""

    first: date
    last: date
    is_past: bool = False

    def fits(self, fact: Fact) -> bool:
        is_known = bool(fact.valid_from) or not self.is_past
        return is_known and fact.holds_on(self.first) and fact.holds_on(self.last)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question without its time: its words under the names of their synonyms, and its kind."""

    key: str
    words: frozenset[str]
    kind: str
    is_negative: bool
    period: _Period


class FactFinder:
    """Finds facts in their index; one that was never made holds none."""

    def __init__(self, engine: Engine, settings: FactsSettings) -> None:
        self._engine, self._settings = engine, settings
        self._fillers = frozenset(whole_words(" ".join(settings.fillers)))
        self._groups = {
            group[0]: group for group in (whole_words(" ".join(it)) for it in settings.synonyms)
        }
        self._names = {word: name for name, group in self._groups.items() for word in group}

    def find(self, question: str, where: Filter | None = None) -> Match | None:
        """Return the fact that fits the question best; None without one, or if two fit alike.

        Only facts that pass the filter count. Raises: EngineError.
        """
        if not self._engine.exists():
            return None

        asked = self._read(question)
        hits = self._engine.search(request).hits if (request := self._request(asked, where)) else ()
        return _choose(match for hit in hits if (match := self._match(asked, hit.chunk)))

    def _read(self, question: str) -> _Asked:
        rest, period = _read_period(question, self._today())
        return _Asked(
            key=question_key(rest),
            words=self._name(rest),
            kind=read_question(rest).kind,
            is_negative=bool(_NEGATIVE.search(rest)),
            period=period,
        )

    def _today(self) -> date:
        as_of = self._settings.as_of
        return date.fromisoformat(as_of) if as_of else datetime.now(UTC).date()

    def _request(self, asked: _Asked, where: Filter | None) -> SearchRequest | None:
        """Return a search for the question itself and its rarest words; None if no fact has one.

        A fact that answers has all words, so frequent ones need not be searched for.
        """
        spelled = {word: terms(" ".join(self._groups.get(word, [word]))) for word in asked.words}
        counts = self._engine.count_terms([*chain.from_iterable(spelled.values())])
        rows = {word: sum(counts.get(term, 0) for term in spelled[word]) for word in spelled}
        if not all(rows.values()):
            return None

        rarest = sorted(rows, key=lambda word: (rows[word], word))
        totals = accumulate(rows[word] for word in rarest)
        chosen = [w for w, total in zip(rarest, totals, strict=True) if total <= MAX_ROWS_SEARCHED]
        text = " ".join((key_term(asked.key), *chain.from_iterable(spelled[w] for w in chosen)))
        return SearchRequest(
            text=text, method="keyword", filter=where, size=CANDIDATES, candidates=CANDIDATES
        )

    def _match(self, asked: _Asked, chunk: Chunk) -> Match | None:
        """Return how a fact fits a question; None if it does not."""
        fact = to_fact(chunk)
        key, told = question_key(fact.question), self._name(fact.question)
        if key != asked.key and not self._may_answer(asked, fact, told):
            return None

        return Match(
            chunk=chunk,
            fact=fact,
            is_exact=key == asked.key,
            similarity=SequenceMatcher(None, asked.key, key, autojunk=False).ratio(),
            overlap=len(asked.words & told) / (max(len(asked.words), len(told)) or 1),
            holds=asked.period.fits(fact),
        )

    def _may_answer(self, asked: _Asked, fact: Fact, told: frozenset[str]) -> bool:
        """Return whether a fact has every word of a question, and answers one of its kind."""
        missing = asked.words - told
        return (
            not (missing and missing - self._name(fact.answer))
            and asked.is_negative == bool(_NEGATIVE.search(fact.question))
            and _ask_alike(asked.kind, read_question(fact.question).kind)
        )

    def _name(self, text: str) -> frozenset[str]:
        """Return the words of a text that carry meaning, synonyms under one name."""
        words = (word for word in whole_words(text) if word not in self._fillers)
        return frozenset(self._names.get(word, word) for word in words)


def _ask_alike(kind: str, other: str) -> bool:
    """Return whether two questions want the same kind of answer: a "what", or the same other one.

    >>> _ask_alike("count", "definition"), _ask_alike("who", "count"), _ask_alike("who", "who")
    (True, False, True)
    """
    return kind == other or {kind, other} <= _WHAT


def _choose(matches: Iterable[Match]) -> Match | None:
    """Return the best match, one that holds before one that does not.

    None if another one with another answer fits as well.
    """
    ranked = sorted(matches, key=_rank)
    if len(ranked) > 1 and _rank(ranked[0])[:-1] == _rank(ranked[1])[:-1]:
        return ranked[0] if ranked[0].fact.answer == ranked[1].fact.answer else None
    return ranked[0] if ranked else None


def _rank(match: Match) -> tuple[bool, bool, float, float, str]:
    return (
        not match.holds,
        not match.is_exact,
        -round(match.overlap, 6),
        -round(match.similarity, 6),
        match.chunk.doc_id,
    )


def _read_period(question: str, today: date) -> tuple[str, _Period]:
    """Return the question without its time, and the days that it asks about.

    >>> _read_period("What was the fee in 2023?", date(2025, 1, 31))[0]
    'What was the fee?'
    """
    for found, days in _iter_periods(question):
        rest = f"{question[: found.start()].rstrip()}{question[found.end() :]}"
        first, last = days
        if first <= today <= last:
            return rest, _Period(today, today)
        return rest, _Period(first, last, is_past=True)
    return question, _Period(today, today)


def _iter_periods(question: str) -> Iterator[tuple[re.Match[str], tuple[date, date]]]:
    if found := _DAY.search(question):
        try:
            day = date.fromisoformat(found[1])
        except ValueError:
            return
        yield found, (day, day)
    elif found := _YEAR.search(question):
        year = int(found[1])
        yield found, (date(year, 1, 1), date(year, 12, 31))
