"""Timing of the stages of a query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter


@dataclass(slots=True)
class Clock:
    """Milliseconds per stage, in the order of the stages."""

    took_ms: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=perf_counter)

    def lap(self, stage: str) -> None:
        """Add the time since the last lap to the stage that just ended."""
        now = perf_counter()
        took_ms = self.took_ms.get(stage, 0.0) + 1000 * (now - self.last)
        self.took_ms[stage] = round(took_ms, 1)
        self.last = now


def sum_laps(laps: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the time of each stage over several searches or answers."""
    stages = dict.fromkeys(stage for each in laps for stage in each)
    return {stage: round(sum(each.get(stage, 0) for each in laps), 1) for stage in stages}
