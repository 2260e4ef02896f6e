"""Answering: hits → a cited answer, or the refusal.

The contract, for every class registered under `esrag.generators`:

- `Generator(options)` does nothing slow. `generate(task)` → a draft whose sentences end with markers like `[c2]`, keys
  of the evidence it was given, or `REFUSAL`; it may pass all of its pieces to `task.on_piece` as they come, or none.
  `model` is the name shown to the user, `prompted` whether it reads `task.prompt`, and `takes_documents` whether the
  evidence is sent next to the question as documents, instead of in a template.
- Raises: SettingsError for a key or an address that cannot be right; GeneratorError where the model does not answer.

What a generator returns is never trusted: `verify.verify` checks the draft against the evidence and gives the answer,
or the refusal with its reason. The citation contract:

- a refusal is exactly `REFUSAL` and cites nothing; an answer cites something;
- every sentence ends with at least one marker, and every marker is a key of the evidence;
- every citation has pages with 0 < start_page ≤ end_page; only keys the text uses are cited, in numerical order;
- every number and most words of a sentence occur in its cited passages; with `answer.quotes` it ends with a verbatim
  quote of them, or occurs there itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from esrag.citations import ignore
from esrag.evidence import SentDocument, Statement
from esrag.records import Evidence


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent."""

    system: str
    user: str
    documents: tuple[SentDocument, ...] = ()


NO_PROMPT = Prompt("", "")


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """What a generator gets: the question, its evidence in order, what that says, and the prompt.

    `max_sentences` is how much to write. `algorithm` is a draft of the steps if the question asks
    for an "Algorithm N" that the evidence has, else "".
    """

    question: str
    evidence: tuple[Evidence, ...]
    statements: tuple[Statement, ...]
    prompt: Prompt
    max_sentences: int
    on_piece: Callable[[str], None] = ignore
    algorithm: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a model read and wrote, in its own tokens."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Draft:
    """Unchecked text with markers, and what it cost where the generator knows."""

    text: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class GeneratorOptions:
    """The section `generator` of the settings."""

    model: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    max_output_tokens: int = 1000


class Generator(Protocol):
    """Writes a draft from evidence; see the module for the promises."""

    model: str
    prompted: bool
    takes_documents: bool

    def generate(self, task: GenerationTask) -> Draft:
        """A draft with markers, or `REFUSAL`."""
        ...
