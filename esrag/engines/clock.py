"""Timing of the stages of a query."""

from dataclasses import dataclass, field
from time import perf_counter


@dataclass(slots=True)
class Clock:
    """Milliseconds per stage, in the order of the stages."""

    took_ms: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=perf_counter)

    def lap(self, stage: str) -> None:
        """Record the time of the stage that just ended."""
        now = perf_counter()
        self.took_ms[stage] = round(1000 * (now - self.last), 1)
        self.last = now
