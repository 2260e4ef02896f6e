"""Comparing: the same questions asked with several settings, side by side."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from esrag.context import Context, open_context
from esrag.errors import SettingsError
from esrag.evaluation.calibrating import Labelled, judge
from esrag.filters import Filter
from esrag.pipeline import ask
from esrag.results import AskResult
from esrag.runs import ANSWERING
from esrag.settings import Settings
from esrag.settings.layers import with_values

# Nothing is taken from an earlier run, and nothing is kept of this one.
_FRESH = {"cache.url": "", "runs.keep": "off"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question asked with one variation."""

    variation: str
    result: AskResult

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag compare --json` prints of it."""
        answer = self.result.to_dict(explain=True)
        names = ("answer", "refused", "reason", "route", "confidence", "confidence_band")
        return {
            "variation": self.variation,
            **{name: answer[name] for name in names},
            "cited": [citation["chunk_id"] for citation in answer["citations"]],
            "hits": [hit["chunk_id"] for hit in answer["hits"]],
        }


@dataclass(frozen=True, slots=True)
class Row:
    """What became of the labelled questions with one variation.

    `right` are good answers, `wrong` other answers, `missed` refusals of questions that have an
    answer, `spared` refusals of questions that have none. `chance` is the probability that a
    difference to the first variation as large as this one, or larger, comes about by chance; None
    for the first.
    """

    variation: str
    right: int
    wrong: int
    missed: int
    spared: int
    p50_ms: float
    chance: float | None


def open_variations(settings: Settings) -> dict[str, Context]:
    """Return what each of `compare.variations` asks with, by its name.

    Raises: SettingsError for a key that a question is not asked with, or a wrong value.
    """
    return {
        name: open_context(with_values(settings, {**_FRESH, **_check(name, values)}, _key(name)))
        for name, values in settings.compare.variations.items()
    }


def _key(name: str) -> str:
    return f"compare.variations.{name}"


def _check(name: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values. Raises: SettingsError for a key of another section, or for a secret."""
    for key in values:
        if key.partition(".")[0] not in ANSWERING or key.endswith("api_key"):
            what = f"{_key(name)} sets {key}, which is not a setting of a question"
            raise SettingsError(what, hint=f"it may set keys of {', '.join(ANSWERING)}")
    return values


def compare_question(
    question: str, variations: Mapping[str, Context], where: Filter | None = None
) -> list[Asked]:
    """Return the answer to a question with each variation. Raises: as `ask`."""
    return [Asked(name, ask(question, context, where)) for name, context in variations.items()]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What became of a labelled question."""

    answerable: bool
    answered: bool
    right: bool
    took_ms: float

    @property
    def is_good(self) -> bool:
        """Whether the question was answered rightly, or refused rightly."""
        return self.right or not (self.answerable or self.answered)


def compare_labelled(
    questions: Iterable[Labelled], variations: Mapping[str, Context], where: Filter | None = None
) -> list[Row]:
    """Return a row for each variation over questions whose answers are known. Raises: as `ask`."""
    outcomes: dict[str, list[_Outcome]] = {name: [] for name in variations}
    for labelled in questions:
        for name, context in variations.items():
            outcomes[name].append(_try(labelled, context, where))

    good = {name: [each.is_good for each in found] for name, found in outcomes.items()}
    first = next(iter(good))
    return [
        _count(name, found, None if name == first else compute_chance(good[first], good[name]))
        for name, found in outcomes.items()
    ]


def _try(labelled: Labelled, context: Context, where: Filter | None) -> _Outcome:
    start = perf_counter()
    result = ask(labelled.question, context, where)
    took_ms = round(1000 * (perf_counter() - start), 1)

    judged = judge(labelled, result)
    return _Outcome(
        answerable=labelled.answerable,
        answered=judged.answered,
        right=judged.right,
        took_ms=took_ms,
    )


def _count(name: str, found: Sequence[_Outcome], chance: float | None) -> Row:
    times = sorted(each.took_ms for each in found)
    return Row(
        variation=name,
        right=sum(each.right for each in found),
        wrong=sum(each.answered and not each.right for each in found),
        missed=sum(each.answerable and not each.answered for each in found),
        spared=sum(not each.answerable and not each.answered for each in found),
        p50_ms=times[len(times) // 2] if times else 0.0,
        chance=chance,
    )


def compute_chance(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return the two-sided p value of the exact McNemar test over paired outcomes.

    Source: McNemar, Psychometrika 1947; the pairs that differ are fair coins under the null.

    >>> compute_chance([True] * 8 + [False] * 2, [False] * 8 + [False] * 2)
    0.0078125
    >>> compute_chance([True, False], [False, True])
    1.0
    """
    won = sum(a and not b for a, b in zip(first, second, strict=True))
    lost = sum(b and not a for a, b in zip(first, second, strict=True))
    differing = won + lost
    tail = sum(math.comb(differing, count) for count in range(min(won, lost) + 1))
    return min(1.0, float(2 * tail / 2**differing))
