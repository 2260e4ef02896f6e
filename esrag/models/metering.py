"""Calls of language models: cached, and recorded with their tokens and their cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from esrag.caching import Cache, Kind
from esrag.caching.answers import code_version, get_or_compute, key_of
from esrag.citations import ignore
from esrag.models import Completion, LanguageModel, ModelOptions, OnPiece, Prompt

_PER_PRICE = 1_000_000  # tokens


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One prompt to the model of a profile; if it is `cached`, it was paid for earlier.

    Tokens are 0 if the service does not report them. The cost is in the unit of the prices in the
    settings.
    """

    profile: str
    model: str
    input_tokens: int
    output_tokens: int
    cost: float
    cached: bool


OnCall = Callable[[ModelCall], None]


@dataclass(frozen=True, slots=True)
class Usage:
    """The sum of several calls. Tokens and cost are those of the calls that were not cached."""

    calls: int
    cached_calls: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Prices:
    """The cost of a million tokens."""

    input: float = 0.0
    output: float = 0.0


@dataclass(frozen=True, slots=True)
class MeteredModel:
    """The model of a profile: its responses are cached, and each call is passed to `on_call`."""

    inner: LanguageModel
    options: ModelOptions
    prices: Prices
    identity: tuple[object, ...]  # of the provider: its name and the distribution that brought it
    cache: Cache | None = None
    on_call: OnCall = ignore

    @property
    def model(self) -> str:
        """The model's name."""
        return self.inner.model

    @property
    def takes_documents(self) -> bool:
        """Whether passages are sent as documents."""
        return self.inner.takes_documents

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """Everything that a response depends on, except the prompt."""
        wanted = self.options
        sampling = (wanted.temperature, wanted.top_p, wanted.max_output_tokens)
        return (*self.identity, wanted.model, wanted.url, *sampling)

    def complete(self, prompt: Prompt, on_piece: OnPiece = ignore) -> Completion:
        """Return the whole text, in one piece if it is cached.

        Raises: SettingsError, GeneratorError.
        """
        if self.cache is None:
            return self._record(self.inner.complete(prompt, on_piece), cached=False)

        completion, cached = get_or_compute(
            self.cache,
            key_of(Kind.RESPONSE, code_version(), *self.fingerprint, prompt),
            Completion,
            lambda: self.inner.complete(prompt, on_piece),
            lambda _: False,
        )
        if cached:
            on_piece(completion.text)
        return self._record(completion, cached=cached)

    def _record(self, completion: Completion, *, cached: bool) -> Completion:
        call = self._summarise(completion, cached=cached)
        self.on_call(call)
        if self.cache is not None:
            self.cache.count(_counts(call))
        return completion

    def _summarise(self, completion: Completion, *, cached: bool) -> ModelCall:
        tokens = completion.tokens
        read, wrote = (tokens.input_tokens, tokens.output_tokens) if tokens else (0, 0)
        return ModelCall(
            profile=self.options.profile,
            model=completion.model or self.model,
            input_tokens=read,
            output_tokens=wrote,
            cost=(read * self.prices.input + wrote * self.prices.output) / _PER_PRICE,
            cached=cached,
        )


def count_saved(cache: Cache, calls: Iterable[ModelCall]) -> None:
    """Count calls that a cached answer made unnecessary."""
    for call in calls:
        cache.count(_counts(replace(call, cached=True)))


def sum_calls(calls: Iterable[ModelCall]) -> Usage | None:
    """Return the sum of the calls, or None if there are none."""
    made = list(calls)
    if not made:
        return None

    spent = [call for call in made if not call.cached]
    return Usage(
        calls=len(made),
        cached_calls=len(made) - len(spent),
        input_tokens=sum(call.input_tokens for call in spent),
        output_tokens=sum(call.output_tokens for call in spent),
        cost=sum(call.cost for call in spent),
    )


def _counts(call: ModelCall) -> Mapping[str, float]:
    """Return what a call adds to the counters of the cache; it saved what is cached."""
    kind = "saved" if call.cached else "spent"
    counts = {
        "calls": 1,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": call.cost,
    }
    return {f"{kind}_{name}": count for name, count in counts.items() if count}
