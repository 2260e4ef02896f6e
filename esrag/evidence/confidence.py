"""Confidence: how sure it is that the evidence answers the question, 0..1, and its band in words."""

import math
from dataclasses import dataclass

# Logistic curves over one half of 1,015 questions: answerable ones of QED, CLAPNQ and SQuAD 2.0 over their own
# collection against questions over a collection that knows nothing of them. benchmarks/answers.py prints the first. The
# second serves words alone, with and without meanings of sentences; it was fitted over passages that the vectors had
# found, and benchmarks/answers.py --words, which has no meanings, makes it -6.4 and 11.0.
OFFSET, BY_RELEVANCE, BY_CLOSENESS = -12.8, 12.8, 12.5
WORDS_OFFSET, WORDS_BY_RELEVANCE = -4.9, 9.0

BANDS = ((0.8, "high"), (0.5, "medium"), (0.0, "low"))


@dataclass(frozen=True, slots=True)
class Signals:
    """What confidence is made of: the best sentence's fit, and the best passage's cosine with the question.

    `closeness` is None if no vectors were searched.
    """

    relevance: float
    closeness: float | None


def confidence(signals: Signals) -> float:
    """1 / (1 + exp(−z)), rounded to four digits; z adds up the signals.

    >>> confidence(Signals(relevance=0.75, closeness=0.7)), confidence(Signals(relevance=0.3, closeness=0.2))
    (0.9961, 0.0016)
    """
    if signals.closeness is None:
        z = WORDS_OFFSET + WORDS_BY_RELEVANCE * signals.relevance
    else:
        z = OFFSET + BY_RELEVANCE * signals.relevance + BY_CLOSENESS * signals.closeness
    return round(1 / (1 + math.exp(-z)), 4)


def band(value: float) -> str:
    """high, medium or low.

    >>> band(0.9), band(0.5), band(0.1)
    ('high', 'medium', 'low')
    """
    return next(name for least, name in BANDS if value >= least)
