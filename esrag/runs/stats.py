"""Statistics of kept runs: how many there are over time, by route and intent, and their times."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from statistics import fmean, quantiles
from typing import Any

from esrag.runs import Feedback

_MAX_PERIODS = 40  # that one line of a terminal can show
_TENTHS = 10


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one route, intent or reason to refuse, as `by` says, or all of them.

    `hits` is the mean number of a run. `good` and `bad` count the last verdict of each run, and
    `periods` the runs of each period.
    """

    by: str
    name: str
    runs: int
    refused: int
    cached: int
    hits: float
    good: int
    bad: int
    periods: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """How long a stage took over the runs that have it: the median, and what 90 % stay below."""

    name: str
    runs: int
    median_ms: float
    p90_ms: float


@dataclass(frozen=True, slots=True)
class Stats:
    """What kept runs say together. A period has `days` days, and the first begins on `first`."""

    total: Group
    first: str
    last: str
    days: int
    groups: tuple[Group, ...]
    stages: tuple[Stage, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return what `esrag runs stats --json` prints."""
        return {"schema": "esrag.stats/1", **asdict(self)}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is counted of a run; `reason` is that of a refusal, else ""."""

    route: str
    intent: str
    refused: bool
    reason: str
    cached: bool
    hits: int
    took_ms: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Run:
    day: date
    outcome: Outcome
    verdict: str


@dataclass(frozen=True, slots=True)
class _Periods:
    """The days of all runs, in periods of equal length."""

    first: date
    last: date
    days: int

    def count(self, runs: Sequence[_Run]) -> tuple[int, ...]:
        """Return how many runs there are in each period."""
        counts = [0] * (self._find(self.last) + 1)
        for run in runs:
            counts[self._find(run.day)] += 1
        return tuple(counts)

    def _find(self, day: date) -> int:
        return (day - self.first) // timedelta(self.days)


def read_outcome(record: Mapping[str, Any]) -> Outcome:
    """Return what is counted of a record, which an older esrag may have written."""
    answer = record["answer"]
    return Outcome(
        route=answer.get("route", ""),
        intent=answer.get("routing", {}).get("intent", ""),
        refused=answer["refused"],
        reason=answer["reason"],
        cached=answer.get("cached", False),
        hits=len(answer["hits"]),
        took_ms=answer.get("took_ms", {}),
    )


def summarise_runs(
    kept: Iterable[tuple[Mapping[str, Any], Sequence[Feedback]]],
) -> Stats | None:
    """Return the statistics of records with their feedback, or None without any.

    The largest group and the slowest stage come first, equal ones by name.
    """
    runs = [
        _Run(
            day=date.fromisoformat(record["at"][:10]),
            outcome=read_outcome(record),
            verdict=feedback[-1].verdict if feedback else "",
        )
        for record, feedback in kept
    ]
    if not runs:
        return None

    first, last = min(run.day for run in runs), max(run.day for run in runs)
    periods = _Periods(first, last, (last - first).days // _MAX_PERIODS + 1)
    return Stats(
        total=_group(("", ""), runs, periods),
        first=str(first),
        last=str(last),
        days=periods.days,
        groups=_groups(runs, periods),
        stages=_stages(runs),
    )


def _groups(runs: Sequence[_Run], periods: _Periods) -> tuple[Group, ...]:
    named: dict[tuple[str, str], list[_Run]] = defaultdict(list)
    for run in runs:
        names = {"route": run.outcome.route, "intent": run.outcome.intent}
        for key in (names | {"refusal": run.outcome.reason}).items():
            named[key].append(run)

    found = [_group(key, own, periods) for key, own in named.items() if key[1]]
    return tuple(sorted(found, key=lambda group: (-group.runs, group.by, group.name)))


def _group(key: tuple[str, str], runs: Sequence[_Run], periods: _Periods) -> Group:
    verdicts = [run.verdict for run in runs]
    return Group(
        by=key[0],
        name=key[1],
        runs=len(runs),
        refused=sum(run.outcome.refused for run in runs),
        cached=sum(run.outcome.cached for run in runs),
        hits=round(fmean(run.outcome.hits for run in runs), 1),
        good=verdicts.count("good"),
        bad=verdicts.count("bad"),
        periods=periods.count(runs),
    )


def _stages(runs: Sequence[_Run]) -> tuple[Stage, ...]:
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for name, took_ms in run.outcome.took_ms.items():
            times[name].append(took_ms)

    found = [
        Stage(name, len(took), *(round(value, 1) for value in _median_and_p90(took)))
        for name, took in times.items()
    ]
    return tuple(sorted(found, key=lambda stage: (-stage.median_ms, stage.name)))


def _median_and_p90(values: Sequence[float]) -> tuple[float, float]:
    """Return both, by linear interpolation.

    >>> _median_and_p90([1.0]), _median_and_p90([float(n) for n in range(11)])
    ((1.0, 1.0), (5.0, 9.0))
    """
    if len(values) == 1:
        return values[0], values[0]
    tenths = quantiles(values, n=_TENTHS, method="inclusive")
    return tenths[4], tenths[8]
