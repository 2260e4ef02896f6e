"""What a question comes to: the answer, and everything that led to it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, overload

from esrag.context import Context
from esrag.engines import SearchResult
from esrag.evidence.confidence import Signals
from esrag.evidence.selection import render_passage
from esrag.filters import Filter
from esrag.models import NO_PROMPT, Prompt
from esrag.models.metering import ModelCall, Usage, sum_calls
from esrag.records import Answer, Citation, Evidence, Hit
from esrag.retrieving.spelling import Correction
from esrag.routing import NOBODY, Decision, Kind
from esrag.runs import build_record
from esrag.summarising.searching import scale
from esrag.verifying.drafts import judge_sentences
from esrag.verifying.verify import is_refusal


@dataclass(frozen=True, slots=True)
class Step:
    """One search on the way to an answer, with its number of hits and their confidence."""

    query: str
    hits: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a reader may look on if a question is refused; the fields are as in `Citation`."""

    doc_id: str
    chunk_id: str
    title: str
    section: str
    start_page: int
    end_page: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One of several questions that a question asks, as it was searched for, and its outcome.

    The fields are as in `AskResult`.
    """

    question: str
    route: Kind
    decision: Decision
    scope: str
    refused: bool
    reason: str
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag ask --json` prints of a part."""
        shown = asdict(self)
        return {"routing" if name == "decision" else name: shown[name] for name in shown}


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer and how it came about.

    `took_ms` is by stage; for a `cached` answer it is the time to look it up. `calls` are those of
    language models, which a cached answer did not make again.
    `draft` is what the generator wrote, before it was checked. `run_id` is set if the run was kept.
    `route` is where the answer is from: passages (`documents`), a fact (`facts`), the records of
    the index (`collection`), one document (`summary`), the web (`web`), or nowhere (`direct`).
    `decision` says who chose it. `corrections` are words of the question that were searched for in
    another spelling. `nearest` are places worth a look if the
    passages did not answer the question well enough. `parts` are the questions of one that asks
    several, else there are none; `decision`, `signals`, `confidence`, `model` and `prompt` are then
    those of the part answered with the least confidence.
    """

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
    calls: tuple[ModelCall, ...] = ()
    cached: bool = False
    draft: str = ""
    run_id: str = ""
    route: Kind = "documents"
    decision: Decision = NOBODY
    corrections: tuple[Correction, ...] = ()
    nearest: tuple[Place, ...] = ()
    parts: tuple[Part, ...] = ()

    @property
    def usage(self) -> Usage | None:
        """The sum of the calls of language models, or None if there were none."""
        return sum_calls(self.calls)

    @property
    def is_brief(self) -> bool:
        """Whether it is cached for a minute only: a refusal, or hits whose reranker failed."""
        return self.answer.refused or is_brief(self.retrieved)

    @property
    def text(self) -> str:
        """The sentences of the answer with their markers, or the refusal."""
        return self.answer.text

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The checked citations, by key."""
        return self.answer.citations

    @property
    def refused(self) -> bool:
        """Whether the answer is the refusal."""
        return self.answer.refused

    @property
    def reason(self) -> str:
        """Why the question was refused, or ""."""
        return self.answer.reason

    @property
    def notes(self) -> tuple[str, ...]:
        """What was repaired, left out or failed on the way, in words."""
        corrected = (correction.note for correction in self.corrections)
        return (*corrected, *self.answer.notes, *self.retrieved.notes)

    def to_dict(
        self, *, evidence: bool = False, prompt: bool = False, explain: bool = False
    ) -> dict[str, Any]:
        """Return what `esrag ask --json` prints.

        Only `explain` has times, so that equal answers are equal bytes.
        """
        return {
            "schema": "esrag.answer/1",
            "question": self.question,
            "answer": self.text,
            "refused": self.refused,
            "reason": self.reason,
            "notes": [*self.notes],
            "corrections": [asdict(correction) for correction in self.corrections],
            "citations": [asdict(citation) for citation in self.citations],
            "nearest": [asdict(place) for place in self.nearest],
            "confidence": self.confidence,
            "confidence_band": self.confidence_band,
            "route": self.route,
            "routing": asdict(self.decision),
            "scope": self.retrieved.scope,
            "parts": [part.to_dict() for part in self.parts],
            "model": self.model,
            "usage": asdict(self.usage) if self.usage else {},
            "cached": self.cached,
            "took_ms": dict(self.took_ms) if explain else {},
            **({"run_id": self.run_id} if self.run_id else {}),
            **(
                {"evidence": [_evidence_to_dict(item) for item in self.evidence]}
                if evidence
                else {}
            ),
            **({"prompt": asdict(self.prompt)} if prompt else {}),
            **(self._explanation() if explain else {}),
        }

    def to_record(self, context: Context, where: Filter | None) -> dict[str, Any]:
        """Return the record of this run, which `esrag ask --save` writes.

        Each sentence of the draft is checked again by itself, because a refusal ends a check.
        """
        quotes = context.settings.answer.quotes
        draft = "" if is_refusal(self.draft) else self.draft
        entail = context.entail if context.generator().prompted else None
        verdicts = judge_sentences(
            draft, self.evidence, entail, question=self.question, quotes=quotes
        )

        answer = self.to_dict(evidence=True, prompt=True, explain=True)
        sentences = [verdict.to_dict() for verdict in verdicts]
        return build_record(answer, sentences, context.settings, where)

    def _explanation(self) -> dict[str, Any]:
        return {
            "path": self.retrieved.path,
            "draft": self.draft,
            "signals": asdict(self.signals),
            "steps": [asdict(step) for step in self.steps],
            "model_calls": [asdict(call) for call in self.calls],
            "summaries": [_summary_to_dict(hit) for hit in self.retrieved.summaries],
            "hits": [hit_to_dict(hit) for hit in self.retrieved.hits],
        }

    def with_calls(self, earlier: Sequence[ModelCall]) -> "AskResult":
        """Return the result with calls of language models that were made before it was asked."""
        return replace(self, calls=(*earlier, *self.calls))

    def with_notes(self, notes: Sequence[str]) -> "AskResult":
        """Return the result with notes on its filter in front; these are not cached."""
        return replace(self, retrieved=self.retrieved.with_notes(notes))


@dataclass(frozen=True, slots=True)
class Hits(Sequence[Hit]):
    """The hits for a query, best first, and how they were found."""

    query: str
    found: SearchResult

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.found.hits[place]

    def __len__(self) -> int:
        return len(self.found.hits)

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag search --json` prints."""
        return {
            "schema": "esrag.hits/1",
            "query": self.query,
            "path": self.found.path,
            "notes": [*self.found.notes],
            "scope": self.found.scope,
            "summaries": [_summary_to_dict(hit) for hit in self.found.summaries],
            "hits": [hit_to_dict(hit) for hit in self],
        }


def hit_to_dict(hit: Hit) -> dict[str, Any]:
    """Return a hit as `esrag search --json` prints it."""
    names = ("chunk_id", "doc_id", "title", "section", "start_page", "end_page", "text")
    scores = asdict(hit)
    del scores["chunk"]
    chunk = {name: getattr(hit.chunk, name) for name in names}
    return {**chunk, "metadata": dict(hit.chunk.metadata), **scores}


def _summary_to_dict(hit: Hit) -> dict[str, Any]:
    names = ("doc_id", "title", "section", "text")
    score = hit.score if hit.vector_score is None else scale(hit.vector_score)
    return {**{name: getattr(hit.chunk, name) for name in names}, "score": score}


def _evidence_to_dict(item: Evidence) -> dict[str, Any]:
    names = ("chunk_id", "doc_id", "start_page", "end_page", "section", "text")
    return {
        "key": item.key,
        "score": item.score,
        **{name: getattr(item.chunk, name) for name in names},
        "sent": render_passage(item),
    }


def is_brief(found: SearchResult) -> bool:
    """Whether hits are cached for a minute only, because none were found or a stage failed."""
    return not found.hits or bool(found.notes)
