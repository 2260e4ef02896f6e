"""A question that asks for several things: each part is answered by itself, then all are joined."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Self, TypeVar

from esrag.citations import KEY, MARKERS, CheckedSentence, OnSentence, ignore
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import sum_laps
from esrag.filters import Filter
from esrag.generating.followups import Turn, make_standalone
from esrag.generating.parts import split_question
from esrag.generating.rewriting import rewrite
from esrag.middleware import ELSEWHERE, Ask
from esrag.records import Answer, Evidence
from esrag.results import AskResult, Part
from esrag.text.terms import find_years

T = TypeVar("T")
_NO_PASSAGE = "c0"  # keys count from 1
_WHEN = re.compile(
    r"(?:and )?(?:when|in (?:what|which) year)"
    r"(?: (?:did|was|is|has) (?:it|that|this)(?: (?:been|done|happen|occur|take place))?)?\?",
    re.IGNORECASE,
)


def answer_parts(ask: Ask) -> Ask:
    """Return `ask` with a question in parts answered part by part, as `routing.parts` allows.

    Each part has its own route, scope and search. A part that leans on an earlier one, or on its
    answer, is completed from it. If no part has an answer, the whole question is asked.
    """

    @wraps(ask)
    def answered(
        question: str,
        context: Context,
        where: Filter | None = None,
        on_sentence: OnSentence = ignore,
    ) -> AskResult:
        parts = split_question(question, context.settings.routing.parts)
        asked = _ask_each(ask, parts, context, where) if len(parts) > 1 else []
        is_whole = any(each.result.route in ELSEWHERE for each in asked)
        if is_whole or all(each.result.refused for each in asked):
            return ask(question, context, where, on_sentence)

        for each in _drop_repeated(asked):
            for sentence in each.iter_sentences():
                on_sentence(sentence)
        return _join(question, asked)

    return answered


@dataclass(frozen=True, slots=True)
class _Asked:
    """A part's result, the sentences that passed their checks, and its keys in the whole answer."""

    result: AskResult
    sentences: Sequence[str]
    keys: Mapping[str, str]

    def renumber(self, text: str) -> str:
        """Return a text of the part with the markers of the whole answer.

        A refused draft may cite what was not given, which must not become another part's passage.
        """

        def rename(key: re.Match[str]) -> str:
            return self.keys.get(key[0].lower(), _NO_PASSAGE)

        return MARKERS.sub(lambda marker: KEY.sub(rename, marker[0]), text)

    def keep(self, sentences: Sequence[str]) -> Self:
        """Return the part with only these of its sentences."""
        answer = replace(self.result.answer, text=" ".join(sentences))
        return replace(self, result=replace(self.result, answer=answer), sentences=sentences)

    def iter_sentences(self) -> Iterator[str]:
        """Yield the sentences that passed their checks."""
        for sentence in self.sentences:
            text = self.renumber(sentence)
            if isinstance(sentence, CheckedSentence):
                text = CheckedSentence(text, sentence.name)
            yield text


def _ask_each(
    ask: Ask, parts: Sequence[str], context: Context, where: Filter | None
) -> list[_Asked]:
    """Return the parts with their results; each may lean on the one before."""
    turns: list[Turn] = []
    asked: list[_Asked] = []
    evidence: list[Evidence] = []
    for part in parts:
        if turns and _is_told(part, turns[-1].answer):
            continue
        sentences: list[str] = []
        result = ask(complete_followup(part, turns, context), context, where, sentences.append)
        asked.append(_Asked(result, sentences, _add_evidence(evidence, result)))
        turns.append(turn_of(result))
    return asked


def _is_told(part: str, answer: str) -> bool:
    """Return whether a part only asks when that was, and the answer before it says so.

    >>> _is_told("when did that happen?", "Ada built it in 1943."), _is_told("When?", "Ada did.")
    (True, False)
    """
    return bool(_WHEN.fullmatch(part) and find_years(answer))


def list_parts(question: str, context: Context) -> tuple[str, ...]:
    """Return the parts of a question as far as their wording is known before any is answered."""
    turns: list[Turn] = []
    for part in split_question(question, context.settings.routing.parts):
        turns.append(Turn(complete_followup(part, turns, context)))
    return tuple(turn.question for turn in turns)


def complete_followup(question: str, earlier: Sequence[Turn], context: Context) -> str:
    """Return a question that stands alone for one that leans on earlier ones.

    The fast language model puts it into words; if the generator asks none, rules do.
    """
    model = context.assistant
    if model:
        return rewrite(question, earlier, model, context.prompts)
    return make_standalone(question, earlier)


def turn_of(asked: AskResult) -> Turn:
    """Return what a later question may lean on: question, answer and titles of the evidence."""
    titles = dict.fromkeys(citation.title for citation in asked.citations if citation.title)
    answer = "" if asked.refused else " ".join(MARKERS.sub(" ", asked.text).split())
    return Turn(asked.question, answer, (*titles,))


def _add_evidence(evidence: list[Evidence], result: AskResult) -> dict[str, str]:
    """Add the evidence of a part that is not there yet; return its new keys by the old ones."""
    keys: dict[str, str] = {}
    for item in result.evidence:
        known = next((each for each in evidence if _is_same(each, item)), None)
        if known is None:
            known = replace(item, key=f"c{len(evidence) + 1}")
            evidence.append(known)
        keys[item.key] = known.key
    return keys


def _is_same(one: Evidence, other: Evidence) -> bool:
    return (one.chunk, one.kept) == (other.chunk, other.kept)


def _join(question: str, asked: Sequence[_Asked]) -> AskResult:
    """Return the answers as one, as sure as the least sure of them."""
    results = [each.result for each in asked]
    told = [each for each in results if not each.refused]
    weakest = min(told, key=lambda each: each.confidence)
    evidence = _keep_first(
        (each.keys[item.key], replace(item, key=each.keys[item.key]))
        for each in asked
        for item in each.result.evidence
    )

    return replace(
        weakest,
        question=question,
        answer=_join_answers(asked),
        evidence=evidence,
        retrieved=_join_searches([each.retrieved for each in results]),
        took_ms=sum_laps([each.took_ms for each in results]),
        steps=tuple(step for each in results for step in each.steps),
        draft="\n".join(each.renumber(each.result.draft) for each in asked),
        route=weakest.route if len({each.route for each in told}) == 1 else "documents",
        corrections=tuple(dict.fromkeys(one for each in results for one in each.corrections)),
        nearest=tuple(dict.fromkeys(place for each in results for place in each.nearest)),
        parts=tuple(_to_part(each) for each in results),
    )


def _join_answers(asked: Sequence[_Asked]) -> Answer:
    """Return the texts of the answers in order; a note names each part without an answer."""
    told = _drop_repeated(asked)
    missing = [each.result for each in asked if each.result.refused]
    citations = {
        each.keys[citation.key]: replace(citation, key=each.keys[citation.key])
        for each in told
        for citation in each.result.citations
    }

    notes = [f"no answer to {each.question!r}: {each.reason}" for each in missing]
    return Answer(
        text="\n".join(each.renumber(each.result.text) for each in told),
        refused=False,
        citations=tuple(sorted(citations.values(), key=lambda each: int(each.key[1:]))),
        notes=(*notes, *dict.fromkeys(note for each in told for note in each.result.answer.notes)),
    )


def _drop_repeated(asked: Sequence[_Asked]) -> list[_Asked]:
    """Return the parts that are answered, without the sentences that an earlier one says."""
    told: list[_Asked] = []
    said: set[str] = set()
    for each in (each for each in asked if not each.result.refused):
        whole = each.renumber(each.result.text)
        new = [one for one in each.sentences if each.renumber(one) not in said]
        if whole in said or (each.sentences and not new):
            continue
        said.update((whole, *map(each.renumber, new)))
        told.append(each if len(new) == len(each.sentences) else each.keep(new))
    return told


def _join_searches(searches: Sequence[SearchResult]) -> SearchResult:
    """Return the hits of all parts; a passage that several found is the first one's."""
    return SearchResult(
        hits=_keep_first((hit.chunk.chunk_id, hit) for each in searches for hit in each.hits),
        path=", ".join(dict.fromkeys(each.path for each in searches)),
        notes=tuple(dict.fromkeys(note for each in searches for note in each.notes)),
        took_ms=sum_laps([each.took_ms for each in searches]),
        scope="; ".join(dict.fromkeys(each.scope for each in searches if each.scope)),
        summaries=_keep_first(
            (hit.chunk.chunk_id, hit) for each in searches for hit in each.summaries
        ),
    )


def _keep_first(items: Iterable[tuple[str, T]]) -> tuple[T, ...]:
    """Return the first item of each key, in order."""
    kept: dict[str, T] = {}
    for key, item in items:
        kept.setdefault(key, item)
    return tuple(kept.values())


def _to_part(result: AskResult) -> Part:
    return Part(
        question=result.question,
        route=result.route,
        decision=result.decision,
        scope=result.retrieved.scope,
        refused=result.refused,
        reason=result.reason,
        confidence=result.confidence,
    )
