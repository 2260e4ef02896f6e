"""Rerankers that count words: without a model, the same on every machine."""

import re
from collections.abc import Sequence
from typing import ClassVar

from esrag.chunking.cut import text_to_index
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, by
from esrag.text.terms import STOP_WORDS, compounds, question_terms, rarities, shares, terms

# "Algorithm 17" and "Table 3.2"; after other words a number is a quantity or a year.
_LABEL = re.compile(r"(?<![\w-])([^\W\d_]{3,30}) (\d{1,6}(?:\.\d{1,6}){0,5})(?![\w-])")


class ExactTokens:
    """Puts hits with the question's technical words as a whole, and with its labels, first.

    Those with more of these come before those with fewer. A label is a word with a number, as in
    Algorithm 17.
    """

    cost: ClassVar[Cost] = "free"

    def __init__(self, options: RerankOptions) -> None:
        """Accept the options; none is used."""

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:  # noqa: ARG002 -- free
        """Return for each of these words more than the range of all scores."""
        wanted, scores = (compounds(question), [hit.score for hit in hits])
        labels = _find_labels(question)
        step = 1 + max(scores) - min(scores)
        counts = [
            len(wanted & _words(hit))
            + (len(labels & _find_labels(hit.chunk.text)) if labels else 0)
            for hit in hits
        ]
        return by("exact-tokens", [step * count for count in counts])


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


def _find_labels(text: str) -> set[tuple[str, str]]:
    """Return the words of a text before a number, each with it."""
    found = ((word.lower(), number) for word, number in _LABEL.findall(" ".join(text.split())))
    return {(word, number) for word, number in found if word not in STOP_WORDS}


def _words(hit: Hit) -> set[str]:
    return set(terms(text_to_index(hit.chunk)))
