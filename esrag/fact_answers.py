"""Answer a question with a fact, which is cited and checked as a passage is."""

from dataclasses import replace

from esrag.answering import build_result
from esrag.citations import OnSentence
from esrag.context import Context
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.evidence import NEAR, Statement, find_best
from esrag.evidence.confidence import Signals
from esrag.facts import Fact, question_key
from esrag.facts.citing import to_draft
from esrag.facts.storing import to_fact
from esrag.filters import Filter, Terms
from esrag.gathering import Gathered, select
from esrag.records import Chunk, Evidence, Hit
from esrag.results import AskResult
from esrag.retrieval import retrieve
from esrag.routing import Route
from esrag.text.figures import Use, to_figures, uses
from esrag.text.terms import whole_words
from esrag.verifying.source_lookup import name_sources
from esrag.verifying.verify import Check, Rules

EXACT, SIMILAR = 1.0, 0.9  # confidence in the fact of the same question, and of a similar one
_MODEL = "facts"


def answer_from_fact(
    question: str, route: Route, context: Context, where: Filter | None, on_sentence: OnSentence
) -> AskResult | None:
    """Return the answer of a route to a fact; None for another route, or if the check refuses it.

    What the documents say is compared with it, and a note tells if they say something else.

    Raises: EngineError.
    """
    facts, clock = context.facts(), Clock()
    if route.kind != "facts" or facts is None:
        return None
    chunk = next(iter(facts.chunks(Terms("doc_id", route.doc_ids))), None)
    if chunk is None:  # removed meanwhile
        return None

    found = _gather(question, chunk, clock)
    draft = to_draft(chunk.text)
    # As plain text: its title is a question, and no subject that a sentence lacks.
    check = Check(question, found.evidence, Rules(), on_sentence=lambda one: on_sentence(str(one)))
    answer = name_sources(check.answer(draft), facts)
    if answer.refused:
        return None

    fact = to_fact(chunk)
    notes = (*answer.notes, *_tell_validity(fact), *_compare(question, fact, context, where))
    result = build_result(question, found, replace(answer, notes=notes), _MODEL, draft=draft)
    return replace(result, route="facts", decision=route.decision)


def _gather(question: str, chunk: Chunk, clock: Clock) -> Gathered:
    """Return a fact as the evidence for a question."""
    is_exact = question_key(question) == question_key(chunk.title)
    confidence = EXACT if is_exact else SIMILAR
    hit = Hit(chunk, confidence, fused_score=confidence)
    clock.lap("facts")
    return Gathered(
        retrieved=SearchResult(
            (hit,), "facts-exact" if is_exact else "facts-similar", took_ms=clock.took_ms
        ),
        evidence=(Evidence("c1", chunk, confidence),),
        statements=(),
        signals=Signals(confidence, None),
        confidence=confidence,
        lacks=None,
    )


def _tell_validity(fact: Fact) -> tuple[str, ...]:
    if not (fact.valid_from or fact.valid_until):
        return ()
    first = f" from {fact.valid_from}" if fact.valid_from else ""
    last = f" until {fact.valid_until}" if fact.valid_until else ""
    return (f"this holds{first}{last}",)


def _compare(question: str, fact: Fact, context: Context, where: Filter | None) -> tuple[str, ...]:
    """Return a note if the documents' best statement has another figure of the fact's unit."""
    figures = _figures(fact.answer)
    if not (figures and context.engine.exists()):
        return ()

    found = select(question, question, retrieve(question, context, where), context)
    if found.lacks or not (other := _find_other(question, figures, found)):
        return ()
    titles = {item.key: item.chunk.title or item.chunk.doc_id for item in found.evidence}
    return (f"the documents differ: {titles[other.key]!r} says: {other.text}",)


def _find_other(question: str, figures: set[Use], found: Gathered) -> Statement | None:
    """Return the best statement, if it has the words of the question and none of the figures."""
    best = find_best(found.statements)
    near = [each for each in found.statements if best and each.fit >= NEAR * best.fit]
    if best is None or any(figures & _figures(each.text) for each in near):
        return None

    told = set(whole_words(f"{best.text} {best.under}"))
    asked = {word for word in whole_words(question) if not word.isdigit()}
    units = {use.unit for use in figures}
    has_other = any(use.unit in units for use in _figures(best.text))
    return best if asked <= told and has_other else None


def _figures(text: str) -> set[Use]:
    """Return the figures of a text that have a unit."""
    return {use for use in uses(to_figures(text)) if use.unit}
