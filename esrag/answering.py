"""Answering: gathered evidence → a draft → the checked answer, or the refusal.

If the check refuses the draft of the default language model and `models.strong` is configured, that
model writes another draft, which is checked in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from esrag.citations import REFUSAL, OnSentence
from esrag.context import Context
from esrag.engines.clock import Clock
from esrag.evidence.contradiction import contradiction
from esrag.evidence.selection import documents
from esrag.gathering import Gathered
from esrag.generating import Draft, GenerationTask
from esrag.models import NO_PROMPT, LanguageModel, Prompt
from esrag.records import Answer
from esrag.verifying.source_lookup import name_sources
from esrag.verifying.verify import Check, Rules, refusal, verify

FAILED_CHECKS = ("unsupported", "contract")  # not "model-refused": the evidence may lack the answer


@dataclass(frozen=True, slots=True)
class Written:
    """An answer, the draft that it was made of, and the prompt for that. `took_ms` is by stage."""

    answer: Answer
    draft: Draft
    prompt: Prompt = NO_PROMPT
    took_ms: Mapping[str, float] | None = None


def write_answer(
    question: str, found: Gathered, context: Context, on_sentence: OnSentence
) -> Written:
    """Return the checked answer to a question, or the refusal.

    `on_sentence` is called with each sentence as it passes its check. Those of a draft that another
    model may have to write again are passed on once the whole draft is checked.

    Raises: GeneratorError, SettingsError.
    """
    if refused := _refuse(question, found):
        return Written(refused, Draft(REFUSAL))

    desk = _Desk(question=question, found=found, context=context, clock=Clock())
    *cheap, last = context.open_writers()
    notes: list[str] = []

    for model in cheap:
        sentences: list[str] = []
        written = desk.write(model, sentences.append)
        if written.answer.reason not in FAILED_CHECKS:
            for sentence in sentences:
                on_sentence(sentence)
            return desk.finish(written)
        notes.append(f"the draft of {written.draft.model} was refused ({written.answer.reason})")

    return desk.finish(desk.write(last, on_sentence), notes)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What is needed to write an answer, and a clock for its stages."""

    question: str
    found: Gathered
    context: Context
    clock: Clock

    def write(self, model: LanguageModel | None, on_sentence: OnSentence) -> Written:
        """Return one draft and what its check made of it. Raises: GeneratorError, SettingsError."""
        evidence, context = self.found.evidence, self.context
        check = Check(self.question, evidence, _rules(context), context.encode, on_sentence)
        prompt = _prompt(self.question, self.found, model, context) if model else NO_PROMPT
        task = GenerationTask(
            question=self.question,
            evidence=evidence,
            statements=self.found.statements,
            max_sentences=context.settings.answer.max_sentences,
            prompt=prompt,
            model=model,
            on_piece=check.read,
            algorithm=self.found.algorithm,
        )

        draft = context.generator().generate(task)
        self.clock.lap("generate")

        answer = check.answer(draft.text)
        self.clock.lap("verify")
        return Written(answer, draft, prompt)

    def finish(self, written: Written, notes: Sequence[str] = ()) -> Written:
        """Return the answer with sources and notes, or an algorithm's steps for a refusal."""
        answer = replace(written.answer, notes=(*notes, *written.answer.notes))
        if answer.refused:
            answer = _answer_with_steps(self.found, answer)

        answer = name_sources(answer, self.context.engine)
        self.clock.lap("verify")
        return replace(written, answer=answer, took_ms=self.clock.took_ms)


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
    prompt = context.prompts.prompt(question, evidence, limits.max_sentences, quotes=limits.quotes)

    return replace(prompt, documents=documents(found.evidence)) if model.takes_documents else prompt


def _answer_with_steps(found: Gathered, refused: Answer) -> Answer:
    """Return the steps of the algorithm in question if the evidence has them, else the refusal."""
    steps = verify(found.algorithm, found.evidence)
    if steps.refused:
        return refused
    note = f"the draft was refused ({refused.reason}): these are the document's own steps"
    return replace(steps, notes=(note,))
