"""Answering: hits → a cited answer, or the refusal.

The contract, for every class registered under `esrag.generators`:

- `Generator()` does nothing slow. `generate(task)` → a draft whose sentences end with markers like `[c2]`, keys of the
  evidence it was given, or `REFUSAL`. `model` is the name shown to the user.

What a generator returns is never trusted: `verify.verify` checks the draft against the evidence and gives the answer,
or the refusal with its reason. The citation contract:

- a refusal is exactly `REFUSAL` and cites nothing; an answer cites something;
- every sentence ends with at least one marker, and every marker is a key of the evidence;
- every citation has pages with 0 < start_page ≤ end_page; only keys the text uses are cited, in numerical order;
- every number and most words of a sentence stand in what it cites.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from esrag.embedding import Vectors
from esrag.records import Evidence

REFUSAL = "not found in provided docs"

Reason = Literal[
    "no-hits", "filtered-out", "too-few-hits", "below-threshold", "unsupported", "contract", "model-refused"
]

REASONS: dict[Reason, str] = {
    "no-hits": "no passage of the index matches the question",
    "filtered-out": "passages match the question, but none within the filter",
    "too-few-hits": "fewer passages match than answer.minimum_hits asks for",
    "below-threshold": "the best passages do not answer the question well enough (answer.refusal)",
    "unsupported": "a sentence says more than the passage it cites",
    "contract": "a sentence is not cited, or cites a passage that was not given",
    "model-refused": "the generator found no answer in the evidence",
}


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """What a generator gets: the question, its evidence in order, a way to compare meanings, and how much to write."""

    question: str
    evidence: tuple[Evidence, ...]
    encode: Callable[[Sequence[str]], Vectors] | None
    max_sentences: int


@dataclass(frozen=True, slots=True)
class Draft:
    """Unchecked text with markers; `relevance` (0..1) is how well the best sentence fits the question."""

    text: str
    relevance: float


class Generator(Protocol):
    """Writes a draft from evidence; see the module for the promises."""

    model: str

    def generate(self, task: GenerationTask) -> Draft:
        """A draft with markers, or `REFUSAL`."""
        ...
