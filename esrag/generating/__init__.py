"""Generating: evidence → a draft, which is checked before it becomes an answer.

The contract, for every class registered under `esrag.generators`:

- `Generator(options)` does nothing slow. `generate(task)` → a draft whose sentences end with
  markers like `[c2]`, keys of the evidence it was given, or `REFUSAL`; it may pass all of its
  pieces to `task.on_piece` as they come, or none. `model` is the name shown to the user.
  `prompted` says whether it sends `task.prompt` to `task.model`: only then are the two made, and a
  language model has to be configured.
- Raises: SettingsError; GeneratorError if it cannot write a draft.

What a generator returns is never trusted: `verify.verify` checks the draft against the evidence
and gives the answer, or the refusal with its reason. The citation contract:

- a refusal is exactly `REFUSAL` and cites nothing; an answer cites something;
- every sentence ends with at least one marker, and every marker is a key of the evidence;
- every citation has pages with 0 < start_page ≤ end_page; only keys the text uses are cited, in
  numerical order;
- every number and most words of a sentence occur in its cited passages; with `answer.quotes` it
  ends with a verbatim quote of them, or occurs there itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from esrag.citations import ignore
from esrag.evidence import NO_DIRECT_ANSWER, DirectAnswer, Statement
from esrag.models import NO_PROMPT, LanguageModel, Prompt
from esrag.records import Evidence


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """A question with its evidence in order, the statements in it, and how much to write.

    `prompt` and `model` are for generators that are `prompted`. `algorithm` is a draft of the steps
    if the question asks for an "Algorithm N" that the evidence has, else "". `cells` are those of
    tables that answer the question.
    """

    question: str
    evidence: tuple[Evidence, ...]
    statements: tuple[Statement, ...]
    max_sentences: int
    prompt: Prompt = NO_PROMPT
    model: LanguageModel | None = None
    on_piece: Callable[[str], None] = ignore
    algorithm: str = ""
    cells: DirectAnswer = NO_DIRECT_ANSWER


@dataclass(frozen=True, slots=True)
class Draft:
    """Unchecked text with markers, and the name of the language model that wrote it, if one did."""

    text: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class GeneratorOptions:
    """The section `generator` of the settings, as generators take it."""

    templates: str = ""


class Generator(Protocol):
    """Writes a draft from evidence; see the module for the promises."""

    model: str
    prompted: bool

    def generate(self, task: GenerationTask) -> Draft:
        """Return a draft with markers, or `REFUSAL`."""
        ...
