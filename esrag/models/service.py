"""Language models behind a service: retries, one time limit for an answer, and no half answer.

No request is repeated once a piece of an answer was passed on, and an answer that stops before its
end is an error.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, ClassVar

from esrag.citations import ignore
from esrag.errors import GeneratorError, SettingsError
from esrag.http import Failed, check_address, check_key, iter_in_time, redact
from esrag.models import Cited, Completion, ModelOptions, OnPiece, Prompt, Tokens
from esrag.settings import variable
from esrag.text import drop_unshowable, normalise

TRIES = 3
MIN_BYTES = 2**20  # may always be read; above it, a kilobyte for each token that may be written
Part = str | Tokens | Cited  # of an answer, as it comes
_WHOLE = frozenset(("stop", "eos", "eos_token", "end_turn", "complete", "stop_sequence"))
_CUT = frozenset(("length", "model_length", "max_tokens"))


class ServiceModel(ABC):
    """Asks a model behind a service."""

    provider: ClassVar[str]
    default_url: ClassVar[str]
    takes_documents = False

    def __init__(
        self,
        options: ModelOptions,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Store the options.

        Raises: SettingsError if the model or the key is missing, or cannot be one.
        """
        self._section = f"models.{options.profile}"
        self._url = check_address(options.url or self.default_url, self._section)
        self._key = check_key(options.api_key, self._section)
        self._model = self.model = options.model.strip()
        self._options, self._sleep, self._clock = options, sleep, clock
        self._max_bytes = max(MIN_BYTES, 1024 * options.max_output_tokens)

        if not self._model:
            raise self._missing_error("model", "model")
        if self._lacks_key():
            raise self._missing_error("key", "api_key")

    def complete(self, prompt: Prompt, on_piece: OnPiece = ignore) -> Completion:
        """Return the model's text without what cannot be shown. Temporary failures are retried.

        Raises: GeneratorError without a complete answer in time; SettingsError for a wrong key or
        address.
        """
        ends = self._clock() + self._options.timeout_s
        for tried in range(1, TRIES + 1):
            came: list[str] = []
            try:
                return self._complete_once(prompt, ends - self._clock(), came, on_piece)
            except Failed as failed:
                wait_s = failed.pause_s(tried)
                is_last = came or tried == TRIES or self._clock() + wait_s >= ends
                if is_last or not failed.is_transient:
                    # The cause would show the service's own words, which may hold the key.
                    raise self._error(failed, tried, began=bool(came)) from None
            self._sleep(wait_s)
        raise AssertionError("the last try returns or raises")

    @abstractmethod
    def _parts(self, prompt: Prompt) -> Iterator[Part]:
        """Yield the parts of an answer to one request, as far as the answer goes.

        Raises: Failed; ValueError, TypeError, KeyError, AttributeError for an answer of another
        form; OverflowError for one that is too large; GeneratorError.
        """

    def _lacks_key(self) -> bool:
        """Return whether a required key is missing."""
        return not self._key

    def _missing_error(self, what: str, name: str) -> SettingsError:
        hint = f"set {variable(f'{self._section}.{name}')}"
        return SettingsError(f"the model {self._section} needs a {what}", hint=hint)

    def _complete_once(
        self, prompt: Prompt, left_s: float, came: list[str], on_piece: OnPiece
    ) -> Completion:
        """Return the completion; each piece is passed on and added to `came` as it comes."""
        tokens, cited = None, []

        with closing(iter_in_time(left_s, lambda: self._read(prompt), self._clock)) as parts:
            for part in parts:
                if isinstance(part, Tokens):
                    tokens = part
                elif isinstance(part, Cited):
                    cited.append(part)
                elif shown := drop_unshowable(part):
                    came.append(shown)
                    on_piece(shown)

        text = normalise("".join(came))  # only as a whole: an accent may come by itself
        return Completion(text=text, tokens=tokens, model=self.model, cited=tuple(cited))

    def _read(self, prompt: Prompt) -> Iterator[Part]:
        """Yield the parts; errors that `on_piece` raises are not among those translated here."""
        try:
            yield from self._parts(prompt)
        except OverflowError:
            raise GeneratorError(
                f"{self._url} answers with more than {self._max_bytes} bytes"
            ) from None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            message = f"{self._url} does not answer as a chat service does"
            raise GeneratorError(
                message, hint=f"check {self._section}.url and {self._section}.provider"
            ) from None

    def _check_end(self, reason: str | None) -> None:
        """Raise Failed if the answer stopped for no reason, GeneratorError if it is cut."""
        if not reason:
            raise Failed(0, "the answer stopped before its end")
        if reason.lower() in _CUT:
            limit = f"{self._section}.max_output_tokens, {self._options.max_output_tokens}"
            raise GeneratorError(
                f"{self._model} was cut off after {limit}", hint="allow more, or ask for less"
            )
        if reason.lower() not in _WHOLE:
            raise GeneratorError(f"{self._url} broke its answer off: {redact(reason, self._key)}")

    def _error(self, failed: Failed, tries: int, *, began: bool) -> GeneratorError:
        """Return what a failed request means to the user."""
        said = redact(failed.said, self._key)
        message = f"{self._url} answered {failed.status}: {said}"
        failed.require_settings(message, self._section)
        if not failed.is_transient:
            return GeneratorError(message)

        hint = f"ask again in {failed.wait_s:.0f} s" if failed.wait_s else "ask again later"
        if failed.status == 0:
            message = f"{self._url} {'broke its answer off' if began else 'did not answer'}: {said}"
            hint = f"is {self._section}.url its address, and {self._section}.timeout_s enough?"

        return GeneratorError(f"{message} ({tries} {'try' if tries == 1 else 'tries'})", hint=hint)


def to_messages(prompt: Prompt) -> list[Any]:
    """Return the two messages of a prompt, as chat services take them."""
    return [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
