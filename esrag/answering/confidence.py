"""Confidence: how sure it is that the evidence answers the question, 0..1, and its band in words."""

import math

# Logistic curve over the best sentence's fit, with and without an encoder; fitted by benchmarks/refusal.py.
WITH_MEANING = (-9.0, 18.0)
WORDS_ALONE = (-5.0, 10.0)

BANDS = ((0.8, "high"), (0.5, "medium"), (0.0, "low"))


def confidence(relevance: float, *, with_meaning: bool) -> float:
    """1 / (1 + exp(−(a + b · relevance))), rounded to four digits.

    >>> confidence(0.5, with_meaning=True)
    0.5
    """
    offset, slope = WITH_MEANING if with_meaning else WORDS_ALONE
    return round(1 / (1 + math.exp(-(offset + slope * relevance))), 4)


def band(value: float) -> str:
    """high, medium or low.

    >>> band(0.9), band(0.5), band(0.1)
    ('high', 'medium', 'low')
    """
    return next(name for least, name in BANDS if value >= least)
