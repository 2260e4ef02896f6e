"""What embedders that call a service share: requests, retries, limits, and checks of the vectors.

A service's tokenizer is not available, so tokens are guessed, rather too many than too few: on
English prose, Markdown and code the guess is 1.05 to 1.3 times the count of BERT's WordPiece, on a
table of hashes 0.87 times.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from math import inf
from typing import Any, ClassVar

import numpy as np

from esrag.embedding import EmbedderOptions, Kind, Vectors, check_vectors
from esrag.embedding.limits import Limits, max_burst
from esrag.embedding.windows import TokenIds, pool_windows
from esrag.errors import EmbeddingError, ServiceBusy
from esrag.http import Failed, check_address, check_key, iter_in_time, redact

TIMEOUT_S = 60.0
TRIES = 6
# Of the 512 tokens that Cohere's v3 models and most open ones read, were the guess as far off as
# 0.87.
WINDOW = 440
_TOKEN = re.compile(r"[A-Za-z]{1,5}|\d{1,3}|[^\W\d_]|[^\w\s]|_")
_BLANK = "."  # replaces a text without readable characters, which services refuse
_TOO_MANY = 429
_LATER_HINT = (
    "run the command again later; embedding.requests_per_minute and tokens_per_minute slow it down"
)
_QUOTED_CHARACTERS = 16  # as many of a text in a row are no accident


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, or a window of one, as it is sent, and where its tokens are in the text."""

    text: str
    spans: TokenIds


class ServiceEmbedder(ABC):
    """Encodes texts by asking a service, `max_texts` in a request at most."""

    provider: ClassVar[str]
    default_url: ClassVar[str]
    max_texts: ClassVar[int]

    def __init__(
        self,
        options: EmbedderOptions,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Store the options.

        Raises: SettingsError for an invalid address or key.
        """
        self._model = options.model
        self._url = check_address(options.url or self.default_url, "embedding")
        self._key = check_key(options.api_key, "embedding")
        self._sleep, self._clock, self._timeout_s = sleep, clock, timeout_s
        self._max_tokens = (
            max_burst(options.tokens_per_minute) if options.tokens_per_minute else inf
        )
        digest = blake2b(f"{self._url} {self._model}".encode(), digest_size=8).hexdigest()
        limits = (options.requests_per_minute, options.tokens_per_minute, options.limits_url)
        self._limits = Limits(f"{self.provider}:{digest}", *limits, sleep=sleep, clock=clock)

    @property
    def fingerprint(self) -> str:
        """Return provider, model, width and window.

        The address is not included, since the same model may move to another one.
        """
        return f"{self.provider} {self._model} {self.dimensions} {self.window}"

    @cached_property
    def dimensions(self) -> int:
        """Return the width of a vector, learnt with one small request.

        Raises: EmbeddingError, ServiceBusy, SettingsError.
        """
        return len(self._request([_to_piece("esrag")], "passage")[0])

    @property
    def window(self) -> int:
        """Return how many guessed tokens are sent as one text."""
        return WINDOW

    def tokens(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the offsets of guessed tokens.

        A token is at most five letters, three digits or one other character.
        """
        return [match.span() for match in _TOKEN.finditer(text)]

    def embed(self, texts: Sequence[str], kind: Kind = "passage") -> Vectors:
        """Return unit rows, float32, shape (len(texts), dimensions).

        Raises: EmbeddingError if the answer lacks a vector for each text; ServiceBusy if the
        service does not answer or rejects requests; SettingsError if it refuses the key.
        """
        width = self.dimensions  # a wrong key or address shows before anything is paid for
        pieces = [self._pieces(text) for text in texts]
        rows = self._iter_rows(pieces, kind, width)
        vectors = [
            pool_windows([*islice(rows, len(few))], [piece.spans for piece in few])
            for few in pieces
        ]

        return np.stack(vectors) if vectors else np.empty((0, width), dtype=np.float32)

    @abstractmethod
    def _send(self, texts: Sequence[str], kind: Kind) -> Any:
        """Send one request once, and return a row for each text, as the service gave them.

        Raises: Failed; ValueError, TypeError, KeyError or AttributeError for an answer of another
        form; OverflowError for one that is too large.
        """

    def _pieces(self, text: str) -> list[Piece]:
        """Return the text, or windows of equal length (to one token) that cover all its tokens."""
        whole = _to_piece(text, self.tokens(text))
        parts = np.array_split(whole.spans, max(1, -(-len(whole.spans) // self.window)))
        return (
            [whole]
            if len(parts) == 1
            else [Piece(text[part[0, 0] : part[-1, 1]], part) for part in parts]
        )

    def _iter_rows(
        self, pieces: Sequence[Sequence[Piece]], kind: Kind, width: int
    ) -> Iterator[Vectors]:
        """Yield the vector of each piece; a request is sent once its first one is wanted."""
        for batch in self._batches(pieces):
            yield from check_vectors(self._request(batch, kind), len(batch), width)

    def _batches(self, pieces: Sequence[Sequence[Piece]]) -> Iterator[list[Piece]]:
        """Yield as many pieces as one request takes, with no more tokens than the limits allow."""
        batch: list[Piece] = []
        tokens = 0

        for piece in (piece for few in pieces for piece in few):
            too_large = tokens + len(piece.spans) > self._max_tokens
            if batch and (too_large or len(batch) == self.max_texts):
                yield batch
                batch, tokens = [], 0
            batch.append(piece)
            tokens += len(piece.spans)
        if batch:
            yield batch

    def _request(self, batch: Sequence[Piece], kind: Kind) -> Vectors:
        """Return unit rows for a batch; retry transient failures."""
        tokens = sum(len(piece.spans) for piece in batch)
        for tried in range(1, TRIES + 1):
            self._limits.wait(tokens)
            try:
                return self._try(batch, kind)
            except Failed as failed:
                # The cause would show the answer's own words, which may hold the key.
                if tried == TRIES or not failed.is_transient:
                    raise self._error(failed, batch) from None
                self._pause(failed, tried)
        raise AssertionError("the last try returns or raises")

    def _try(self, batch: Sequence[Piece], kind: Kind) -> Vectors:
        """Return unit rows for a batch, if the whole answer comes in time."""
        texts = [piece.text for piece in batch]
        try:
            (rows,) = iter_in_time(
                self._timeout_s, lambda: iter([self._send(texts, kind)]), self._clock
            )
            return _unit_rows(rows, len(batch))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            message = f"{self._url} does not answer as an embedding service does"
            hint = "look at embedding.url and embedding.provider"
            raise EmbeddingError(message, hint=hint) from None

    def _pause(self, failed: Failed, tried: int) -> None:
        """Wait as the service says, with all other workers.

        Without its word wait for a random while, so that not all workers come back at once.
        """
        is_told = failed.wait_s is not None or failed.status == _TOO_MANY
        (self._limits.block if is_told else self._sleep)(failed.pause_s(tried))

    def _error(self, failed: Failed, batch: Sequence[Piece]) -> EmbeddingError:
        """Return what a failed request means to the user."""
        said = _cut_quote(redact(failed.said, self._key), [piece.text for piece in batch])
        message = f"{self._url} answered {failed.status}: {said}"
        failed.require_settings(message, "embedding")
        if not failed.is_transient:
            return EmbeddingError(message)

        hint = _LATER_HINT
        if failed.status == 0:
            message = f"{self._url} did not answer: {said}"
            hint = "is the service running, and is embedding.url its address?"

        return ServiceBusy(f"{message} ({TRIES} tries)", wait_s=failed.wait_s or 0, hint=hint)


def _unit_rows(rows: Any, count: int) -> Vectors:
    """Return the rows as unit vectors.

    Raises: EmbeddingError for another count, ragged rows, zeros, NaN or infinity.
    """
    vectors = np.asarray(rows, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != count:  # noqa: PLR2004 -- rows and columns
        raise EmbeddingError(
            f"the service returned vectors of shape {vectors.shape} for {count} texts"
        )
    with np.errstate(all="ignore"):  # what cannot be made a unit vector fails the check
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return check_vectors(unit.astype(np.float32), count, vectors.shape[1])


def _to_piece(text: str, spans: Sequence[tuple[int, int]] = ((0, 1),)) -> Piece:
    return Piece(text if text.strip() else _BLANK, np.array(spans, dtype=np.int32).reshape(-1, 2))


def _cut_quote(said: str, texts: Sequence[str]) -> str:
    """Return a service's message up to where it quotes the request.

    A log must not hold text of documents.

    >>> text = "The kettle holds 1.7 litres"
    >>> _cut_quote(f"input 2 is too long: {text}", [f"{text}."])
    'input 2 is too long: …'
    """
    starts = range(len(said) - _QUOTED_CHARACTERS + 1)
    quoting = (
        start
        for start in starts
        if any(said[start : start + _QUOTED_CHARACTERS] in text for text in texts)
    )
    first = next(quoting, None)
    return said if first is None else f"{said[:first]}…"
