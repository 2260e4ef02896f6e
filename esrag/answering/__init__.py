"""Answering: hits → a cited answer, or the refusal.

The contract, for every class registered under `esrag.generators`:

- `Generator(options)` does nothing slow. `generate(task)` → a draft whose sentences end with markers like `[c2]`, keys
  of the evidence it was given, or `REFUSAL`; its pieces may be given to `task.said` as they come, all or none of them.
  `model` is the name shown to the user, `prompted` whether it reads `task.prompt`, and `takes_documents` whether the
  evidence stands beside the question there, as documents, and not in a template with it.
- Raises: SettingsError for a key or an address that cannot be right; GeneratorError where the model does not answer.

What a generator returns is never trusted: `verify.verify` checks the draft against the evidence and gives the answer,
or the refusal with its reason. The citation contract:

- a refusal is exactly `REFUSAL` and cites nothing; an answer cites something;
- every sentence ends with at least one marker, and every marker is a key of the evidence;
- every citation has pages with 0 < start_page ≤ end_page; only keys the text uses are cited, in numerical order;
- every number and most words of a sentence stand in what it cites; with `answer.quotes` it ends with words of that, to
  the letter, or stands there itself.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from esrag.records import Evidence

REFUSAL = "not found in provided docs"

# [c2], and what models make of it: [C2], [c1, c2], 【c1】. A longer number is no key, and none that int() would refuse.
MARKERS = re.compile(r"[\[【]\s*c\d{1,6}(?:\s*[,;]\s*c\d{1,6})*\s*[\]】]", re.IGNORECASE)

NEAR = 0.9  # a statement fits nearly as well as the best from this share of its fit on: it may be answered with

Reason = Literal[
    "no-hits",
    "filtered-out",
    "too-few-hits",
    "below-threshold",
    "budget",
    "contradictory",
    "unsupported",
    "contract",
    "model-refused",
]

REASONS: dict[Reason, str] = {
    "no-hits": "no passage of the index matches the question",
    "filtered-out": "passages match the question, but none within the filter",
    "too-few-hits": "fewer passages match than answer.minimum_hits asks for",
    "below-threshold": "the best passages do not answer the question well enough (answer.refusal)",
    "budget": "nor do those of any other wording, as many as answer.steps allows",
    "contradictory": "passages of two documents that fit alike say different things",
    "unsupported": "a sentence says more than the passage it cites",
    "contract": "a sentence is not cited, or cites a passage that was not given",
    "model-refused": "the generator found no answer in the evidence",
}


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A passage as a service is sent it that takes documents; title and section may be empty."""

    key: str
    title: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is sent."""

    system: str
    user: str
    documents: tuple[SentDocument, ...] = ()


NO_PROMPT = Prompt("", "")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence or a table's row of the passage `key`, on one line, and how well it fits the question, 0..1.

    Statements are in the order of the evidence, and `order` is their place in it. `source` is what it was made of, as
    it stands but on one line: a row's text has the table's caption and header besides. One that cannot
    come near the best may lack its meaning in its fit.
    """

    key: str
    order: int
    text: str
    source: str = ""
    fit: float = 0.0


def unheard(_: str) -> None:
    """What is done with the pieces of a draft that nobody waits for."""


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """What a generator gets: the question, its evidence in order, what that says, the prompt, and how much to write."""

    question: str
    evidence: tuple[Evidence, ...]
    statements: tuple[Statement, ...]
    prompt: Prompt
    max_sentences: int
    said: Callable[[str], None] = unheard


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
