"""Cohere's rerank models, through its own client; it comes with the extra `esrag[cohere]`."""

import time
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from esrag.chunking.cut import text_to_index
from esrag.errors import RerankError, SettingsError
from esrag.http import (
    Failed,
    check_address,
    check_key,
    cohere_client,
    cohere_failures,
    iter_in_time,
    redact,
)
from esrag.plugins import require_extra
from esrag.records import Hit
from esrag.reranking import Added, Cost, RerankOptions, in_place
from esrag.settings import variable

_URL, _MODEL = "https://api.cohere.com", "rerank-v3.5"
_MAX_WAIT_S = 10.0  # without a budget: the user waits for it


class CohereReranker:
    """Asks Cohere how well each hit fits; its score, 0..1, takes the place of the one before.

    One request and no second try: without it there is the order that there was.
    """

    cost: ClassVar[Cost] = "request"

    def __init__(self, options: RerankOptions) -> None:
        require_extra("the reranker 'cohere'", "cohere")
        self._key = check_key(options.api_key, "rerank")
        if not self._key:
            raise SettingsError(
                "the reranker 'cohere' needs a key", hint=f"set {variable('rerank.api_key')}"
            )
        self._url = check_address(options.url or _URL, "rerank")
        self._model = options.model or _MODEL
        # Now: importing it takes longer than an answer may.
        self._client = cohere_client(self, self._url, self._key, _MAX_WAIT_S)

    def score(self, question: str, hits: Sequence[Hit], left_s: float) -> Sequence[Added]:
        """Return the model's relevance in place of the hits' scores."""
        texts = [text_to_index(hit.chunk) for hit in hits]
        try:
            scores = self._scores(question, texts, min(left_s, _MAX_WAIT_S))
        except Failed as failed:
            # The cause would show the answer's own words, which may hold the key.
            raise self._error(failed) from None
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            raise RerankError(f"{self._url} does not answer as Cohere does") from None
        if len(scores) != len(hits):
            raise RerankError(f"{self._url} scored {len(scores)} of {len(hits)} hits")
        return in_place("cohere", hits, scores)

    def _scores(self, question: str, texts: Sequence[str], within_s: float) -> list[float]:
        """Return the relevance of each text that was scored, in the order of the texts.

        Raises: Failed; ValueError, TypeError, … for an answer of another form.
        """
        (answer,) = iter_in_time(within_s, partial(self._ask, question, texts), time.monotonic)
        found = {result.index: float(result.relevance_score) for result in answer.results}
        if not all(0 <= score <= 1 for score in found.values()) or len(found) != len(
            answer.results
        ):
            raise ValueError
        return [found[number] for number in range(len(texts)) if number in found]

    def _ask(self, question: str, texts: Sequence[str]) -> Iterator[Any]:
        """Yield the one answer."""
        with cohere_failures():
            once: Any = {"max_retries": 0}
            answer = self._client.rerank(
                model=self._model, query=question, documents=texts, request_options=once
            )
        yield answer

    def _error(self, failed: Failed) -> RerankError:
        """Return what a failed request means to the user."""
        said = redact(failed.said, self._key)
        if failed.status == 0:
            return RerankError(f"{self._url} did not answer: {said}")
        message = f"{self._url} answered {failed.status}: {said}"
        failed.require_settings(message, "rerank")
        return RerankError(message)
