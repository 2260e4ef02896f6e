"""Reranking: hits → the same hits, each with what a reranker added to its score, in the new order.

The contract, for every class registered under `esrag.rerankers`:

- `Reranker(options)` does nothing slow. Raises: SettingsError if something is missing that it
  needs.
- `score(question, hits, left_s)` → for each hit what is added to its score, finite numbers by what
  they are for. The same question and hits give the same numbers. Hits come best first, at least
  one; `left_s` is how long it may take.
- `cost` is "free" where words are counted, "hit" where each hit takes its time: then that is
  measured first, and only as many hits are given as time allows; "request" if one request to a
  service covers all of them.
- A transient error, or a service's fault, is a RerankError: the order before it stays, and a note
  says so.
- One that reads files of its own has a `fingerprint` of them, so that an answer is not kept longer
  than they are.

`chain.rerank` is the one way in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from esrag.embedding import Embedder
from esrag.records import Hit
from esrag.settings import Indicator

Added = Mapping[str, float]
Cost = Literal["free", "hit", "request"]


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """The settings of the section `rerank`; `embedder` is the one of the index, or None."""

    embedder: Embedder | None = None
    model: str = ""
    url: str = field(default="", repr=False)
    api_key: str = field(default="", repr=False)
    precision: Literal["int8", "fp32"] = "int8"
    workers: int = 0
    group_by: str = "doc_id"
    relevance: float = 0.7
    weight: float = 0.6
    authority: Mapping[str, float] = field(default_factory=dict)
    completeness: Mapping[int, float] = field(default_factory=dict)
    indicators: Sequence[Indicator] = ()


class Reranker(Protocol):
    """Adds to the scores of hits; see the module for the promises."""

    cost: ClassVar[Cost]

    def __init__(self, options: RerankOptions) -> None: ...

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:
        """Return what is added to the score of each hit."""
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order; `notes` say which reranker did not finish its work, and why."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


def by(reason: str, values: Sequence[float]) -> list[Added]:
    """Return the result of a reranker that adds one number to each hit."""
    return [{reason: float(value)} for value in values]


def in_place(reason: str, hits: Sequence[Hit], scores: Sequence[float]) -> list[Added]:
    """Return the result of a reranker whose scores replace the former ones."""
    return by(reason, [score - hit.score for hit, score in zip(hits, scores, strict=True)])
