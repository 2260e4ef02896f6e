"""Asking: a question → hits → evidence → a draft → the answer that passes the checks.

Where the evidence does not suffice, other wordings are searched, at most `answer.steps` in all: the best is answered
from. A model is asked for an answer only where the evidence is good enough.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from esrag.chunking.cut import text_to_index
from esrag.citations import REFUSAL, Reason, unheard
from esrag.engines import SearchResult
from esrag.engines.clock import Clock
from esrag.errors import GeneratorError
from esrag.evidence import Statement
from esrag.evidence.algorithms import extract_steps, with_steps
from esrag.evidence.confidence import Signals, band, confidence
from esrag.evidence.contradiction import contradiction
from esrag.evidence.selection import Room, compress_evidence, documents, select
from esrag.evidence.statements import statements
from esrag.filters import Filter
from esrag.generating import NO_PROMPT, Draft, GenerationTask, Generator, Prompt, Usage
from esrag.generating.rewriting import reformulate, subject
from esrag.records import Answer, Evidence
from esrag.reranking.chain import Limits, rerank
from esrag.retrieving.legs import query_vector, retrieve
from esrag.retrieving.neighbours import with_neighbours
from esrag.retrieving.variants import fuse_searches, operations, variants
from esrag.settings import Settings
from esrag.stages import Stages, prompts_of
from esrag.text import word_spans
from esrag.verifying.verify import Check, Rules, refusal, verify

REACH = 3  # chunks before and after a hit that an algorithm may reach; the longest of FIPS 203 stands in four

Shown = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One search on the way to an answer: what was searched for, and how sure what it found makes."""

    query: str
    hits: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer and how it came about; `took_ms` is by stage, and of a `cached` one the time to find it."""

    question: str
    answer: Answer
    signals: Signals
    confidence: float
    confidence_band: str
    evidence: tuple[Evidence, ...]
    retrieved: SearchResult
    model: str
    took_ms: Mapping[str, float]
    steps: tuple[Step, ...]
    prompt: Prompt = NO_PROMPT
    usage: Usage | None = None
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found for a question, and whether that will do."""

    retrieved: SearchResult
    evidence: tuple[Evidence, ...]
    stated: tuple[Statement, ...]
    signals: Signals
    confidence: float
    lacks: Reason | None


def retrieve_hits(question: str, settings: Settings, stages: Stages, where: Filter | None) -> SearchResult:
    """The hits in the order of the rerankers, which look at more of them than come back."""
    wanted, chain, limits = settings.retrieval, stages.rerankers(), settings.rerank
    deep = wanted.model_copy(update={"k": max(wanted.k, limits.depth)}) if chain else wanted
    wordings = variants(question, operations(wanted.operations)) if wanted.variants else (question,)
    found = [retrieve(wording, stages.engine, stages.embedder, deep, where) for wording in wordings]
    clock, hits = Clock(), fuse_searches([each.hits for each in found], wanted.rank_constant)
    reranked = rerank(question, hits, chain, Limits(limits.depth, limits.budget_ms / 1000 or math.inf))
    if chain:
        clock.lap("rerank")
    took_ms = {**_summed([each.took_ms for each in found]), **clock.took_ms}
    return SearchResult(reranked.hits[: wanted.k], found[0].path, reranked.notes, took_ms)


def _summed(laps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The time of each stage over several searches."""
    return {stage: round(sum(each.get(stage, 0) for each in laps), 1) for stage in laps[0]}


def answer_question(
    question: str, settings: Settings, stages: Stages, where: Filter | None, shown: Shown | None = None
) -> Asked:
    """The answer, made now. Raises: as `pipeline.ask`."""
    generator = stages.generator()  # what it lacks is said before anything is done
    found, steps = _searched(question, settings, stages, where)
    clock, draft, prompt = Clock(), Draft(REFUSAL), NO_PROMPT

    if reason := found.lacks:
        if reason == "no-hits" and where and retrieve_hits(question, settings, stages, None).hits:
            reason = "filtered-out"
        used_up = 1 < len(steps) == settings.answer.steps
        answer = refusal("budget" if reason == "below-threshold" and used_up else reason)
    elif pair := contradiction(question, found.stated, found.evidence):
        answer = refusal("contradictory", "; ".join(f"{each.key} says: {each.text}" for each in pair))
    else:
        limits = settings.answer
        most = limits.max_sentences if generator.prompted else None  # others keep to it by themselves
        rules = Rules(limits.unsupported, limits.quotes, most)
        check = Check(question, found.evidence, rules, stages.encode, shown or unheard)
        prompt = _prompt(question, found.evidence, settings, generator)
        task = GenerationTask(question, found.evidence, found.stated, prompt, limits.max_sentences, check.read)
        draft = generator.generate(task)
        clock.lap("generate")
        answer = _or_steps(question, check.answer(draft.text), found.evidence)
        clock.lap("verify")

    took_ms = {**found.retrieved.took_ms, **clock.took_ms}
    sure = (found.signals, found.confidence, band(found.confidence))
    how = (*sure, found.evidence, found.retrieved, generator.model, took_ms, steps)
    return Asked(question, answer, *how, prompt=prompt, usage=draft.usage)


def _searched(
    question: str, settings: Settings, stages: Stages, where: Filter | None
) -> tuple[Found, tuple[Step, ...]]:
    """What the first search found that will do, else the best of all, the earliest of equals; and all searches."""
    steps: list[Step] = []
    notes: list[str] = []
    best: Found | None = None

    for query in islice(_queries(question, settings, stages, notes), settings.answer.steps):
        found = _found(question, query, settings, stages, where)
        steps.append(Step(query, len(found.retrieved.hits), found.confidence))
        if best is None or (best.lacks and (not found.lacks or found.confidence > best.confidence)):
            best = found
        if not best.lacks:
            break
    if best is None:
        raise AssertionError("the question itself is the first query")

    noted = replace(best.retrieved, notes=(*best.retrieved.notes, *notes))
    return replace(best, retrieved=noted), tuple(steps)


def _queries(question: str, settings: Settings, stages: Stages, notes: list[str]) -> Iterator[str]:
    """The question, then other words for it: those made without a model, the model's own, what it is about.

    A model is asked until it has no new ones, each time with all that was tried; where it fails, `notes` get that.
    """
    queries = [*variants(question, operations(settings.retrieval.operations))]
    yield from queries

    while (query := _worded(question, queries, settings, stages, notes)) and query not in queries:
        queries.append(query)
        yield query
    if (about := subject(question)) and about not in queries:
        yield about


def _worded(question: str, queries: Sequence[str], settings: Settings, stages: Stages, notes: list[str]) -> str:
    """The next query of the model's; "" where there is none, or it fails."""
    generator = stages.generator()
    try:
        return reformulate(question, queries, generator, prompts_of(settings)) if generator.prompted else ""
    except GeneratorError as error:
        notes.append(f"the model's other words were left out: {error.line}")
        return ""


def _found(question: str, query: str, settings: Settings, stages: Stages, where: Filter | None) -> Found:
    """What a query finds, and how well that answers the question."""
    result = retrieve_hits(query, settings, stages, where)
    clock = Clock()
    evidence, stated = _evidence(question, result, settings, stages)
    is_plain = query == question and not settings.retrieval.variants
    closeness = _closeness(result) if is_plain else _closeness_to(question, result, stages)
    signals = Signals(max((statement.fit for statement in stated), default=0.0), closeness)
    sureness = confidence(signals)
    clock.lap("evidence")
    result = replace(result, took_ms={**result.took_ms, **clock.took_ms})
    lacks = _too_little(result, settings) or _too_unsure(sureness, settings)
    return Found(result, evidence, stated, signals, sureness, lacks)


def _evidence(
    question: str, retrieved: SearchResult, settings: Settings, stages: Stages
) -> tuple[tuple[Evidence, ...], tuple[Statement, ...]]:
    """The passages that may be cited, and what they say. Raises: ContextTooLarge."""
    limits = settings.answer
    tokens = stages.embedder.tokens if stages.embedder else word_spans
    sizes = (limits.evidence_chunks, limits.evidence_characters, limits.evidence_tokens)
    room = Room(*sizes, lambda text: len(tokens(text)))
    compress = limits.compress and stages.generator().prompted
    hits = with_steps(question, retrieved.hits, lambda chunk: stages.engine.neighbours(chunk, REACH))
    around = with_neighbours(hits, stages.engine, limits.neighbours)
    evidence = select(around, room.without_sizes if compress else room)
    stated = statements(question, evidence, stages.encode, whole=compress)
    return (compress_evidence(question, evidence, stated, room) if compress else evidence), stated


def _or_steps(question: str, answer: Answer, evidence: Sequence[Evidence]) -> Answer:
    """The answer; for a refused one the steps of the algorithm that is asked for, where the evidence has them."""
    steps = verify(extract_steps(question, evidence), evidence) if answer.refused else answer
    if steps.refused or steps is answer:
        return answer
    return replace(steps, notes=(f"the draft was refused ({answer.reason}): these are the document's own steps",))


def _prompt(question: str, evidence: Sequence[Evidence], settings: Settings, generator: Generator) -> Prompt:
    """What the generator is sent, all of it."""
    if not generator.prompted:
        return NO_PROMPT
    limits = settings.answer
    inside, beside = ((), documents(evidence)) if generator.takes_documents else (evidence, ())
    prompt = prompts_of(settings).prompt(question, inside, limits.max_sentences, quotes=limits.quotes)
    return replace(prompt, documents=beside)


def _closeness(retrieved: SearchResult) -> float | None:
    """The best cosine among the hits; None where the vector leg was not searched or found nothing."""
    return max((hit.vector_score for hit in retrieved.hits if hit.vector_score is not None), default=None)


def _closeness_to(question: str, result: SearchResult, stages: Stages) -> float | None:
    """The same of the question, where other words were searched for: by the vectors that are stored."""
    if stages.embedder is None or _closeness(result) is None:
        return None
    stored = stages.engine.vectors_of([text_to_index(hit.chunk) for hit in result.hits])
    vector = query_vector(question, stages.embedder)
    return max((round(float(row @ vector), 6) for row in stored.values()), default=None)


def _too_little(retrieved: SearchResult, settings: Settings) -> Reason | None:
    if not retrieved.hits:
        return "no-hits"
    return "too-few-hits" if len(retrieved.hits) < settings.answer.minimum_hits else None


def _too_unsure(sureness: float, settings: Settings) -> Reason | None:
    return "below-threshold" if sureness < settings.answer.refusal else None
