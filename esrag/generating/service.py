"""What the generators that are a service share: tries, one time limit for the whole answer, and no half answer.

No request is repeated once a piece of an answer was shown, and an answer that stops before its end is an error.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import ClassVar

from esrag.errors import GeneratorError, SettingsError
from esrag.generating import Draft, GenerationTask, GeneratorOptions, Usage
from esrag.http import Failed, redact, sound_address, sound_key, within
from esrag.settings import variable
from esrag.text import drop_unshowable, normalise

TRIES = 3
MIN_BYTES = 2**20  # may always be read; above it, a kilobyte for each token that may be written
_WHOLE = frozenset(("stop", "eos", "eos_token", "end_turn", "complete", "stop_sequence"))
_CUT = frozenset(("length", "model_length", "max_tokens"))


class ServiceGenerator(ABC):
    """Lets a model behind a service write the draft."""

    provider: ClassVar[str]
    default_url: ClassVar[str]
    prompted = True
    takes_documents = False

    def __init__(
        self,
        options: GeneratorOptions,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Takes the options. Raises: SettingsError where the model or the key is missing, or cannot be one."""
        self._url = sound_address(options.url or self.default_url, "generator")
        self._key = sound_key(options.api_key, "generator")
        self._model = self.model = options.model.strip()
        self._sleep, self._clock, self._timeout_s = sleep, clock, options.timeout_s
        self._max_tokens = options.max_output_tokens
        self._max_bytes = max(MIN_BYTES, 1024 * options.max_output_tokens)
        if not self._model:
            raise self._lacking("model", "generator.model")
        if self._lacks_key():
            raise self._lacking("key", "generator.api_key")

    def generate(self, task: GenerationTask) -> Draft:
        """The model's draft without what cannot be shown; what may pass is tried again.

        Raises: GeneratorError without a complete answer in time; SettingsError for a wrong key or address.
        """
        ends = self._clock() + self._timeout_s
        for tried in range(1, TRIES + 1):
            came: list[str] = []
            try:
                return self._draft(task, ends - self._clock(), came)
            except (
                Failed
            ) as failed:  # the cause would show the service's own words, which may hold the key
                wait_s = failed.pause_s(tried)
                is_last = came or tried == TRIES or self._clock() + wait_s >= ends
                if is_last or not failed.is_transient:
                    raise self._error(failed, tried, began=bool(came)) from None
            self._sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    @abstractmethod
    def _pieces(self, task: GenerationTask) -> Iterator[str | Usage]:
        """One request, one try: the pieces of a draft and, where it is known, its cost; it ends where the answer does.

        Raises: Failed; ValueError, TypeError, KeyError, AttributeError for an answer of another form; OverflowError for
        one that is too large; GeneratorError.
        """

    def _lacks_key(self) -> bool:
        """Whether a required key is missing."""
        return not self._key

    def _lacking(self, what: str, key: str) -> SettingsError:
        return SettingsError(
            f"the generator {self.provider!r} needs a {what}", hint=f"set {variable(key)}"
        )

    def _draft(self, task: GenerationTask, left_s: float, came: list[str]) -> Draft:
        """The draft, each piece of which is shown and kept in `came` as it comes."""
        usage = None
        with closing(within(left_s, lambda: self._read(task), self._clock)) as pieces:
            for piece in pieces:
                if isinstance(piece, Usage):
                    usage = piece
                elif shown := drop_unshowable(
                    piece
                ):  # the rest needs the whole: an accent may come by itself
                    came.append(shown)
                    task.on_piece(shown)
        return Draft(normalise("".join(came)), usage)

    def _read(self, task: GenerationTask) -> Iterator[str | Usage]:
        """The pieces; in the thread that asks, so that what `task.on_piece` raises is not taken for the service's."""
        try:
            yield from self._pieces(task)
        except OverflowError:
            raise GeneratorError(
                f"{self._url} answers with more than {self._max_bytes} bytes"
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            message = f"{self._url} does not answer as a chat service does"
            raise GeneratorError(message, hint="look at generator.url and generator.name") from None

    def _check_end(self, reason: str | None) -> None:
        """Raises: Failed where the answer stopped without a reason; GeneratorError where it is not whole."""
        if not reason:
            raise Failed(0, "the answer stopped before its end")
        if reason.lower() in _CUT:
            message = (
                f"{self._model} was cut off after generator.max_output_tokens, {self._max_tokens}"
            )
            raise GeneratorError(message, hint="allow for more, or ask for less")
        if reason.lower() not in _WHOLE:
            raise GeneratorError(f"{self._url} broke its answer off: {redact(reason, self._key)}")

    def _error(self, failed: Failed, tries: int, *, began: bool) -> GeneratorError:
        """What a failed request means to the user."""
        said = redact(failed.said, self._key)
        message = f"{self._url} answered {failed.status}: {said}"
        failed.require_settings(message, "generator")
        if not failed.is_transient:
            return GeneratorError(message)

        hint = f"ask again in {failed.wait_s:.0f} s" if failed.wait_s else "ask again later"
        if failed.status == 0:
            message = f"{self._url} {'broke its answer off' if began else 'did not answer'}: {said}"
            hint = "is generator.url its address, and generator.timeout_s enough?"

        return GeneratorError(f"{message} ({tries} {'try' if tries == 1 else 'tries'})", hint=hint)
