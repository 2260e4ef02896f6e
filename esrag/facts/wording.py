"""The words of questions and facts, and what a question asks for: a measure, a direction."""

import re

from esrag.settings import FactsSettings
from esrag.text.figures import numbers, to_figures, units
from esrag.text.terms import terms, whole_words

# Words that a question may have and its fact not.
_FILLERS = """current currently exactly exist may might now please there today used
    length duration after before until till since"""
_MEASURE = re.compile(
    r"\A\W*how (much|many|long|high|large|big)\b|\b(length|duration)\b", re.IGNORECASE
)
_MEASURES = {"high": "much", "large": "much", "big": "much", "length": "long", "duration": "long"}
_TIMES = frozenset(("second", "minute", "hour", "day", "week", "month", "year"))
_NEGATIVE = re.compile(r"\b(?:not|no|never|without|except|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_WAYS = re.compile(
    r"\b(?:from|since|until|till|before|after|above|below|over|under|minimum|maximum|earliest|latest"
    r"|least|most)\b",
    re.IGNORECASE,
)


class Wording:
    """The words of a text that carry meaning, with synonyms under one name."""

    def __init__(self, settings: FactsSettings) -> None:
        groups = [[_stem(phrase) for phrase in group] for group in settings.synonyms]
        self._spelled = {_join(group[0]): group for group in groups}
        # Longer phrases first, so that a part of one is not taken for another.
        self._names = sorted(
            ((phrase, _join(group[0])) for group in groups for phrase in group),
            key=lambda pair: (-len(pair[0]), pair),
        )
        self._left_out = frozenset(_stem(f"{_FILLERS} {' '.join(settings.topic)}").split())

    def words(self, text: str) -> frozenset[str]:
        """Return the words of a text, without fillers, the topic, and the measure asked for."""
        line = f" {_stem(_MEASURE.sub('', text))} "
        for phrase, name in self._names:
            line = line.replace(f" {phrase} ", f" {name} ")
        return frozenset(line.split()) - self._left_out

    def search_terms(self, word: str) -> list[str]:
        """Return the search terms of a word and its synonyms."""
        return terms(" ".join(self._spelled.get(word, [word])))


def _stem(text: str) -> str:
    return " ".join(whole_words(text))


def _join(phrase: str) -> str:
    return phrase.replace(" ", "_")


def read_measure(question: str) -> str:
    """Return the measure that a question asks for: much, many, long, or "".

    >>> read_measure("How high is the fee?"), read_measure("What is the fee?")
    ('much', '')
    """
    found = _MEASURE.search(question)
    word = (found[1] or found[2]).lower() if found else ""
    return _MEASURES.get(word, word)


def has_figure(measure: str, answer: str) -> bool:
    """Return whether an answer has a figure, for "how long" one of time.

    >>> has_figure("long", "At most 15 business days."), has_figure("long", "The fee is $15.")
    (True, False)
    """
    is_timed = bool(units(answer) & _TIMES) or measure != "long"
    return is_timed and bool(numbers(to_figures(answer)))


def point_alike(question: str, other: str) -> bool:
    """Return whether both questions are negative or neither is, and none points another way.

    >>> point_alike("From what age?", "Until what age?"), point_alike("What age?", "Until when?")
    (False, True)
    """
    if bool(_NEGATIVE.search(question)) != bool(_NEGATIVE.search(other)):
        return False
    ways, others = ({word.lower() for word in _WAYS.findall(text)} for text in (question, other))
    return not (ways and others) or bool(ways & others)
