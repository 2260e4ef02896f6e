"""Reranking: hits → the same hits, each with what a reranker added to its score, in the new order.

The contract, for every class registered under `esrag.rerankers`:

- `Reranker(options)` does nothing slow. `added(question, hits)` → for each hit what is added to its score, finite
  numbers by what they are for; the same question and hits give the same numbers. Hits come best first.
- `takes_long` is True where a pair of question and hit costs milliseconds: only then is time measured and kept.
- What passes by itself, or is a service's fault, is a RerankError: the order before it stays, and the user is told.

`chain.rerank` is the one way in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

from esrag.embedding import Embedder
from esrag.records import Hit

Added = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """The section `rerank` of the settings and what rerankers share; `embedder` is the one of the index, or None."""

    embedder: Embedder | None = None
    model: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 10.0
    precision: Literal["int8", "fp32"] = "int8"
    workers: int = 0
    offline: bool = False
    group_by: str = "doc_id"
    relevance: float = 0.7
    weight: float = 0.6
    authority: Mapping[str, float] = field(default_factory=dict)
    completeness: Mapping[str, float] = field(default_factory=dict)
    indicators: Mapping[str, float] = field(default_factory=dict)


class Reranker(Protocol):
    """Adds to the scores of hits; see the module for the promises."""

    takes_long: ClassVar[bool]

    def __init__(self, options: RerankOptions) -> None: ...

    def added(self, question: str, hits: Sequence[Hit]) -> Sequence[Added]:
        """What is added to the score of each hit."""
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits in their new order; `notes` say which reranker did not do all it was asked to, and why."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


def by(reason: str, values: Sequence[float]) -> list[Added]:
    """What a reranker that adds one number to each hit returns."""
    return [{reason: float(value)} for value in values]
