"""Estimate how likely the evidence answers the question, 0..1, with a band in words.

`gathering.select` measures the signals, and with `answer.confidence: sources` the answer states
`rate_sources` instead.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Logistic curves: the share of answers that were good. That with a reader was fitted to 476 answers
# to seven sets of questions, with which it was not trained, and then moved by hand until it refused
# as many questions without an answer as before. The others were fitted to answers over manuals,
# standards, laws and reports, those without a reader over Wikipedia too, with questions that the
# documents do not answer. Without a reader the closeness was given a share: it tells little of good
# answers, but much of questions about something else. A reader tells these by itself, and its score
# counts beyond its part in the fit. The curve for words alone was moved as far as an earlier
# reader's, unmeasured.
READ_OFFSET, READ_BY_RELEVANCE, BY_READING = -1.05, 3.9, 0.22
OFFSET, BY_RELEVANCE, BY_CLOSENESS = -2.24, 3.99, 1.18
WORDS_OFFSET, WORDS_BY_RELEVANCE = -2.70, 6.92
# What counts of a row's signals above an even chance: of seven sets that nobody had seen, 26 of the
# 38 answers from rows for which the curve gives 0.8 or more were good, and 85 of the 103 from text.
OF_ROW = 0.7
BY_UNKNOWN = -1.0  # of 1,025 questions, 16 had such a word: 9 of them were answerable
# Of 546 questions, 16 asked for a number that the best statement lacked: 9 answers were good.
BY_NO_NUMBER = -1.0
# Of 546 questions, 4 had a best statement about other years only: no answer was good.
BY_NO_YEAR = -2.0
# Of 670 questions, 18 had a name that no passage has: no answer was good, one question answerable.
BY_NO_NAME = -2.5
BY_LACKING = -3.0  # of 520 questions, 15 lacked a unit: none of them was answerable

# Least values. Over ten sets 44 of 48 answers from named cells were good, and 17 of the 21 for
# which the curve gives less; over seven that nobody had seen 16 of 26. From a cell of the best row
# 27 of 38 were, but only 3 of the 12 of twelve sets for which the curve with a reader gives less
# than a half.
NAMED_CELL, CELL_UNREAD = 0.8, 0.5
ENTRY = 0.8  # of a parameter or a term under exactly its name
STEPS = 0.5  # of an algorithm in question that the evidence has whole

# Of eleven sets of questions with which the reader was not trained, 192 of 199 answers from 0.9 on
# were good, and 83 of 87 of eight sets that were written after the curve was fitted.
BANDS = ((0.9, "high"), (0.45, "medium"), (0.0, "low"))


@dataclass(frozen=True, slots=True)
class Signals:
    """The inputs of confidence: the fit of the best sentence, the cosine of the best passage.

    `closeness` is None if no vectors were searched. `is_unknown` says that the question has a
    technical word, such as HTTP/2, or a year that no passage has. `lacks_unit` says that it asks
    for money or a unit that no statement near the best has, and `lacks_number` that it asks for a
    number that the best one lacks. `lacks_year` says that it has years, and the best statement and
    its headings have others only, and `lacks_name` that it has a name that no passage has. `cell`
    is "named" if the question names the row and column of a table, "row" if a cell of the best row
    answers it, else "". `reading` is what the reader thinks of the best sentence, None without a
    reader. `has_steps` says that the evidence has the algorithm in question whole, and `has_entry`
    that what the question wants defined is, under exactly its name. `is_row` says that the best
    sentence is a row of a table.
    """

    relevance: float
    closeness: float | None
    is_unknown: bool = False
    lacks_unit: bool = False
    lacks_number: bool = False
    lacks_year: bool = False
    lacks_name: bool = False
    cell: str = ""
    reading: float | None = None
    has_steps: bool = False
    has_entry: bool = False
    is_row: bool = False


def confidence(signals: Signals) -> float:
    """Return 1 / (1 + exp(−z)), rounded to four digits; z is the weighted sum of the signals.

    >>> confidence(Signals(relevance=0.75, closeness=0.7))
    0.829
    >>> confidence(Signals(relevance=0.3, closeness=0.2))
    0.3085
    >>> confidence(Signals(relevance=0.6, closeness=0.7, reading=6.0))
    0.9315
    """
    if signals.reading is not None:
        z = READ_OFFSET + READ_BY_RELEVANCE * signals.relevance
        z += BY_READING * signals.reading
    elif signals.closeness is None:
        z = WORDS_OFFSET + WORDS_BY_RELEVANCE * signals.relevance
    else:
        z = OFFSET + BY_RELEVANCE * signals.relevance + BY_CLOSENESS * signals.closeness

    doubts = (
        (signals.is_unknown, BY_UNKNOWN),
        (signals.lacks_number, BY_NO_NUMBER),
        (signals.lacks_year, BY_NO_YEAR),
        (signals.lacks_name, BY_NO_NAME),
        (signals.lacks_unit, BY_LACKING),
    )
    z += sum(by for is_so, by in doubts if is_so)
    if signals.is_row and signals.reading is not None:
        z = min(z, OF_ROW * z)
    lacks_unit = signals.lacks_unit and signals.cell != "named"
    is_doubtful = signals.is_unknown or signals.lacks_name or lacks_unit
    found = (
        (signals.cell == "named", NAMED_CELL),
        (signals.cell == "row" and signals.reading is None, CELL_UNREAD),
        (signals.has_steps, STEPS),
        (signals.has_entry, ENTRY),
    )
    least = max(share if is_so else 0.0 for is_so, share in found)
    return round(max(1 / (1 + math.exp(-z)), 0.0 if is_doubtful else least), 4)


def rate_sources(scores: Sequence[float], official: Sequence[bool]) -> float:
    """Return 0.6 of the mean score of the hits and 0.4 of their official share, at most 1.

    Without hits it is 0. Scores are 0..1, perhaps with bonuses.

    >>> rate_sources([1.0, 0.5], [True, False]), rate_sources([1.2], [True]), rate_sources([], [])
    (0.65, 1.0, 0.0)
    """
    if not scores:
        return 0.0
    mean, share = math.fsum(scores) / len(scores), sum(official) / len(official)
    return round(min(1.0, max(0.0, 0.6 * mean + 0.4 * share)), 4)


def band(value: float) -> str:
    """Return high, medium or low.

    >>> band(0.9), band(0.5), band(0.1)
    ('high', 'medium', 'low')
    """
    return next(name for least, name in BANDS if value >= least)
