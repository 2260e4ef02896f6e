"""What a question comes to: the answer, and everything that led to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from esrag.engines import SearchResult
from esrag.evidence.confidence import Signals
from esrag.generating import NO_PROMPT, Prompt, Usage
from esrag.records import Answer, Evidence


@dataclass(frozen=True, slots=True)
class Step:
    """One search on the way to an answer: its query, how many hits it found, and the confidence they give."""

    query: str
    hits: int
    confidence: float


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer and how it came about. `took_ms` is by stage; for a `cached` answer it is the time to look it up."""

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

    @property
    def is_brief(self) -> bool:
        """Whether it is cached for a minute only: a refusal, or hits whose reranker failed."""
        return self.answer.refused or is_brief(self.retrieved)

    def with_notes(self, notes: Sequence[str]) -> "AskResult":
        """Return the result with notes on its filter in front; they are not part of what is cached."""
        return replace(self, retrieved=with_notes(self.retrieved, notes))


def is_brief(found: SearchResult) -> bool:
    """Whether hits are cached for a minute only, because none were found or a stage failed."""
    return not found.hits or bool(found.notes)


def with_notes(found: SearchResult, notes: Sequence[str]) -> SearchResult:
    """Return the hits with notes on their filter in front."""
    return replace(found, notes=(*notes, *found.notes))
