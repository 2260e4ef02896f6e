"""Find the fact that answers a question: the same question, one that is nearly it, or none.

A wrong fact is worse than none, so a fact may answer only if it has every word of the question that
carries meaning: "What is the processing time?" is not answered with the processing fee.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, chain

from esrag.engines import Engine, SearchRequest
from esrag.facts import Fact, question_key
from esrag.facts.periods import Period, read_period
from esrag.facts.storing import key_term, to_fact
from esrag.facts.wording import Wording, has_figure, point_alike, read_measure
from esrag.filters import Filter
from esrag.records import Chunk
from esrag.settings import FactsSettings
from esrag.text.questions import read_question

CANDIDATES = 20
# Of frequent words the question's own fact alone is found: scoring a row takes microseconds.
MAX_ROWS_SEARCHED = 1_000
_WHAT = frozenset(("count", "definition", "other"))


@dataclass(frozen=True, slots=True)
class Match:
    """A fact that fits a question.

    `similarity` is how alike the two questions are written. `overlap` is the share of their words
    that they have in common, `covered` the same with the words of the fact's answer; all are 0..1.
    `holds` says whether the fact holds when the question asks.
    """

    chunk: Chunk
    fact: Fact
    is_exact: bool
    similarity: float
    overlap: float
    covered: float
    holds: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question without its time: its words, the kind of answer that it wants, and its measure.

    `whole` is the key of the question with its time, which may be the question of a fact as well.
    """

    text: str
    key: str
    whole: str
    words: frozenset[str]
    kind: str
    measure: str
    period: Period


class FactFinder:
    """Finds facts in their index; one that was never made holds none."""

    def __init__(self, engine: Engine, settings: FactsSettings) -> None:
        self._engine, self._settings = engine, settings
        self._wording = Wording(settings)

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
        text, period = read_period(question, self._settings.today)
        return _Asked(
            text=text,
            key=question_key(text),
            whole=question_key(question),
            words=self._wording.words(text),
            kind=read_question(text).kind,
            measure=read_measure(text),
            period=period,
        )

    def _request(self, asked: _Asked, where: Filter | None) -> SearchRequest | None:
        """Return a search for the question itself and its rarest words; None if no fact has one.

        A fact that answers has all words, so frequent ones need not be searched for.
        """
        found = {word: self._wording.search_terms(word) for word in asked.words}
        # The stem of "being" is a stop word, which no search finds.
        spelled = {word: terms for word, terms in found.items() if terms}
        counts = self._engine.count_terms([*chain.from_iterable(spelled.values())])
        rows = {word: sum(counts.get(term, 0) for term in spelled[word]) for word in spelled}
        if not all(rows.values()):
            return None

        rarest = sorted(rows, key=lambda word: (rows[word], word))
        totals = accumulate(rows[word] for word in rarest)
        chosen = [w for w, total in zip(rarest, totals, strict=True) if total <= MAX_ROWS_SEARCHED]
        keys = (key_term(key) for key in (asked.key, asked.whole))
        text = " ".join((*keys, *chain.from_iterable(spelled[w] for w in chosen)))
        return SearchRequest(
            text=text, method="keyword", filter=where, size=CANDIDATES, candidates=CANDIDATES
        )

    def _match(self, asked: _Asked, chunk: Chunk) -> Match | None:
        """Return how a fact fits a question; None if it does not."""
        fact = to_fact(chunk)
        key, told = question_key(fact.question), self._wording.words(fact.question)
        is_exact = key in {asked.key, asked.whole}
        if not is_exact and not self._may_answer(asked, fact, told):
            return None

        longer = max(len(asked.words), len(told)) or 1
        return Match(
            chunk=chunk,
            fact=fact,
            is_exact=is_exact,
            similarity=SequenceMatcher(None, asked.key, key, autojunk=False).ratio(),
            overlap=len(asked.words & told) / longer,
            covered=len(asked.words) / longer,
            holds=asked.period.fits(fact, is_named=key == asked.whole),
        )

    def _may_answer(self, asked: _Asked, fact: Fact, told: frozenset[str]) -> bool:
        """Return whether a fact has every word of a question, and answers one of its kind."""
        missing = asked.words - told
        if missing and missing - self._wording.words(fact.answer):
            return False
        if asked.kind == "definition" and told - asked.words:  # of another thing
            return False
        return _ask_alike(asked, fact) and point_alike(asked.text, fact.question)


def _ask_alike(asked: _Asked, fact: Fact) -> bool:
    """Return whether a fact's question wants the same kind of answer, and the same measure.

    What, how much and how many are one kind, if the fact has such a figure.
    """
    kind, measure = read_question(fact.question).kind, read_measure(fact.question)
    if asked.kind != kind and not {asked.kind, kind} <= _WHAT:
        return False
    if asked.measure and measure:
        return asked.measure == measure
    needs_figure = asked.measure or (asked.kind == "count" != kind)
    return not needs_figure or has_figure(asked.measure, fact.answer)


def _choose(matches: Iterable[Match]) -> Match | None:
    """Return the best match, one that holds before one that does not.

    None if another one with another answer fits as well.
    """
    ranked = sorted(matches, key=_rank)
    alike = [match for match in ranked if _rank(match)[:-1] == _rank(ranked[0])[:-1]]
    return alike[0] if len({match.fact.answer for match in alike}) == 1 else None


def _rank(match: Match) -> tuple[bool, bool, float, float, str]:
    return (
        not match.holds,
        not match.is_exact,
        -round(match.overlap, 6),
        -round(match.similarity, 6),
        match.chunk.doc_id,
    )
