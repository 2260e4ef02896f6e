"""The time that the files of a folder may take to be parsed, all of them together."""

from collections import defaultdict


class Budgets:
    """A budget for each folder of an ingest: `seconds` of waiting for the parser; 0 sets no limit.

    One file is bounded by its own time limit, and a folder of ten thousand such files by this.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._spent_s: defaultdict[str, float] = defaultdict(float)

    def spend(self, folder: str, seconds: float) -> None:
        """Count time that a file of a folder has taken."""
        self._spent_s[folder] += seconds

    def is_spent(self, folder: str) -> bool:
        """Return whether the files of a folder have used up their time."""
        return 0 < self.seconds <= self._spent_s[folder]
