"""Answering: gathered evidence → a draft → the checked answer, or the refusal.

If the check refuses the draft of the default language model and `models.strong` is configured, that
model writes another draft, which is checked in the same way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from esrag.citations import REFUSAL, OnSentence
from esrag.context import Context
from esrag.engines.clock import Clock
from esrag.evidence.confidence import band, rate_sources
from esrag.evidence.contradiction import contradiction
from esrag.evidence.selection import documents
from esrag.gathering import Gathered
from esrag.generating import Draft, GenerationTask, Generator
from esrag.models import NO_PROMPT, LanguageModel, Prompt
from esrag.records import Answer
from esrag.results import AskResult
from esrag.verifying.source_lookup import name_sources
from esrag.verifying.verify import Check, Rules, refusal

FAILED_CHECKS = ("unsupported", "contract")  # not "model-refused": the evidence may lack the answer


@dataclass(frozen=True, slots=True)
class Attempt:
    """A draft to write: the task for the generator, and the check that reads what it writes."""

    task: GenerationTask
    check: Check
    generator: Generator
    clock: Clock


def generate(attempt: Attempt) -> Draft:
    """Return the generator's draft. Raises: GeneratorError, SettingsError."""
    draft = attempt.generator.generate(attempt.task)
    attempt.clock.lap("generate")
    return draft


def verify(draft: Draft, attempt: Attempt) -> Answer:
    """Return the draft as an answer if the cited passages support it, else the refusal."""
    answer = attempt.check.answer(draft.text)
    attempt.clock.lap("verify")
    return answer


@dataclass(frozen=True, slots=True)
class _Written:
    """An answer, the draft that it was made of, and the prompt for that."""

    answer: Answer
    draft: Draft
    prompt: Prompt = NO_PROMPT


class Answering:
    """The drafts for a question, and the answer that the checks leave of them."""

    def __init__(
        self, question: str, found: Gathered, context: Context, on_sentence: OnSentence
    ) -> None:
        self._question, self._found, self._context = question, found, context
        self._on_sentence = on_sentence
        self._notes: list[str] = []
        self._written: _Written | None = None
        self._refusal = _refuse(question, found)
        self._clock = Clock()

    def iter_attempts(self, writers: Sequence[LanguageModel | None]) -> Iterator[Attempt]:
        """Yield an attempt for each writer, in order, until a draft passes its check.

        Nothing is yielded if the evidence itself calls for a refusal. The sentences of a draft that
        another model may have to write again are passed on once the whole draft is checked.
        """
        if self._refusal:
            return

        *cheap, last = writers
        for model in cheap:
            sentences: list[str] = []
            yield self._attempt(model, sentences.append)
            if self._has_passed():
                for sentence in sentences:
                    self._on_sentence(sentence)
                return
        yield self._attempt(last, self._on_sentence)

    def _attempt(self, model: LanguageModel | None, on_sentence: OnSentence) -> Attempt:
        question, found, context = self._question, self._found, self._context
        # What esrag itself puts together has the words of the documents.
        entail = context.entail if model else None
        check = Check(question, found.evidence, _rules(context), entail, on_sentence)
        task = GenerationTask(
            question=question,
            evidence=found.evidence,
            statements=found.statements,
            max_sentences=context.settings.answer.max_sentences,
            prompt=_prompt(question, found, model, context) if model else NO_PROMPT,
            model=model,
            on_piece=check.read,
            algorithm=found.algorithm,
            cells=found.cells,
        )

        return Attempt(task=task, check=check, generator=context.generator(), clock=self._clock)

    def _has_passed(self) -> bool:
        """Return whether the last draft needs no other; note a refused one."""
        if self._written is None or self._written.answer.reason not in FAILED_CHECKS:
            return True
        model, reason = self._written.draft.model, self._written.answer.reason
        self._notes.append(f"the draft of {model} was refused ({reason})")
        return False

    def add(self, attempt: Attempt, draft: Draft, answer: Answer) -> None:
        """Note a draft and what its check made of it."""
        self._written = _Written(answer, draft, attempt.task.prompt)

    def result(self, writer: LanguageModel | None) -> AskResult:
        """Return the last draft's answer, with everything that led to it."""
        found, written = self._found, self._finish()
        result = build_result(
            self._question,
            found,
            self._phrase(written.answer),
            written.draft.model or (writer or self._context.generator()).model,
            draft=written.draft.text,
        )
        took_ms = {**result.took_ms, **self._clock.took_ms}
        result = replace(result, prompt=written.prompt, took_ms=took_ms)
        if self._context.settings.answer.confidence == "fitted":
            return result
        return _rate_by_sources(result)

    def _finish(self) -> _Written:
        """Return the answer with sources and notes, or an algorithm's steps for a refusal."""
        if self._refusal:
            return _Written(self._refusal, Draft(REFUSAL))
        if self._written is None:
            raise AssertionError("a question without a refusal has an attempt")

        answer = self._written.answer
        answer = replace(answer, notes=(*self._notes, *answer.notes))
        if answer.refused:
            answer = _answer_with_steps(self._found, answer)
        answer = name_sources(answer, self._context.engine)
        self._clock.lap("verify")
        return replace(self._written, answer=answer)

    def _phrase(self, answer: Answer) -> Answer:
        """Return an answer; a refusal in the words of the settings."""
        words = self._context.settings.answer.refusal_text
        return replace(answer, text=words) if answer.refused else answer


def build_result(
    question: str, found: Gathered, answer: Answer, model: str, *, draft: str = ""
) -> AskResult:
    """Return an answer together with what was gathered for it."""
    return AskResult(
        question=question,
        answer=answer,
        signals=found.signals,
        confidence=found.confidence,
        confidence_band=band(found.confidence),
        evidence=found.evidence,
        retrieved=found.retrieved,
        model=model,
        took_ms=found.retrieved.took_ms,
        steps=found.steps,
        draft=draft,
    )


def _rate_by_sources(result: AskResult) -> AskResult:
    """Return the result with the confidence that its hits and their origin give it."""
    hits = result.retrieved.hits
    official = [hit.added.get("authority", 0.0) > 0 for hit in hits]
    rated = rate_sources([hit.score for hit in hits], official)
    return replace(result, confidence=rated, confidence_band=band(rated))


def _refuse(question: str, found: Gathered) -> Answer | None:
    """Return the refusal that the evidence calls for before anything is written, if it does."""
    if found.lacks:
        return refusal(found.lacks)
    if pair := contradiction(question, found.statements, found.evidence):
        return refusal("contradictory", "; ".join(f"{each.key} says: {each.text}" for each in pair))
    return None


def _rules(context: Context) -> Rules:
    """Return what a draft is held to; without a model, a generator limits its own sentences."""
    limits = context.settings.answer
    max_sentences = limits.max_sentences if context.generator().prompted else None
    return Rules(limits.unsupported, limits.quotes, max_sentences)


def _prompt(question: str, found: Gathered, model: LanguageModel, context: Context) -> Prompt:
    """Return everything that the model is sent."""
    limits = context.settings.answer
    evidence = () if model.takes_documents else found.evidence
    prompt = context.prompts.prompt(
        question,
        evidence,
        limits.max_sentences,
        quotes=limits.quotes,
        metadata=limits.metadata,
    )

    if not model.takes_documents:
        return prompt
    return replace(prompt, documents=documents(found.evidence, metadata=limits.metadata))


def _answer_with_steps(found: Gathered, refused: Answer) -> Answer:
    """Return the steps of the algorithm in question if the evidence has them, else the refusal."""
    steps = Check("", found.evidence, Rules()).answer(found.algorithm)
    if steps.refused:
        return refused
    note = f"the draft was refused ({refused.reason}): these are the document's own steps"
    return replace(steps, notes=(note,))
