"""Rerankers that count words: without a model, the same on every machine."""

from collections.abc import Sequence
from typing import ClassVar

from esrag.chunking.cut import text_to_index
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, by
from esrag.text.terms import compounds, question_terms, rarities, shares, terms


class ExactTokens:
    """Brings hits with the question's technical words as a whole before all others, those with more of them first."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Needs nothing of the options."""

    def added(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """For each of them more than the scores of all hits lie apart."""
        wanted, scores = compounds(question), [hit.score for hit in hits]
        step = 1 + max(scores) - min(scores)
        return by("exact-tokens", [step * len(wanted & _words(hit)) for hit in hits])


class Lexical:
    """Adds the share of the question's words that a hit holds, 0..1, those that few hits hold counting more."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Needs nothing of the options."""

    def added(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """The sum of the weights of the words it holds by that of all; a weight is log(1 + hits / (1 + with it))."""
        held = [_words(hit) for hit in hits]
        return by("lexical", shares(rarities(question_terms(question), held), held))


def _words(hit: Hit) -> set[str]:
    return set(terms(text_to_index(hit.chunk)))
