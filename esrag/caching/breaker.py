"""A circuit breaker that stops repeated calls to a dead cache."""

import logging
import time
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from esrag.text import normalise

T = TypeVar("T")

OPEN_S = 30.0  # a Redis restarts within this time; a failed call costs 0.3 s


class Breaker:
    """Runs actions that may fail.

    After an error of `failures`, no action runs for OPEN_S seconds, and then one call is let
    through. An error of `refusals` is an answer, after which actions continue to run. `where` names
    the cache without its password.
    """

    def __init__(
        self,
        where: str,
        failures: tuple[type[Exception], ...],
        refusals: tuple[type[Exception], ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._where = where
        self._failures = failures
        self._refusals = refusals
        self._clock = clock
        self._lock = Lock()
        self._open_until = 0.0  # 0: closed
        self._said = False

    def run(self, action: Callable[[], T], otherwise: T) -> T:
        """Return the result of the action, or `otherwise` if it fails or is not run."""
        if not self._lets_through():
            return otherwise

        try:
            given = action()
        except (*self._refusals, *self._failures) as error:
            is_answer = isinstance(error, self._refusals)
            self._open_until = 0.0 if is_answer else self._clock() + OPEN_S
            self._say(error)
            return otherwise

        self._open_until = 0.0
        return given

    def _lets_through(self) -> bool:
        with self._lock:
            if not self._open_until:
                return True
            if self._clock() < self._open_until:
                return False
            # This call tries, and others do not wait for its result.
            self._open_until = self._clock() + OPEN_S
            return True

    def _say(self, error: Exception) -> None:
        if not self._said:
            self._said = True
            what = " ".join(normalise(f"{self._where} is not used: {error}").split())
            logging.getLogger("esrag").warning("warning: the cache %s", what)
