"""Language models: a prompt → a completion, for every stage that writes or classifies text.

The contract, for every class registered under `esrag.models`:

- `Model(options)` does nothing slow. `complete(prompt, on_piece)` → the whole text, the tokens that
  it took if the service reports them, and the model's own name. It may pass pieces of the text to
  `on_piece` as they come, or none.
- `takes_documents` says whether passages are sent next to the question as `prompt.documents`.
  Such a model says which document each part of its text is from, in `completion.cited`.
- Temporary failures are retried with increasing pauses, or as long as the service asks for, within
  `timeout_s`. A redirect is an error, because the key would go along.
- Raises: SettingsError for a key or an address that cannot be right; GeneratorError if the model
  does not answer.

What a model returns is never trusted.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from esrag.citations import ignore

OnPiece = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PromptDocument:
    """A passage as sent to a service that takes documents; title and section may be empty."""

    key: str
    title: str
    section: str
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that a model is sent."""

    system: str
    user: str
    documents: tuple[PromptDocument, ...] = ()


NO_PROMPT = Prompt("", "")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a model read and wrote, in its own tokens."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Cited:
    """A stretch of a completion's text, and the keys of the documents cited for it."""

    start: int
    end: int
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, with the service's name for the model.

    `tokens` is None if the service does not report them.
    """

    text: str
    tokens: Tokens | None = None
    model: str = ""
    cited: tuple[Cited, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """One profile of the section `models` of the settings; `profile` is its name."""

    profile: str = "default"
    model: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    timeout_s: float = 60.0
    max_output_tokens: int = 1000
    temperature: float = 0.0
    top_p: float = 1.0


class LanguageModel(Protocol):
    """Completes prompts; see the module for the promises."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def takes_documents(self) -> bool:
        """Whether passages are sent as documents."""
        ...

    def complete(self, prompt: Prompt, on_piece: OnPiece = ignore) -> Completion:
        """Return the whole text. Raises: SettingsError, GeneratorError."""
        ...
