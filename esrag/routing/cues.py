"""Sum up the cues of a question: phrases with weights, as settings have them."""

import re
from collections.abc import Mapping
from functools import lru_cache

DOLLARS = "$"
_SUM = re.compile(r"\$ ?\d|\bUSD ?\d|\d ?(?:dollars?|USD)\b", re.IGNORECASE)


def sum_cues(
    weights: Mapping[str, float],
    question: str,
    entities: Mapping[str, str] | None = None,
    *,
    at_start: bool = False,
) -> float:
    """Return the sum of the weights of the phrases that a question has, as whole words.

    `$` stands for a sum of dollars, and `{name}` for an entity of this name.

    >>> sum_cues({"cap": 0.2, "when": 0.2, "$": 0.3}, "Whenever the cap is $65")
    0.5
    """
    line = " ".join(question.split())
    return sum(
        weight
        for phrase, weight in weights.items()
        if _has(line, phrase, entities or {}, at_start=at_start)
    )


def _has(line: str, phrase: str, entities: Mapping[str, str], *, at_start: bool) -> bool:
    if phrase == DOLLARS:
        return bool(_SUM.search(line))
    if phrase.startswith("{") and phrase.endswith("}"):
        return phrase[1:-1] in entities
    return bool(_to_pattern(phrase, at_start=at_start).search(line))


@lru_cache(maxsize=4096)
def _to_pattern(phrase: str, *, at_start: bool) -> re.Pattern[str]:
    """Return a pattern for the words of a phrase."""
    words = r"\s+".join(map(re.escape, phrase.split()))
    start = r"\A\W*" if at_start else r"(?<!\w)"
    return re.compile(rf"{start}{words}(?!\w)", re.IGNORECASE)
