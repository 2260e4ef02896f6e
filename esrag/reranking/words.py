"""Rerankers that count words: without a model, the same on every machine."""

from collections.abc import Sequence
from typing import ClassVar

from esrag.chunking.cut import text_to_index
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, by
from esrag.text.terms import compounds, question_terms, rarities, shares, terms


class ExactTokens:
    """Puts hits with the question's technical words as a whole first.

    Those with more of the words come before those with fewer.
    """

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Accept the options; none is used."""

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return for each of these words more than the range of all scores."""
        wanted, scores = (compounds(question), [hit.score for hit in hits])
        step = 1 + max(scores) - min(scores)
        return by("exact-tokens", [step * len(wanted & _words(hit)) for hit in hits])


class Lexical:
    """Adds the share of the question's words in a hit, 0..1; words in few hits weigh more."""

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Accept the options; none is used."""

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return the sum of the weights of the words in the hit, divided by that of all words.

        A weight is log(1 + hits / (1 + hits with the word)).
        """
        held = [_words(hit) for hit in hits]
        return by("lexical", shares(rarities(question_terms(question), held), held))


def _words(hit: Hit) -> set[str]:
    return set(terms(text_to_index(hit.chunk)))
