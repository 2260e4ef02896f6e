"""Estimate how likely the evidence answers the question, 0..1, with a band in words."""

import math
from dataclasses import dataclass

# Logistic curves fitted to one half of 1,015 questions: answerable ones of QED, CLAPNQ and SQuAD
# 2.0 over their own collection, against questions over an unrelated collection.
# benchmarks/answers.py prints the first. The second is for words alone, with or without meanings of
# sentences. It was fitted to passages that the vectors had found; benchmarks/answers.py --words,
# which has no meanings, gives -6.4 and 11.0.
OFFSET, BY_RELEVANCE, BY_CLOSENESS = -12.8, 12.8, 12.5
WORDS_OFFSET, WORDS_BY_RELEVANCE = -4.9, 9.0

BANDS = ((0.8, "high"), (0.5, "medium"), (0.0, "low"))


@dataclass(frozen=True, slots=True)
class Signals:
    """The inputs of confidence: the fit of the best sentence, the cosine of the best passage.

    `closeness` is None if no vectors were searched.
    """

    relevance: float
    closeness: float | None


def confidence(signals: Signals) -> float:
    """Return 1 / (1 + exp(−z)), rounded to four digits; z is the weighted sum of the signals.

    >>> confidence(Signals(relevance=0.75, closeness=0.7))
    0.9961
    >>> confidence(Signals(relevance=0.3, closeness=0.2))
    0.0016
    """
    if signals.closeness is None:
        z = WORDS_OFFSET + WORDS_BY_RELEVANCE * signals.relevance
    else:
        z = OFFSET + BY_RELEVANCE * signals.relevance + BY_CLOSENESS * signals.closeness
    return round(1 / (1 + math.exp(-z)), 4)


def band(value: float) -> str:
    """Return high, medium or low.

    >>> band(0.9), band(0.5), band(0.1)
    ('high', 'medium', 'low')
    """
    return next(name for least, name in BANDS if value >= least)
